// A random but honest world around the loop: it answers every step as the ports may, cancels, dies and jumps in time.
import fc from 'fast-check'
import { claim } from '../../../src/app/claim-feature.ts'
import type { Repository } from '../../../src/branch/repository.ts'
import type { Store } from '../../../src/branch/store.ts'
import { released } from '../../../src/engine/job-end.ts'
import type { Candidate, Session } from '../../../src/engine/model/attempt.ts'
import { type Command, EVENTS, type Verdict } from '../../../src/engine/model/event.ts'
import type { Prd, Story } from '../../../src/engine/model/feature.ts'
import type { GateResult } from '../../../src/engine/model/gate.ts'
import { newJob, openAttempt } from '../../../src/engine/model/job.ts'
import type { Limits } from '../../../src/engine/model/limit-types.ts'
import type { Conclusion, State } from '../../../src/engine/model/state.ts'
import { STEPS, type Step } from '../../../src/engine/model/step.ts'
import { nextStep } from '../../../src/engine/next-step.ts'
import { NEW_INTERVIEW } from '../../../src/engine/planning/plan-questions.ts'
import { newPlan } from '../../../src/engine/planning/proposed-plan.ts'
import { newStory } from '../../../src/engine/prd/schema.ts'
import { resolveScope, type ScopeRequest, unmetOutOfScope } from '../../../src/engine/prd/scope.ts'
import { inScope } from '../../../src/engine/prd/select.ts'
import { reduce } from '../../../src/engine/reduce.ts'
import { continuesByItself } from '../../../src/engine/state/limits.ts'
import type { CatFile } from '../../../src/git/cat-file.ts'
import type { Git } from '../../../src/git/git.ts'
import {
  built,
  eventOf,
  frozen,
  gate,
  goesWell,
  type Happening,
  HOUR,
  MINUTE,
  NOW,
  session,
  stateOf,
  used,
} from './samples.ts'
import { arbitraryCandidates } from './train-world.ts'
import type { Watch } from './watch.ts'

/** Numbers that decide what the world does. Behind its end a finite tape gives zeros, and zero is always the good turn. */
export class Tape {
  readonly #numbers: readonly number[]
  readonly #endless: boolean
  #at = 0
  constructor(numbers: readonly number[], endless: boolean) {
    this.#numbers = numbers
    this.#endless = endless
  }
  /** 0 to `below` - 1. */
  draw(below: number): number {
    const { length } = this.#numbers
    const at = this.#endless && length > 0 ? this.#at % length : this.#at
    this.#at += 1
    return (this.#numbers[at] ?? 0) % below
  }
  chance(percent: number): boolean {
    return this.draw(100) >= 100 - percent
  }
  oneOf<T>(first: T, ...others: T[]): T {
    return [first, ...others][this.draw(others.length + 1)] ?? first
  }
}

/** What may happen beside an honest job: comments, pushes of people, answers about another commit than was asked. */
export type Weather = { people: boolean }

export const MAX_DEATHS = 5

export class World {
  readonly tape: Tape
  readonly weather: Weather
  now = NOW
  /** Cancelled: from here on only what settles goes through. */
  aborted = false
  /** Deaths that are still to come at most: a runner that kills every job for ever has no outcome. */
  #deaths = MAX_DEATHS
  #count = 0
  #comment = 0
  #wrong = 0
  constructor(tape: Tape, weather: Weather) {
    this.tape = tape
    this.weather = weather
  }

  beginJob(): void {
    this.aborted = false
    this.#wrong = 0
  }

  /** The job dies here: what was not durable is gone. */
  dies(): boolean {
    if (this.#deaths === 0 || !this.tape.chance(1)) return false
    this.#deaths -= 1
    return true
  }

  answer(step: Exclude<Step, { kind: 'stop' }>, state: State, limits: Limits): Happening {
    this.#count += 1
    this.#passTime()
    if (this.tape.chance(1)) this.aborted = true
    const happened = this.#happens(step, state, limits)
    if (!this.aborted || settles(state, step)) return happened
    const isJudged =
      happened.kind === 'judged' ||
      happened.kind === 'whole-gated' ||
      happened.kind === 'verified' ||
      happened.kind === 'planned'
    const storyId = openAttempt(state)?.storyId ?? null
    return { kind: 'interrupted', spent: isJudged ? { storyId, kind: 'judge', usage: happened.usage } : null }
  }

  #passTime(): void {
    this.now += 1 + this.tape.draw(1000)
    if (this.tape.chance(1)) this.now += this.tape.oneOf(HOUR, 6 * HOUR, -10 * MINUTE, 48 * HOUR)
  }

