// Checks ids and dependencies of stories: ids are unique, dependencies exist, and there are no cycles.

import type { Mistake } from '../../system/errors.ts'
import { describeValue } from '../model/text.ts'
import { nearestId } from './known-ids.ts'

/** A story's id and dependencies; '' for an id that could not be read. */
type Edges = { id: string; dependsOn: readonly string[] }
type Path = (index: number, key?: string) => string

/** What is wrong between stories. `edge`: the index of a dependency. `first`: the story that has the id already. */
export type GraphFault =
  | { kind: 'duplicate'; index: number; id: string; first: number }
  | { kind: 'unknown'; index: number; edge: number; id: string }
  | { kind: 'cycle'; index: number; edge: number; circle: readonly string[] }

/**
 * Every duplicate id, unknown dependency and cycle. A dependency on an id in `gone` is none:
 * its story was removed.
 */
export function findGraphFaults(stories: readonly Edges[], gone: ReadonlySet<string>): GraphFault[] {
  const duplicates: GraphFault[] = []
  const indexOf = new Map<string, number>()
  for (const [index, { id }] of stories.entries()) {
    if (id === '') continue
    const first = indexOf.get(id)
    indexOf.set(id, first ?? index)
    if (first !== undefined) duplicates.push({ kind: 'duplicate', index, id, first })
  }
  const unknown = stories.flatMap(({ dependsOn }, index) =>
    dependsOn.flatMap((id, edge): GraphFault[] =>
      id === '' || indexOf.has(id) || gone.has(id) ? [] : [{ kind: 'unknown', index, edge, id }],
    ),
  )
  return duplicates.concat(unknown, cycles(stories, indexOf))
}

/** The faults of `findGraphFaults` as mistakes, each with its fix. */
export function graphMistakes(stories: readonly Edges[], path: Path, gone: ReadonlySet<string>): Mistake[] {
  const ids = [...new Set(stories.map(({ id }) => id).filter((id) => id !== ''))]
  let suggestions = 0
  return findGraphFaults(stories, gone).map((fault) => {
    if (fault.kind === 'cycle')
      return circleMistake(`${path(fault.index, 'dependsOn')}[${fault.edge}]`, fault.circle)
    const { index, id } = fault
    const found = describeValue(id)
    if (fault.kind === 'duplicate') {
      const expected = `a unique id (${path(fault.first)} already has this one)`
      return { path: path(index, 'id'), found, expected, fix: 'give one of the two stories another id' }
    }
    const near = suggestions < MAX_SUGGESTIONS ? nearestId(id, ids) : null
    suggestions += 1
    const fix =
      near === null || near === stories[index]?.id
        ? 'remove it, or add that story'
        : `did you mean ${describeValue(near)}?`
    const place = `${path(index, 'dependsOn')}[${fault.edge}]`
    return { path: place, found, expected: 'the id of a story in this file', fix }
  })
}

// The maximum number of cycles that are reported: a hundred stories that all depend on each other have thousands.
const MAX_CYCLES = 100

// The maximum number of searches for a nearest id: each is a pass over all ids, and a file may have thousands of wrong ones.
const MAX_SUGGESTIONS = 20

/** Depth first without recursion: a chain of 10,000 stories is legal. Each edge that closes a circle is a fault. */
function cycles(stories: readonly Edges[], indexOf: ReadonlyMap<string, number>): GraphFault[] {
  const found: GraphFault[] = []
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
        found.push({ kind: 'cycle', index: top.index, edge: top.edge - 1, circle })
        if (found.length === MAX_CYCLES) return found
      }
    }
  }
  return found
}

function circleMistake(path: string, circle: readonly string[]): Mistake {
  const first = circle[0] ?? ''
  const expected = 'no cycle, because a story cannot wait for itself'
  if (circle.length === 1)
    return { path, found: `${describeValue(first)} itself`, expected, fix: 'remove it' }
  const named =
    circle.length <= 5 ? circle : [...circle.slice(0, 3), `(${circle.length - 4} more)`, ...circle.slice(-1)]
  const found = describeValue([...named, first].join(' -> '))
  return { path, found, expected, fix: 'remove one of these dependencies' }
}
