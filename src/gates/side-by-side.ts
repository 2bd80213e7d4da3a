// Runs gates side by side, in the configured order as far as `needs` and `alone` allow, until the first that blocks.
import type { Gate, GateResult } from '../engine/model/gate.ts'

/** Runs one gate. `slot`, from 1, is used by no other gate meanwhile. The signal aborts when another gate has failed. */
type Perform = (gate: Gate, slot: number, signal: AbortSignal) => Promise<GateResult>

/**
 * The results of finished gates, in the order of `gates`. When a gate blocks, running ones are ended and have no result, as if they
 * had not run. `goesOn` is checked before each gate. An error of `perform` is thrown once all others have ended.
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
  const slots = Array.from({ length: most }, (_, at) => most - at)
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal])

  const thrown: unknown[] = []

  const begin = async (gate: Gate, slot: number) => {
    const result = await perform(gate, slot, either).catch((error: unknown) => {
      thrown.push(error)
      stop.abort()
    })
    slots.push(slot)
    running.delete(gate)
    if (result === undefined || stop.signal.aborted) return
    done.set(gate.name, result)
    if (blocks(result)) stop.abort()
  }
  for (;;) {
    const isOver = stop.signal.aborted || signal.aborted || !goesOn()
    const next = isOver ? undefined : waiting.find((gate) => mayBegin(gate, gates, running, done, most))
    const slot = slots.at(-1)
    if (next !== undefined && slot !== undefined) {
      slots.pop()
      waiting.splice(waiting.indexOf(next), 1)
      running.set(next, begin(next, slot))
    } else if (running.size > 0) await Promise.race(running.values())
    else break
  }
  if (thrown.length > 0) throw thrown[0]
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
  const isReady = (gate.needs ?? []).every((name) => done.has(name) || !all.some((one) => one.name === name))
  if (!isReady || running.size >= most) return false
  return running.size === 0 || (!isAlone(gate) && ![...running.keys()].some(isAlone))
}
