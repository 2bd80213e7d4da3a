// Works on one plant as a run works on a story: the same steps, in the same order, by the same functions. Nothing is saved.

import { proofRemarks } from '../../engine/attempts/attempt-events.ts'
import type { Executor } from '../../engine/driver.ts'
import { run } from '../../engine/driver.ts'
import type { Event } from '../../engine/model/event.ts'
import type { Story } from '../../engine/model/feature.ts'
import { type GateResult, gateFindings, isRed, isService } from '../../engine/model/gate.ts'
import { haltError } from '../../engine/model/job.ts'
import type { Limits } from '../../engine/model/limit-types.ts'
import type { Ports } from '../../engine/model/ports.ts'
import type { State } from '../../engine/model/state.ts'
import type { Step } from '../../engine/model/step.ts'
import { nextAttemptStep, nextRunStep } from '../../engine/parallel-steps.ts'
import { UserError } from '../../system/errors.ts'

/** The result of an attempt. `by`: the gate, guard or finding that decided. */
export type PlantVerdict =
  | { kind: 'stopped'; by: string; gates: readonly GateResult[] }
  /** A gate failed, and would have failed without Ralph as well. */
  | { kind: 'red'; by: string; gates: readonly GateResult[] }
  /** In a run, Ralph would ask a fresh session to judge. */
  | { kind: 'asked'; by: string }
  | { kind: 'reported'; by: string }
  | { kind: 'passed' }

/** The state after `prepare` and the baseline, from which every plant begins. Throws UserError if the gates are not green here. */
export async function openBaseline(start: State, limits: Limits, ports: Ports): Promise<State> {
  const end = await run(
    start,
    limits,
    stepsUntil(ports, limits, ({ kind }) => kind === 'reserve'),
  )
  const error = haltError(end.state)
  if (error === null && end.state.baseline !== 'pending') return end.state
  throw new UserError({
    path: 'gates',
    found: `the gates do not pass in a clean clone of your commit: ${error?.summary ?? 'they did not run'}.`,
    expected: '',
    fix: 'fix the gate, or let `prepare` install what it needs; `ralph doctor` runs your gates and shows their output',
  })
}

/** Judges the work that the agent of `ports` leaves for the story. Null if it was cut short. */
export async function judgePlant(
  base: State,
  story: Story,
  limits: Limits,
  ports: Ports,
): Promise<PlantVerdict | null> {
  const events: Event[] = []
  const start = { ...base, prd: { ...base.prd, userStories: [story] } }
  let isOver = false
  const executor = stepsUntil(ports, limits, (step) => isOver || !isOfStory(step))
  await run(start, limits, {
    ...executor,
    recorded(_, event) {
      events.push(event)
      isOver ||= ENDS.has(event.kind)
      return event
    },
  })
  return ports.signal.aborted ? null : verdictOf(events)
}

/** Whether the step is one of a story: one with which every story begins, or one of its attempt. */
function isOfStory(step: Step): boolean {
  return 'attempt' in step || BEGINNING.has(step.kind)
}

const BEGINNING = new Set<Step['kind']>(['sync', 'open', 'prepare', 'reserve'])
const ENDS = new Set<Event['kind']>(['accepted', 'rejected', 'returned'])

/** Does every step in the checkout, until a step of the given kind comes. */
function stepsUntil(ports: Ports, limits: Limits, isEnd: (step: Step) => boolean): Executor {
  return {
    ports,
    isOwn: () => true,
    isFollowed: true,
    next(state, isFree) {
      const step = nextAttemptStep(state, limits, isFree) ?? nextRunStep(state, limits, ports.clock.now())
      return step === null || step.kind === 'stop' || isEnd(step) ? null : step
    },
    place: async (_, view) => ({ at: 'here', ports, view }),
  }
}

function verdictOf(events: readonly Event[]): PlantVerdict {
  const refused = events.find((event) => event.kind === 'refused')
  if (refused !== undefined) return { kind: 'stopped', by: refused.failure.summary, gates: [] }
  const gates = events.flatMap((event) => (event.kind === 'gated' ? event.gates : []))
  const first = gates.filter((gate) => gate.further === undefined)
  const red = first.find((gate) => isRed(gate) && !isService(gate))
  const findings = gateFindings(gates)
  const remarks = events.flatMap((event) => (event.kind === 'gated' ? proofRemarks(event) : []))
  const remark = findings[0] ?? remarks[0]
  if (red !== undefined) {
    const by = `gate ${red.name} (${red.ended})`
    // A gate that counts fewer tests, or none, exits 0: only Ralph sees that.
    return /^exit 0\b/.test(red.ended) || !/^(?:exit|timed)/.test(red.ended)
      ? { kind: 'stopped', by, gates }
      : { kind: 'red', by, gates }
  }
  if (events.some((event) => event.kind === 'judged'))
    return { kind: 'asked', by: findings[0] ?? 'the session changed nothing' }
  if (events.some((event) => event.kind === 'accepted'))
    return remark === undefined ? { kind: 'passed' } : { kind: 'reported', by: remark }
  const [finding = 'it was rejected'] = findings
  return { kind: 'stopped', by: finding, gates }
}
