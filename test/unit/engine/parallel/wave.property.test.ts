// Workers of a wave: n processes with one state, killed at random, people speaking in between. What the state comes to is what one
// process would have made of the same events.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runWaveJob } from '../../../../src/action/jobs/wave-jobs.ts'
import { refundAll } from '../../../../src/engine/attempts/attempt-events.ts'
import { withoutWorkers } from '../../../../src/engine/attempts/lost-attempts.ts'
import { run, runToEnd } from '../../../../src/engine/driver.ts'
import { inCheckout } from '../../../../src/engine/executors/in-checkout.ts'
import { inWave, type Worker } from '../../../../src/engine/executors/in-wave.ts'
import { Journal } from '../../../../src/engine/journal.ts'
import { assignedWorker, idOf, isChosen } from '../../../../src/engine/model/attempt.ts'
import type { Command, Event } from '../../../../src/engine/model/event.ts'
import { attemptsAt } from '../../../../src/engine/model/job.ts'
import type { Limits } from '../../../../src/engine/model/limit-types.ts'
import { LeaseLost, type Ports, type StorePort } from '../../../../src/engine/model/ports.ts'
import type { Lease, State } from '../../../../src/engine/model/state.ts'
import { runUsage } from '../../../../src/engine/model/usage-totals.ts'
import { nextWorkerStep, type WorkerStep } from '../../../../src/engine/parallel-steps.ts'
import { newStory } from '../../../../src/engine/prd/schema.ts'
import { reduce } from '../../../../src/engine/reduce.ts'
import { runs } from '../../runs.ts'
import { built, gate, limitsWith, NOW, session, stateOf } from '../samples.ts'
import {
  agentOf,
  arbitraryLimits,
  arbitraryStories,
  besideEachOther,
  knownToShare,
  portsOf,
  World,
} from '../train-world.ts'

/** The state on the remote, moved by compare-and-swap. */
class Remote {
  version = 0
  state: State
  readonly #said: readonly Command[]

  constructor(state: State, said: readonly Command[] = []) {
    this.state = structuredClone(state)
    this.#said = said
  }

  move(from: number, state: State): number {
    if (from !== this.version) throw new LeaseLost('moved')
    // A candidate that is chosen lands without another session.
    const begun = Object.entries(state.attempts).filter(
      ([id, attempt]) => this.state.attempts[id] === undefined && !isChosen(attempt),
    )
    const isPaused = this.#isPausedAt(state.control.lastComment)
    assert.equal(state.control.paused !== null, isPaused, 'the run is paused if people said so last')
    assert.ok(begun.length === 0 || !isPaused, 'nothing is begun while the run is paused')
    // What JSON would drop, a worker that reads it must not rely on.
    this.state = JSON.parse(JSON.stringify(state))
    this.version += 1
    return this.version
  }

  /** By what people said up to this comment. One save may have what they said and what is begun after it. */
  #isPausedAt(comment: number): boolean {
    const { paused, lastComment } = this.state.control
    const heard = this.#said.filter(({ id }) => id > lastComment && id <= comment)
    const last = heard.findLast(({ kind }) => kind === 'pause' || kind === 'run')
    return last === undefined ? paused !== null : last.kind === 'pause'
  }
}

/** The part of a worker's store that reads and moves the state on the remote. */
function storeOf(remote: Remote): Pick<StorePort, 'save' | 'loadNewest'> {
  let known = remote.version
  return {
    save: async (state) => {
      known = remote.move(known, state)
    },
    loadNewest: async () => {
      known = remote.version
      return structuredClone(remote.state)
    },
  }
}

/** Without a pause between the tries of a save. */
const atOnce = {
  clock: { now: () => NOW, sleep: async () => {} },
  random: () => 0,
  signal: new AbortController().signal,
  observers: [],
  warn: assert.fail,
}

/** The state when a worker has nothing left to do. */
async function workInWave(start: State, limits: Limits, ports: Ports, who: Worker): Promise<State> {
  return (await run(start, limits, inWave(limits, ports, who))).state
}

class Killed extends Error {}

