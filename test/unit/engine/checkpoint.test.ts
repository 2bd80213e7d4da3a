// What is durable when it is told: the loop itself, with ports that remember what was saved.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runJob } from '../../../src/engine/driver.ts'
import { inCheckout } from '../../../src/engine/executors/in-checkout.ts'
import { type Command, EVENTS } from '../../../src/engine/model/event.ts'
import { openAttempt } from '../../../src/engine/model/job.ts'
import type { Limits } from '../../../src/engine/model/limit-types.ts'
import { LeaseLost, type Ports } from '../../../src/engine/model/ports.ts'
import type { State } from '../../../src/engine/model/state.ts'
import type { Step } from '../../../src/engine/model/step.ts'
import { built, gate, limitsWith, NO_IGNORED, NOW, session, stateOf, stories } from './samples.ts'

type How = {
  limits?: Partial<Limits>
  /** Gates fail in these runs of them, counted from 1. */
  red?: readonly number[]
  /** From this save on nothing can be saved. */
  failing?: { from: number; with: Error }
  /** Cancelled by this save. */
  cancelled?: number
  /** Cancelled while this reservation waits for what a post learns, counted from 1. */
  cancelledAtPost?: number
  /** Nobody is heard from this time on. */
  deaf?: number
  ours?: (step: Step) => boolean
  /** What the commit that ends the run marked in documents. */
  recorded?: { commit?: null; documents: string[]; unmarked: string[] }
  /** What outcomes of before could not mark. */
  unmarked?: string[]
  /** People are heard over a network. */
  network?: boolean
  /** What people say, the given time that they are asked, counted from 1. */
  commands?: { at: number; all: readonly Command[] }
}

/** How far a run has come: nothing of it may be told that is not saved. */
function reached({ prd, timeline, control }: State) {
  const passed = prd.userStories.filter((story) => story.passes).map((story) => story.id)
  return { passed, entries: timeline.length, cursor: control.lastComment }
}

function world(how: How = {}) {
  /** How much had happened when whoever watches was told that it is over. */
  const settled: number[] = []
  const log: string[] = []
  let saved = stateOf(stories('US-001', 'US-002'), {
    published: 'base',
    ...(how.unmarked === undefined ? {} : { unmarked: how.unmarked }),
  })
  let [now, saves, gates, commits, heard, posts] = [NOW, 0, 0, 0, 0, 0]
  const cancel = new AbortController()
  const isSaved = (what: string, state: State) => {
    const [told, kept] = [reached(state), reached(saved)]
    for (const id of told.passed)
      assert.ok(kept.passed.includes(id), `${what} tells of ${id}, which is not saved`)
    assert.ok(kept.entries >= told.entries, `${what} tells of an iteration that is not saved`)
  }
  const ports: Ports = {
    clock: {
      now: () => {
        now += 1
        return now
      },
      sleep: async () => {},
    },
    random: () => 0,
    signal: cancel.signal,
    agent: {
      work: async () => session({}),
      setUp: async () => null,
      judge: async () => assert.fail('nothing is judged'),
      plan: async () => assert.fail('nothing is planned'),
    },
    openCleanRoom: null,
    gates: {
      canPrepare: false,
      prepare: async () => null,
      renew: async () => {},
      run: async () => {
        gates += 1
        return [gate(how.red?.includes(gates) !== true)]
      },
    },
    repository: {
      ignored: NO_IGNORED,
      openForJudge: async () => ({ close: async () => {} }),
      checkOut: async () => ({ conflict: null }),
      storyAt: async () => null,
      edit: async () => ({ kind: 'same' }),
      renew: async () => {},
      inspect: async () => {
        commits += 1
        return { kind: 'candidate', candidate: built(`c${commits}`) }
      },
      restore: async () => false,
      rebase: async () => assert.fail('nothing else landed'),
      workOf: async (_, { base, commit }) => ({ base, tree: commit, dropped: [] }),
      saveWork: async () => ({ base: 'b', tree: `tree ${commits}`, dropped: [] }),
      record: async () => ({
        commit: how.recorded === undefined ? null : 'record',
        documents: [],
        ...how.recorded,
      }),
      join: async () => assert.fail('nobody pushed'),
      read: async () => null,
      history: async () => [],
      asItWas: async () => null,
      withoutProduct: async () => ({ commit: null, changesProduct: false }),
      mutants: async () => [],
      withMutant: async () => null,
      productLines: async () => 1,
    },
    store: {
      // Every store of a remote has it; only the workers of a wave use it.
      loadNewest: async () => assert.fail('no other process saves this state'),
      async save(state) {
        saves += 1
        if (how.failing !== undefined && saves >= how.failing.from) throw how.failing.with
        saved = structuredClone(state)
        log.push('save')
        if (saves === how.cancelled) cancel.abort()
      },
      async publish(state) {
        saved = structuredClone(state)
        log.push('publish')
        return { kind: 'published' }
      },
      peoplesHead: async () => null,
      restore: async () => ({ kind: 'published' }),
    },
    queue: {
      ...(how.network === true ? {} : { isLocal: true }),
      read: async () => {
        heard += 1
        if (how.deaf !== undefined && heard >= how.deaf) throw new Error('nobody answers')
        return heard === how.commands?.at ? [...how.commands.all] : []
      },
      waiting: async () => false,
      arrived: async () => false,
    },
    dispatch: { dispatch: async () => ({ kind: 'dispatched', runId: null }) },
    observers: [
      {
        async step(step, state) {
          isSaved(`the step ${step.kind}`, state)
          if (step.kind !== 'stop') log.push(`> ${step.kind}`)
        },
        async event(event, state) {
          isSaved(event.kind, state)
          const isKept = openAttempt(saved)?.storyId === openAttempt(state)?.storyId
          if (event.kind === 'reserved') assert.ok(isKept, 'a reservation is told that is not saved')
          if (EVENTS[event.kind].isDurable) log.push(event.kind)
        },
        async settle() {
          settled.push(log.length)
        },
      },
    ],
    pullRequest: {
      newIds: async () => {
        posts += 1
        if (posts === how.cancelledAtPost) cancel.abort()
        return {}
      },
      beforePublish: async (state) => state.github,
      opened: async (state) => state.github,
      finished: async (state) => state.github,
      merged: async () => false,
    },
    warn: (message) => assert.fail(message),
  }
  const limits = limitsWith(how.limits)
  const run = () => runJob(saved, limits, inCheckout(limits, ports, how.ours ?? (() => true)))
  return { log, run, saved: () => saved, settled }
}

