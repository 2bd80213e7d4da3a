// The graph of what depends on what, as a mermaid diagram coloured by how the stories stand.
import { mermaidText } from './escape.ts'
import { STANDINGS } from './outcomes.ts'
import type { StoryView } from './view.ts'

const MOST_STORIES = 60
/** GitHub draws at most 500 edges; a graph of that many says nothing any more. */
const MOST_EDGES = 200

/** The fenced diagram of the stories that depend on others; null without dependencies, or with too many to be seen. */
export function dependencyGraph(stories: readonly StoryView[]): string | null {
  if (stories.length > MOST_STORIES) return null
  const places = new Map(stories.map(({ id }, at) => [id, at]))
  const edges = stories.flatMap(({ dependsOn }, to) =>
    [...new Set(dependsOn)].flatMap((id) => {
      const from = places.get(id)
      return from === undefined ? [] : [{ from, to }]
    }),
  )
  if (edges.length === 0 || edges.length > MOST_EDGES) return null
  const drawn = new Set(edges.flatMap(({ from, to }) => [from, to]))
  const nodes = stories.flatMap(({ id, title, standing }, at) => {
    if (!drawn.has(at)) return []
    const label = `${STANDINGS[standing].sign} ${mermaidText(id, 64)}<br/>${mermaidText(title, 48)}`
    // Words of people never are ids: `end` would end the graph.
    return [`  s${at}["${label}"]:::${standing}`]
  })
  const arrows = edges.map(({ from, to }) => `  s${from} --> s${to}`)
  const used = new Set(stories.flatMap(({ standing }, at) => (drawn.has(at) ? [standing] : [])))
  const classes = [...used].sort().map((standing) => {
    const { fill, ink } = STANDINGS[standing]
    return `  classDef ${standing} fill:${fill},stroke:${ink},color:${ink}`
  })
  return ['```mermaid', 'graph LR', ...nodes, ...arrows, ...classes, '```'].join('\n')
}
