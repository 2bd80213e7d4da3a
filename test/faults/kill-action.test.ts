// The kill matrix of the action, on the stand-in for GitHub: main is ended by SIGKILL (the post step follows), or the whole
// machine is lost (nothing follows). The next dispatch goes on; nothing is lost, nothing is there twice.
// RALPH_SOAK=1 takes every moment of every effect; RALPH_POINTS=n so many for each of the two ways to die.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { openSite, outputsOf, ROOT, type Site, story } from '../e2e/site.ts'
import {
  failures,
  type Point,
  PRELOAD,
  pointsOf,
  type Row,
  sample,
  type Trial,
  table,
  tryAll,
} from './points.ts'

const SOAK = process.env.RALPH_SOAK === '1'
const POINTS = SOAK ? Number.POSITIVE_INFINITY : Number(process.env.RALPH_POINTS ?? 12)
const STORIES = ['US-001', 'US-002']
/** Bad in the first attempt on US-002. */
const AGENT = `cat >/dev/null
echo "$RALPH_MODE \${RALPH_STORY_ID:-} \${RALPH_ATTEMPT:-}" >>"$1"
if [ "$RALPH_MODE" = verify ]; then echo '<ralph>VERIFIED</ralph>'; exit 0; fi
word=good
if [ "$RALPH_STORY_ID/$RALPH_ATTEMPT" = US-002/1 ]; then word=bad; fi
echo "$word $RALPH_STORY_ID" >"src/$RALPH_STORY_ID.txt"
echo '<ralph>DONE</ralph>'
`
type How = 'kill' | 'halt'
type Place = { folder: string; action: string; agent: string }

const run = promisify(execFile)

async function prepare(): Promise<Place> {
  const folder = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'ralph-kill-'))
  const action = join(folder, 'action')
  // A copy: a build meanwhile does not disturb.
  await cp(join(ROOT, 'dist'), join(action, 'dist'), { recursive: true })
  await cp(join(ROOT, 'action.yml'), join(action, 'action.yml'))
  const agent = join(folder, 'agent.sh')
  await writeFile(agent, AGENT)
  return { folder, action, agent }
}

/** A site of its own, whose action processes carry the preload. */
async function open(place: Place): Promise<{ site: Site; at: string }> {
  const at = await mkdtemp(join(place.folder, 'trial-'))
  await mkdir(join(at, 'faults'))
  await mkdir(join(at, 'machines'))
  await writeFile(join(at, 'sessions'), '')
  const node = join(at, 'node')
  const env = [
    `NODE_OPTIONS=--import=${PRELOAD}`,
    `FAULTS=${join(at, 'faults')}`,
    `NODE_COMPILE_CACHE=${join(place.folder, 'compiled')}`,
  ]
  await writeFile(
    node,
    `#!/bin/bash\nexport ${env.map((one) => `'${one}'`).join(' ')}\nexec '${process.execPath}' "$@"\n`,
  )
  await chmod(node, 0o755)
  const needs: Record<string, string[]> = { 'US-002': ['US-001'] }
  const site = await openSite({
    stories: STORIES.map((id) => story(id, `part ${id}`, { dependsOn: needs[id] ?? [] })),
    script: {},
    inputs: {
      'agent-command': `bash "${place.agent}" "${join(at, 'sessions')}"`,
      gates: "base: test -f src/base.mjs\ngood: '! grep -q bad src/*'",
      'iterations-per-job': '2',
    },
    runner: {
      node,
      action: { match: /^ralph\/action@/, path: place.action },
      workRoot: join(at, 'machines'),
    },
  })
  return { site, at }
}

async function sessionsOf(at: string): Promise<string[]> {
  return (await readFile(join(at, 'sessions'), 'utf8')).split('\n').filter(Boolean)
}

async function dispatch(site: Site): Promise<void> {
  await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await site.runner.settled()
}

