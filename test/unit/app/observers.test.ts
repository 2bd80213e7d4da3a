// Where the command of `notify` begins, at every level of isolation; and of what went wrong nothing hides.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { notifyError, observersOf } from '../../../src/app/observers.ts'
import type { PortOptions } from '../../../src/app/port-options.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { NOW } from '../engine/samples.ts'
import { midRun } from '../report/samples.ts'
import { right } from '../settings/reading.ts'

function after(iterations: number): State {
  const state = midRun()
  return { ...state, prd: { ...state.prd, run: { ...state.prd.run, iterations } } }
}

for (const isolation of ['same-user', 'other-user', 'separate-job'] as const) {
  test(`${isolation}: a notification command starts in the work tree only if the agent is the same user`, async () => {
    const workTree = await realpath(await mkdtemp(join(tmpdir(), 'ralph-notify-')))
    const began = join(workTree, 'began')
    const custom = `pwd -P > ${began}`
    const { settings } = right({ inputs: { isolation, notify: `custom: ${custom}\nevery: 1` } })
    const workspace = { clone: { workTree }, redactor: { redact: (text: string) => text } }
    const told: string[] = []
    const [notifier] = await observersOf({
      settings,
      env: { PATH: process.env.PATH },
      workspace,
      // Nobody is another user in a job of separate-job: what is null says nothing.
      as: null,
      signal: new AbortController().signal,
      warn: (text: string) => void told.push(text),
    } as unknown as PortOptions)
    assert.ok(notifier !== undefined)
    await notifier.step?.({ kind: 'verify' }, after(0))
    await notifier.event?.({ kind: 'waited', at: NOW }, after(1))
    await notifier.settle?.()
    assert.deepEqual(told, [])
    const folder = (await readFile(began, 'utf8')).trim()
    assert.equal(folder, isolation === 'same-user' ? workTree : await realpath(tmpdir()))
    await rm(workTree, { recursive: true })
  })
}

test('a notification that cannot be sent is a warning, and the original error is reported', async () => {
  const { settings } = right({ inputs: { notify: 'slack: https://hooks.slack.com/services/T0/B0/x' } })
  const told: string[] = []
  const place = {
    settings: { ...settings, notify: { ...settings.notify, slack: 'no address' } },
    env: {},
    workTree: '/nowhere',
    signal: new AbortController().signal,
    warn: (text: string) => void told.push(text),
  }
  await notifyError(new Error('the disk is full'), place, null, null)
  assert.match(told.join(), /^Ralph could not send a notification: Invalid URL$/)
})
