// A world for stories side by side: a repository without files, and ports whose answers come in any order.

import assert from 'node:assert/strict'
import fc, { type Scheduler } from 'fast-check'
import { isChosen } from '../../../src/engine/model/attempt.ts'
import type { Limits } from '../../../src/engine/model/limit-types.ts'
import type { AgentPort, GatesPort, Lane, Ports, RepositoryPort } from '../../../src/engine/model/ports.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { newStory } from '../../../src/engine/prd/schema.ts'
import { built, gate, limitsWith, NO_IGNORED, NOW, session, used } from './samples.ts'

/** What happens in the world, by numbers that are drawn in turn; zero is the good turn. */
type Numbers = readonly number[]

type Commit = { parent: string; stories: readonly string[] }

/** A repository without files: commits with their parents, and which of them gates have seen green. */
export class World {
  readonly commits = new Map<string, Commit>([['base', { parent: '', stories: [] }]])
  readonly green = new Set<string>()
  readonly heads: string[] = ['base']
  readonly saved: State[] = []
  /** The commit that gates were red on last, by the story whose work is the newest in it. */
  readonly red = new Map<string, string>()
  /** Stories whose candidates gates run on now. */
  readonly gating = new Set<string>()
  /** Gate runs on a candidate that gates had been green on before. */
  gatedAgain = 0
  sessions = 0
  gateRuns = 0
  /** Stories have several candidates, whose base has landed and may be older than the newest green commit. */
  hasContests = false
  atWork = 0
  mostAtWork = 0
  open = 0
  readonly #numbers: Numbers
  readonly #scheduler: Scheduler
  #at = 0
  #now = NOW

  constructor(numbers: Numbers, scheduler: Scheduler) {
    this.#numbers = numbers
    this.#scheduler = scheduler
  }

  draw(below: number): number {
    const number = this.#numbers[this.#at % Math.max(1, this.#numbers.length)] ?? 0
    this.#at += 1
    return number % below
  }

  now(): number {
    this.#now += 1
    return this.#now
  }

  commit(parent: string, story: string): string {
    const before = this.commits.get(parent)
    assert.ok(before, `${parent} is not known`)
    const name = `c${this.commits.size}`
    this.commits.set(name, { parent, stories: [...before.stories, story] })
    return name
  }

  /**
   * What lands was gated as it lands, and no story is charged for what was on a candidate before it. `mayBlame`: whether a gate
   * that was red on top of this commit may be charged now.
   */
  save(state: State, mayBlame = (base: string) => this.#isLanded(base, state)): void {
    const head = this.heads.at(-1) ?? ''
    if (state.green !== head) {
      assert.equal(this.commits.get(state.green)?.parent, head, 'the branch moves by one commit, forward')
      assert.ok(this.green.has(state.green), `${state.green} landed, and no gate saw it`)
      this.heads.push(state.green)
    }
    const landed = this.commits.get(state.green)?.stories ?? []
    for (const { id, passes } of state.prd.userStories)
      assert.ok(!passes || landed.includes(id), `${id} passes, and its code is not on the branch`)
    for (const { storyId, result, kind } of state.timeline.slice(this.saved.at(-1)?.timeline.length ?? 0)) {
      if (result !== 'rejected' || kind !== 'gates') continue
      const { parent } = this.commits.get(this.red.get(storyId) ?? '') ?? {}
      assert.ok(mayBlame(parent ?? ''), `${storyId} was charged for what was on a candidate before it`)
    }
    this.saved.push(structuredClone(state))
  }

  #isLanded(base: string, { green }: State): boolean {
    return this.hasContests ? this.heads.includes(base) : base === green
  }

  /** Ends when the scheduler says so. */
  later<T>(label: string, value: () => T): Promise<T> {
    return this.#scheduler.schedule(Promise.resolve(), label).then(value)
  }
}

