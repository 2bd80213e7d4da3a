// Steps as they are performed: what a signal does to them.

import assert from 'node:assert/strict'
import test from 'node:test'
import { perform } from '../../../src/loop/perform.ts'
import { newEnding } from '../../../src/model/job.ts'
import type { Ports } from '../../../src/model/ports.ts'
import type { State } from '../../../src/model/state.ts'
import { limitsWith, stateOf, stories } from './samples.ts'

const sleep = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })

/** Ports that nobody may use but for the clock and the signal. */
function only(signal: AbortSignal): Ports {
  const none = new Proxy({}, { get: () => assert.fail('not to be used') })
  const parts: Record<string, unknown> = {
    clock: { now: Date.now, sleep },
    queue: { arrived: async () => false },
    signal,
  }
  return new Proxy(parts, { get: (all, name: string) => all[name] ?? none }) as unknown as Ports
}

function concluded(deadline: number): State {
  const state = stateOf(stories('US-001'))
  const conclusion = { outcome: 'continued' as const, reason: 'the batch is done', until: null }
  const next = { kind: 'limited' as const, until: deadline - 1 }
  const ending = { ...newEnding(conclusion, 0), published: true, next }
  return { ...state, job: { ...state.job, deadline, ending } }
}

const wait = { kind: 'wait', until: Date.now() + 3_600_000, reason: 'a limit' } as const

test('a wait to start the next job ends with a cancel, and with the job', async () => {
  const cancel = new AbortController()
  const waiting = perform(wait, concluded(Date.now() + 3_600_000), limitsWith(), only(cancel.signal))
  cancel.abort()
  assert.equal((await waiting).kind, 'interrupted')
  const never = new AbortController()
  const ended = await perform(wait, concluded(Date.now() + 20), limitsWith(), only(never.signal))
  assert.equal(ended.kind, 'out-of-time')
})