/** Ports of one process. It is killed at the `mortal`-th thing that it asks for: nothing of it is heard any more. */
function processPorts(world: World, remote: Remote, mortal: number, said: readonly Command[]): Ports {
  let asked = 0
  let known = remote.version
  /** What it has just asked for when it is killed is done, and nobody hears the answer. */
  const alive = async <T>(ask: () => Promise<T>): Promise<T> => {
    asked += 1
    if (asked > mortal + 1) throw new Killed()
    const result = await ask()
    if (asked > mortal) throw new Killed()
    return result
  }
  const ports = portsOf(world)
  const agent = agentOf(world)
  return {
    ...ports,
    openCleanRoom: null,
    agent: { ...agent, work: (...given) => alive(() => agent.work(...given)), judge: ports.agent.judge },
    gates: { ...ports.gates, run: (...given) => alive(() => ports.gates.run(...given)) },
    store: {
      ...ports.store,
      save: (state) =>
        alive(() =>
          world.later('save', () => {
            known = remote.move(known, state)
            // While its gates ran, another worker may have landed on what they ran on.
            world.save(remote.state, (base) => world.heads.includes(base))
          }),
        ),
      loadNewest: () =>
        alive(() =>
          world.later('newest', () => {
            known = remote.version
            return structuredClone(remote.state)
          }),
        ),
    },
    queue: {
      ...ports.queue,
      read: async ({ control }) => said.filter(({ id }) => id > control.lastComment && id <= asked),
    },
  }
}

const arbitraryWords: fc.Arbitrary<Command[]> = fc
  .array(
    fc.oneof(
      fc.record({ kind: fc.constantFrom('pause' as const, 'run' as const) }),
      fc.record({
        kind: fc.constantFrom('retry' as const, 'skip' as const, 'redo' as const),
        stories: fc.nat(6).map((index) => [`US-${index}`]),
        guidance: fc.constant(''),
      }),
      fc.record({
        kind: fc.constant('limit' as const),
        what: fc.constant('iterations' as const),
        amount: fc.constant(2),
      }),
    ),
    { maxLength: 4 },
  )
  .map((words) => words.map((word, index) => ({ ...word, id: 3 * index + 1, by: 'alice' })))

function waveOf(userStories: State['prd']['userStories'], workers: number): State {
  const state = stateOf(userStories, { published: 'base' })
  const ready = { synced: false, prepared: true, opened: true }
  return { ...state, job: { ...state.job, ready, wave: { workers, isOver: false } } }
}

test('workers killed at random: landed trees were gated as they land, none twice, and no limit is exceeded', async () => {
  const property = fc.asyncProperty(
    arbitraryStories,
    arbitraryLimits,
    fc.array(fc.nat(1000), { maxLength: 60 }),
    fc.array(fc.oneof(fc.constant(1000), fc.nat(30)), { minLength: 5, maxLength: 5 }),
    arbitraryWords,
    fc.scheduler(),
    async (userStories, limits, numbers, mortal, said, scheduler) => {
      const world = new World(numbers, scheduler)
      const start = waveOf(userStories, limits.maxParallel)
      const remote = new Remote(start, said)
      const workers = Array.from({ length: limits.maxParallel }, (_, at) =>
        workInWave(structuredClone(start), limits, processPorts(world, remote, mortal[at] ?? 1000, said), {
          worker: `${at + 1}`,
          begins: true,
        }).catch((error: unknown) => {
          if (!(error instanceof Killed)) throw error
        }),
      )
      await scheduler.waitFor(Promise.all(workers))
      assert.ok(world.mostAtWork <= limits.maxParallel)
      for (const { touches, ids } of besideEachOther(world.saved))
        assert.equal(new Set(touches).size, touches.length, `${ids.join(', ')} were in work together`)
      assert.deepEqual(knownToShare(world.saved), [])
      const before = remote.state
      const { state, conclusion } = await scheduler.waitFor(joined(world, remote, limits, said))
      assert.ok(conclusion.outcome !== 'error', conclusion.reason)
      assert.deepEqual(state.attempts, {})
      const usage = runUsage(state)
      const estimated = Object.values(before.attempts).filter(
        (attempt) => attempt.phase === 'reserved' && assignedWorker(attempt) !== undefined,
      ).length
      assert.ok(usage.calls <= world.sessions + estimated)
      const killed = mortal.slice(0, limits.maxParallel).filter((at) => at < 1000).length
      assert.ok(
        usage.calls + killed >= world.sessions,
        'at most the session in flight of each that was killed is estimated',
      )
      const { granted } = state.control
      if (limits.maxIterations > 0)
        assert.ok(state.prd.run.iterations <= limits.maxIterations + granted.iterations)
      if (limits.maxCostUsd !== null) assert.ok(usage.costUsd < limits.maxCostUsd + limits.maxParallel + 1)
      const passes = state.timeline.filter(({ result }) => result === 'passed').map(({ storyId }) => storyId)
      const again = state.timeline.filter(({ result }) => result === 'reset').length + said.length
      assert.ok(passes.length - new Set(passes).size <= again, 'no story lands twice')
    },
  )
  await fc.assert(property, { ...runs(100), interruptAfterTimeLimit: 20_000 })
})