  #happens(step: Exclude<Step, { kind: 'stop' }>, state: State, limits: Limits): Happening {
    const { tape, weather } = this
    const fine = goesWell(step, state, this.#count)
    switch (step.kind) {
      case 'sync':
        return {
          kind: 'synced',
          commands: this.#commands(state),
          theirs: this.#theirs(state),
          ...(weather.people && tape.chance(10) ? { baseHead: this.#commit('base') } : {}),
        }
      case 'join': {
        if (tape.chance(20)) return { kind: 'join-failed', summary: 'it conflicts' }
        const prd = tape.chance(50) ? this.#edited(state.prd) : null
        const people =
          prd === null ? null : { prd, seen: state.prd.userStories.map(({ id }) => id), page: true }
        const green = this.#commit('join')
        const joined = { green, theirs: step.theirs, people, takenBack: [], entries: [] }
        return tape.chance(50) ? { kind: 'joined', ...joined } : { kind: 'join-built', ...joined }
      }
      case 'gate-join':
        return { kind: 'join-gated', gates: [gate(!tape.chance(20))], broken: null }
      case 'edit': {
        const { edit } = step
        const [tree, base] = [this.#commit('tree'), state.green]
        if (tape.chance(20)) return { kind: 'edited', edit }
        if (edit.kind === 'drop' && tape.chance(20))
          return { kind: 'edited', edit, refused: 'US-002 needs it' }
        if (edit.kind === 'update' && tape.chance(40)) {
          const source = { kind: 'base' as const, commit: edit.theirs, branch: 'main', paths: ['a.txt'] }
          return {
            kind: 'edited',
            edit,
            request: { story: null, source, text: 'merge it', kept: { tree, base } },
          }
        }
        const onto = tape.chance(5) ? 'another commit' : state.green
        return { kind: 'edit-built', built: { edit, onto, commit: this.#commit('edit'), tree, base } }
      }
      case 'gate-edit':
        return { kind: 'edit-gated', gates: [gate(!tape.chance(30))] }
      case 'prepare':
        return tape.chance(3) ? { kind: 'failed', summary: 'prepare failed', fix: 'mend it' } : fine
      case 'baseline':
        return tape.chance(5) ? { kind: 'baselined', gates: [gate(false)] } : fine
      case 'open':
      case 'push':
        return this.#turnedDown() ?? fine
      case 'agent': {
        this.now += tape.draw(60_000)
        return { kind: 'worked', session: this.#session() }
      }
      case 'guard': {
        if (tape.chance(10))
          return { kind: 'refused', failure: { kind: 'guard', summary: 'a secret', detail: '' } }
        const done = step.attempt.session.hints.done
        const empty = done && limits.finalVerification && tape.chance(50)
        return {
          kind: 'guarded',
          candidate: { ...built(this.#commit('candidate'), empty), ...this.#packages() },
        }
      }
      case 'gates':
        return {
          kind: 'gated',
          commit: this.#about(step.attempt.candidate.commit),
          gates: this.#gates(),
          ...(tape.chance(20) ? { base: { [tape.oneOf('test', 'e2e')]: { ms: 1 } } } : {}),
        }
      case 'judge': {
        const verdict = this.#verdict([step.attempt.storyId])
        return { kind: 'judged', verdict, usage: used(tape.draw(3)) }
      }
      case 'accept':
        return { kind: 'accepted', commit: this.#about(step.attempt.candidate.commit) }
      case 'reject':
      case 'return': {
        const kept = tape.chance(60) ? { base: state.green, tree: this.#commit('tree'), dropped: [] } : null
        return { kind: step.kind === 'reject' ? 'rejected' : 'returned', kept }
      }
      case 'wait':
        this.now = Math.max(this.now, step.until)
        return fine
      case 'verify':
        return this.#wholeGated(state)
      case 'judge-whole':
        return this.#verified(state)
      case 'plan':
        return this.#planned(step.split, fine)
      case 'publish': {
        const withBranch = state.job.branch.kind !== 'refused' && state.published !== null
        const turned = withBranch ? this.#turnedDown() : null
        if (turned !== null) return turned
        const conclusion = state.job.ending?.conclusion ?? null
        const isEnd = conclusion !== null && !continuesByItself(conclusion, limits)
        const records = withBranch && isEnd && (state.progress.length > 0 || tape.chance(30))
        const green = records ? this.#commit('record') : state.green
        return { kind: 'published', green, withBranch, more: weather.people && tape.chance(5) }
      }
      case 'dispatch':
        if (tape.chance(5)) return { kind: 'dispatch-limited', until: this.now + tape.draw(400) * MINUTE }
        return tape.chance(5) ? { kind: 'dispatch-failed', summary: '403' } : fine
      default:
        return fine
    }
  }

  #commit(what: string): string {
    return `${what}-${this.#count}`
  }

  /** The commit that was asked for, or now and then another one: at most three times a job. */
  /** Now and then a change adds a package. */
  #packages(): Pick<Candidate, 'dependencies'> {
    if (!this.tape.chance(20)) return {}
    const name = this.tape.oneOf('left-pad', 'lodahs')
    return { dependencies: [{ kind: 'package', ecosystem: 'npm', name, version: '1.0.0' }] }
  }

  #about(candidate: string | null): string {
    const wrong = this.weather.people && this.#wrong < 3 && this.tape.chance(5)
    if (!wrong) return candidate ?? ''
    this.#wrong += 1
    return this.#commit('other')
  }

  #turnedDown(): Happening | null {
    if (this.weather.people && this.tape.chance(10))
      return { kind: 'diverged', theirs: this.#commit('theirs') }
    return this.tape.chance(3) ? { kind: 'push-refused', summary: 'the branch is protected' } : null
  }

  #theirs(state: State): { head: string } | 'merged' | 'deleted' | null {
    if (!this.weather.people || state.published === null) return null
    if (this.tape.chance(5)) return { head: this.#commit('theirs') }
    return this.tape.chance(1) ? this.tape.oneOf('merged', 'deleted') : null
  }

  #session(): Session {
    const { tape } = this
    const usage = used(tape.draw(4))
    if (this.aborted) return session({ status: 'interrupted', usage })
    const status = tape.oneOf<Session['status']>(
      'finished',
      'finished',
      'finished',
      'finished',
      'finished',
      'finished',
      'failed',
      'limit',
      'overloaded',
      'limit',
      ...(tape.chance(10) ? (['auth', 'not-started'] as const) : []),
    )
    const resetsAt =
      status !== 'limit'
        ? null
        : tape.oneOf(null, this.now + 20_000, this.now + 4 * MINUTE, this.now + 2 * HOUR, this.now - MINUTE)
    const hints = {
      done: tape.chance(40),
      notDone: tape.chance(10),
      stuck: tape.chance(8) ? 'no database' : null,
    }
    return session({
      status,
      usage,
      resetsAt,
      hints,
      learnings: tape.chance(20) ? [`learned ${this.#count}`] : [],
    })
  }

  #gates(): GateResult[] {
    const results = [gate(!this.tape.chance(30))]
    if (this.tape.chance(30)) results.push(gate(false, { name: 'lint', advisory: true }))
    return results
  }

  #verdict(passed: readonly string[]): Verdict {
    const { tape } = this
    switch (tape.oneOf('verified', 'verified', 'reset', 'limit', 'none')) {
      case 'reset':
        return { kind: 'reset', stories: [passed[tape.draw(passed.length)] ?? ''], reason: 'not met' }
      case 'limit': {
        const notBefore = tape.oneOf(null, this.now + 30_000, this.now + 2 * HOUR, this.now - MINUTE)
        return { kind: 'limit', notBefore, message: 'the vendor is limited' }
      }
      case 'none':
        return { kind: 'none', message: 'it said neither' }
      default:
        return { kind: 'verified' }
    }
  }

  /** As the driver answers: a red gate resets the story that passed last; where none passed there is none to judge. */
  #wholeGated(state: State): Happening {
    if (!this.tape.chance(20)) return { kind: 'whole-gated', gates: [gate(true)], usage: used(0) }
    const passed = passedIn(state)
    const reason = 'gate test fails on the whole'
    const verdict: Verdict =
      passed.length > 0
        ? { kind: 'reset', stories: passed.slice(-1), reason }
        : { kind: 'none', message: reason }
    return { kind: 'verified', gates: [gate(false)], verdict, usage: used(0) }
  }

  #verified(state: State): Happening {
    const passed = passedIn(state)
    const verdict: Verdict = passed.length === 0 ? { kind: 'verified' } : this.#verdict(passed)
    return { kind: 'verified', gates: [gate(true)], verdict, usage: used(this.tape.draw(3)) }
  }

  #planned(split: string | null, fine: Happening): Happening {
    const { tape } = this
    const usage = used(tape.draw(3))
    switch (tape.oneOf('proposed', 'proposed', 'none', 'limit')) {
      case 'none':
        return { kind: 'planned', split, proposal: { kind: 'none', message: 'no JSON' }, usage }
      case 'limit': {
        const notBefore = tape.oneOf(null, this.now + 30_000, this.now + 2 * HOUR, this.now - MINUTE)
        return { kind: 'planned', split, proposal: { kind: 'limit', notBefore, message: 'limited' }, usage }
      }
      default:
        return fine
    }
  }

  #commands(state: State): Command[] {
    if (!this.weather.people || !this.tape.chance(12)) return []
    return Array.from({ length: 1 + this.tape.draw(3) }, () => this.#command(state))
  }

  #command(state: State): Command {
    const { tape } = this
    // Now and then a comment that was handled already, as after an unknown answer.
    const again = tape.chance(20) && this.#comment > 0
    const id = again ? 1 + tape.draw(this.#comment) : this.#nextComment()
    const said = { id, by: 'ann' }
    const ids = state.prd.userStories.map((story) => story.id)
    const some = [ids[tape.draw(ids.length)] ?? '']
    const guidance = tape.oneOf('', 'look at the index')
    switch (
      tape.oneOf(
        'run',
        'run',
        'retry',
        'retry',
        'redo',
        'skip',
        'note',
        'add',
        'verify',
        'limit',
        'cost',
        'pause',
        'stop',
        'refused',
        'archive',
        'drop',
        'update',
        'fix',
        'split',
        'allow',
        'plan',
        'approve',
        'approve',
      )
    ) {
      case 'retry':
        return { ...said, kind: 'retry', stories: tape.oneOf<string[] | 'all'>('all', some), guidance }
      case 'redo':
        return { ...said, kind: 'redo', stories: some, guidance }
      case 'skip':
        return { ...said, kind: 'skip', stories: some, guidance }
      case 'note':
        return { ...said, kind: 'note', stories: some, guidance: 'mind the cache' }
      case 'add':
        return { ...said, kind: 'add', title: 'one more', description: '', criteria: [] }
      case 'fix':
        return { ...said, kind: 'fix', story: tape.oneOf(null, some[0] ?? ''), text: 'it is wrong' }
      case 'drop':
        return { ...said, kind: 'drop', stories: some, guidance }
      case 'update':
        return { ...said, kind: 'update' }
      case 'archive':
        return { ...said, kind: 'archive' }
      case 'verify':
        return { ...said, kind: 'verify' }
      case 'limit':
        return { ...said, kind: 'limit', what: 'iterations', amount: 1 + tape.draw(3) }
      case 'cost':
        return { ...said, kind: 'limit', what: 'cost', amount: 1 + tape.draw(3) }
      case 'split':
        return { ...said, kind: 'split', story: some[0] ?? '', guidance }
      case 'plan':
        return { ...said, kind: 'plan', guidance }
      case 'allow':
        return { ...said, kind: 'allow', packages: tape.oneOf<string[] | 'all'>('all', ['left-pad']) }
      case 'approve':
        return { ...said, kind: 'approve', story: tape.oneOf(null, some[0] ?? ''), digest: null }
      case 'pause':
        return { ...said, kind: 'pause' }
      case 'stop':
        return { ...said, kind: 'stop' }
      case 'refused':
        return { ...said, kind: 'refused' }
      default:
        return { ...said, kind: 'run' }
    }
  }

  #nextComment(): number {
    this.#comment += 1 + this.tape.draw(3)
    return this.#comment
  }

