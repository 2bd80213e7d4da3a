// Concurrency groups: one holder each, over all workflow files of the repository (facts 6.1).
import { deferred } from '../deferred.ts'

export interface Policy {
  group: string
  cancelInProgress: boolean
  queue: 'single' | 'max'
}
export interface Place {
  /** `run` when it is its turn; `cancelled` when it was pushed out of the queue. */
  turn: Promise<'run' | 'cancelled'>
  /** Whether it has to wait. */
  isPending: () => boolean
  /** Leaves the group, or the queue. */
  leave: () => void
}
interface Entry {
  resolve: (turn: 'run' | 'cancelled') => void
  cancel: () => void
}

const longestQueue = 100

export class Groups {
  readonly #holders = new Map<string, Entry>()
  readonly #waiting = new Map<string, Entry[]>()

  /** Takes a place in a group; `cancel` is called when a newcomer with `cancel-in-progress` ends the holder. */
  enter(policy: Policy, cancel: () => void): Place {
    const key = policy.group.toLowerCase()
    const { promise, resolve } = deferred<'run' | 'cancelled'>()
    const entry: Entry = { resolve, cancel }
    const holder = this.#holders.get(key)
    if (holder === undefined) {
      this.#holders.set(key, entry)
      resolve('run')
    } else {
      this.#wait(key, policy, entry)
      if (policy.cancelInProgress) holder.cancel()
    }
    return {
      turn: promise,
      isPending: () => (this.#waiting.get(key) ?? []).includes(entry),
      leave: () => this.#leave(key, entry),
    }
  }

  #wait(key: string, policy: Policy, entry: Entry): void {
    const waiting = this.#waiting.get(key) ?? []
    this.#waiting.set(key, waiting)
    if (policy.queue === 'single' || policy.cancelInProgress) {
      for (const older of waiting.splice(0)) older.resolve('cancelled')
    } else if (waiting.length >= longestQueue) {
      entry.resolve('cancelled')
      return
    }
    waiting.push(entry)
  }

  #leave(key: string, entry: Entry): void {
    const waiting = this.#waiting.get(key) ?? []
    const at = waiting.indexOf(entry)
    if (at >= 0) {
      waiting.splice(at, 1)
      entry.resolve('cancelled')
    }
    if (this.#holders.get(key) !== entry) return
    this.#holders.delete(key)
    const next = waiting.shift()
    if (next === undefined) return
    this.#holders.set(key, next)
    next.resolve('run')
  }
}
