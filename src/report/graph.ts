// The graph of what depends on what, as a mermaid diagram coloured by how the stories stand.
import type { State } from '../model/state.ts'
import { mermaidId, mermaidText } from './escape.ts'
import { SIGNS } from './parts.ts'
import { type Standing, standings } from './words.ts'

const MOST_STORIES = 60
/** GitHub draws at most 500 edges; a graph of that many says nothing any more. */
const MOST_EDGES = 200

// Readable on light and on dark pages: every class brings its own text colour.
const STYLES: Readonly<Record<Standing, string>> = {
  passed: 'fill:#1a7f37,stroke:#116329,color:#ffffff',
  skipped: 'fill:#eaeef2,stroke:#8c959f,color:#57606a,stroke-dasharray:4 3',
  blocked: 'fill:#cf222e,stroke:#a40e26,color:#ffffff',
  working: 'fill:#0969da,stroke:#0550ae,color:#ffffff',
  rejected: 'fill:#9a6700,stroke:#7d4e00,color:#ffffff',
  waiting: 'fill:#f6f8fa,stroke:#8c959f,color:#57606a',
  open: 'fill:#ffffff,stroke:#57606a,color:#24292f',
}

/** The fenced diagram of the stories that depend on others; null without dependencies, or with too many to be seen. */
export function dependencyGraph(state: State): string | null {
  const { userStories } = state.prd
  if (userStories.length > MOST_STORIES) return null
  const places = new Map(userStories.map((story, at) => [story.id, at]))
  const edges = userStories.flatMap((story, to) =>
    [...new Set(story.dependsOn)].flatMap((id) => {
      const from = places.get(id)
      return from === undefined ? [] : [{ from, to }]
    }),
  )
  if (edges.length === 0 || edges.length > MOST_EDGES) return null
  const drawn = new Set(edges.flatMap(({ from, to }) => [from, to]))
  const stands = standings(state)
  const used = new Set<Standing>()
  const nodes = userStories.flatMap((story, at) => {
    if (!drawn.has(at)) return []
    const standing = stands.get(story.id) ?? 'open'
    used.add(standing)
    const label = `${SIGNS[standing]} ${mermaidText(story.id, 64)}<br/>${mermaidText(story.title, 48)}`
    return [`  ${mermaidId(at)}["${label}"]:::${standing}`]
  })
  const arrows = edges.map(({ from, to }) => `  ${mermaidId(from)} --> ${mermaidId(to)}`)
  const classes = [...used].sort().map((standing) => `  classDef ${standing} ${STYLES[standing]}`)
  return ['```mermaid', 'graph LR', ...nodes, ...arrows, ...classes, '```'].join('\n')
}
