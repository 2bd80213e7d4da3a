// The answers to reviewers under faults: a reply that GitHub took and whose answer was lost, an API that is down when the commit is out,
// and a job that dies at any of its effects. In the end each thread has exactly one reply.
// RALPH_SOAK=1 takes every moment of every effect; RALPH_TRIALS=n so many trials for each way to die.
import assert from 'node:assert/strict'
import test from 'node:test'
import { goodTurn, openSite, outputsOf, type Site, story } from '../e2e/site.ts'
import type { FaultAnswer } from '../standin/github.ts'
import { type FaultySite, type How, hasMet, leftBehind, openPlace, type Place } from './faulty-site.ts'
import { githubWrong } from './invariants.ts'
import { failures, type Point, pointsOf, type Row, reaches, sample, table, tryAll } from './points.ts'

const SOAK = process.env.RALPH_SOAK === '1'
const TRIALS = SOAK ? Number.POSITIVE_INFINITY : Number(process.env.RALPH_TRIALS ?? 3)
const INPUTS = { 'final-verification': 'false', baseline: 'off', 'agents-md': 'off' }

function repliesOf(site: Site, pull: number): number[] {
  return site.github
    .threads(pull)
    .map(({ comments }) => comments.filter(({ body }) => body.startsWith('<!-- ralph:reply:')).length)
}

const DOWN: FaultAnswer = { status: 502, body: '<h1>Bad Gateway</h1>' }

for (const [what, answer, options] of [
  ['whose answer is lost', 'drop', { afterwards: true }],
  ['that meets an API that is down', DOWN, { times: 2 }],
] as const)
  test(`a reply ${what} is there once in the end`, async () => {
    const changed = { files: { 'src/one.mjs': 'export const one = () => 1 + 0\n' } }
    await using site = await openSite({
      stories: [story('US-001', 'one')],
      script: { 'US-001': [goodTurn('one', 1)], 'FIX-1': [changed] },
      inputs: INPUTS,
    })
    await site.go()
    const { number } = await site.pull()
    const fault = site.github.fault(
      { where: ({ mutation }) => mutation === 'addPullRequestReviewThreadReply' },
      answer,
      options,
    )
    site.github.review('bob', number, {
      threads: [{ path: 'src/one.mjs', line: 1, body: 'A sum, please.' }],
    })
    await site.runner.settled()
    assert.ok(fault.hits > 0, site.log())
    assert.equal((await site.state()).prd.run.outcome, 'complete', site.log())
    // A further job finds what the last one could not post.
    await site.go()
    assert.deepEqual(repliesOf(site, number), [1], site.log())
    assert.equal(site.github.threads(number)[0]?.isResolved, true)
  })

/** A complete run whose pull request then gets a thread that asks for a change, and one that only asks. */
async function open(place: Place, how: How): Promise<{ site: FaultySite; pull: number }> {
  const site = await place.open({
    stories: { 'US-001': [] },
    bad: 'false',
    inputs: INPUTS,
    met: (run, { runner }) => {
      if (how === 'halt') runner.kill(run.id)
    },
  })
  assert.equal(await dispatch(site), 'complete', site.log())
  return { site, pull: (await site.pull()).number }
}

async function dispatch(site: Site): Promise<string> {
  await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await site.runner.settled()
  return outputsOf(site.last()).outcome ?? site.last().conclusion ?? 'nothing'
}

async function reviewWrong(site: FaultySite, how: How): Promise<string[]> {
  return [...(await githubWrong(site)), ...(await leftBehind(site, how))]
}

/** What people do with a complete run, and what is wrong with the end of it. `sessions`: of all jobs, if nobody disturbs them. */
type Work = {
  sessions: number
  begin(site: FaultySite, pull: number): Promise<void>
  wrong(site: FaultySite, pull: number): Promise<string[]>
}

