// The kill matrix on a local repository: `ralph run` is ended by SIGKILL at its effects, a fresh process goes on.
// RALPH_SOAK=1 ends it at every moment of every effect. Otherwise of the moments that leave the same behind one is taken,
// RALPH_TRIALS=n so many of them; for most of those the next run goes on from a copy of the disk that was made at that
// very moment of one run, which is what an end by SIGKILL leaves behind, for half the time.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { ROOT, story } from '../e2e/site.ts'
import { agentScript, charged, endWrong, GATE, git, STATE_REF, stateOf } from './invariants.ts'
import {
  failures,
  MET,
  type Plan,
  type Point,
  PRELOAD,
  pointsOf,
  sample,
  type Trial,
  table,
  tryAll,
} from './points.ts'

const SOAK = process.env.RALPH_SOAK === '1'
const TRIALS = Number(process.env.RALPH_TRIALS ?? 45)
const NEEDS = { 'US-001': [], 'US-002': ['US-001'], 'US-003': ['US-001'], 'US-004': ['US-002', 'US-003'] }
/** Besides, a file that no commit holds: it is out of the tree while gates run. */
const AGENT = `${agentScript('[ "$RALPH_STORY_ID/$RALPH_ATTEMPT" = US-002/1 ]')}mkdir -p made && echo "$RALPH_STORY_ID" >"made/$RALPH_STORY_ID"
`

type Site = { folder: string; template: string; bundle: string }
type Ended = { code: number | null; signal: string | null; out: string; err: string }
/** What the undisturbed run left, to compare with. */
type Baseline = { sessions: number; files: string[] }

async function prepare(): Promise<Site> {
  // In memory where there is such a place: a killed process loses nothing there that it would not lose on disk.
  const folder = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'ralph-kill-'))
  const template = join(folder, 'template')
  const bundle = join(folder, 'dist')
  // A copy: a build meanwhile does not disturb.
  await cp(join(ROOT, 'dist'), bundle, { recursive: true })
  await writeFile(join(folder, 'agent.sh'), AGENT)
  const repository = join(template, 'repository')
  await git(folder, 'init', '-q', '-b', 'main', '--template=', repository)
  await git(repository, 'config', 'user.name', 'Somebody')
  await git(repository, 'config', 'user.email', 'somebody@example.com')
  await mkdir(join(repository, '.ralph', '2026-01-31-sample'), { recursive: true })
  const userStories = Object.entries(NEEDS).map(([id, dependsOn]) => story(id, `part ${id}`, { dependsOn }))
  const prd = {
    schemaVersion: 2,
    project: 'Sample',
    branchName: 'ralph/sample',
    description: '',
    userStories,
  }
  await writeFile(
    join(repository, '.ralph', '2026-01-31-sample', 'prd.json'),
    `${JSON.stringify(prd, null, 2)}\n`,
  )
  await mkdir(join(repository, 'src'))
  await writeFile(join(repository, 'src', 'base.txt'), 'base\n')
  await writeFile(join(repository, '.gitignore'), 'made/\n')
  await git(repository, 'add', '-A')
  await git(repository, 'commit', '-q', '-m', 'base')
  await mkdir(join(template, 'faults'))
  await writeFile(join(template, 'sessions'), '')
  return { folder, template, bundle }
}

/** A repository of its own, as it was before any run, in which the next process meets the plan. */
async function fresh(site: Site, plan: Plan): Promise<string> {
  const at = await mkdtemp(join(site.folder, 'trial-'))
  await cp(site.template, at, { recursive: true })
  await writeFile(join(at, 'faults', 'plans.json'), JSON.stringify({ 'main-1': plan }))
  return at
}

/** One process of the product, with the preload in it. */
function ralph(site: Site, at: string): Promise<Ended> {
  const agent = `bash ${join(site.folder, 'agent.sh')} ${join(at, 'sessions')}`
  const args = ['run', 'sample', '--json', '--agent', 'custom', '--agent-command', agent]
  // What a gate writes is in no commit, and in no work tree behind it.
  args.push('--gate', 'base=echo litter >>src/litter; test -f src/base.txt', '--gate', `good=${GATE}`)
  const child = spawn(process.execPath, [join(site.bundle, 'cli', 'main.js'), ...args], {
    cwd: join(at, 'repository'),
    env: {
      PATH: process.env.PATH ?? '',
      HOME: site.folder,
      NODE_COMPILE_CACHE: join(site.folder, 'compiled'),
      NODE_OPTIONS: `--import=${PRELOAD}`,
      FAULTS: join(at, 'faults'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    said.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    said.err += chunk
  })
  const timer = setTimeout(() => child.kill('SIGQUIT'), 200_000)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    // Not `close`: a child that outlives its parent keeps the streams open.
    child.on('exit', (code, signal) => {
      clearTimeout(timer)
      setImmediate(() => resolve({ ...said, code, signal }))
    })
  })
}

/** Files of the clone beside objects, and what is kept of each session: one that is repeated has its own. */
async function filesOf(repository: string): Promise<string[]> {
  const all = await readdir(join(repository, '.git'), { recursive: true, withFileTypes: true })
  return all
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(repository.length + 1))
    .filter((path) => !/^\.git\/(?:objects|ralph\/logs|ralph\/transcripts)\//.test(path))
    .sort()
}

