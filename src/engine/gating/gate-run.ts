// Runs gates on a checked-out commit.

import { displayPath } from '../../system/path-text.ts'
import type { BranchEdit } from '../model/branch-edit.ts'
import type { GateResult } from '../model/gate.ts'
import type {
  CleanRoom,
  GateRun,
  GatesPort,
  IgnoredPort,
  IgnoredWork,
  RepositoryPort,
} from '../model/ports.ts'
import type { State } from '../model/state.ts'
import { greenPages } from '../state/screenshots.ts'

/** A gate run with defaults: all gates, on the green commit. */
export function newGateRun(state: State, run: Partial<GateRun> & Pick<GateRun, 'of'>): GateRun {
  const { green, baselineGates: baseline = {} } = state
  const pages = greenPages(state, run.of === 'whole' ? 'base' : 'last')
  return { tags: null, stories: [], what: run.of, commit: green, from: green, baseline, pages, ...run }
}

/** Which gates a story's change needs: those for its tags, and those that it has to make green. */
export function gatesOfStory({ prd, records }: Pick<State, 'prd' | 'records'>, storyId: string) {
  const stories = prd.userStories.filter(({ id }) => id === storyId)
  const tags = stories.flatMap((story) => story.tags)
  const { owes: also = [], counterexamples = [] } = records[storyId] ?? {}
  const owed = { also, ...(counterexamples.length === 0 ? {} : { counterexamples }) }
  return { of: 'story' as const, stories, tags, ...owed }
}

/** Which gates people's commits need: those for the stories that have passed. `dropped`: ids of stories whose commits are reverted. */
export function gatesOfJoin({ prd }: Pick<State, 'prd'>, dropped: readonly string[] = []) {
  const stories = prd.userStories.filter(({ id, passes }) => passes && !dropped.includes(id))
  return { of: 'join' as const, stories, tags: stories.flatMap((story) => story.tags) }
}

/** Which gates an edit of the branch needs: those for the passed stories that stay on it. */
export function gatesOfEdit(state: Pick<State, 'prd'>, edit: BranchEdit) {
  return gatesOfJoin(state, edit.kind === 'drop' ? edit.stories : [])
}

/** Prepares the checked-out commit, runs its gates, and discards what they wrote into tracked files. */
export async function runGatesOn(
  run: GateRun,
  {
    repository,
    gates,
    signal,
  }: {
    gates: CleanRoom['gates']
    signal: AbortSignal
    repository: Pick<RepositoryPort, 'restore'> & { ignored: Pick<IgnoredPort, 'afterPrepare'> }
  },
): Promise<GateResult[]> {
  const { commit, what } = run
  const prepared = await gates.prepare(commit, signal, what)
  if (prepared !== null) await repository.ignored.afterPrepare()
  const results = prepared === null ? [] : [prepared]
  if (prepared?.ok !== false) results.push(...(await gates.run(run, signal)))
  await repository.restore(commit)
  return results
}

/** Runs gates in the work tree while ignored files of sessions are moved away. The first result has a remark on them. */
export async function withoutSessionFiles(
  { repository, gates }: { repository: Pick<RepositoryPort, 'ignored'>; gates: GatesPort },
  run: () => Promise<GateResult[]>,
): Promise<GateResult[]> {
  const work = await repository.ignored.forGates(gates.canPrepare)
  try {
    if (work !== null && work.changed.length > 0 && gates.canPrepare) await gates.renew()
    const remarks = remarksOn(work, gates.canPrepare)
    const results = await run()
    if (remarks.length === 0) return results
    return results.map((result, index) => withRemarks(result, index === 0, remarks))
  } finally {
    await repository.ignored.forSession()
  }
}

/** Adds the remarks to the first result for people, and to the output of red results for the next attempt. */
function withRemarks(result: GateResult, isFirst: boolean, remarks: readonly string[]): GateResult {
  const noted = isFirst ? { remarks: [...(result.remarks ?? []), ...remarks] } : {}
  if (result.ok) return { ...result, ...noted }
  return { ...result, ...noted, output: `${result.output.trimEnd()}\n\nNote: ${remarks.join('\nNote: ')}\n` }
}

function remarksOn(work: IgnoredWork | null, canPrepare: boolean): string[] {
  if (work === null)
    return ['too many ignored files to check, so the gates ran with those that the session left']
  const { made, changed } = work
  const remarks: string[] = []
  if (made.length > 0)
    remarks.push(
      `the session created ignored files in ${formatFirstPaths(made)}. No commit contains them, so the gates ran without them`,
    )
  if (changed.length > 0) {
    const consequence = canPrepare
      ? 'Ralph removed them, and `prepare` creates them again'
      : 'there is no `prepare` to create them again, so the gates ran with the changes'
    remarks.push(`the session changed ignored files in ${formatFirstPaths(changed)}: ${consequence}`)
  }
  return remarks
}

function formatFirstPaths(paths: readonly string[]): string {
  const named = paths.slice(0, MAX_NAMED).map((path) => displayPath(path))
  const more = paths.length > MAX_NAMED ? ` and ${paths.length - MAX_NAMED} more` : ''
  return `${named.join(', ')}${more}`
}

const MAX_NAMED = 3