const REVIEW: Work = {
  // The story, the correction, and the answer.
  sessions: 3,
  async begin(site, pull) {
    const at = { path: 'src/US-001.txt', line: 1 }
    site.github.review('bob', pull, {
      threads: [
        { ...at, body: 'Say it differently.' },
        { ...at, body: 'Why good?' },
      ],
    })
    await site.runner.settled()
  },
  async wrong(site, pull) {
    const replies = repliesOf(site, pull)
    return replies.every((count) => count === 1) ? [] : [`replies: ${replies.join(', ')}`]
  },
}

const UPDATE: Work = {
  sessions: 1,
  async begin(site) {
    await site.github.commit('main', { 'other.txt': 'theirs\n' }, 'theirs', 'alice')
    await site.say('bob', '/ralph update')
  },
  async wrong(site) {
    const merges = ['log', '--merges', '--format=%s', 'main..refs/heads/ralph/sample']
    const found = (await site.github.bare.run(merges)).trim()
    const there = await site.github.read('ralph/sample', 'other.txt')
    return found === 'merge: main into ralph/sample' && there === 'theirs\n' ? [] : [`merges: ${found}`]
  },
}

async function trial(place: Place, work: Work, how: How, point: Point, jobs: number) {
  const { site, pull } = await open(place, how)
  await using _closed = site
  site.plan({ [point.process]: { at: point.effect.name, when: point.when, how } })
  await work.begin(site, pull)
  const outcomes: string[] = []
  while (outcomes.length < 4 && (outcomes.at(-1) !== 'complete' || (await work.wrong(site, pull)).length > 0))
    outcomes.push(await dispatch(site))
  const deaths = site.runner.runs.filter(hasMet).length
  const sessions = await site.sessionLines()
  const repeated = sessions.length - work.sessions
  const wrong = [...(await reviewWrong(site, how)), ...(await work.wrong(site, pull))]
  if (deaths === 0) wrong.push('not ended there')
  if (repeated > deaths) wrong.push(`too many sessions: ${sessions.join(', ')}`)
  const state = await site.state()
  if (state.prd.userStories.some(({ passes }) => !passes)) wrong.push('a correction is open')
  if (site.runner.runs.length < jobs) wrong.push('fewer jobs than undisturbed')
  return { killed: deaths > 0, points: deaths, wrong, repeated }
}

for (const [what, work, end] of [
  ['answers threads', REVIEW, 'each thread has one reply'],
  ['merges the base branch', UPDATE, 'it is merged once'],
] as const)
  test(`a job that ${what}, ended at its effects: ${end}, and no landed work is lost or repeated`, async (t) => {
    await using place = await openPlace()
    let all: Point[] = []
    let jobs = 0
    {
      const { site, pull } = await open(place, 'kill')
      await using _closed = site
      await work.begin(site, pull)
      const wrong = [...(await reviewWrong(site, 'kill')), ...(await work.wrong(site, pull))]
      assert.deepEqual(wrong, [], site.log())
      assert.equal((await site.sessionLines()).length, work.sessions)
      jobs = site.runner.runs.length
      // The job that does the work is the last process of main.js.
      const mains = site.runner.runs.flatMap((run) => run.jobs).length
      all = await lastMain(site.faults, mains)
    }
    const rows: Row[] = []
    for (const how of ['kill', 'halt'] as const) {
      const began = Date.now()
      const points = sample(SOAK ? all : all.filter(reaches), TRIALS)
      const trials = await tryAll(points, (point) => trial(place, work, how, point, jobs))
      const scenario = `${what}, ${how === 'kill' ? 'main killed' : 'machine lost'}`
      rows.push({ scenario, of: all.length, trials, seconds: (Date.now() - began) / 1000 })
    }
    t.diagnostic(`\n${table(rows)}`)
    assert.equal(rows.map((row) => failures(row.trials)).join(''), '')
  })

async function lastMain(folder: string, most: number): Promise<Point[]> {
  for (let number = most; number > 1; number -= 1) {
    const points = await pointsOf(folder, `main-${number}`).catch(() => [])
    if (points.length > 20) return points
  }
  throw new Error('no process of main.js made corrections')
}