/** From the first reservation to the end of the last iteration, without the steps of an iteration. */
function checkpoints(log: readonly string[]): string {
  const quiet = ['> agent', '> guard', '> gates', '> accept', '> reject']
  const shown = log.filter((line) => !quiet.includes(line))
  const begin = shown.indexOf('> reserve')
  return shown.slice(begin, shown.indexOf('> conclude')).join(' ')
}

test('the end of an iteration and the next reservation are saved as one checkpoint, and notified in their order', async () => {
  const { log, run, saved } = world()
  await run()
  const between = 'accepted > sync > reserve reserved'
  assert.equal(checkpoints(log), `> reserve save reserved save ${between} save accepted > sync`)
  assert.deepEqual(reached(saved()).passed, ['US-001', 'US-002'])
})

test('a rejection and the next reservation are saved as one checkpoint, with the rejected work', async () => {
  const { log, run, saved } = world({ red: [1], limits: { maxIterations: 2 } })
  const { state } = (await run()) as { state: State }
  const between = 'rejected > sync > reserve reserved'
  assert.equal(checkpoints(log), `> reserve save reserved save ${between} save accepted > sync`)
  assert.deepEqual(
    saved().timeline.map(({ storyId, result }) => [storyId, result]),
    state.timeline.map(({ storyId, result }) => [storyId, result]),
  )
  assert.equal(saved().timeline.length, 2)
})

test('an iteration is saved before comments are read over the network, in one push with the next reservation', async () => {
  const { log, run, saved } = world({ network: true })
  await run()
  const next = 'save accepted > sync > reserve reserved'
  assert.equal(checkpoints(log), `> reserve save reserved ${next} save accepted > sync`)
  assert.deepEqual(reached(saved()).passed, ['US-001', 'US-002'])
  assert.equal(saved().prd.run.iterations, 2)
})

test('comments read after a checkpoint are saved before the next session, and the early reservation is not counted', async () => {
  const note: Command = { kind: 'note', stories: ['US-002'], guidance: 'in blue', id: 7, by: 'alice' }
  const noted = world({ network: true, commands: { at: 2, all: [note] } })
  await noted.run()
  const again = 'save accepted > sync save > reserve reserved'
  assert.equal(checkpoints(noted.log), `> reserve save reserved ${again} save accepted > sync`)
  assert.equal(noted.saved().control.lastComment, 7)
  assert.deepEqual([noted.saved().prd.run.iterations, noted.saved().records['US-002']?.attempts], [2, 1])

  const skip: Command = { kind: 'skip', stories: ['US-002'], guidance: '', id: 8, by: 'alice' }
  const skipped = world({ network: true, commands: { at: 2, all: [skip] } })
  await skipped.run()
  assert.equal(checkpoints(skipped.log), '> reserve save reserved save accepted > sync save')
  assert.deepEqual(skipped.saved().attempts, {})
  assert.equal(skipped.saved().prd.run.iterations, 1)
})

