// Steps as they are performed: what a signal does to them.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { AttemptIn } from '../../../src/engine/model/attempt.ts'
import type { Command } from '../../../src/engine/model/event.ts'
import { newEnding } from '../../../src/engine/model/job.ts'
import type { Ports } from '../../../src/engine/model/ports.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { perform } from '../../../src/engine/perform.ts'
import { reduce } from '../../../src/engine/reduce.ts'
import { limitsWith, session, stateOf, stories } from './samples.ts'

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

test('a wait to dispatch the next job ends by a cancel, and with the job', async () => {
  const cancel = new AbortController()
  const waiting = perform(wait, concluded(Date.now() + 3_600_000), limitsWith(), only(cancel.signal))
  cancel.abort()
  assert.equal((await waiting).kind, 'interrupted')
  const never = new AbortController()
  const ended = await perform(wait, concluded(Date.now() + 20), limitsWith(), only(never.signal))
  assert.equal(ended.kind, 'out-of-time')
})

const attempt: AttemptIn<'worked'> = {
  ...{ phase: 'worked', storyId: 'US-001', number: 1, iteration: 1, agent: 'first', base: 'a' },
  ...{ startedAt: 0, reserved: { costUsd: null, tokens: null }, unwanted: false, session: session({}) },
  ...{ runner: { at: 'checkout' } },
}

test("an error while a session's work is inspected rejects the attempt, with the tree restored", async () => {
  const state = stateOf(stories('US-001'))
  const restored: string[] = []
  const ports = (canRestore: boolean) =>
    ({
      ...{ clock: { now: Date.now, sleep }, signal: new AbortController().signal },
      repository: {
        inspect: () => Promise.reject(new RangeError('Maximum call stack size exceeded')),
        async restore(commit: string) {
          restored.push(commit)
          if (!canRestore) throw new Error('the clone is damaged')
          return true
        },
      },
    }) as unknown as Ports
  const event = await perform({ kind: 'guard', attempt }, state, limitsWith(), ports(true))
  assert.deepEqual(restored, [state.green])
  assert.ok(event.kind === 'refused')
  assert.equal(event.failure.kind, 'guard')
  assert.match(event.failure.detail, /Maximum call stack/)
  await assert.rejects(perform({ kind: 'guard', attempt }, state, limitsWith(), ports(false)), /damaged/)
})

test('work that cannot be read is not saved, and the story goes on', async () => {
  const state = stateOf(stories('US-001'))
  const ports = {
    ...{ clock: { now: Date.now, sleep }, signal: new AbortController().signal },
    repository: {
      saveWork: () => Promise.reject(new RangeError('Maximum call stack size exceeded')),
      checkOut: async () => ({ conflict: null }),
    },
  } as unknown as Ports
  const failure = { kind: 'guard' as const, summary: 'x', detail: '' }
  const failed = { ...attempt, phase: 'failed' as const, remarks: [], gates: [], failure }
  const event = await perform({ kind: 'reject', attempt: failed }, state, limitsWith(), ports)
  assert.deepEqual({ ...event, at: 0 }, { at: 0, kind: 'rejected', storyId: 'US-001', kept: null })
})

test('a job that finds branch and pull request unchanged pushes nothing to open them', async () => {
  const before = stateOf(stories('US-001'), { published: 'base' })
  const left: State = {
    ...before,
    green: 'base',
    github: { pull: 1, pullUrl: null, comment: 2, head: 'base', unclosed: [] },
    job: { ...before.job, startedAt: Date.now(), deadline: Date.now() + 3_600_000 },
  }
  const done: string[] = []
  const ports: Ports = {
    ...only(new AbortController().signal),
    clock: { now: Date.now, sleep },
    repository: { checkOut: async () => ({ conflict: null }) } as unknown as Ports['repository'],
    store: {
      publish: async () => {
        done.push('publish')
        return { kind: 'published' }
      },
    } as unknown as Ports['store'],
    pullRequest: {
      beforePublish: async ({ github }: State) => github,
      opened: async ({ github }: State) => {
        done.push('opened')
        return github
      },
    } as unknown as Ports['pullRequest'],
  }
  const open = async (change: Partial<State>) => {
    done.length = 0
    const { kind } = await perform({ kind: 'open' }, { ...left, ...change }, limitsWith(), ports)
    assert.equal(kind, 'opened')
    return [...done]
  }
  assert.deepEqual(await open({}), ['opened'])
  const pushed = ['publish', 'opened']
  assert.deepEqual(await open({ green: 'more' }), pushed, 'people are to see it')
  assert.deepEqual(await open({ github: { ...left.github, pull: null } }), pushed)
  assert.deepEqual(await open({ github: { ...left.github, head: 'old' } }), pushed)
  assert.deepEqual(await open({ github: { ...left.github, unclosed: ['old'] } }), pushed)
  assert.deepEqual(await open({ job: { ...left.job, branch: { kind: 'refused' } } }), pushed)
  const long = { ...left.job, startedAt: Date.now() - 6 * 60_000 }
  assert.deepEqual(await open({ job: long }), pushed, 'the lease is renewed')
})

test('a reservation saves what background posts learned of GitHub', async () => {
  const before = stateOf(stories('US-001'), { published: 'base' })
  const known = { pull: 1, pullUrl: 'url', comment: null, head: 'base', unclosed: ['old'] }
  const state = { ...before, github: known }
  const ports: Ports = {
    ...only(new AbortController().signal),
    pullRequest: { newIds: async () => ({ comment: 2 }) } as unknown as Ports['pullRequest'],
  }
  const event = await perform({ kind: 'reserve', storyId: 'US-001' }, state, limitsWith(), ports)
  assert.deepEqual(reduce(state, event, limitsWith()).github, { ...known, comment: 2 })
})

test('after new comments the branch is fetched again, since people may have pushed before', async () => {
  const state = stateOf(stories('US-001'), { published: 'base' })
  const asked: string[] = []
  const looks = async (commands: Command[]) => {
    const ports: Ports = {
      ...only(new AbortController().signal),
      queue: { read: async () => commands } as unknown as Ports['queue'],
      store: {
        peoplesHead: async (_: State, isAnew: boolean) => {
          asked.push(isAnew ? 'anew' : 'as seen')
          return null
        },
      } as unknown as Ports['store'],
    }
    return perform({ kind: 'sync' }, state, limitsWith(), ports)
  }
  await looks([])
  await looks([{ kind: 'run', id: 7, by: 'alice' }])
  assert.deepEqual(asked, ['as seen', 'anew'])
})