test('workers that all live end every attempt themselves', async () => {
  const property = fc.asyncProperty(
    arbitraryStories,
    arbitraryLimits,
    fc.array(fc.nat(1000), { maxLength: 60 }),
    fc.scheduler(),
    async (userStories, limits, numbers, scheduler) => {
      const world = new World(numbers, scheduler)
      const start = waveOf(userStories, limits.maxParallel)
      const remote = new Remote(start)
      const workers = Array.from({ length: limits.maxParallel }, (_, at) =>
        workInWave(structuredClone(start), limits, processPorts(world, remote, Infinity, []), {
          worker: `${at + 1}`,
          begins: true,
        }),
      )
      await scheduler.waitFor(Promise.all(workers))
      assert.deepEqual(remote.state.attempts, {})
    },
  )
  await fc.assert(property, { ...runs(100), interruptAfterTimeLimit: 20_000 })
})

/** What the last job of a wave does with what its workers left. */
async function joined(world: World, remote: Remote, limits: Limits, said: readonly Command[]) {
  const ports = processPorts(world, remote, 10_000, said)
  const left = await workInWave(withoutWorkers(structuredClone(remote.state)), limits, ports, {
    worker: 'join',
    begins: false,
  })
  const free =
    Object.keys(left.attempts).length === 0 ? left : refundAll(left, 'interrupted', 'the wave is over')
  const job = { ...free.job, wave: { workers: limits.maxParallel, isOver: true } }
  const ending = {
    ...ports,
    store: { ...ports.store, publish: async () => ({ kind: 'published' as const }) },
  }
  return runToEnd({ ...free, job }, limits, inCheckout(limits, ending))
}

/** What a worker's step comes to, by a number that is drawn. */
function eventOf(step: WorkerStep, state: State, number: number, at: number): Event {
  switch (step.kind) {
    case 'sync':
      return { kind: 'synced', commands: [], theirs: null, at }
    case 'decide':
      return { kind: 'decided', storyId: step.storyId, at }
    case 'reserve':
      return { kind: 'reserved', storyId: step.storyId, at }
    case 'agent':
      return { kind: 'worked', ...idOf(step.attempt), session: session(), at }
    case 'guard':
      return { kind: 'guarded', ...idOf(step.attempt), candidate: built(`c${at}`), at }
    case 'rebase': {
      const { candidate } = step.attempt
      const id = idOf(step.attempt)
      if (number % 5 === 4)
        return {
          kind: 'conflicted',
          ...id,
          failure: { kind: 'conflict', summary: 'the same lines', detail: '' },
          at,
        }
      return { kind: 'rebased', ...id, base: step.onto, candidate: { ...candidate, commit: `c${at}` }, at }
    }
    case 'gates':
      return {
        kind: 'gated',
        ...idOf(step.attempt),
        commit: step.attempt.candidate.commit,
        gates: [gate(number % 4 !== 3)],
        at,
      }
    case 'accept':
      return { kind: 'accepted', ...idOf(step.attempt), commit: step.attempt.candidate.commit, at }
    case 'enter':
      return { kind: 'entered', ...idOf(step.attempt), lines: number % 7, kept: null, at }
    case 'reject':
      return { kind: 'rejected', ...idOf(step.attempt), kept: null, at }
    case 'return':
      return { kind: 'returned', ...idOf(step.attempt), kept: null, at }
    case 'try':
    case 'judge':
      throw new Error(`nothing is judged: ${state.feature}`)
    case 'leave':
    case 'take':
      return { kind: 'assigned', ...step.id, worker: null, at }
  }
}