test('a pushed iteration, or one before another job, is saved and notified first', async () => {
  const each = world({ limits: { publishEach: true } })
  await each.run()
  const push = '> sync > push publish'
  assert.equal(
    checkpoints(each.log),
    `> reserve save reserved save accepted ${push} > reserve save reserved save accepted > sync`,
  )
  const ours = (step: Step) => step.kind !== 'reserve' || step.storyId === 'US-001'
  const handed = world({ ours })
  const ended = await handed.run()
  assert.ok('step' in ended && ended.step.kind === 'reserve')
  assert.equal(handed.log.slice(-3).join(' '), 'save accepted > sync')
})

test('an iteration at a limit is saved and notified before the run concludes', async () => {
  const { log, run } = world({ limits: { maxIterations: 1 } })
  await run()
  assert.equal(checkpoints(log), '> reserve save reserved save accepted > sync')
})

for (const error of [new Error('the disk is full'), new LeaseLost('taken')]) {
  test(`a failed save sends no notification (${error.message})`, async () => {
    for (let from = 1; from <= 3; from++) {
      const { log, run, saved } = world({ failing: { from, with: error } })
      await assert.rejects(run(), error)
      const told = log.filter((line) => line === 'accepted')
      assert.equal(told.length, reached(saved()).passed.length, `at save ${from}`)
      assert.equal(log.filter((line) => line === 'save').length, from - 1)
      assert.ok(!log.slice(log.indexOf('> reserve')).includes('publish'))
    }
  })
}

test('a run cancelled at a joint checkpoint gives the reservation back', async () => {
  const { log, run, saved } = world({ cancelled: 2 })
  await run()
  assert.match(log.join(' '), /save accepted > sync > reserve reserved .*save returned/)
  assert.equal(openAttempt(saved()), null)
  assert.deepEqual(reached(saved()).passed, ['US-001'])
  assert.equal(saved().prd.run.iterations, 1)
})

test('when comments cannot be read, the iteration is saved and no reservation is left', async () => {
  for (const network of [false, true]) {
    const { run, saved } = world({ deaf: 2, network })
    await assert.rejects(run(), /nobody answers/)
    assert.deepEqual(reached(saved()).passed, ['US-001'])
    assert.deepEqual(saved().attempts, {})
  }
})

test('a run cancelled while comments are read keeps no reservation', async () => {
  const { run, saved } = world({ cancelled: 2, network: true })
  await run()
  assert.deepEqual(saved().attempts, {})
  assert.deepEqual(reached(saved()).passed, ['US-001'])
  assert.deepEqual([saved().prd.run.iterations, saved().records['US-002']?.attempts], [1, undefined])
})

test('a run cancelled while it waits for a post saves what passed, and reserves nothing', async () => {
  const { log, run, saved } = world({ cancelledAtPost: 2, network: true })
  await run()
  assert.match(log.join(' '), /> accept save accepted > sync/)
  assert.deepEqual(saved().attempts, {})
  assert.deepEqual(reached(saved()).passed, ['US-001'])
})

test('observers are notified last that the job is over, also when another job took the lease', async () => {
  const well = world()
  await well.run()
  const taken = world({ failing: { from: 2, with: new LeaseLost('run 7') } })
  await assert.rejects(taken.run(), LeaseLost)
  for (const { log, settled } of [well, taken]) assert.deepEqual(settled, [log.length])
})

test('stories that could not be marked are in the published state until an outcome marks them', async () => {
  const rows: [recorded: string[] | null, unmarked: string[] | undefined, left: string[] | undefined][] = [
    [['US-002'], undefined, ['US-002']],
    [['US-002'], ['US-001'], ['US-002']],
    [[], ['US-001'], undefined],
    [null, ['US-001'], ['US-001']],
    [[], undefined, undefined],
  ]
  const uncommitted: typeof rows = [
    [['US-002'], undefined, ['US-002']],
    [[], ['US-001'], undefined],
  ]
  for (const [ids, before, left] of uncommitted) {
    const recorded = { commit: null, documents: [], unmarked: ids ?? [] }
    const { run, saved } = world({ recorded, ...(before === undefined ? {} : { unmarked: before }) })
    const { state } = (await run()) as { state: State }
    assert.deepEqual([saved().unmarked, state.unmarked], [left, left])
    assert.doesNotMatch(saved().green, /record/)
  }
  for (const [ids, before, left] of rows) {
    const { run, saved } = world({
      ...(ids === null ? {} : { recorded: { documents: ['a.md'], unmarked: ids } }),
      ...(before === undefined ? {} : { unmarked: before }),
    })
    const { state } = (await run()) as { state: State }
    assert.deepEqual([saved().unmarked, state.unmarked], [left, left])
    assert.deepEqual(saved().documents, ids === null ? undefined : ['a.md'])
  }
})
