// A judge refuses a story with a counterexample, which runs in a clean room. A refusal in words can cost a story one attempt.

import { type Counterexample, counterexampleName, type Weighed } from '../model/counterexample.ts'
import type { Verdict } from '../model/event.ts'
import { CANCELLED, type GateResult } from '../model/gate.ts'
import type { JudgeTask } from '../model/ports.ts'
import { oneLine } from '../model/text.ts'
import { addUsage, emptyUsage, type Usage } from '../model/usage.ts'
import type { StepContext } from '../state/step-context.ts'
import { openRoom } from './final-gates.ts'
import { newGateRun, runGatesOn } from './gate-run.ts'

type Reset = Extract<Verdict, { kind: 'reset' }>
type Answer = { verdict: Verdict; usage: Usage }
/** Asks a second judge whether the criteria ask for what the counterexample checks. */
export type AskSecond = (about: NonNullable<JudgeTask['counterexample']>) => Promise<Answer>
type Found =
  | { kind: 'red'; result: GateResult; counterexample: Counterexample }
  | { kind: 'words'; why: string }
  | { kind: 'void'; why: string }

/** Whether counterexamples can run here: that needs the files that the judge left. */
export function canWeigh({ ports }: StepContext): boolean {
  return ports.repository.leftFiles !== undefined
}

/** The verdict after each refused story's counterexample ran, with the results of those that are red. */
export async function weighRefusal(
  verdict: Reset,
  ask: AskSecond,
  context: StepContext,
): Promise<{ verdict: Verdict; gates: GateResult[]; usage: Usage; weighed: Weighed }> {
  const gates: GateResult[] = []
  const weighed: Weighed = { refused: [], voided: [] }
  const unsettled: string[] = []
  let usage = emptyUsage()
  for (const storyId of verdict.stories) {
    const counterexample = verdict.counterexamples?.find((one) => one.storyId === storyId)
    const ran = await tryOut(counterexample, context)
    const asked = ran.kind === 'red' ? await secondOpinion(ran, ask) : { found: ran, usage: emptyUsage() }
    usage = addUsage(usage, asked.usage)
    const { found } = asked
    if (found.kind === 'red') {
      gates.push(found.result)
      weighed.refused.push({ storyId, counterexample: found.counterexample })
    } else if (found.kind === 'words' && context.state.records[storyId]?.refusedInWords !== true)
      weighed.refused.push({ storyId })
    else {
      const why =
        found.kind === 'void'
          ? found.why
          : `${found.why}, and a refusal without one has already cost this story an attempt`
      weighed.voided.push(`Ralph ignores the judge's refusal of ${storyId}: ${why}`)
      if (found.kind === 'words') unsettled.push(storyId)
    }
  }
  const stories = weighed.refused.map(({ storyId }) => storyId)
  const { counterexamples: _ran, ...reset } = verdict
  const after: Verdict =
    stories.length > 0
      ? { ...reset, stories }
      : {
          kind: 'none',
          message: `${oneLine(weighed.voided.join('; '), 600)}${unsettled.length > 0 ? ASK : ''}`,
        }
  return { verdict: after, gates, usage, weighed }
}

const ASK = '. Approve it, or leave a counterexample that fails'

/** A run that shows nothing: its program is missing, or its time is over. */
const SAYS_NOTHING = /^exit 12[5-7]$|^timed out|^no output|^not started/

async function tryOut(counterexample: Counterexample | undefined, context: StepContext): Promise<Found> {
  if (counterexample === undefined) return { kind: 'words', why: 'it has no counterexample' }
  const result = await runCounterexample(counterexample, context)
  if (result === undefined || result.ended === CANCELLED)
    return { kind: 'words', why: 'its counterexample did not run' }
  const how = `its counterexample ${oneLine(counterexample.run, 120)}`
  if (result.ok) return { kind: 'void', why: `${how} passes` }
  if (SAYS_NOTHING.test(result.ended))
    return { kind: 'words', why: `${how} proves nothing (${result.ended})` }
  return { kind: 'red', result, counterexample }
}

async function runCounterexample(
  counterexample: Counterexample,
  context: StepContext,
): Promise<GateResult | undefined> {
  const { state, ports } = context
  const { iterations } = state.prd.run
  await using room = await openRoom(context)
  await room.checkOut(state.green)
  const run = newGateRun(state, {
    of: 'whole',
    what: `verify-${iterations}-${state.verification.sessions + 1}`,
    from: state.base.sha,
    only: [],
    counterexamples: [counterexample],
  })
  const results = await runGatesOn(run, { gates: room.gates, repository: room, signal: ports.signal })
  const name = counterexampleName(counterexample)
  // A red `prepare` or service says nothing about the story.
  return results.find((one) => one.name === name)
}

/** A counterexample may be wrong itself, so a second judge is asked once. Without an answer the refusal stays. */
async function secondOpinion(
  found: Extract<Found, { kind: 'red' }>,
  ask: AskSecond,
): Promise<{ found: Found; usage: Usage }> {
  const { counterexample, result } = found
  const { verdict, usage } = await ask({ ...counterexample, output: result.output })
  if (verdict.kind !== 'reset') return { found, usage }
  const why = `a second judge says that its counterexample is wrong: ${oneLine(verdict.reason, 200)}`
  return { found: { kind: 'void', why }, usage }
}