test('saves of workers in any order give the state that one process makes of the same events', async () => {
  const turns = fc.array(fc.record({ worker: fc.nat(4), number: fc.nat(1000), saves: fc.boolean() }), {
    maxLength: 200,
  })
  const property = fc.asyncProperty(
    arbitraryStories,
    arbitraryLimits,
    turns,
    async (stories, limits, all) => {
      const start = waveOf(stories, limits.maxParallel)
      const remote = new Remote(start)
      const log: Event[] = []
      const workers = Array.from(
        { length: limits.maxParallel },
        (_, at) => new Process(`${at + 1}`, start, limits, remote, log),
      )
      let at = NOW
      for (const { worker, number, saves } of all) {
        at += 1
        await workers[worker % limits.maxParallel]?.turn(number, saves, at)
      }
      const alone = log.reduce((state, event) => reduce(state, event, limits), start)
      assert.deepEqual(JSON.parse(JSON.stringify(alone)), remote.state)
    },
  )
  await fc.assert(property, { ...runs(150), interruptAfterTimeLimit: 20_000 })
})

/** One that acts on what it knows, which may be old. */
class Process {
  readonly #name: string
  readonly #shared: Journal
  readonly #limits: Limits
  readonly #log: Event[]
  #pending: Event[] = []

  constructor(name: string, start: State, limits: Limits, remote: Remote, log: Event[]) {
    this.#name = name
    this.#limits = limits
    this.#log = log
    this.#shared = new Journal(structuredClone(start), limits, { ...atOnce, store: storeOf(remote) }, true)
  }

