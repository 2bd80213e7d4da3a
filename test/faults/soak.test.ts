// A soak: chains on the stand-in for GitHub under random faults from a seed that is printed. Whatever happens, every job
// leaves a sound branch and state, and in the end every story has passed, once, with one of everything on GitHub.
// RALPH_SEED=3,4 takes these seeds (what happens at which effect of which job; not the timing between processes);
// RALPH_SOAK=1 takes the full size.
import assert from 'node:assert/strict'
import test from 'node:test'
import { outputsOf, type Site } from '../e2e/site.ts'
import type { Fault, FaultAnswer } from '../standin/faults.ts'
import type { Run } from '../standin/runner.ts'
import { type FaultySite, openPlace, type Place, watch } from './faulty-site.ts'
import { alwaysWrong, charged, endWrong, FOLDER, githubWrong, stateOf } from './invariants.ts'
import { lined, type Plan } from './points.ts'

const SOAK = process.env.RALPH_SOAK === '1'
const SEEDS = (process.env.RALPH_SEED ?? (SOAK ? '1' : '9')).split(',').map(Number)
/** Iterations in all, about, and in a job. */
const SIZE = SOAK ? { iterations: 200, perJob: 10 } : { iterations: 12, perJob: 4 }
/** How often a person, or the schedule, starts the chain again before the soak gives up. */
const PATIENCE = 15 + SIZE.iterations / 4

type Random = {
  /** Whether something of this probability happens. */
  is(probability: number): boolean
  /** A whole number from 0 to below the bound. */
  below(bound: number): number
  one<T>(all: readonly T[]): T
}

