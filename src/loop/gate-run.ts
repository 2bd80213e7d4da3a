// What a run of the gates is asked for, and how it is done on a commit that is checked out.
import type { GateResult } from '../model/gate.ts'
import type { CleanRoom, GateRun, RepositoryPort } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import { greenPages } from './screenshots.ts'

/** Gates on the green commit, which the change begins at, where nothing else is said. */
export function runOf(state: State, run: Partial<GateRun> & Pick<GateRun, 'of'>): GateRun {
  const { green, baselineGates: baseline = {} } = state
  const pages = greenPages(state, run.of === 'whole' ? 'base' : 'last')
  return { tags: null, stories: [], what: run.of, commit: green, from: green, baseline, pages, ...run }
}

/** The dependencies of a commit that is checked out, then its gates for these tags, or all (null); what they wrote is thrown away. */
export async function gatesOn(
  run: GateRun,
  {
    repository,
    gates,
    signal,
  }: { gates: CleanRoom['gates']; signal: AbortSignal; repository: Pick<RepositoryPort, 'restore'> },
): Promise<GateResult[]> {
  const { commit, what } = run
  const prepared = await gates.prepare(commit, signal, what)
  const results = prepared === null ? [] : [prepared]
  if (prepared?.ok !== false) results.push(...(await gates.run(run, signal)))
  await repository.restore(commit)
  return results
}