  async turn(number: number, saves: boolean, at: number): Promise<void> {
    const shared = this.#shared
    const step = nextWorkerStep(shared.state, this.#limits, at, { worker: this.#name, begins: true })
    if (step === null) return
    const plain = eventOf(step, shared.state, number, at)
    const isMine = plain.kind === 'reserved' || step.kind === 'take'
    const event = isMine ? { ...plain, worker: this.#name } : plain
    await shared.apply(event)
    this.#pending.push(event)
    // What others have to know, they know at once; the rest waits for it.
    if (!saves && !isMine && event.kind !== 'accepted' && event.kind !== 'guarded') return
    shared.markDue()
    await shared.save()
    const isLost = (one: Event) =>
      one.kind === 'reserved' &&
      attemptsAt(shared.state, one.storyId).every((attempt) => assignedWorker(attempt) !== this.#name)
    this.#log.push(...this.#pending.splice(0).filter((one) => !isLost(one)))
  }
}

test('a worker that is overtaken by the save of a pause begins its story only if it heard that the run goes on', async () => {
  const said: Command[] = [
    { kind: 'pause', id: 1, by: 'alice' },
    { kind: 'run', id: 4, by: 'alice' },
  ]
  for (const [heard, begun] of [
    [0, []],
    [2, ['US-0']],
  ] as const) {
    const start = waveOf([newStory({ id: 'US-0', title: 'one' })], 2)
    const remote = new Remote(start, said)
    const [first, second] = [1, 2].map(
      () =>
        new Journal(
          structuredClone(start),
          limitsWith({ maxParallel: 2 }),
          { ...atOnce, store: storeOf(remote) },
          true,
        ),
    )
    assert.ok(first !== undefined && second !== undefined)
    const synced = (upTo: number): Event => {
      return { kind: 'synced', commands: said.slice(0, upTo), theirs: null, at: NOW }
    }
    await first.apply(synced(1))
    first.markDue()
    await first.save()
    assert.equal(remote.state.control.paused?.by, 'alice')
    await second.apply(synced(heard))
    await second.apply({ kind: 'reserved', storyId: 'US-0', worker: '2', at: NOW })
    await second.save()
    assert.deepEqual(
      Object.values(remote.state.attempts).map(({ storyId }) => storyId),
      begun,
    )
    assert.equal(remote.state.control.paused === null, heard === 2)
  }
})

/** Two candidates in the train: the first stands on the green commit, the second on the first. */
function twoInTrain(numbers: readonly number[]) {
  const scheduler = fc.sample(fc.scheduler(), 1)[0] ?? assert.fail()
  const world = new World(numbers, scheduler)
  const start = waveOf([newStory({ id: 'US-0', title: 'one' }), newStory({ id: 'US-1', title: 'two' })], 2)
  const limits = limitsWith({ maxParallel: 2 })
  const first = world.commit('base', 'US-0')
  const second = world.commit(first, 'US-1')
  const events: Event[] = [
    { kind: 'synced', commands: [], theirs: null, at: NOW },
    { kind: 'reserved', storyId: 'US-0', worker: '1', at: NOW },
    { kind: 'reserved', storyId: 'US-1', worker: '2', at: NOW },
    { kind: 'worked', storyId: 'US-0', session: session(), at: NOW },
    { kind: 'worked', storyId: 'US-1', session: session(), at: NOW },
    { kind: 'guarded', storyId: 'US-0', candidate: { ...built(first), entries: 0 }, at: NOW },
    { kind: 'guarded', storyId: 'US-1', candidate: { ...built(first), entries: 0 }, at: NOW },
    { kind: 'rebased', storyId: 'US-1', base: first, candidate: { ...built(second), entries: 0 }, at: NOW },
  ]
  const state = events.reduce((before, event) => reduce(before, event, limits), start)
  return { scheduler, world, limits, state, second }
}

/** A repository that tells what of which tree is kept for whom: `US-0: from to tree`. */
function telling(plain: Ports['repository']) {
  let tree = ''
  const keptFrom: string[] = []
  const repository: Ports['repository'] = {
    ...plain,
    async checkOut(commit) {
      tree = commit
      return { conflict: null }
    },
    async workOf({ attempts }, { base, commit }) {
      const own = Object.values(attempts).find((one) => one.phase === 'returned' && one.left === commit)
      keptFrom.push(`${own?.storyId}: ${base} to ${commit}`)
      return { base, tree: commit, dropped: [] }
    },
    async saveWork({ green }, storyId) {
      keptFrom.push(`${storyId}: ${green} to ${tree}`)
      return { base: green, tree, dropped: [] }
    },
  }
  return { repository, keptFrom }
}

test('a worker stopped during gates leaves its candidate to the others, and gives no work back', async () => {
  const { scheduler, world, limits, state } = twoInTrain([])
  const remote = new Remote(state)
  const ports = processPorts(world, remote, 1000, [])
  const stop = new AbortController()
  const run: Ports['gates']['run'] = async () => {
    stop.abort()
    return [gate(false)]
  }
  const stopped = { ...ports, gates: { ...ports.gates, run }, signal: stop.signal }
  await scheduler.waitFor(workInWave(state, limits, stopped, { worker: '1', begins: true }))
  const { phase, runner } = remote.state.attempts['US-0'] ?? {}
  assert.deepEqual({ phase, runner }, { phase: 'guarded', runner: { at: 'lane' } })
  assert.deepEqual(
    remote.state.attempts['US-1']?.runner,
    { at: 'lane', worker: '2' },
    "the other worker's own stays its own",
  )
  assert.deepEqual(remote.state.timeline, [])
})

test('a worker at its deadline leaves its candidate to the others, and gives its session back uncharged', async () => {
  for (const phase of ['guarded', 'reserved'] as const) {
    const { scheduler, world, limits, state: both } = twoInTrain([])
    const job = { ...both.job, startedAt: NOW, deadline: NOW + 5 }
    const remote = new Remote({ ...both, job })
    const own = both.attempts['US-0'] ?? assert.fail()
    const { storyId, number, iteration, agent, base, startedAt, reserved, unwanted } = own
    const runner = { at: 'lane' as const, worker: '1' }
    const begun = { storyId, number, iteration, agent, base, startedAt, reserved, unwanted, runner }
    if (phase === 'reserved') remote.state = { ...remote.state, attempts: { 'US-0': { ...begun, phase } } }
    const ports = processPorts(world, remote, 1000, [])
    const until = (signal: AbortSignal) => new Promise((resolve) => signal.addEventListener('abort', resolve))
    const run: Ports['gates']['run'] = async (_run, signal) => {
      await until(signal)
      return [gate(false)]
    }
    const work: Ports['agent']['work'] = async (_state, _attempt, _bounds, signal) => {
      await until(signal)
      return session({ status: 'interrupted', message: 'the job deadline came first' })
    }
    const { repository, keptFrom } = telling(ports.repository)
    const timed = { ...ports, repository, gates: { ...ports.gates, run }, agent: { ...ports.agent, work } }
    await scheduler.waitFor(
      workInWave(structuredClone(remote.state), limits, timed, { worker: '1', begins: true }),
    )
    const left = remote.state.attempts['US-0']
    if (phase === 'guarded') {
      assert.deepEqual([left?.phase, left?.runner], ['guarded', { at: 'lane' }])
      assert.deepEqual(keptFrom, [])
    } else {
      assert.equal(left, undefined)
      assert.equal(keptFrom.length, 1, 'the work of the session is kept')
      assert.equal(remote.state.timeline.length, 1)
      assert.equal(remote.state.prd.run.iterations, 0)
    }
    assert.ok(remote.state.timeline.every(({ result }) => result === 'returned'))
  }
})

test('a worker whose prepare fails, or is cut short, gives its story back once', async () => {
  for (const isCut of [false, true]) {
    const { scheduler, world, limits, state: both } = twoInTrain([])
    const free = { ...both, attempts: {} }
    const remote = new Remote(free)
    const ports = processPorts(world, remote, 1000, [])
    const stop = new AbortController()
    let prepared = 0
    const prepare: Ports['gates']['prepare'] = async () => {
      prepared += 1
      if (isCut) stop.abort()
      return { ...gate(false), name: 'prepare' }
    }
    const gates = { ...ports.gates, canPrepare: true, prepare }
    // What a real session says that is cut short before it begins.
    const work: Ports['agent']['work'] = async () => session({ status: 'interrupted', message: 'cancelled' })
    const failing = { ...ports, gates, agent: { ...ports.agent, work }, signal: stop.signal }
    await scheduler.waitFor(workInWave(free, limits, failing, { worker: '1', begins: true }))
    assert.equal(prepared, 1)
    assert.deepEqual(remote.state.attempts, {})
    assert.equal(remote.state.job.halted?.kind, isCut ? undefined : 'error')
    assert.equal(remote.state.prd.run.iterations, 0)
  }
})

test('a worker whose agent cannot start stops the run for all, and charges no story', async () => {
  const { scheduler, world, limits, state: both } = twoInTrain([])
  const free = { ...both, attempts: {} }
  const remote = new Remote(free)
  const ports = processPorts(world, remote, 1000, [])
  let begun = 0
  const work: Ports['agent']['work'] = async () => {
    begun += 1
    return session({ status: 'not-started', message: 'the program is not there' })
  }
  const failing = { ...ports, agent: { ...ports.agent, work } }
  for (const worker of ['1', '2'])
    await scheduler.waitFor(
      workInWave(structuredClone(remote.state), limits, failing, { worker, begins: true }),
    )
  assert.equal(begun, 1, 'the second worker begins nothing')
  const { halted } = remote.state.job
  assert.match(halted?.kind === 'error' ? halted.summary : '', /the program is not there/)
  assert.deepEqual([remote.state.attempts, remote.state.prd.run.iterations], [{}, 0])
})

test("a cancelled wave saves each waiting candidate as its own story's work", async () => {
  const { scheduler, world, limits, state, second } = twoInTrain([])
  const remote = new Remote(state)
  const ports = processPorts(world, remote, 1000, [])
  const { repository, keptFrom } = telling(ports.repository)
  const own = {
    ...ports,
    repository,
    store: { ...ports.store, publish: async () => ({ kind: 'published' as const }) },
  }
  const ended = await scheduler.waitFor(runWaveJob(state, limits, own, { kind: 'join', isCancelled: true }))
  assert.ok(ended !== null && 'conclusion' in ended)
  assert.equal(ended.conclusion.outcome, 'interrupted')
  const first = state.attempts['US-0']
  assert.ok(first?.phase === 'guarded')
  assert.deepEqual(keptFrom, [
    `US-0: base to ${first.candidate.commit}`,
    `US-1: ${first.candidate.commit} to ${second}`,
  ])
})

test("a lost worker's story saves nothing of the join job's work tree", async () => {
  // The first falls out, and the second, whose worker was lost in its session, is given back behind it.
  const { scheduler, world, limits, state } = twoInTrain([3])
  const second = state.attempts['US-1']
  assert.ok(second?.phase === 'guarded')
  const { candidate: _none, session: _lost, train: _out, ...begun } = second
  const start: State = { ...state, attempts: { ...state.attempts, 'US-1': { ...begun, phase: 'reserved' } } }
  const ports = processPorts(world, new Remote(start), 10_000, [])
  const { repository, keptFrom } = telling(ports.repository)
  const store = { ...ports.store, publish: async () => ({ kind: 'published' as const }) }
  const joining = runWaveJob(
    start,
    limits,
    { ...ports, repository, store },
    { kind: 'join', isCancelled: false },
  )
  const ended = await scheduler.waitFor(joining)
  assert.ok(ended !== null && 'conclusion' in ended)
  assert.deepEqual(
    keptFrom.map((line) => line.slice(0, 4)),
    ['US-0'],
  )
  const returned = ended.state.timeline.filter(({ result }) => result === 'returned')
  assert.deepEqual(
    returned.map(({ summary }) => summary),
    ['the worker was lost'],
  )
})

const LEASE: Lease = {
  ...{ holder: 'run 1', nonce: 'n', expiresAt: NOW, runId: 1, runAttempt: 1, url: null },
  ...{ host: 'h', pid: 1, startTime: '', mark: 'm' },
}

test('a worker that was considered lost and returns during the join pushes nothing', async () => {
  const { scheduler, world, limits, state } = twoInTrain([])
  const leased = { ...state, lease: LEASE }
  const remote = new Remote(leased)
  const store: Pick<StorePort, 'save' | 'loadNewest'> = {
    save: async (next) => {
      remote.move(-1, next)
    },
    loadNewest: async (ours) => {
      if (remote.state.lease?.nonce !== ours.lease?.nonce) throw new LeaseLost('another has it')
      return structuredClone(remote.state)
    },
  }
  const late = new Journal(structuredClone(leased), limits, { ...atOnce, store }, true)
  const ports = processPorts(world, remote, 10_000, [])
  const own = { ...ports, store: { ...ports.store, publish: async () => ({ kind: 'published' as const }) } }
  const joining = runWaveJob(leased, limits, own, { kind: 'join', isCancelled: false })
  await scheduler.waitFor(joining)
  assert.ok(world.saved.length > 0 && world.saved.every(({ lease }) => lease?.nonce !== LEASE.nonce))
  await late.apply({ kind: 'assigned', storyId: 'US-1', worker: '2', at: NOW })
  await assert.rejects(late.save(), LeaseLost)
})

test("a candidate of another worker that no longer merges is saved as that worker's work", async () => {
  // The first falls out, and the second has a conflict where it stands without it.
  const { scheduler, world, limits, state, second } = twoInTrain([3, 4])
  const first = state.attempts['US-0']
  const free = withoutWorkers(state)
  const ports = processPorts(world, new Remote(free), 1000, [])
  const { repository, keptFrom } = telling(ports.repository)
  await scheduler.waitFor(
    workInWave(free, limits, { ...ports, repository }, { worker: 'join', begins: false }),
  )
  assert.ok(first?.phase === 'guarded')
  assert.equal(keptFrom.at(-1), `US-1: ${first.candidate.commit} to ${second}`)
})

test('a worker whose lease another run has saves nothing more, and tells nobody of what it did not save', async () => {
  const { scheduler, world, limits, state } = twoInTrain([])
  const ports = processPorts(world, new Remote(state), 10_000, [])
  let [saves, told] = [0, 0]
  const store: Ports['store'] = {
    ...ports.store,
    save: async () => {
      saves += 1
      throw new LeaseLost('moved')
    },
    loadNewest: async () => {
      throw new LeaseLost('another run has it')
    },
  }
  const event = async ({ kind }: Event) => {
    if (kind === 'accepted') told += 1
  }
  const own = { ...ports, store, observers: [{ event }] }
  const working = run(state, limits, inWave(limits, own, { worker: '1', begins: true }))
  await assert.rejects(scheduler.waitFor(working), LeaseLost)
  assert.deepEqual([saves, told], [1, 0])
})