/** Numbers that look random and are the same for the same seed (mulberry32). */
function randomOf(seed: number): Random {
  let at = seed >>> 0
  const next = () => {
    at = (at + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(at ^ (at >>> 15), at | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (bound: number) => Math.floor(next() * bound)
  return {
    is: (probability) => next() < probability,
    below,
    one: (all) => {
      const found = all[below(all.length)]
      if (found === undefined) throw new Error('nothing to choose from')
      return found
    },
  }
}

const API_ANSWERS: readonly (() => Fault['answer'])[] = [
  () => ({ status: 500 }),
  () => ({ status: 502, body: '<html>Bad Gateway</html>', headers: { 'content-type': 'text/html' } }),
  () => ({ status: 503 }),
  () => 'drop',
  () => 'hang',
  () => limited(429, 'a secondary rate limit', { 'retry-after': '1' }),
  () => limited(403, 'a secondary rate limit', { 'retry-after': '1' }),
  () => limited(403, 'your limit', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': inSeconds(1) }),
]
const GIT_ANSWERS: readonly Fault['answer'][] = [
  { status: 500 },
  { status: 502 },
  { status: 503 },
  'drop',
  'hang',
]
const WORDS = [
  'pause',
  'pause',
  'run',
  'retry all',
  'limit iterations +5',
  'note US-002 -- mind the tests',
  'status',
]

function limited(status: number, what: string, headers: Record<string, string>): FaultAnswer {
  return { status, headers, body: { message: `You have exceeded ${what}.` } }
}

function inSeconds(seconds: number): string {
  return String(Math.ceil(Date.now() / 1000) + seconds)
}

/** What a storm has done so far. */
type Tally = Record<
  'killed' | 'machine lost' | 'cancelled' | 'commits' | 'comments' | 'dispatches doubled' | 'started again',
  number
>

/** One chain in a storm. */
class Storm {
  readonly tally: Tally = {
    killed: 0,
    'machine lost': 0,
    cancelled: 0,
    commits: 0,
    comments: 0,
    'dispatches doubled': 0,
    'started again': 0,
  }
  readonly faults: { of: 'api' | 'git' | 'dispatch'; fault: Fault }[] = []
  /** What was met, for a person who looks into a failure. */
  readonly notes: string[] = []
  readonly #seed: number
  readonly #plans: Record<string, Plan> = {}
  readonly #atMoment = new Map<number, (site: Site) => unknown>()
  #runs = 0
  #isOver = false

  constructor(seed: number) {
    this.#seed = seed
  }

  /** From now on every run meets what the seed has for it. */
  begin(site: FaultySite): void {
    site.github.world.onRun((run) => {
      if (this.#isOver || run.status === 'completed') return
      const random = randomOf(this.#seed * 1_000 + this.#runs)
      this.#runs += 1
      if (run.event === 'workflow_dispatch') this.#meet(site, run, random)
    })
  }
  /** The sky clears. */
  end(): void {
    this.#isOver = true
  }
  met(run: Run, site: Site): unknown {
    const plan = this.#plans[`main of ${run.id}`]
    this.notes.push(`run ${run.id}: ${plan?.how} ${plan?.when} effect ${plan?.at}`)
    return this.#atMoment.get(run.id)?.(site)
  }
  hits(of: 'api' | 'git' | 'dispatch'): number {
    return this.faults.reduce((sum, one) => sum + (one.of === of ? one.fault.hits : 0), 0)
  }

  #meet(site: FaultySite, run: Run, random: Random): void {
    const at = 1 + random.below(60 + 45 * SIZE.perJob)
    const when = random.one(['before', 'after'] as const)
    const name = `main of ${run.id}`
    const chance = random.below(100)
    if (chance < 25) {
      this.#plans[name] = { at, when, how: 'kill' }
      // The post step may be ended, too.
      if (random.is(0.3)) this.#plans[`post of ${run.id}`] = { at: 1 + random.below(20), when, how: 'kill' }
      this.#atMoment.set(run.id, () => this.#count('killed'))
    } else if (chance < 40) {
      this.#plans[name] = { at, when, how: 'halt' }
      this.#atMoment.set(run.id, ({ runner }) => {
        this.#count('machine lost')
        runner.kill(run.id)
      })
    } else if (chance < 55) {
      this.#plans[name] = { at, when, how: 'tell' }
      this.#atMoment.set(run.id, ({ runner }) => {
        this.#count('cancelled')
        runner.cancel(run.id)
      })
    } else if (chance < 90) {
      this.#plans[name] = { at, when, how: 'tell' }
      this.#atMoment.set(run.id, (there) => this.#people(there, random))
    }
    site.plan(this.#plans)
    for (let more = random.below(4); more > 0; more--) this.#order(site, run, random)
    // What a job dispatched comes twice.
    if (run.inputs.generation && run.actor !== 'bob' && random.is(0.25)) {
      this.#count('dispatches doubled')
      void site.runner.dispatch('ralph.yml', run.inputs, { actor: 'bob' })
    }
  }

  /** A request of this run's jobs goes wrong, at most twice in a row: the fourth try of the same would be the last. */
  #order(site: Site, run: Run, random: Random): void {
    const of = random.one(['api', 'api', 'git', 'git', 'dispatch'] as const)
    const answer = of === 'git' ? random.one(GIT_ANSWERS) : random.one(API_ANSWERS)()
    const isOurs = (request: { job: { runId: number } | null; kind: string; path: string }) =>
      request.job?.runId === run.id &&
      (of === 'git' ? request.kind === 'git' : ['rest', 'graphql'].includes(request.kind)) &&
      (of !== 'dispatch' || request.path.endsWith('/dispatches'))
    // Whom GitHub limits, it has not served; any other answer may come after the deed.
    const mayHaveActed = typeof answer === 'string' || answer.status >= 500
    const options = {
      skip: of === 'dispatch' ? 0 : random.below(of === 'git' ? 60 : 30),
      times: 1 + random.below(2),
      afterwards: mayHaveActed && random.is(0.4),
    }
    const fault = site.github.fault({ where: isOurs }, answer, options)
    // A server that does not answer is given up at last.
    if (answer === 'hang') void fault.hit.then(() => setTimeout(fault.release, 1_500))
    this.faults.push({ of, fault })
    void fault.hit.then(({ method, path }) => {
      const what = typeof answer === 'object' ? answer.status : answer
      this.notes.push(
        `run ${run.id}: ${what}${options.afterwards ? ' afterwards' : ''} x${options.times} at ${method} ${path}`,
      )
    })
  }

  async #people({ github }: Site, random: Random): Promise<void> {
    const [pull] = await github.pulls()
    if (pull === undefined) return
    if (random.is(0.5)) {
      this.#count('comments')
      github.comment('alice', pull.number, `/ralph ${random.one(WORDS)}`)
      return
    }
    this.#count('commits')
    const prd = `${FOLDER}/prd.json`
    const text = await github.read('ralph/sample', prd)
    const files =
      random.is(0.3) && text !== null
        ? { [prd]: text.replace('As a user, I want', 'As somebody who uses it, I want') }
        : { [`people/${this.tally.commits}.md`]: 'By hand.\n' }
    await github.commit('ralph/sample', files, 'By hand', 'bob')
  }

  #count(what: keyof Tally): void {
    this.tally[what] += 1
  }
}

