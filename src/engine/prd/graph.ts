// Checks ids and dependencies of stories: ids are unique, dependencies exist, and there are no cycles.

import type { Mistake } from '../../system/errors.ts'
import { describeValue } from '../model/text.ts'
import { nearestId } from './known-ids.ts'

/** A story's id and dependencies; '' for an id that could not be read. */
type Edges = { id: string; dependsOn: readonly string[] }
type Path = (index: number, key?: string) => string

/**
 * Every duplicate id, unknown dependency and cycle. A dependency on an id in `gone` is none:
 * its story was removed.
 */
export function graphMistakes(stories: readonly Edges[], path: Path, gone: ReadonlySet<string>): Mistake[] {
  const mistakes: Mistake[] = []
  const indexOf = new Map<string, number>()
  for (const [index, { id }] of stories.entries()) {
    if (id === '') continue
    const first = indexOf.get(id)
    indexOf.set(id, first ?? index)
    if (first === undefined) continue
    const expected = `an id used once (it is also that of ${path(first)})`
    const fix = 'give one of them another id'
    mistakes.push({ path: path(index, 'id'), found: describeValue(id), expected, fix })
  }
  return mistakes.concat(unknownDependencies(stories, indexOf, path, gone), cycles(stories, indexOf, path))
}

// The most cycles that are reported: a hundred stories that all depend on each other have thousands.
const MAX_CYCLES = 100

// The most searches for a nearest id: each is a pass over all ids, and a file may have thousands of wrong ones.
const MAX_SUGGESTIONS = 20

function unknownDependencies(
  stories: readonly Edges[],
  indexOf: ReadonlyMap<string, number>,
  path: Path,
  gone: ReadonlySet<string>,
): Mistake[] {
  const mistakes: Mistake[] = []
  for (const [index, story] of stories.entries()) {
    for (const [edge, id] of story.dependsOn.entries()) {
      if (id === '' || indexOf.has(id) || gone.has(id)) continue
      const near = mistakes.length < MAX_SUGGESTIONS ? nearestId(id, [...indexOf.keys()]) : null
      const fix =
        near === null || near === story.id
          ? 'remove it, or add that story'
          : `did you mean ${describeValue(near)}?`
      const place = `${path(index, 'dependsOn')}[${edge}]`
      mistakes.push({
        path: place,
        found: describeValue(id),
        expected: 'the id of a story in this file',
        fix,
      })
    }
  }
  return mistakes
}

/** Depth first without recursion: a chain of 10,000 stories is legal. Each edge that closes a circle is a mistake. */
function cycles(stories: readonly Edges[], indexOf: ReadonlyMap<string, number>, path: Path): Mistake[] {
  const mistakes: Mistake[] = []
  const done = new Set<number>()
  const depthOf = new Map<number, number>()
  for (const start of stories.keys()) {
    if (done.has(start)) continue
    const stack = [{ index: start, edge: 0 }]
    depthOf.set(start, 0)
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const id = stories[top.index]?.dependsOn[top.edge]
      if (id === undefined) {
        done.add(top.index)
        stack.pop()
        continue
      }
      top.edge += 1
      const next = indexOf.get(id)
      if (next === undefined || done.has(next)) continue
      const depth = depthOf.get(next)
      if (depth === undefined) {
        depthOf.set(next, stack.length)
        stack.push({ index: next, edge: 0 })
      } else {
        const circle = stack.slice(depth).map(({ index }) => stories[index]?.id ?? '')
        mistakes.push(circleMistake(`${path(top.index, 'dependsOn')}[${top.edge - 1}]`, circle))
        if (mistakes.length === MAX_CYCLES) return mistakes
      }
    }
  }
  return mistakes
}

function circleMistake(path: string, circle: readonly string[]): Mistake {
  const first = circle[0] ?? ''
  const expected = 'no cycle: a story cannot wait for itself'
  if (circle.length === 1)
    return { path, found: `${describeValue(first)} itself`, expected, fix: 'remove it' }
  const named =
    circle.length <= 5 ? circle : [...circle.slice(0, 3), `(${circle.length - 4} more)`, ...circle.slice(-1)]
  const found = describeValue([...named, first].join(' -> '))
  return { path, found, expected, fix: 'remove one of these dependencies' }
}
