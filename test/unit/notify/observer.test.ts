// The notifier as an observer: it is never waited for but at the end, and there for a bounded time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Event } from '../../../src/engine/model/event.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { Notifier } from '../../../src/notify/observer.ts'
import type { Receiver } from '../../../src/notify/receivers.ts'
import type { Notice } from '../../../src/notify/state-changes.ts'
import { limitsWith, NOW } from '../engine/samples.ts'
import { midRun } from '../report/samples.ts'

const facts = {
  limits: limitsWith(),
  surface: 'cli' as const,
  every: 1,
  repository: null,
  redact: (text: string) => text,
}
const signal = new AbortController().signal
const waited: Event = { kind: 'waited', at: NOW }

function iterations(count: number): State {
  const state = midRun()
  return { ...state, prd: { ...state.prd, run: { ...state.prd.run, iterations: count } } }
}

test('notifications go to each receiver in order, and a slow one delays neither the run nor the others', async () => {
  const told: string[] = []
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const receiver = (kind: Receiver['kind'], until: Promise<void>): Receiver => ({
    kind,
    deliver: async ({ iterations: count }: Notice) => {
      await until
      told.push(`${kind} ${count}`)
      return { ok: true, detail: '' }
    },
  })
  const receivers = [receiver('slack', held), receiver('custom', Promise.resolve())]
  const warn = (text: string) => assert.fail(text)
  const notifier = new Notifier({ receivers, facts, signal, warn })
  const step = { kind: 'verify' } as const
  await notifier.step(step, iterations(0))
  for (const count of [1, 2, 2, 3]) await notifier.event(waited, iterations(count))
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(told, ['custom 1', 'custom 2', 'custom 3'])
  release()
  await notifier.settle()
  assert.deepEqual(told.slice(3), ['slack 1', 'slack 2', 'slack 3'])
})

test('a job waits a few seconds at most for receivers, and warns once of a failing one', async () => {
  const warnings: string[] = []
  const receivers: Receiver[] = [
    {
      kind: 'slack',
      deliver: (_notice, stop) =>
        new Promise((resolve) =>
          stop.addEventListener('abort', () => resolve({ ok: false, detail: 'stopped' })),
        ),
    },
    { kind: 'teams', deliver: async () => ({ ok: false, detail: '::error::HTTP 500 \u001b[31mred' }) },
  ]
  const warn = (text: string) => void warnings.push(text)
  const notifier = new Notifier({ receivers, facts, signal, warn, patienceMs: 50 })
  await notifier.step({ kind: 'verify' }, iterations(0))
  for (const count of [1, 2]) await notifier.event(waited, iterations(count))
  await notifier.settle()
  assert.deepEqual(warnings, [
    'notify: Ralph could not send a message to teams: : :error::HTTP 500 red',
    'notify: Ralph could not send a message to slack: the service did not answer in time',
  ])
})
