// Runs gates side by side, in the configured order as far as `needs` and `alone` allow, until the first that blocks.
import type { Gate, GateResult } from '../engine/model/gate.ts'

/** Runs one gate. `slot`: a number from 1 that no other running gate has. The signal aborts when another gate has failed. */
type Perform = (gate: Gate, slot: number, signal: AbortSignal) => Promise<GateResult>

/**
 * The results of finished gates, in the order of `gates`. At most `most` gates run at a time. When a gate blocks, the running ones are
 * ended and have no result, as if they had not run. `goesOn` is checked before each gate. An error of `perform` is thrown once all
 * others have ended.
 */
export async function sideBySide(
  gates: readonly Gate[],
  most: number,
  signal: AbortSignal,
  {
    perform,
    blocks,
    goesOn,
  }: { perform: Perform; blocks: (result: GateResult) => boolean; goesOn: () => boolean },
): Promise<GateResult[]> {
  const waiting = [...gates]
  const running = new Map<Gate, Promise<void>>()
  const done = new Map<string, GateResult>()
  // The last free slot is taken first, so the first gate gets slot 1.
  const freeSlots = Array.from({ length: most }, (_, index) => most - index)
  const stop = new AbortController()
  const stopOrCancel = AbortSignal.any([signal, stop.signal])
  const errors: unknown[] = []

  const begin = async (gate: Gate, slot: number) => {
    const result = await perform(gate, slot, stopOrCancel).catch((error: unknown) => {
      errors.push(error)
      stop.abort()
    })
    freeSlots.push(slot)
    running.delete(gate)
    if (result === undefined || stop.signal.aborted) return
    done.set(gate.name, result)
    if (blocks(result)) stop.abort()
  }
  for (;;) {
    const isOver = stop.signal.aborted || signal.aborted || !goesOn()
    const next = isOver ? undefined : waiting.find((gate) => mayBegin(gate, gates, running, done, most))
    const slot = freeSlots.at(-1)
    if (next !== undefined && slot !== undefined) {
      freeSlots.pop()
      waiting.splice(waiting.indexOf(next), 1)
      running.set(next, begin(next, slot))
    } else if (running.size > 0) await Promise.race(running.values())
    else break
  }
  if (errors.length > 0) throw errors[0]
  return gates.flatMap(({ name }) => done.get(name) ?? [])
}

/** Whether a gate may start now. A gate with retries runs alone, because the tree is restored before each try. */
function mayBegin(
  gate: Gate,
  all: readonly Gate[],
  running: ReadonlyMap<Gate, unknown>,
  done: ReadonlyMap<string, GateResult>,
  most: number,
): boolean {
  const isAlone = ({ alone, retries = 0 }: Gate) => alone === true || retries > 0
  // A needed gate that does not run this time is not waited for.
  const isReady = (gate.needs ?? []).every(
    (needed) => done.has(needed) || !all.some(({ name }) => name === needed),
  )
  if (!isReady || running.size >= most) return false
  return running.size === 0 || (!isAlone(gate) && ![...running.keys()].some(isAlone))
}