/** Everything that is wrong with a repository in which a run has come to its end. */
async function look(at: string, baseline: Baseline | null): Promise<string[]> {
  const repository = join(at, 'repository')
  const wrong = await endWrong(repository)
  const check = (ok: boolean, what: string) => {
    if (!ok) wrong.push(what)
  }
  const state = await stateOf(repository)
  if (state === null) return wrong
  check(charged(state) === 5, `${charged(state)} iterations were charged, not 5`)
  for (const { id, retries } of state.prd.userStories)
    check(retries === (id === 'US-002' ? 1 : 0), `${id} has ${retries} retries`)
  for (const id of Object.keys(NEEDS))
    check(existsSync(join(repository, 'made', id)), `the ignored file of ${id} is gone`)
  const own = (await readFile(join(repository, '.git', 'ralph', 'git', STATE_REF), 'utf8')).trim()
  check(own === (await git(repository, 'rev-parse', STATE_REF)), "the clone's state ref is not Ralph's own")
  const status = await git(repository, 'status', '--porcelain', '--branch', '--untracked-files=all')
  check(status === '## ralph/sample', `git status: ${status.replaceAll('\n', ' ')}`)
  if (baseline !== null) {
    const extra = (await filesOf(repository)).filter((path) => !baseline.files.includes(path))
    check(extra.length === 0, `left behind: ${extra.join(', ')}`)
  }
  return wrong
}

async function sessionsOf(at: string): Promise<string[]> {
  return (await readFile(join(at, 'sessions'), 'utf8')).split('\n').filter(Boolean)
}

/** Goes on from what a run left that was ended at the point, and looks at the end. */
async function trial(site: Site, point: Point, baseline: Baseline, image: string | undefined) {
  const { effect, when } = point
  const at = image ?? (await fresh(site, { at: effect.name, when }))
  try {
    const first = image === undefined ? await ralph(site, at) : null
    if (first !== null && !(first.signal === 'SIGKILL' && first.out.includes(MET)))
      return {
        points: 0,
        killed: false,
        wrong: [`not ended there: exit ${first.code ?? first.signal}`],
        repeated: 0,
      }
    const second = await ralph(site, at)
    const sessions = await sessionsOf(at)
    const repeated = sessions.length - baseline.sessions
    if (second.code !== 0) {
      const said = second.err.trim().split('\n').slice(-3).join(' | ').replaceAll(at, '').slice(0, 400)
      return {
        points: point.covers,
        killed: true,
        wrong: [`the next run ends with ${second.code ?? second.signal}: ${said}`],
        repeated,
      }
    }
    const wrong = await look(at, baseline)
    if (repeated > 1) wrong.push(`${repeated} sessions more than undisturbed: ${sessions.join(', ')}`)
    return { points: point.covers, killed: true, wrong, repeated }
  } finally {
    await rm(at, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  }
}

/** One run of which a copy is made at each of the points. */
async function takeImages(site: Site, points: readonly Point[]): Promise<Map<Point, string>> {
  const taken = new Map<Point, string>()
  const images: Record<string, string> = {}
  for (const point of points) {
    const image = await mkdtemp(join(site.folder, 'trial-'))
    await mkdir(join(image, 'faults'))
    taken.set(point, image)
    images[`${point.effect.name} ${point.when}`] = image
  }
  const at = await fresh(site, {})
  const plan: Plan = { images, what: [join(at, 'repository'), join(at, 'sessions')] }
  await writeFile(join(at, 'faults', 'plans.json'), JSON.stringify({ 'main-1': plan }))
  const whole = await ralph(site, at)
  assert.equal(whole.code, 0, whole.err)
  return taken
}

test('ralph run, killed before, in and after each of its effects: the next run loses nothing and repeats at most one iteration', async (t) => {
  const site = await prepare()
  try {
    const began = Date.now()
    const at = await fresh(site, {})
    const trace = SOAK ? {} : { trace: [join(at, 'repository'), join(at, 'sessions')] }
    await writeFile(join(at, 'faults', 'plans.json'), JSON.stringify({ 'main-1': trace }))
    const whole = await ralph(site, at)
    assert.equal(whole.code, 0, whole.err)
    assert.deepEqual(await look(at, null), [])
    const sessions = await sessionsOf(at)
    assert.equal(sessions.length, 6, sessions.join())
    const baseline = { sessions: sessions.length, files: await filesOf(join(at, 'repository')) }

    const all = await pointsOf(join(at, 'faults'), 'main-1')
    const of = all.reduce((sum, point) => sum + point.covers, 0)
    const points = sample(all, SOAK ? Number.POSITIVE_INFINITY : TRIALS)
    const images = await takeImages(
      site,
      points.filter(({ still }, index) => still && index % 4 > 0),
    )
    const trials: Trial[] = await tryAll(points, (point) => trial(site, point, baseline, images.get(point)))
    const seconds = (Date.now() - began) / 1000
    t.diagnostic(`\n${table([{ scenario: 'ralph run, local', of, trials, seconds }])}`)
    assert.equal(failures(trials), '')
    const covered = trials.reduce((sum, one) => sum + one.points, 0)
    assert.ok(covered >= 100 || TRIALS < 45, `only ${covered} points`)
  } finally {
    await rm(site.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  }
})
