// GitHub's API failing at every call that a chain makes, in every way: the work goes on, nothing is lost or doubled.
import assert from 'node:assert/strict'
import test from 'node:test'
import {
  annotationsOf,
  badTurn,
  goodTurn,
  openChecks,
  openSite,
  RUN_TESTS,
  type Site,
  story,
} from '../e2e/site.ts'
import type { Fault, FaultAnswer, Run, SeenRequest } from '../standin/github.ts'

const IS_SOAK = process.env.RALPH_SOAK !== undefined
const STORIES = [
  story('US-001', 'one'),
  story('US-002', 'two', { priority: 2 }),
  story('US-003', 'three', { priority: 3 }),
]
const SCRIPT = {
  'US-001': [goodTurn('one', 1)],
  'US-002': [badTurn('two', 2), goodTurn('two', 2)],
  'US-003': [goodTurn('three', 3)],
}
const SECONDARY = { message: 'You have exceeded a secondary rate limit. Please wait a few minutes.' }
const PRIMARY = { message: 'API rate limit exceeded for installation.' }

type Kind = {
  answer: Fault['answer']
  /** The request takes effect, its answer is lost. */
  afterwards?: boolean
  /** How many requests in a row meet it. */
  times?: number
}

/** A limit whose end has come already, or is far away, seconds from now. */
function primary(inSeconds: number): FaultAnswer {
  const reset = Math.floor(Date.now() / 1000) + inSeconds
  const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) }
  return { status: 403, headers, body: PRIMARY }
}
function secondary(status: number, retryAfter: string | null): FaultAnswer {
  return { status, headers: retryAfter === null ? {} : { 'retry-after': retryAfter }, body: SECONDARY }
}

