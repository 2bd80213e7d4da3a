// The packages that the stories of a run added, and which of them people allowed. Pure.

import {
  type AddedDependency,
  type DependencyFinding,
  dependencyName,
  describeDependency,
} from '../model/dependency.ts'
import type { Limits } from '../model/limit-types.ts'
import type { State } from '../model/state.ts'
import { oneLine } from '../model/text.ts'

/** Entries that the state keeps. Each story has at most 61. */
const MAX_ENTRIES = 1000

/** The state after a story with these findings landed. A package that waits or was allowed keeps its entry. */
export function recordDependencies(
  state: State,
  storyId: string,
  findings: readonly DependencyFinding[],
  { newDependencies }: Pick<Limits, 'newDependencies'>,
): State {
  const before = state.dependencies ?? []
  const isKnown = (finding: DependencyFinding) =>
    finding.kind === 'package' &&
    before.some(
      ({ finding: one }) =>
        one.kind === 'package' && one.name === finding.name && one.ecosystem === finding.ecosystem,
    )
  const waits = newDependencies === 'refuse' ? { waits: true as const } : {}
  const added = findings
    .filter((finding) => !isKnown(finding))
    .map((finding) => ({ storyId, finding, ...waits }))
  return added.length === 0 ? state : { ...state, dependencies: [...before, ...added].slice(-MAX_ENTRIES) }
}

/** The packages that no person allowed yet. */
export function waitingDependencies({ dependencies = [] }: Pick<State, 'dependencies'>): AddedDependency[] {
  return dependencies.filter(({ waits, allowedBy }) => waits === true && allowedBy === undefined)
}

/** Marks the named packages as allowed by this person. `all`: every one that is listed now. */
export function allowDependencies(state: State, names: readonly string[] | 'all', by: string): State {
  const isNamed = ({ finding }: AddedDependency) =>
    names === 'all' || names.includes(dependencyName(finding).toLowerCase())
  const { dependencies = [] } = state
  return {
    ...state,
    dependencies: dependencies.map((one) =>
      one.allowedBy === undefined && isNamed(one) ? { ...one, allowedBy: by } : one,
    ),
  }
}

/** Why a command `allow` would change nothing, or null. */
export function unallowableReason(state: State, names: readonly string[] | 'all'): string | null {
  const waiting = waitingDependencies(state)
  if (waiting.length === 0) return 'no new package is waiting for approval'
  if (names === 'all') return null
  const known = waiting.map(({ finding }) => dependencyName(finding))
  const isNamed = known.some((name) => names.includes(name.toLowerCase()))
  return isNamed ? null : `no such package is waiting. These are: ${shortList(known)}`
}

/** What holds the run with `new-dependencies: refuse`, in words; empty if nothing does. */
export function dependencyHold(state: State, { newDependencies }: Pick<Limits, 'newDependencies'>): string {
  const waiting = newDependencies === 'refuse' ? waitingDependencies(state) : []
  if (waiting.length === 0) return ''
  const names = waiting.map(({ finding, storyId }) => `${dependencyName(finding)} (${storyId})`)
  return `new packages are waiting until a person allows them: ${shortList(names)}`
}

/** The packages that a judge is asked about with `new-dependencies: ask`, a line each. */
export function dependenciesToJudge(
  { dependencies = [] }: { dependencies?: readonly DependencyFinding[] },
  { newDependencies }: Pick<Limits, 'newDependencies'>,
): string[] {
  return newDependencies === 'ask' ? dependencies.map(describeDependency) : []
}

function shortList(names: readonly string[]): string {
  const shown = names.slice(0, 5).map((name) => oneLine(name, 80))
  const more = names.length - shown.length
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')
}