/** What people do when nothing runs any more and the work is not done: a word where one is needed, else "Run workflow". */
async function goOn(site: Site): Promise<void> {
  const last = site.runner.runs.findLast((run) => run.event === 'workflow_dispatch')
  const outcome = last === undefined ? '' : (outputsOf(last).outcome ?? '')
  const state = await stateOf(site.github.bare.path)
  const [pull] = await site.github.pulls()
  const word =
    outcome === 'max-iterations' ? 'limit iterations +20' : outcome === 'stuck' ? 'retry all' : 'run'
  const needsWord = ['max-iterations', 'stuck', 'error'].includes(outcome) || state?.control.paused != null
  if (needsWord && pull !== undefined) site.github.comment('alice', pull.number, `/ralph ${word}`)
  else await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await site.runner.settled()
}

/** Works a chain to its end through the storm; gives everything that was wrong, and a line for the table. */
async function weather(
  place: Place,
  seed: number,
): Promise<{ wrong: string[]; line: string[]; log: string }> {
  const began = Date.now()
  const random = randomOf(seed)
  const ids = Array.from(
    { length: Math.ceil(SIZE.iterations * 0.75) },
    (_one, index) => `US-${String(index + 1).padStart(3, '0')}`,
  )
  const bad = ids.flatMap((id) => [1, 2].filter(() => random.is(0.25)).map((attempt) => `${id}/${attempt}`))
  const storm = new Storm(seed)
  await using site = await place.open({
    stories: Object.fromEntries(ids.map((id) => [id, []])),
    bad: `[[ " ${bad.join(' ')} " == *" $RALPH_STORY_ID/$RALPH_ATTEMPT "* ]]`,
    inputs: {
      'iterations-per-job': String(SIZE.perJob),
      'max-iterations': '1000',
      'max-jobs': '1000',
      'max-attempts': '4',
    },
    met: (run, there) => storm.met(run, there),
  })
  const wrong: string[] = []
  const bare = site.github.bare.path
  void watch(
    site,
    (run) => run.status === 'completed',
    async (run) => {
      for (const one of await alwaysWrong(bare, /^people\//)) wrong.push(`after run ${run.id}: ${one}`)
    },
  )
  storm.begin(site)
  let starts = 0
  do {
    await goOn(site)
    starts += 1
  } while ((await stateOf(bare))?.prd.run.outcome !== 'complete' && starts < PATIENCE)
  storm.tally['started again'] = starts - 1
  storm.end()
  // What could not be told in the storm is told now.
  await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await site.runner.settled()
  wrong.push(...(await endWrong(bare)), ...(await githubWrong(site)))
  const state = await stateOf(bare)
  if (state === null) return { wrong: [...wrong, 'there is no state'], line: [], log: site.log() }
  const sessions = (await site.sessionLines()).filter((line) => line.startsWith('run '))
  const reserved = Object.values(state.records).reduce((sum, record) => sum + record.attempts, 0)
  const iterations = state.prd.run.iterations
  const { killed, 'machine lost': lost, cancelled } = storm.tally
  const returned = reserved - iterations
  if (sessions.length > reserved) wrong.push(`${sessions.length} sessions for ${reserved} reserved attempts`)
  if (returned > killed + lost + cancelled)
    wrong.push(`${returned} attempts were given back, and only ${killed + lost + cancelled} jobs disturbed`)
  if (state.timeline.length < 200 && charged(state) !== iterations)
    wrong.push('the timeline counts otherwise')
  const line = [
    seed,
    iterations,
    state.prd.run.jobs,
    site.runner.runs.length,
    ...Object.values(storm.tally),
    storm.hits('api'),
    storm.hits('git'),
    storm.hits('dispatch'),
    returned,
    wrong.length,
    ((Date.now() - began) / 1000).toFixed(0),
  ].map(String)
  return { wrong, line, log: [...storm.notes, site.log()].join('\n') }
}

test(`a soak of ${SIZE.iterations} iterations under random faults, seed ${SEEDS.join(' and ')}`, async (t) => {
  await using place = await openPlace()
  const storms = await Promise.all(SEEDS.map((seed) => weather(place, seed)))
  const head = ['seed', 'iterations', 'jobs', 'runs', ...Object.keys(new Storm(0).tally)]
  head.push('api faults', 'git faults', 'dispatch faults', 'repeated', 'wrong', 'seconds')
  t.diagnostic(`\n${lined([head, ...storms.map(({ line }) => line)])}`)
  for (const { wrong, log } of storms) assert.deepEqual(wrong, [], `RALPH_SEED=${SEEDS.join()}\n${log}`)
})