export function repositoryOf(world: World): RepositoryPort {
  return {
    ignored: NO_IGNORED,
    openForJudge: async () => ({ close: async () => {} }),
    checkOut: async () => ({ conflict: null }),
    storyAt: async () => null,
    edit: async () => ({ kind: 'same' }),
    renew: async () => {},
    inspect: (state, attempt, builtAt) =>
      world.later('guard', () => {
        if (world.draw(10) === 9)
          return { kind: 'refused', failure: { kind: 'guard', summary: 'a secret', detail: '' } }
        const commit = world.commit(state.green, attempt.storyId)
        const candidate = { ...built(commit), builtAt, entries: state.progress.length }
        return { kind: 'candidate', candidate, touched: FILES.filter(() => world.draw(6) === 5) }
      }),
    rebase: (state, { storyId, candidate }) =>
      world.later('rebase', () => {
        if (world.draw(5) === 4)
          return { conflict: { kind: 'conflict', summary: 'the same lines', detail: '' } }
        const commit = world.commit(state.green, storyId)
        return { candidate: { ...candidate, commit, entries: state.progress.length } }
      }),
    restore: async () => false,
    workOf: async (_, { base, commit }) => ({ base, tree: commit, dropped: [] }),
    saveWork: async () => ({ base: 'b', tree: `tree ${world.now()}`, dropped: [] }),
    record: async () => ({ commit: null, documents: [] }),
    join: async () => assert.fail('nobody pushed'),
    read: async () => null,
    history: async () => [],
    asItWas: async () => null,
    withoutProduct: async () => ({ commit: null, changesProduct: false }),
    mutants: async () => [],
    withMutant: async () => null,
    productLines: async () => 1 + world.draw(3),
  }
}

/** What attempts change whatever the plan says: files of the plan, others, and one in a folder of the plan. */
const FILES = ['src/1', 'src/2/a.ts', 'src/2/b.ts', 'routes.ts', 'db/schema.sql']

export function gatesOf(world: World): GatesPort {
  return {
    canPrepare: false,
    prepare: async () => null,
    renew: async () => {},
    run: ({ commit, of }) => {
      const story = of === 'story' ? (world.commits.get(commit)?.stories.at(-1) ?? '') : of
      // Candidates of one story are gated side by side.
      assert.ok(!world.gating.has(commit), `${story} is in work twice at a time`)
      world.gating.add(commit)
      world.gateRuns += 1
      if (of === 'story' && world.green.has(commit)) world.gatedAgain += 1
      return world.later('gates', () => {
        world.gating.delete(commit)
        const ok = world.draw(4) !== 3
        if (ok) world.green.add(commit)
        else world.red.set(story, commit)
        return [gate(ok)]
      })
    },
  }
}

export function agentOf(world: World): AgentPort {
  return {
    work: async () => {
      world.sessions += 1
      world.atWork += 1
      world.mostAtWork = Math.max(world.mostAtWork, world.atWork)
      return world.later('agent', () => {
        world.atWork -= 1
        return session(world.draw(8) === 7 ? { status: 'failed', message: 'it broke' } : {})
      })
    },
    setUp: async () => null,
    judge: async () => assert.fail('nothing is judged'),
    plan: async () => assert.fail('nothing is planned'),
  }
}

export function laneOf(world: World): Lane {
  world.open += 1
  return {
    gates: gatesOf(world),
    repository: repositoryOf(world),
    assign: () => {},
    agent: agentOf(world),
    [Symbol.asyncDispose]: async () => {
      world.open -= 1
    },
  }
}

