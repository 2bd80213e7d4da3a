// The two jobs whose token can only read: work runs the agent's session, gate runs the gates. Both hand their results over.
import type { Workspace } from '../../app/workspace.ts'
import { writeCommit } from '../../branch/commits.ts'
import { runJob } from '../../engine/driver.ts'
import { inCheckout } from '../../engine/executors/in-checkout.ts'
import { isRed } from '../../engine/model/gate.ts'
import { openAttempt } from '../../engine/model/job.ts'
import type { Limits } from '../../engine/model/limit-types.ts'
import type { AgentPort, GatesPort, Ports } from '../../engine/model/ports.ts'
import type { State } from '../../engine/model/state.ts'
import { stepsOf } from '../../engine/model/step.ts'
import { sessionOf } from '../../engine/state-updates.ts'
import { RALPH_IDENTITY } from '../../git/git-process.ts'
import { UserError } from '../../system/errors.ts'
import { withPictures } from './hand-over-pictures.ts'
import { type FromGate, type FromWork, fitGates, fitWork, plannedOf, writeHandover } from './handover.ts'
import { codeDigest, writePack } from './pack.ts'

/** The input of a work or gate job. `settle` is called when the last untrusted program has ended. */
export type PartRun = {
  state: State
  limits: Limits
  ports: Ports
  workspace: Workspace
  nonce: string
  settle(): Promise<void>
}
/** The text that the next jobs read, and one line for people. */
export type PartResult = { handover: string; summary: string }

export async function runWork({
  state,
  limits,
  ports,
  workspace,
  nonce,
  settle,
}: PartRun): Promise<PartResult> {
  const { git, repository } = workspace
  const prepared = await ports.gates.prepare(state.green, ports.signal)
  if (prepared?.ok === false) {
    const fix = 'see its output in the log of the work job'
    throw new UserError({ path: 'prepare', found: prepared.ended, expected: 'exit 0', fix })
  }
  const recorded: Recorded = { session: null, judged: null, planned: null }
  const gates = { ...ports.gates, run: async () => [] }
  const agent = recordingAgent(ports.agent, recorded)
  const withoutEvidence = { ...limits, evidence: 'ask' as const }
  const executor = inCheckout(withoutEvidence, { ...ports, agent, gates }, stepsOf('work'))
  const result = await runJob(state, withoutEvidence, executor).finally(settle)
  const attempt = openAttempt(result.state)
  const saved =
    recorded.session === null || attempt === null
      ? null
      : await repository.saveWork(result.state, attempt.storyId)
  const failure = attempt?.phase === 'failed' ? attempt.failure : null
  // The loop adds up the usage of a set-up session and of the attempt's session. `recorded.session` has only the last of them.
  const fullSession = (attempt === null ? null : sessionOf(attempt)) ?? recorded.session
  // Only this job knows the agent's keys: a change that the guard refuses because of them is not handed over.
  const session =
    fullSession !== null && failure?.kind === 'guard'
      ? { ...fullSession, status: 'failed' as const, message: failure.summary }
      : fullSession
  const commit =
    saved === null ? null : await writeCommit(git, RALPH_IDENTITY, saved.tree, [state.green], 'work')
  const sha256 = commit === null ? null : await writePack(git, commit, state.green)
  return {
    handover: writeHandover(fitWork({ nonce, ...recorded, session, commit, sha256, mistake: null })),
    summary: commit === null ? 'handed over: no changes' : 'handed over: the changes of the session',
  }
}

/** The hand-over of a work job that could not begin a session because of a person's mistake. With it the land job ends the chain, and no attempt is charged. */
export function mistakeHandover(nonce: string, mistake: string): string {
  const empty = { session: null, judged: null, planned: null, commit: null, sha256: null }
  return writeHandover({ nonce, ...empty, mistake })
}

type Recorded = Pick<FromWork, 'session' | 'judged' | 'planned'>

function recordingAgent(agent: AgentPort, recorded: Recorded): AgentPort {
  return {
    async work(...args) {
      recorded.session = await agent.work(...args)
      return recorded.session
    },
    async setUp(...args) {
      const session = await agent.setUp(...args)
      recorded.session = session
      return session
    },
    async judge(...args) {
      recorded.judged = await agent.judge(...args)
      const { verdict, usage } = recorded.judged
      // The evidence is looked up by the land job, after the gates.
      return { verdict: verdict.kind === 'verified' ? { kind: 'verified' } : verdict, usage }
    },
    async plan(...args) {
      const { proposal, usage } = await agent.plan(...args)
      recorded.planned = plannedOf(proposal, usage)
      return { proposal, usage }
    },
  }
}

/** Runs `act` with gates whose results are recorded for the hand-over. */
export async function runGate(
  { state, limits, ports, workspace, nonce, settle }: PartRun,
  act = (gates: GatesPort): Promise<unknown> =>
    runJob(state, limits, inCheckout(limits, { ...ports, gates }, stepsOf('gate'))),
): Promise<PartResult> {
  const results: FromGate = { nonce, code: null, gates: [] }
  await act(recordingGates(ports.gates, workspace, results)).finally(settle)
  const red = results.gates.filter(isRed).map((gate) => gate.name)
  const read = (blob: string) => workspace.store.readScreenshot(blob)
  return {
    handover: writeHandover(await withPictures(fitGates(results), results.gates, read)),
    summary: red.length === 0 ? 'every gate is green' : `red: ${red.join(', ')}`,
  }
}

function recordingGates(gates: GatesPort, { git, objects }: Workspace, results: FromGate): GatesPort {
  return {
    isHandedOver: true,
    canPrepare: gates.canPrepare,
    renew: () => gates.renew(),
    async prepare(commit, signal, what) {
      results.code = await codeDigest(git, objects, commit)
      const prepared = await gates.prepare(commit, signal, what)
      results.gates = prepared === null ? [] : [prepared]
      return prepared
    },
    async run(run, signal) {
      const ran = await gates.run(run, signal)
      results.gates.push(...ran)
      return ran
    },
  }
}
