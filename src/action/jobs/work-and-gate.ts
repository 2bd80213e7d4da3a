// The two jobs whose token can only read: work runs the agent's session, gate runs the gates. Both hand an event over.
import type { Workspace } from '../../app/workspace.ts'
import { writeCommit } from '../../branch/commits.ts'
import { type Executor, run } from '../../engine/driver.ts'
import { inPart } from '../../engine/executors/in-part.ts'
import type { Event } from '../../engine/model/event.ts'
import { isRed } from '../../engine/model/gate.ts'
import { openAttempt } from '../../engine/model/job.ts'
import type { Limits } from '../../engine/model/limit-types.ts'
import type { Ports } from '../../engine/model/ports.ts'
import type { State } from '../../engine/model/state.ts'
import type { Step } from '../../engine/model/step.ts'
import { emptyUsage } from '../../engine/model/usage.ts'
import { RALPH_IDENTITY } from '../../git/git-process.ts'
import { UserError } from '../../system/errors.ts'
import { withPictures } from './hand-over-pictures.ts'
import { fitGates, fitWork, type WorkEvent, writeHandover } from './handover.ts'
import { codeDigest, writePack } from './pack.ts'
import { gateEventOf, workEventOf } from './said-events.ts'
import type { Take } from './taken-events.ts'

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
    const fix = 'read its output in the log of the work job, and fix what it says'
    throw new UserError({
      path: 'prepare',
      found: `the command \`prepare\` failed: ${prepared.ended}.`,
      expected: '',
      fix,
    })
  }
  const said: { event: WorkEvent | null } = { event: null }
  // The land job checks it, with the results of the gates.
  const its = { ...limits, checksEvidence: false as const }
  const executor = inPart(its, ports, {
    part: 'work',
    take: assumeGreen,
    say: (step, event) => {
      said.event = workEventOf(step, event) ?? said.event
    },
  })
  const result = await run(state, its, executor).finally(settle)
  const attempt = openAttempt(result.state)
  const event = withRefusal(said.event, attempt?.phase === 'failed' ? attempt.failure : null)
  const saved =
    event?.kind === 'worked' && attempt !== null
      ? await repository.saveWork(result.state, attempt.storyId)
      : null
  const commit =
    saved === null ? null : await writeCommit(git, RALPH_IDENTITY, saved.tree, [state.green], 'work')
  const sha256 = commit === null ? null : await writePack(git, commit, state.green)
  return {
    handover: writeHandover(fitWork({ nonce, event, commit, sha256, mistake: null })),
    summary:
      commit === null
        ? 'passed to the next job: no changes'
        : 'passed to the next job: the changes of the session',
  }
}

/** The judge of the whole feature works before the gates: their green is assumed here, and the land job decides. */
async function assumeGreen({ kind }: Step): Promise<Event> {
  if (kind !== 'verify') throw new Error(`the work job does not accept the step ${kind}`)
  return { kind: 'whole-gated', gates: [], usage: emptyUsage(), at: Date.now() }
}

/** Only this job knows the agent's keys: a change that the guard refuses because of them is not handed over. */
function withRefusal(
  said: WorkEvent | null,
  failure: { kind: string; summary: string } | null,
): WorkEvent | null {
  if (said?.kind !== 'worked' || failure?.kind !== 'guard') return said
  return { ...said, session: { ...said.session, status: 'failed', message: failure.summary } }
}

/**
 * The hand-over of a work job that could not begin a session because of a person's mistake. With it the land job ends the chain, and no
 * attempt is charged.
 */
export function mistakeHandover(nonce: string, mistake: string): string {
  return writeHandover({ nonce, event: null, commit: null, sha256: null, mistake })
}

type Say = (step: Step, event: Event) => void

/** Runs gates for the other jobs. `executorOf`: how; `say` gets the events that this job does for the others. */
export async function runGate(
  { state, limits, workspace, nonce, settle }: PartRun,
  executorOf: (say: Say) => Executor,
): Promise<PartResult> {
  const said: { own: ReturnType<typeof gateEventOf> } = { own: null }
  const executor = executorOf((step, event) => {
    said.own = gateEventOf(step, state.green, event) ?? said.own
  })
  await run(state, limits, executor).finally(settle)
  const { own } = said
  const { git, objects, store } = workspace
  const code = own === null ? null : await codeDigest(git, objects, own.commit)
  const gates = own?.said.gates ?? []
  const red = gates.filter(isRed).map((gate) => gate.name)
  const fitted = fitGates({ nonce, code, event: own?.said ?? null })
  const value = await withPictures(fitted, gates, (blob) => store.readScreenshot(blob))
  return {
    handover: writeHandover(value),
    summary: red.length === 0 ? 'every gate is green' : `red: ${red.join(', ')}`,
  }
}

/** The gate job of one story. */
export function gateExecutor({ limits, ports }: PartRun, take: Take): (say: Say) => Executor {
  return (say) => inPart(limits, ports, { part: 'gate', take, say })
}
