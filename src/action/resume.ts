// `resume-lost`, on a schedule: starts chains again whose job was lost, and ends checks that one left open. Idempotent: a
// dispatch carries the generation.
import * as core from '@actions/core'
import { Checks } from '../github/checks.ts'
import { connect, type GitHub } from '../github/client.ts'
import { dispatchRun, runOf } from '../github/dispatch.ts'
import { type HolderRun, whyLost } from '../loop/lease.ts'
import type { State } from '../model/state.ts'
import { type ActionContext, namesByApi, noWorkflow, tokenOf } from './context.ts'
import { peekStates } from './peek.ts'

/** A run of the working workflow that has not begun: its title, and since when it waits (epoch ms). */
type WaitingRun = { title: string; since: number }

/** GitHub ends a job that no runner takes within a day; what waits longer waits for a person. */
const QUEUE_MS = 24 * 3_600_000
const CLOCKS_MS = 5 * 60_000
/** GitHub itself calls a check stale that is open for longer (facts 4.1). */
const STALE_MS = 14 * 24 * 3_600_000

/**
 * Whether a waiting run may be the chain's next job. `startedAt`: when the chain's last job began. The title tells where
 * the workflow says `run-name: Ralph ${{ inputs.feature }}`; a run that names none of the features may be anybody's. To be
 * wrong costs little: of two jobs with one generation the second does nothing.
 */
export function mayBeNext(
  run: WaitingRun,
  chain: { feature: string; startedAt: number },
  features: readonly string[],
  now: number,
): boolean {
  if (run.since < chain.startedAt - CLOCKS_MS) return false
  const words = run.title.split(/[\s:,;()[\]"'#]+/)
  if (features.some((feature) => words.includes(feature))) return words.includes(chain.feature)
  return now - run.since < QUEUE_MS
}

/** Looks at every feature once; gives what was done, in one line. */
export async function resumeLost(context: ActionContext): Promise<string> {
  const github = connect(context.place, tokenOf(context), (text) => core.warning(text))
  const names = await namesByApi(context, github)
  const { workflow } = names
  if (workflow === null) throw noWorkflow('nothing; the workflow of this run only resumes')
  const states = await peekStates(context, names.stateNamespace)
  const features = [...states.values()].map((state) => state.feature)
  const resumed: string[] = []
  const held: string[] = []
  const limited: string[] = []
  const resting: State[] = []
  let waiting: WaitingRun[] | null = null
  for (const state of states.values()) {
    const id = state.lease?.runId ?? state.control.mendedRun
    const holder = id === null ? null : await runOf(github, id)
    const why = whyLost(state, holder, Date.now())
    if (why === null) {
      if (rests(state, holder)) resting.push(state)
      continue
    }
    waiting ??= await waitingRuns(github, workflow)
    const { feature, generation, job } = state
    const chain = { feature, startedAt: job.startedAt }
    // The next look will tell.
    if (waiting.some((run) => mayBeNext(run, chain, features, Date.now()))) {
      held.push(feature)
      continue
    }
    const answer = await dispatchRun(github, workflow, { feature, generation })
    if (answer.kind === 'limited') {
      // The next one would be refused, too.
      limited.push(feature)
      break
    }
    resumed.push(`${feature} (${why})`)
  }
  // What the last job could not end, nobody else would.
  for (const state of resting) await new Checks(github, names.reportAs, state.feature).closeLeft(state)
  const told = (words: string, features: readonly string[]) =>
    features.length === 0 ? [] : [`${words}: ${features.join(', ')}`]
  const said = [
    ...told('resumed', resumed),
    ...told("GitHub's rate limit refuses the next job, looking again later", limited),
    ...told('a job waits already, looking again later', held),
  ]
  return said.length === 0 ? 'no chain is lost' : said.join('; ')
}

async function waitingRuns({ api, at }: GitHub, workflow: string): Promise<WaitingRun[]> {
  const route = api.rest.actions.listWorkflowRuns
  const { data } = await route({ ...at, workflow_id: workflow, event: 'workflow_dispatch', per_page: 100 })
  return data.workflow_runs
    .filter((run) => run.status !== 'completed' && run.status !== 'in_progress')
    .map((run) => ({ title: run.display_title, since: Date.parse(run.run_started_at ?? run.created_at) }))
}

/** Whether nobody works on the feature, and has done so not long ago. */
function rests({ lease, published, job, control }: State, holder: HolderRun): boolean {
  // A job that has released its lease may still wait to dispatch the next one.
  const isOver =
    holder === null ? lease === null && control.mendedRun === null : holder.status === 'completed'
  return published !== null && isOver && job.startedAt > Date.now() - STALE_MS
}