export function portsOf(world: World): Ports {
  return {
    clock: { now: () => world.now(), sleep: async () => {} },
    random: () => 0,
    signal: new AbortController().signal,
    agent: {
      work: async () => assert.fail('the checkout is no lane'),
      setUp: async () => null,
      judge: async () => {
        world.sessions += 1
        return { verdict: { kind: 'verified' }, usage: used(1) }
      },
      plan: async () => assert.fail('nothing is planned'),
    },
    openCleanRoom: null,
    openLane: async () => laneOf(world),
    gates: gatesOf(world),
    repository: repositoryOf(world),
    store: {
      save: async (state) => world.save(state),
      publish: async () => ({ kind: 'published' }),
      peoplesHead: async () => null,
      restore: async () => ({ kind: 'published' }),
    },
    queue: { isLocal: true, read: async () => [], waiting: async () => false, arrived: async () => false },
    dispatch: { dispatch: async () => ({ kind: 'dispatched', runId: null }) },
    observers: [],
    pullRequest: {
      newIds: async () => ({}),
      beforePublish: async (state) => state.github,
      opened: async (state) => state.github,
      finished: async (state) => state.github,
      merged: async () => false,
    },
    warn: (message) => assert.fail(message),
  }
}

export const arbitraryStories = fc
  .array(fc.record({ needs: fc.array(fc.nat(6), { maxLength: 2 }), touches: fc.nat(3) }), {
    minLength: 1,
    maxLength: 7,
  })
  .map((drafts) =>
    drafts.map(({ needs, touches }, index) => ({
      ...newStory({ id: `US-${index}`, title: `story ${index}` }),
      dependsOn: index === 0 ? [] : [...new Set(needs.map((need) => `US-${need % index}`))],
      ...(touches === 0 ? {} : { extra: { touches: [`src/${touches}`] } }),
    })),
  )

/** One candidate for each story, or several from the first or second attempt on. */
export const arbitraryCandidates: fc.Arbitrary<Pick<Limits, 'candidates'>> = fc.oneof(
  fc.constant({}),
  fc
    .record({ run: fc.integer({ min: 1, max: 3 }), fromAttempt: fc.integer({ min: 1, max: 2 }) })
    .map((changes) => ({ candidates: { ...changes, byTag: [] } })),
)

export const arbitraryLimits: fc.Arbitrary<Limits> = fc
  .record({
    maxParallel: fc.integer({ min: 2, max: 5 }),
    maxIterations: fc.constantFrom(0, 3, 9),
    maxAttempts: fc.integer({ min: 1, max: 3 }),
    maxCostUsd: fc.constantFrom(null, 4),
    callsPerHour: fc.constantFrom(null, 3),
    finalVerification: fc.boolean(),
    candidates: arbitraryCandidates,
  })
  .map(({ candidates, ...changes }) => limitsWith({ ...changes, waits: false, ...candidates }))

/** Pairs of stories that were in work together although it was known, when the second began, that both change a file. */
export function knownToShare(saved: readonly State[]): string[] {
  return saved.flatMap((state, at) => {
    const before = saved[at - 1]?.attempts ?? {}
    const inWork = Object.entries(state.attempts)
    // A candidate that is chosen goes on, and begins no session.
    const begun = inWork.filter(([key, attempt]) => before[key] === undefined && !isChosen(attempt))
    return begun.flatMap(([, { storyId: id }]) =>
      inWork
        .map(([, { storyId }]) => storyId)
        .filter((other) => other !== id && shareFile(state, id, other))
        .map((other) => `${id} beside ${other}`),
    )
  })
}

function shareFile(state: State, id: string, other: string): boolean {
  const theirs = knownFiles(state, other)
  return knownFiles(state, id).some((one) =>
    theirs.some((two) => `${one}/`.startsWith(`${two}/`) || `${two}/`.startsWith(`${one}/`)),
  )
}

function knownFiles({ prd, records }: State, id: string): string[] {
  const touches = prd.userStories.find((story) => story.id === id)?.extra?.touches
  return [...(Array.isArray(touches) ? touches : []), ...(records[id]?.touched ?? [])]
}

/** The stories that were in work at the same time, whenever the state was saved. */
export function besideEachOther(saved: readonly State[]) {
  return saved.map(({ attempts, prd }) => {
    const ids = [...new Set(Object.values(attempts).map(({ storyId }) => storyId))]
    const touches = prd.userStories
      .filter(({ id }) => ids.includes(id))
      .flatMap(({ extra }) => (Array.isArray(extra?.touches) ? extra.touches : []))
    return { ids, touches }
  })
}