/** Everything that is wrong on GitHub after the run has come to its end. */
async function look(site: Site): Promise<string[]> {
  const { github } = site
  const wrong: string[] = []
  const check = (ok: boolean, what: string) => {
    if (!ok) wrong.push(what)
  }
  check(github.violations.length === 0, `violations: ${github.violations.join('; ')}`)
  const pulls = await github.pulls()
  check(pulls.length === 1, `${pulls.length} pull requests`)
  check(pulls[0]?.draft === false, 'the pull request is a draft still')
  for (const pull of pulls) {
    const comments = github.comments(pull.number)
    check(comments.length === 1, `${comments.length} comments on the pull request`)
    check(comments[0]?.body.includes('2 of 2') === true, 'the comment does not say that all passed')
  }
  const checks = [...github.world.checks.values()].filter((one) => !one.ofJob)
  const keys = checks.map((one) => `${one.name} on ${one.sha}`)
  const twice = checks.filter((_one, index) => keys.indexOf(keys[index] ?? '') !== index)
  check(twice.length === 0, `checks posted twice on a commit: ${twice.map((one) => one.name).join(', ')}`)
  const running = checks.filter((one) => one.status !== 'completed')
  check(running.length === 0, `checks open at the end: ${running.map((one) => one.name).join(', ')}`)
  const head = (await github.head('ralph/sample')) ?? ''
  const onHead = github.checksOf(head).map((one) => `${one.name}: ${one.conclusion}`)
  check(onHead.includes('ralph: success'), `the head has the checks ${onHead.join(', ')}`)

  const repository = { cwd: github.bare.path }
  const log = await run(
    'git',
    [
      'log',
      '--first-parent',
      '--reverse',
      '--name-only',
      '--format=%x00%(trailers:key=Ralph-Story,valueonly,separator=%x2C)%x01',
      'main..ralph/sample',
    ],
    repository,
  )
  const commits = log.stdout
    .split('\0')
    .filter(Boolean)
    .map((entry) => {
      const [id = '', paths = ''] = entry.split('\x01')
      return { id, code: paths.split('\n').filter((path) => path !== '' && !path.startsWith('.ralph/')) }
    })
  const ids = commits.map((one) => one.id).filter((id) => id !== '')
  check(ids.join() === STORIES.join(), `story commits: ${ids.join()}`)
  for (const { id, code } of commits)
    check(
      code.join() === (id === '' ? '' : `src/${id}.txt`),
      `the commit of ${id || 'no story'} holds ${code}`,
    )
  for (const id of STORIES) {
    const text = (await github.read('ralph/sample', `src/${id}.txt`))?.trim()
    check(text === `good ${id}`, `the code of ${id} on the branch is ${text}`)
  }
  const fsck = await run('git', ['fsck', '--no-dangling', '--no-progress'], repository).catch(
    (error: Error) => ({ stdout: error.message, stderr: '' }),
  )
  check(`${fsck.stdout}${fsck.stderr}`.replace(/^notice: .*\n?/gm, '') === '', `git fsck: ${fsck.stdout}`)

  const state = await site.state()
  check(state.lease === null, 'the lease is held')
  check(state.attempt === null, 'an attempt is open')
  check(!state.control.continuePending, 'a dispatch is promised still')
  const charged = state.timeline.filter((one) => one.result !== 'returned').length
  check(
    state.prd.run.iterations === 3 && charged === 3,
    `iterations: ${state.prd.run.iterations}, ${charged} charged`,
  )
  const prd = await site.prd()
  check(prd.run.outcome === 'complete', `prd.json says ${prd.run.outcome}`)
  for (const one of prd.userStories) {
    check(one.passes && !one.blocked, `${one.id} has not passed in prd.json`)
    check(one.retries === (one.id === 'US-002' ? 1 : 0), `${one.id} has ${one.retries} retries`)
  }
  const progress = (await github.read('ralph/sample', '.ralph/2026-01-31-sample/progress.txt')) ?? ''
  const entries = (progress.match(/^## Iteration \d+/gm) ?? []).join()
  check(entries === [1, 2, 3].map((one) => `## Iteration ${one}`).join(), `progress.txt has ${entries}`)

  const working = new Map<string, number>()
  for (const one of site.runner.runs) {
    const generation = String(one.inputs.generation ?? '')
    if (generation === '' || !Number(outputsOf(one).iterations)) continue
    working.set(generation, (working.get(generation) ?? 0) + 1)
  }
  for (const [generation, count] of working)
    check(count === 1, `${count} jobs of generation ${generation} did work`)
  return wrong
}

async function trial(place: Place, point: Point, how: How, usual: number): Promise<Trial> {
  const { site, at } = await open(place)
  await using _closed = site
  const { process: name, number, at: n, when } = point
  const ended = join(at, 'faults', 'ended.json')
  await writeFile(
    join(at, 'faults', 'plan.json'),
    JSON.stringify({ process: name, number, at: n, when, how }),
  )
  await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  let isSettled = false
  const settled = site.runner.settled().then(() => {
    isSettled = true
  })
  if (how === 'halt') {
    while (!isSettled && !existsSync(ended)) await delay(20)
    if (existsSync(ended))
      for (const one of site.runner.runs.filter((each) => each.status === 'in_progress'))
        site.runner.kill(one.id)
  }
  await settled
  const killed = existsSync(ended)
  if (!killed) return { point, killed, wrong: ['not killed'], repeated: 0 }
  // A person, or the schedule, starts it again; the chain goes on by itself from there.
  const outcomes: string[] = []
  for (let more = 0; more < 3 && outcomes.at(-1) !== 'complete'; more++) {
    await dispatch(site)
    outcomes.push(outputsOf(site.last()).outcome ?? site.last().conclusion ?? 'nothing')
  }
  const sessions = await sessionsOf(at)
  const repeated = sessions.length - usual
  const wrong = await look(site).catch((error: Error) => [
    `cannot be looked at: ${error.message.split('\n')[0]}`,
  ])
  if (repeated > 1) wrong.push(`${repeated} sessions more than undisturbed: ${sessions.join(', ')}`)
  if (outcomes.at(-1) !== 'complete') wrong.push(`the next dispatches end with ${outcomes.join(', ')}`)
  if (wrong.length > 0 && process.env.RALPH_LOG !== undefined)
    await writeFile(
      join(process.env.RALPH_LOG, `${how}-${name}-${number}-${n}-${when}.log`),
      `${wrong.join('\n')}\n${site.log()}`,
    )
  return { point, killed, wrong, repeated }
}

test('the action, killed at its effects, by its process and with its machine', async (t) => {
  const place = await prepare()
  try {
    const { site, at } = await open(place)
    let usual = 0
    {
      await using _closed = site
      await dispatch(site)
      assert.equal(outputsOf(site.last()).outcome, 'complete', site.log())
      assert.deepEqual(await look(site), [], site.log())
      usual = (await sessionsOf(at)).length
      assert.equal(usual, 4)
      assert.equal(site.runner.runs.length, 2)
    }
    const all = [
      ...(await pointsOf(join(at, 'faults'), 'main', 1)),
      ...(await pointsOf(join(at, 'faults'), 'main', 2)),
    ]
    const rows: Row[] = []
    for (const how of ['kill', 'halt'] as const) {
      const began = Date.now()
      // What leaves the machine comes first: requests, pushes, sessions; then an even spread.
      const only = process.env.RALPH_ONLY
      const points = only
        ? all.filter((p) => `${p.number}-${p.at}-${p.when}` === only)
        : SOAK
          ? all
          : sample(all.filter(reaches), POINTS)
      const trials = await tryAll(points, (point) => trial(place, point, how, usual))
      const scenario = how === 'kill' ? 'action, main killed' : 'action, machine lost'
      rows.push({ scenario, of: all.length, trials, seconds: (Date.now() - began) / 1000 })
    }
    t.diagnostic(`\n${table(rows)}`)
    assert.equal(
      rows
        .map((row) => failures(row.trials))
        .join('\n')
        .trim(),
      '',
    )
  } finally {
    await rm(place.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  }
})

/** Whether others see the effect: a request, a push, a session, a gate, a file of the runner. */
function reaches({ effect }: Point): boolean {
  if (effect.kind === 'request') return true
  if (effect.kind === 'spawn')
    return !effect.what.startsWith('git ') || /git (push|fast-import)/.test(effect.what)
  return /^append/.test(effect.kind)
}
