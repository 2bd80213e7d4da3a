// Whoever watches a run hears of it one after the other, and cannot disturb it.
import type { Observer, Ports } from '../model/ports.ts'
import { messageOf } from '../system/errors.ts'

export async function announce(
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
export async function settled({ observers, warn }: Pick<Ports, 'observers' | 'warn'>): Promise<void> {
  await Promise.all(
    observers.map((one) => announce({ observers: [one], warn }, (observer) => observer.settle?.())),
  )
}
