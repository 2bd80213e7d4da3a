// Tells the observers of a run what happens. An observer's error is a warning and changes nothing.

import { messageOf } from '../system/errors.ts'
import type { Observer, Ports } from './model/ports.ts'

type Told = Pick<Ports, 'observers' | 'warn'>

/** Notifies the observers one after the other. */
export async function notifyObservers(
  { observers, warn }: Told,
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
export async function settleObservers({ observers, warn }: Told): Promise<void> {
  await Promise.all(
    observers.map((one) => notifyObservers({ observers: [one], warn }, (it) => it.settle?.())),
  )
}
