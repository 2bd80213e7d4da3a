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