  /** prd.json as people may have pushed it: reworded, with a story more or one less. */
  #edited(prd: Prd): Prd {
    const { tape } = this
    const edited = prd.userStories.map((story) =>
      tape.chance(20) ? { ...story, acceptanceCriteria: [...story.acceptanceCriteria, 'and more'] } : story,
    )
    const added = tape.chance(30)
      ? [newStory({ id: `P-${this.#count}`, title: 'of people', passes: true })]
      : []
    const [first, ...rest] = edited
    const fewer = tape.chance(15) && first !== undefined && rest.length > 0 ? rest : edited
    return { ...prd, userStories: [...fewer, ...added] }
  }
}

/** As in engine/perform.ts: steps whose event stands although the job was cancelled. */
function settles(state: State, step: Step): boolean {
  return state.job.ending !== null || state.job.halted?.kind === 'interrupted' || STEPS[step.kind].settles
}

export type JobEnd = { kind: 'stop'; conclusion: Conclusion; state: State } | { kind: 'died' }

/** One job: gives how it ended and the state that git holds then. Throws when it takes more than `most` steps. */
export function job(
  claimed: State,
  limits: Limits,
  world: World,
  watch: Watch,
  most: number,
): { end: JobEnd; saved: State; steps: number } {
  world.beginJob()
  let state = frozen(claimed)
  let saved = state
  watch.save(saved)
  const last: string[] = []
  for (let steps = 0; ; steps += 1) {
    const step = frozen(nextStep(state, limits, world.now))
    watch.decided(state, step, limits, world.now)
    if (step.kind === 'stop')
      return { end: { kind: 'stop', conclusion: step.conclusion, state }, saved, steps }
    last.push(step.kind)
    if (steps >= most)
      throw new Error(`no end of the job after ${most} steps: … ${last.slice(-10).join(', ')}`)
    if (world.dies()) return { end: { kind: 'died' }, saved, steps }
    const happened = world.answer(step, state, limits)
    const event = frozen(eventOf(happened, state, world.now))
    const next = frozen(reduce(state, event, limits))
    watch.happened(state, event, next, limits)
    const pushed = pushedBy(state, event, next, limits)
    if (pushed !== null) {
      saved = frozen(pushed)
      watch.save(saved)
    }
    // The effect is done, and the job dies before it can say so.
    if (world.dies()) return { end: { kind: 'died' }, saved, steps }
    state = next
  }
}

