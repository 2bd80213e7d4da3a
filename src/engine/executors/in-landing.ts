// What the land job of `isolation: separate-job` does: it lands what the work job and the gate job handed over, and begins nothing.

import type { Executor } from '../driver.ts'
import { EVENTS, type Event } from '../model/event.ts'
import type { Limits } from '../model/limit-types.ts'
import type { Ports } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import type { Step } from '../model/step.ts'
import { concludeLanding, landsFirst } from '../next-step.ts'
import { contestOf } from '../state/contests.ts'
import { inPart } from './in-part.ts'

/**
 * What was handed over: an attempt, or work for the whole feature. `lost`: it never arrived. `several`: the attempts of a matrix, whose
 * gates ran as a train.
 */
export type HandedWork = 'attempt' | 'several' | 'baseline' | 'join' | 'edit' | 'verify' | 'plan' | 'lost'

/** `take`: the event of a step that another job did. */
export function inLanding(
  limits: Limits,
  ports: Ports,
  handed: HandedWork,
  take: (step: Step, state: State) => Promise<Event>,
): Executor {
  const own = inPart(limits, ports, { part: 'land', take })
  const landing = new Landing(handed)
  return {
    ...own,
    next(state, isFree) {
      const step = own.next(state, isFree)
      return step === null || 'event' in step ? step : landing.stepFor(step, state)
    },
    recorded(step, event) {
      landing.saw(event)
      return own.recorded === undefined ? event : own.recorded(step, event)
    },
  }
}

/** Says of each step of the run whether this job does it; everything else is left to the next job, and this one ends. */
export class Landing {
  readonly #isMatrix: boolean
  /** The whole feature's work that was handed over and has not landed yet. */
  #toLand: HandedWork | null

  constructor(handed: HandedWork) {
    this.#isMatrix = handed === 'several'
    this.#toLand = handed
  }

  /** The step itself, or the end of the job. */
  stepFor(step: Step, state: State): Step {
    return this.#does(step, state) ? step : concludeLanding(state)
  }

  saw(event: Event): void {
    if (EVENTS[event.kind].isForFeature) this.#toLand = null
  }

  #does(step: Step, state: State): boolean {
    const of = this.#toLand
    switch (step.kind) {
      case 'baseline':
        return of === 'baseline'
      case 'join':
      case 'gate-join':
        return of === 'join'
      case 'verify':
      case 'judge-whole':
        return of === 'verify'
      case 'edit':
      case 'gate-edit':
        return of === 'edit'
      case 'plan':
        return of === 'plan'
      case 'open':
      case 'push':
      case 'wait':
        return of === 'verify' || of === 'plan'
      case 'decide':
        // A candidate that has to be rebased is gated again, and no gate runs in this job.
        return !this.#isMatrix && contestOf(state, step.storyId)?.base === state.green
      case 'reserve':
      case 'examples':
      case 'answer':
        return false
      case 'conclude':
        // Candidates that wait for their gates get them before a limit ends the run.
        return (
          step.conclusion.outcome !== 'continued' &&
          !(landsFirst(step.conclusion) && state.waiting !== undefined)
        )
      default:
        return true
    }
  }
}
