// The loop: decide, perform, reduce, make durable. The whole product turns here.

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

/** The job's outcome, or the step that another job has to do. */
export type JobEnd = { conclusion: Conclusion; state: State }
export type HandedOver = { step: Step; state: State }

/** Works until the job's outcome. Throws LeaseLost when somebody else took the feature: then nothing more is moved. */
export async function loop(start: State, limits: Limits, ports: Ports): Promise<JobEnd>
/** The same, as far as the steps are `ours`. */
export async function loop(
  start: State,
  limits: Limits,
  ports: Ports,
  ours: (step: Step) => boolean,
): Promise<JobEnd | HandedOver>
export async function loop(start: State, limits: Limits, ports: Ports, ours = (_: Step) => true) {
  try {
    return await turns(start, limits, ports, ours)
  } finally {
    await settleObservers(ports)
  }
}

async function turns(
  start: State,
  limits: Limits,
  ports: Ports,
  ours: (step: Step) => boolean,
): Promise<JobEnd | HandedOver> {
  let state = start
  /**
   * What is told when the state is durable. The end of an iteration and the next reservation are one checkpoint, where
   * nothing between them waits for a network.
   */
  const news: (() => Promise<void>)[] = []
  const checkpoint = async () => {
    if (news.length === 0) return
    await ports.store.save(state)
    for (const one of news.splice(0)) await one()
  }
  const tell = async (one: () => Promise<void>) => {
    if (news.length > 0) news.push(one)
    else await one()
  }
  for (;;) {
    const step = nextStep(state, limits, ports.clock.now())
    const isBetween = step.kind === 'reserve' || (step.kind === 'sync' && ports.queue.isLocal === true)
    if (!isBetween || !ours(step)) await checkpoint()
    if (step.kind === 'stop') return { conclusion: step.conclusion, state }
    if (!ours(step)) return { step, state }
    const before = state
    await tell(() => notifyObservers(ports, (observer) => observer.step?.(step, before)))
    const event = await perform(step, before, limits, ports).catch(async (error: unknown) => {
      // What a session used is in the count, whatever ended the look at what it left.
      if (openAttempt(before)?.phase === 'worked') news.push(async () => {})
      // In a repository that is gone nothing can be saved: why it is, says the first error.
      await checkpoint().catch((lost: unknown) => {
        if (lost instanceof LeaseLost) throw lost
      })
      throw error
    })
    const after = reduce(before, event, limits)
    state = after
    const told = () => notifyObservers(ports, (observer) => observer.event?.(event, after))
    // Once it is published the lease is free, and the state belongs to whoever claims it.
    if (EVENTS[event.kind].durable && after.job.ending?.published !== true) news.push(told)
    else await tell(told)
  }
}

/** Whoever watches a run hears of it one after the other, and cannot disturb it. */
export async function notifyObservers(
  { observers, warn }: Pick<Ports, 'observers' | 'warn'>,
  tell: (observer: Observer) => Promise<void> | undefined,
): Promise<void> {
  for (const observer of observers) {
    try {
      await tell(observer)
    } catch (error) {
      warn(messageOf(error))
    }
  }
}

/** The job is over for all of them at once: who waits for a service does not make the others wait. */
export async function settleObservers({ observers, warn }: Pick<Ports, 'observers' | 'warn'>): Promise<void> {
  await Promise.all(
    observers.map((one) => notifyObservers({ observers: [one], warn }, (it) => it.settle?.())),
  )
}