/** The state that this event leaves in git, or null where nothing is pushed (loop.ts, perform.ts). */
function pushedBy(state: State, event: Happening, next: State, limits: Limits): State | null {
  switch (event.kind) {
    case 'opened':
      return { ...state, green: event.green, published: event.green }
    case 'pushed':
      return { ...state, published: state.green }
    case 'published': {
      const leaving = released(state, limits)
      const recorded = event.green !== state.green
      return {
        ...leaving,
        green: event.green,
        progress: recorded ? [] : leaving.progress,
        published: event.withBranch ? event.green : state.published,
      }
    }
    default:
      if (state.job.ending?.published) return null
      return EVENTS[event.kind].isDurable ? next : null
  }
}

/**
 * The next job's claim, by the real `claim`, from what git holds. `generation` is what it was dispatched with; null where a
 * person starts it. A job that waits is a laptop's, and has no deadline.
 */
export async function claimNext(
  saved: State,
  now: number,
  generation: number | null = null,
  { waits }: Pick<Limits, 'waits'> = { waits: false },
): Promise<State> {
  const folder = saved.folder.replace('.ralph/', '')
  let stored: State | null = null
  // Only what `resume` asks for is here; anything else fails loudly.
  const git = { own: '/nowhere', run: async () => ({ code: 0, stdout: '', stderr: '' }) } as unknown as Git
  const store = {
    list: async () => new Map([[folder, 'commit']]),
    load: async () => ({ state: saved, commit: 'commit' }),
    save: async (state: State) => {
      stored = state
    },
  } as unknown as Store
  const { state } = await claim(
    { git, objects: EMPTY, store, repository: {} as unknown as Repository },
    {
      feature: saved.feature,
      branchPrefix: 'ralph/',
      base: saved.base,
      workTree: null,
      generation,
      lease: {
        holder: 'run 1.1',
        expiresAt: now + HOUR,
        runId: 1,
        runAttempt: 1,
        url: null,
        host: 'h',
        pid: 1,
        startTime: '',
        mark: 'mark',
      },
      isAlive: async () => false,
      endOrphansOf: async () => {},
      job: newJob(now, waits ? Number.MAX_SAFE_INTEGER : now + 5 * HOUR),
      chosen: {},
      scope: askedAgain(saved),
      today: '2026-01-10',
      prepareState: async (state: State) => state,
      firstComment: async () => 0,
    },
  )
  if (stored !== state) throw new Error('a claim is durable before it counts')
  return state
}

