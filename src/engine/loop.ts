// The loop: decide, perform, reduce, make durable.

import { messageOf } from '../system/errors.ts'
import { EVENTS } from './model/event.ts'
import { openAttempt } from './model/job.ts'
import type { Limits } from './model/limit-types.ts'
import { LeaseLost, type Observer, type Ports } from './model/ports.ts'
import type { Conclusion, State } from './model/state.ts'
import type { Step } from './model/step.ts'
import { nextStep } from './next-step.ts'
import { perform } from './perform.ts'
import { reduce } from './reduce.ts'
import { isStillNext, reserveAhead } from './reserve-ahead.ts'

/** The end of a job: its conclusion and the last state. */
export type JobEnd = { conclusion: Conclusion; state: State }
/** The step that another job has to do. */
export type HandedOver = { step: Step; state: State }

/** Works until the job's outcome. Throws LeaseLost if another run has taken the feature: then nothing more is pushed. */
export async function loop(start: State, limits: Limits, ports: Ports): Promise<JobEnd>
/** The same, but only until the first step that is not this job's own. */
export async function loop(
  start: State,
  limits: Limits,
  ports: Ports,
  isOwnStep: (step: Step) => boolean,
): Promise<JobEnd | HandedOver>
export async function loop(start: State, limits: Limits, ports: Ports, isOwnStep = (_: Step) => true) {
  try {
    return await runSteps(start, limits, ports, isOwnStep)
  } finally {
    await settleObservers(ports)
  }
}

async function runSteps(
  start: State,
  limits: Limits,
  ports: Ports,
  isOwnStep: (step: Step) => boolean,
): Promise<JobEnd | HandedOver> {
  let state = start
  /**
   * Notifications for observers that wait until the state is durable. The end of an iteration and the next reservation share a
   * checkpoint: where people are asked between them over a network, the reservation is made ahead of that.
   */
  const pendingNotifications: (() => Promise<void>)[] = []
  const checkpoint = async (saved = state) => {
    if (pendingNotifications.length === 0) return
    await ports.store.save(saved)
    for (const notify of pendingNotifications.splice(0)) await notify()
  }
  const notifyInOrder = async (notify: () => Promise<void>) => {
    if (pendingNotifications.length > 0) pendingNotifications.push(notify)
    else await notify()
  }
  /** The state at the next checkpoint differs from what is saved, although there is nothing to notify of. */
  const markUnsaved = () => pendingNotifications.push(async () => {})
  for (;;) {
    const step = nextStep(state, limits, ports.clock.now())
    const isBetween = step.kind === 'reserve' || (step.kind === 'sync' && ports.queue.isLocal === true)
    const isToAsk = step.kind === 'sync' && !isBetween && pendingNotifications.length > 0
    const ahead = isToAsk && isOwnStep(step) ? await reserveAhead(state, limits, ports, isOwnStep) : null
    if (!isBetween || !isOwnStep(step)) await checkpoint(ahead?.state)
    if (step.kind === 'stop') return { conclusion: step.conclusion, state }
    if (!isOwnStep(step)) return { step, state }
    const before = state
    await notifyInOrder(() => notifyObservers(ports, (observer) => observer.step?.(step, before)))
    const event = await perform(step, before, limits, ports).catch(async (error: unknown) => {
      // The usage of the session has to be saved, whatever error its work caused.
      if (ahead !== null || openAttempt(before)?.phase === 'worked') markUnsaved()
      // Saving may fail because the repository is lost. The first error is the one to report.
      await checkpoint().catch((lost: unknown) => {
        if (lost instanceof LeaseLost) throw lost
      })
      throw error
    })
    const after = reduce(before, event, limits)
    state = after
    const notify = () => notifyObservers(ports, (observer) => observer.event?.(event, after))
    // After the publish the lease is free, and the state belongs to the next job that claims it.
    const isToSave = EVENTS[event.kind].isDurable && after.job.ending?.published !== true
    if (isToSave) pendingNotifications.push(notify)
    else await notifyInOrder(notify)
    if (ahead === null) continue
    if (!isStillNext(ahead, event, after, limits, ports.clock.now())) {
      markUnsaved()
      continue
    }
    state = ahead.state
    await notifyObservers(ports, (observer) => observer.step?.(ahead.step, after))
    await notifyObservers(ports, (observer) => observer.event?.(ahead.event, ahead.state))
  }
}

/** Notifies the observers one after the other. An observer's error is a warning. */
export async function notifyObservers(
  { observers, warn }: Pick<Ports, 'observers' | 'warn'>,
  notify: (observer: Observer) => Promise<void> | undefined,
): Promise<void> {
  for (const observer of observers) {
    try {
      await notify(observer)
    } catch (error) {
      warn(messageOf(error))
    }
  }
}

/** Lets all observers finish at the same time, so that none waits for another's service. */
export async function settleObservers({ observers, warn }: Pick<Ports, 'observers' | 'warn'>): Promise<void> {
  await Promise.all(
    observers.map((one) => notifyObservers({ observers: [one], warn }, (it) => it.settle?.())),
  )
}