const KINDS: Record<string, Kind> = {
  '500': { answer: { status: 500 } },
  '502': { answer: { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad Gateway</h1>' } },
  '503': { answer: { status: 503 } },
  reset: { answer: 'drop' },
  'answer lost': { answer: 'drop', afterwards: true },
  '401': { answer: { status: 401, body: { message: 'Bad credentials' } } },
  '403': { answer: { status: 403, body: { message: 'Resource not accessible by integration' } } },
  '404': { answer: { status: 404, body: { message: 'Not Found' } } },
  '409': { answer: { status: 409, body: { message: 'Conflict' } } },
  '422': { answer: { status: 422, body: { message: 'Validation Failed' } } },
  'primary, over': { answer: primary(-5) },
  'primary, an hour': { answer: primary(3600) },
  '403 secondary, 1 s': { answer: secondary(403, '1') },
  '429 secondary, 1 s': { answer: secondary(429, '1') },
  '403 secondary, long': { answer: secondary(403, '900') },
  '500 for good': { answer: { status: 500 }, times: 4 },
}
/** What passes by itself must leave no trace: the call is made again, and answered. */
const TRANSIENT = ['500', '502', '503', 'reset', 'primary, over', '403 secondary, 1 s', '429 secondary, 1 s']
const SLOW: Record<string, Kind> = {
  hang: { answer: 'hang' },
  'secondary, no word': { answer: secondary(403, null) },
}

/** A kind of request: the job that makes it, the method, and the path without its numbers. */
function callOf(request: SeenRequest): string {
  const path = request.path
    .replace(/^\/repos\/[^/]+\/[^/]+/, '')
    .replace(/[0-9a-f]{40}/, ':sha')
    .replace(/\/\d+/g, '/:n')
    .replace(/collaborators\/\w+/, 'collaborators/:login')
  return `${request.job?.name ?? '?'} ${request.method} ${path}`
}

function calls(site: Site): Map<string, number> {
  const counts = new Map<string, number>()
  for (const request of site.github.requests) {
    if (request.kind === 'git' || request.kind === 'service' || request.job === null) continue
    const call = callOf(request)
    counts.set(call, (counts.get(call) ?? 0) + 1)
  }
  return counts
}

/** Files that are not there on any day: whatever GitHub says instead, it is no configuration. */
const OPTIONAL = / \/contents\//

type Ordered = { call: string; kind: string; fault: Fault; hit: SeenRequest | null }

const [NOTE, MISTAKE, HELP] = ['/ralph note US-003 -- mind the gap', '/ralph retyr US-001', '/ralph help']

/** A chain of two jobs with a rejected attempt, a command, a mistaken one and a call for help. */
async function chain(order: (site: Site) => Ordered[]): Promise<{ site: Site; ordered: Ordered[] }> {
  const site = await openSite({
    stories: STORIES,
    script: {},
    inputs: {
      gates: `test: ${RUN_TESTS}`,
      'final-verification': 'false',
      'iterations-per-job': '2',
      // A limit of an hour on the dispatch is not waited for by a job that has less.
      'job-deadline': '14m',
      'iteration-timeout': '2m',
    },
  })
  const ordered = order(site)
  for (const one of ordered) void one.fault.hit.then((request) => Object.assign(one, { hit: request }))
  const middle = site.hold('middle')
  await site.setScript({ ...SCRIPT, 'US-001': [{ ...goodTurn('one', 1), shell: middle.shell }] })
  await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await middle.reached()
  // Where the pull request could not be opened yet there is nothing to comment on: a person opens it, as the log says.
  const [pull] = await site.github.pulls()
  const number =
    pull?.number ?? (await site.github.openPull('alice', { head: 'ralph/sample', title: 'mine' })).number
  for (const body of [NOTE, MISTAKE, HELP]) site.github.comment('alice', number, body)
  const isDone = () => {
    const runs = site.runner.runs.filter((run) => run.event === 'issue_comment')
    return runs.length === 3 && runs.every((run) => run.status === 'completed')
  }
  await site.runner.when(isDone)
  await middle.release()
  await site.runner.settled()
  await site.setScript(SCRIPT)
  // What a failed dispatch stopped is started again by a person (or by resume-lost).
  for (let tries = 0; tries < 3 && (await site.state()).prd.run.outcome !== 'complete'; tries++) {
    await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
    await site.runner.settled()
  }
  return { site, ordered }
}

/** Why the conclusion of a run may be red: its own work was refused, and it says so. */
function mayFail(run: Run, ordered: readonly Ordered[]): boolean {
  const hits = ordered.filter((one) => one.hit?.job?.runId === run.id)
  if (run.event === 'issue_comment') return hits.length > 0
  // A rate limit is none of a permission: it is waited for, or left to resume-lost.
  return hits.some((one) => one.call.endsWith('/dispatches') && !/primary|secondary/.test(one.kind))
}

/** GitHub says that the person who comments does not belong to the repository. */
function isStranger({ call, kind, hit }: Ordered): boolean {
  return kind === '404' && hit !== null && call.includes('collaborators')
}

/** A stranger gets no answer but a reaction, which a working job adds; the run that the comment started has a line in its log. */
function isRefusalShown({ github }: Site, run: Run, pull: number): boolean {
  if (run.event === 'issue_comment') return /no write permission/.test(annotationsOf(run, 'notice').join())
  // The mistake has that reaction whoever made it.
  const commands = github.comments(pull).filter(({ body }) => body === NOTE || body === HELP)
  const isConfused = commands.some(({ id }) => github.reactions(id).some((one) => one.content === 'confused'))
  return isConfused || /Ralph could not set a reaction/.test(annotationsOf(run, 'warning').join())
}

/** Nothing is lost, nothing is doubled, and no report has decided anything. */
async function sound({ site, ordered }: { site: Site; ordered: Ordered[] }): Promise<void> {
  const { github, runner } = site
  const log = site.log()
  assert.deepEqual(github.violations, [], log)
  const state = await site.state()
  assert.equal(state.prd.run.outcome, 'complete', log)
  assert.equal(state.prd.run.iterations, 4, log)
  assert.equal(state.lease, null)
  const sessions = await site.sessions()
  assert.deepEqual(
    sessions.map((one) => one.story),
    ['US-001', 'US-002', 'US-002', 'US-003'],
    log,
  )
  for (const run of runner.runs) {
    if (run.conclusion === 'success') continue
    assert.ok(
      mayFail(run, ordered),
      `${run.event} #${run.id} is red because a report failed\n${runner.log(run)}`,
    )
    assert.ok(annotationsOf(run, 'error').length > 0, 'red, and nothing said')
  }
  // Who is said not to belong to the repository is not heard; a note that came late waits for the story's next prompt.
  const heard = [...sessions.map((one) => one.prompt), ...(state.control.guidance['US-003'] ?? [])]
  const times = heard.join('\n').match(/mind the gap/g)?.length ?? 0
  assert.ok(
    times === 1 || (ordered.some(isStranger) && times === 0),
    `the command was heard ${times} times\n${log}`,
  )
  const pulls = await github.pulls()
  assert.equal(pulls.length, 1, log)
  const ours = github
    .comments(pulls[0]?.number ?? 0)
    .filter((one) => one.login === 'github-actions[bot]')
    .map((one) => one.body)
  const sticky = ours.filter((body) => body.startsWith('<!-- ralph:sticky'))
  assert.ok(sticky.length <= 1, `${sticky.length} summaries\n${log}`)
  assert.ok(
    ours.filter((body) => body.includes('retyr')).length <= 1,
    `the mistake was answered twice\n${log}`,
  )
  assert.ok(
    ours.filter((body) => /first line of a comment/.test(body)).length <= 1,
    `help came twice\n${log}`,
  )
  const names = [...github.world.checks.values()]
    .filter((check) => !check.ofJob)
    .map((check) => `${check.sha.slice(0, 7)} ${check.name}`)
  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
    `a check was posted twice\n${log}`,
  )
  const degraded = ordered.filter((one) => fate(site, one) === 'degraded').map((one) => one.call)
  if (!degraded.some((call) => call.includes('check-runs'))) assert.deepEqual(openChecks(site), [], log)
}

/** How a cell of the matrix ended: the same call was answered later by the same job, or it was left out. */
function fate(site: Site, one: Ordered): 'survived' | 'degraded' | 'not met' {
  const { hit } = one
  if (hit === null) return 'not met'
  // It took effect: that it was not done once more is what `sound` looks at.
  if (one.kind === 'answer lost') return 'survived'
  const at = site.github.requests.indexOf(hit)
  const again = site.github.requests
    .slice(at + 1)
    .some(
      (later) =>
        later.job?.runId === hit.job?.runId &&
        callOf(later) === one.call &&
        later.status < 400 &&
        later.status > 0,
    )
  return again ? 'survived' : 'degraded'
}

/** Another cell refused the very next request of that job: the look-up without which nothing may be created once more. */
function isLookupRefused({ github }: Site, one: Ordered, ordered: readonly Ordered[]): boolean {
  const { hit } = one
  if (hit === null || !one.call.includes(' POST ')) return false
  const ofJob = github.requests.filter(({ kind, job }) => kind !== 'git' && job?.runId === hit.job?.runId)
  const next = ofJob[ofJob.indexOf(hit) + 1]
  return ordered.some((other) => other.hit !== null && other.hit === next && !TRANSIENT.includes(other.kind))
}

// They mostly wait, so they run together.
test('every API call of a chain, failed in every way: the chain completes or stops without loss', {
  concurrency: IS_SOAK ? 3 : 9,
}, async (t) => {
  const kinds = Object.keys(KINDS)
  const fates = new Map<string, Map<string, string>>()

  /** Row by row each call meets another kind of fault, at another of its occurrences. */
  const run = async (name: string, cells: readonly { call: string; kind: string; skip: number }[]) => {
    let ordered: Ordered[] = []
    await t.test(name, async () => {
      const done = await chain((site) =>
        cells.map(({ call, kind, skip }) => {
          const { answer, ...how } = KINDS[kind] ?? SLOW[kind] ?? { answer: 'drop' }
          const matcher = {
            where: (request: SeenRequest) => request.kind !== 'git' && callOf(request) === call,
          }
          return { call, kind, fault: site.github.fault(matcher, answer, { ...how, skip }), hit: null }
        }),
      )
      await using site = done.site
      ordered = done.ordered
      for (const one of done.ordered) fates.get(one.call)?.set(one.kind, fate(site, one))
      await sound(done)
      const degraded = done.ordered.filter(
        (one) => fate(site, one) === 'degraded' && !OPTIONAL.test(one.call),
      )
      for (const one of degraded) {
        assert.ok(
          !TRANSIENT.includes(one.kind) || isLookupRefused(site, one, done.ordered),
          `${one.call} was not tried again (${one.kind})\n${site.log()}`,
        )
        const its = site.runner.runs.find((other) => other.id === one.hit?.job?.runId)
        assert.ok(its !== undefined)
        const [pull] = await site.github.pulls()
        const words = [...annotationsOf(its, 'warning'), ...annotationsOf(its, 'error')]
        assert.ok(
          isStranger(one) ? isRefusalShown(site, its, pull?.number ?? 0) : words.length > 0,
          `${one.call} was left out (${one.kind}), and nobody was told\n${site.log()}`,
        )
      }
    })
    return { ordered }
  }
  // A request that hangs costs 10 s, a limit that says nothing of its end a minute: beside the others.
  const slow = run('answers that do not come, and a limit without an end', [
    { call: 'work POST /check-runs', kind: 'hang', skip: 0 },
    { call: 'work PATCH /issues/comments/:n', kind: 'secondary, no word', skip: 1 },
    { call: 'comment POST /issues/:n/comments', kind: 'hang', skip: 0 },
  ])
  const normal = await chain(() => [])
  await using _normal = normal.site
  await sound(normal)
  assert.deepEqual(openChecks(normal.site), [])
  // In an order that no timing changes, so that a cell that failed is met again.
  const counts = [...calls(normal.site)].sort(([one], [other]) => one.localeCompare(other))
  for (const [call] of counts) fates.set(call, new Map())
  if (IS_SOAK) {
    await Promise.all(
      counts.flatMap(([call, count]) =>
        kinds.map((kind, column) => run(`${call}: ${kind}`, [{ call, kind, skip: column % count }])),
      ),
    )
  } else {
    await Promise.all(
      // Half of the rows are enough for every day: each call meets eight kinds, every second call the other eight.
      kinds
        .map((_, row) => row)
        .filter((row) => row % 2 === 0)
        .map((row) =>
          run(
            `row ${row + 1} of ${kinds.length}`,
            counts.map(([call, count], column) => ({
              call,
              kind: kinds[(row + column) % kinds.length] ?? '',
              skip: row % count,
            })),
          ),
        ),
    )
  }
  const { ordered } = await slow
  assert.ok(
    ordered.every((one) => one.hit !== null),
    'a slow fault was met by no request',
  )
  const all = [...fates.values()].flatMap((row) => [...row.values()])
  const sum = (what: string) => all.filter((one) => one === what).length
  t.diagnostic(
    `${counts.length} calls x ${kinds.length} faults: ${sum('survived')} survived, ${sum('degraded')} degraded (s, d), ${sum('not met')} not met (-)`,
  )
  t.diagnostic(kinds.map((kind, index) => `${index + 1}: ${kind}`).join('; '))
  for (const [call, row] of fates) {
    const cells = kinds.map((kind) => ({ survived: 's', degraded: 'd' })[row.get(kind) ?? ''] ?? '-')
    t.diagnostic(`${call.padEnd(66)} ${cells.join(' ')}`)
  }
})

test('a token that the API rejects during a run: the work is published, and the job names what failed', async () => {
  await using site = await openSite({
    stories: STORIES.slice(0, 1),
    script: {},
    inputs: { gates: `test: ${RUN_TESTS}`, 'final-verification': 'false' },
  })
  const middle = site.hold('middle')
  await site.setScript({ 'US-001': [{ ...goodTurn('one', 1), shell: middle.shell }] })
  const run = await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await middle.reached()
  const body = { message: 'Bad credentials' }
  const where = (request: SeenRequest) => request.kind === 'rest' || request.kind === 'graphql'
  site.github.fault({ where }, { status: 401, body }, { times: 1000 })
  await middle.release()
  await site.runner.settled()
  assert.equal(run.conclusion, 'success', 'reports decide nothing')
  assert.equal((await site.prd()).run.outcome, 'complete')
  assert.notEqual(await site.github.read('ralph/sample', 'src/one.mjs'), null)
  assert.equal((await site.state()).lease, null)
  const said = annotationsOf(run, 'warning').join('\n')
  // Which request for checks meets the fault first, posting them or closing them, depends on when the agent begins.
  for (const what of ['write the summary comment', '(post|close) the checks?', 'open the pull request'])
    assert.match(said, new RegExp(`Ralph could not ${what}`))
})

test('without permission for checks the run posts commit statuses; without both it goes on and names the permissions', async () => {
  await using site = await openSite({
    stories: STORIES.slice(0, 1),
    script: SCRIPT,
    inputs: { gates: `test: ${RUN_TESTS}`, 'final-verification': 'false' },
    workflow: (text) => text.replace(/ {6}checks: write.*\n/, ''),
  })
  const run = await site.go()
  assert.equal(run.conclusion, 'success', site.log())
  assert.equal((await site.prd()).run.outcome, 'complete')
  const said = annotationsOf(run, 'warning').join('\n')
  assert.match(said, /GitHub refuses checks and statuses: give the job permissions: checks: write/)
})