/** A person asks for the same part again, where it can still be completed by itself; else for the whole. */
function askedAgain({ prd, control: { scope } }: State): ScopeRequest {
  const whole = { stories: [], epic: null }
  return scope !== null && resolveScope(prd, scope, 0).mistakes.length === 0 ? scope : whole
}

export type Chain = { jobs: number; conclusion: Conclusion | null; saved: State; longest: number }

/** Job after job, until the outcome or, with people about, until `maxJobs`. */
export async function chain(
  start: State,
  limits: Limits,
  world: World,
  watch: Watch,
  bounds: { maxSteps: number; maxJobs: number },
): Promise<Chain> {
  let saved = start
  let jobs = 0
  let longest = 0
  let generation: number | null = null
  for (;;) {
    const claimed = await claimNext(saved, world.now, generation, limits)
    watch.claimed(saved, claimed)
    jobs += 1
    const ran = job(claimed, limits, world, watch, bounds.maxSteps)
    longest = Math.max(longest, ran.steps)
    saved = ran.saved
    if (ran.end.kind === 'died') watch.lost()
    const conclusion = ran.end.kind === 'stop' ? ran.end.conclusion : null
    const next = goesOn(ran.end, world)
    if (conclusion !== null && next === null) return { jobs, conclusion, saved, longest }
    generation = next === 'dispatched' ? saved.generation : null
    if (jobs >= bounds.maxJobs) return { jobs, conclusion: null, saved, longest }
    world.now = Math.max(world.now + 1000, (conclusion?.until ?? 0) + 1)
  }
}

/** Dispatched by the job or, where it was lost or waits until it may go on, by resume-lost; started by people; or over. */
function goesOn(end: JobEnd, world: World): 'dispatched' | 'by a person' | null {
  if (end.kind === 'died') return 'dispatched'
  if (end.conclusion.outcome === 'continued' || end.conclusion.until !== null || end.state.job.ending?.more)
    return 'dispatched'
  return world.weather.people && world.tape.chance(80) ? 'by a person' : null
}

const ids = ['US-001', 'US-002', 'US-003', 'US-004', 'US-005']

const arbitraryStories: fc.Arbitrary<Story[]> = fc
  .array(
    fc.record({
      needs: fc.array(fc.nat(4), { maxLength: 2 }),
      priority: fc.integer({ min: 1, max: 3 }),
      tags: fc.constantFrom<string[]>([], ['ui']),
      standing: fc.constantFrom(...Array.from({ length: 9 }, () => 'open'), 'passed', 'blocked', 'skipped'),
    }),
    { minLength: 1, maxLength: ids.length },
  )
  .map((drafts) =>
    drafts.map(({ needs, priority, tags, standing }, index) => ({
      ...newStory({ id: ids[index] ?? '', title: `story ${index}`, priority, tags }),
      dependsOn: index === 0 ? [] : [...new Set(needs.map((need) => ids[need % index] ?? ''))],
      passes: standing === 'passed',
      blocked: standing === 'blocked',
      skipped: standing === 'skipped',
    })),
  )

export const arbitraryLimits: fc.Arbitrary<Limits> = fc
  .record({
    iterationsPerJob: fc.constantFrom(0, 1, 2, 3),
    maxIterations: fc.constantFrom(0, 2, 5, 12, 30, 50),
    jobs: fc.constantFrom<number | null>(null, null, null, 2, 5),
    maxAttempts: fc.integer({ min: 1, max: 4 }),
    maxInterruptions: fc.integer({ min: 1, max: 3 }),
    iterationTimeoutMs: fc.constantFrom(10 * MINUTE, 30 * MINUTE, 6 * HOUR),
    gatesMs: fc.constantFrom(0, 900_000),
    agent: fc.constant('claude'),
    fallback: fc.constantFrom(null, 'codex'),
    waits: fc.boolean(),
    breaker: fc.record({
      noProgress: fc.constantFrom(2, 3, 99),
      sameError: fc.constantFrom(2, 5, 99),
      outputDecline: fc.constant(70),
      coolDownMs: fc.constantFrom(60_000, 1_800_000),
    }),
    maxCostUsd: fc.constantFrom(null, null, null, 2, 12),
    maxTokens: fc.constantFrom(null, null, null, 9000),
    maxAgentTimeMs: fc.constantFrom(null, null, null, 90_000),
    callsPerHour: fc.constantFrom(null, null, 1, 3),
    baseline: fc.boolean(),
    recordsBaseline: fc.boolean(),
    finalVerification: fc.boolean(),
    weakenedTests: fc.constantFrom('judge', 'warn', 'fail', 'off'),
    needsProof: fc.constantFrom('warn', 'require', 'off'),
    evidence: fc.constant('ask' as const),
    newDependencies: fc.constantFrom('show' as const, 'ask' as const, 'refuse' as const),
    maxParallel: fc.constant(1),
    approvesPlans: fc.boolean(),
    stopOnBlocked: fc.boolean(),
    redispatch: fc.boolean(),
    publishEach: fc.boolean(),
    candidates: arbitraryCandidates,
  })
  .map(({ jobs, candidates, newDependencies, ...rest }) => ({
    ...rest,
    ...candidates,
    ...(newDependencies === 'show' ? {} : { newDependencies }),
    maxJobs: jobs ?? defaultJobs(rest),
  }))

/** As `maxJobs` of settings.ts, but where the iterations have no end the jobs have one here. */
function defaultJobs(limits: { maxIterations: number; iterationsPerJob: number }): number {
  if (limits.maxIterations === 0) return 40
  return (
    3 * (limits.iterationsPerJob === 0 ? 1 : Math.ceil(limits.maxIterations / limits.iterationsPerJob)) + 5
  )
}

/** A repository without a file. */
const EMPTY = {
  text: async () => null,
  folder: async () => null,
  entry: async () => null,
  git: { run: async () => ({ code: 0, stdout: '', stderr: '' }) },
} as unknown as CatFile

/** A feature as a kick-off left it in git: nobody holds it, nothing was opened yet or something was. */
export const arbitraryStart: fc.Arbitrary<State> = fc
  .record({
    userStories: arbitraryStories,
    opened: fc.boolean(),
    planned: fc.constantFrom(null, null, null, {}, { interview: NEW_INTERVIEW }),
    baseline: fc.constantFrom('pending', 'green'),
    part: fc.option(fc.array(fc.constantFrom(...ids), { minLength: 1 })),
  })
  .map(({ userStories, opened, baseline, planned, part }) => {
    if (planned !== null) return stateOf([], { plan: { ...newPlan('people want to sign in'), ...planned } })
    const state = partOf(stateOf(userStories), part)
    const prd = { ...state.prd, run: { ...state.prd.run, jobs: 0 } }
    return opened
      ? {
          ...state,
          prd,
          published: 'opened',
          green: 'opened',
          baseline: baseline === 'green' ? 'green' : 'pending',
        }
      : { ...state, prd }
  })

/** With these stories asked for, and what they wait for. */
function partOf(state: State, part: readonly string[] | null): State {
  const named = state.prd.userStories.map(({ id }) => id).filter((id) => part?.includes(id))
  if (named.length === 0) return state
  const scope = { stories: named, epic: null, job: 0 }
  const stories = [...named, ...unmetOutOfScope(state.prd, scope).map(({ id }) => id)]
  return { ...state, control: { ...state.control, scope: { ...scope, stories } } }
}

// Without bias: small numbers are the good turns, and a world where all goes well shows little.
export const arbitraryTape = fc.noBias(fc.array(fc.nat(9999), { maxLength: 600, size: 'max' }))

function passedIn({ prd, control }: State): string[] {
  const isAsked = inScope(control.scope)
  return prd.userStories.filter((one) => one.passes && isAsked(one)).map(({ id }) => id)
}
