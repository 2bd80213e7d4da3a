// The kill matrix on a local repository: `ralph run` is ended by SIGKILL at its effects, a fresh process goes on.
// RALPH_SOAK=1 ends it at every moment of every effect. Otherwise one boundary of each kind and an even spread are tried
// (RALPH_TRIALS=n: so many), and for two of three of them the next run goes on from an image of the disk that was taken
// at that very moment of one run, which is what an end by SIGKILL leaves behind, for half the time.
import assert from 'node:assert/strict'
import { execFile, execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { State } from '../../src/loop/state.ts'
import {
  boundariesOf,
  failures,
  type Point,
  PRELOAD,
  pointsOf,
  sample,
  type Trial,
  table,
  tryAll,
} from './points.ts'

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const SOAK = process.env.RALPH_SOAK === '1'
const TRIALS = Number(process.env.RALPH_TRIALS ?? 130)
const STORIES = ['US-001', 'US-002', 'US-003', 'US-004']
const STATE_REF = 'refs/ralph/2026-01-31-sample'
/** No file of this name may ever pass: the agent writes it in the first attempt on US-002. */
const AGENT = `cat >/dev/null
echo "$RALPH_MODE \${RALPH_STORY_ID:-} \${RALPH_ATTEMPT:-}" >>"$SESSIONS"
if [ "$RALPH_MODE" = verify ]; then echo '<ralph>VERIFIED</ralph>'; exit 0; fi
word=good
if [ "$RALPH_STORY_ID/$RALPH_ATTEMPT" = US-002/1 ]; then word=bad; fi
echo "$word $RALPH_STORY_ID" >"src/$RALPH_STORY_ID.txt"
echo '<ralph>DONE</ralph>'
`
const GATES: readonly [string, string][] = [
  ['base', 'test -f src/base.txt'],
  ['good', '! grep -q bad src/*.txt'],
]

type Site = { folder: string; template: string; bundle: string; agent: string }
type Ended = { code: number | null; signal: string | null; out: string; err: string }

const run = promisify(execFile)

async function git(directory: string, ...args: string[]): Promise<string> {
  return (await run('git', args, { cwd: directory, maxBuffer: 1 << 26 })).stdout.trim()
}

async function prepare(): Promise<Site> {
  // In memory where there is such a place: a killed process loses nothing there that it would not lose on disk.
  const folder = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'ralph-kill-'))
  const template = join(folder, 'template')
  const bundle = join(folder, 'dist')
  // A copy: a build meanwhile does not disturb.
  await cp(join(ROOT, 'dist'), bundle, { recursive: true })
  const agent = join(folder, 'agent.sh')
  await writeFile(agent, AGENT)
  await mkdir(join(template, 'repository', 'src'), { recursive: true })
  const repository = join(template, 'repository')
  await git(folder, 'init', '-q', '-b', 'main', repository)
  await git(repository, 'config', 'user.name', 'Somebody')
  await git(repository, 'config', 'user.email', 'somebody@example.com')
  await writeFile(join(repository, 'src', 'base.txt'), 'base\n')
  await mkdir(join(repository, '.ralph', '2026-01-31-sample'), { recursive: true })
  const needs: Record<string, string[]> = {
    'US-002': ['US-001'],
    'US-003': ['US-001'],
    'US-004': ['US-002', 'US-003'],
  }
  const userStories = STORIES.map((id) => ({
    id,
    title: `part ${id}`,
    description: 'As a user, I want it.',
    acceptanceCriteria: ['it is there'],
    dependsOn: needs[id] ?? [],
    priority: 1,
    passes: false,
  }))
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
  await git(repository, 'add', '-A')
  await git(repository, 'commit', '-q', '-m', 'base')
  await mkdir(join(template, 'faults'))
  await writeFile(join(template, 'sessions'), '')
  return { folder, template, bundle, agent }
}

/** One process of the product, with the preload in it. */
function ralph(site: Site, at: string): Promise<Ended> {
  const args = ['run', 'sample', '--json', '--agent', 'custom', '--agent-command', `bash ${site.agent}`]
  args.push(
    '--agent-env',
    'SESSIONS',
    ...GATES.flatMap(([name, command]) => ['--gate', `${name}=${command}`]),
  )
  const child = spawn(process.execPath, [join(site.bundle, 'cli', 'main.js'), ...args], {
    cwd: join(at, 'repository'),
    env: {
      PATH: process.env.PATH ?? '',
      HOME: site.folder,
      NODE_COMPILE_CACHE: join(site.folder, 'compiled'),
      NODE_OPTIONS: `--import=${PRELOAD}`,
      FAULTS: join(at, 'faults'),
      SESSIONS: join(at, 'sessions'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended: Ended = { code: null, signal: null, out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    ended.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    ended.err += chunk
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), 60_000)
  return new Promise((resolve) => {
    // Not `close`: a child that outlives its parent keeps the streams open.
    child.on('exit', (code, signal) => {
      clearTimeout(timer)
      setImmediate(() => resolve({ ...ended, code, signal }))
    })
  })
}

/** Files of the clone beside objects and the transcripts, which are named by time. */
async function filesOf(repository: string): Promise<string[]> {
  const all = await readdir(join(repository, '.git'), { recursive: true, withFileTypes: true })
  return all
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(repository.length + 1))
    .filter((path) => !path.startsWith('.git/objects/') && !path.includes('/transcripts/'))
    .sort()
}

/** Verdicts of the gates by the tree they were run on. */
const judged = new Map<string, Promise<boolean>>()

async function gatesGreen(site: Site, repository: string, commit: string): Promise<boolean> {
  const key = await git(repository, 'rev-parse', `${commit}:src`)
  const known = judged.get(key)
  if (known !== undefined) return known
  const verdict = (async () => {
    const tree = await mkdtemp(join(site.folder, 'tree-'))
    execFileSync('bash', ['-c', `git archive ${commit} | tar -x -C ${tree}`], { cwd: repository })
    const oks = await Promise.all(
      GATES.map(([, command]) =>
        run('bash', ['-c', command], { cwd: tree }).then(
          () => true,
          () => false,
        ),
      ),
    )
    await rm(tree, { recursive: true })
    return oks.every(Boolean)
  })()
  judged.set(key, verdict)
  return verdict
}

/** What the undisturbed run left, to compare with. */
type Baseline = { sessions: number; files: string[] }

/** Everything that is wrong with a repository in which a run has come to its end. */
async function look(site: Site, at: string, baseline: Baseline | null): Promise<string[]> {
  const repository = join(at, 'repository')
  const wrong: string[] = []
  const check = (ok: boolean, what: string) => {
    if (!ok) wrong.push(what)
  }
  const fsck = await run('git', ['fsck', '--no-dangling', '--no-progress'], { cwd: repository }).catch(
    (error: Error) => ({ stdout: error.message, stderr: '' }),
  )
  const said = `${fsck.stdout}${fsck.stderr}`.replace(/^notice: .*\n?/gm, '').trim()
  check(said === '', `git fsck: ${said.replace(/[0-9a-f]{40}/g, '<oid>')}`)

  const log = await git(
    repository,
    'log',
    '--first-parent',
    '--reverse',
    '--name-only',
    '--format=%x00%H%x01%(trailers:key=Ralph-Story,valueonly,separator=%x2C)%x01',
    'main..ralph/sample',
  )
  const commits = log
    .split('\0')
    .filter(Boolean)
    .map((entry) => {
      const [commit = '', story = '', paths = ''] = entry.split('\x01')
      const code = paths.split('\n').filter((path) => path !== '' && !path.startsWith('.ralph/'))
      return { commit: commit.trim(), story, code }
    })
  const storyCommits = commits.filter((one) => one.story !== '')
  const ids = storyCommits.map((one) => one.story)
  check(ids.toSorted().join() === STORIES.join(), `story commits: ${ids.join()}`)
  for (const { commit, story, code } of commits) {
    if (story === '') check(code.length === 0, `a commit without a story holds code: ${code.join()}`)
    else {
      check(code.join() === `src/${story}.txt`, `the commit of ${story} holds ${code.join()}`)
      check(await gatesGreen(site, repository, commit), `the gates are red at the commit of ${story}`)
    }
  }
  for (const id of STORIES) {
    const text = await git(repository, 'show', `ralph/sample:src/${id}.txt`).catch(() => 'nothing')
    check(text === `good ${id}`, `the code of ${id} on the branch is ${text}`)
  }

  const state: State = JSON.parse(await git(repository, 'show', `${STATE_REF}:.ralph-state/state.json`))
  const own = (await readFile(join(repository, '.git', 'ralph', 'git', STATE_REF), 'utf8')).trim()
  check(own === (await git(repository, 'rev-parse', STATE_REF)), "the clone's state ref is not Ralph's own")
  check(state.lease === null, 'the lease is held')
  check(state.attempt === null, 'an attempt is open')
  const charged = state.timeline.filter((one) => one.result !== 'returned').length
  check(
    state.prd.run.iterations === charged,
    `${state.prd.run.iterations} iterations counted, ${charged} in the timeline`,
  )
  check(charged === 5, `${charged} iterations were charged, not 5`)
  check(
    state.green === (await git(repository, 'rev-parse', 'ralph/sample')),
    'the branch is not at the state',
  )
  check(Object.keys(state.kept).length === 0, 'work is kept although every story passed')

  const folder = 'ralph/sample:.ralph/2026-01-31-sample'
  const prd: State['prd'] = JSON.parse(await git(repository, 'show', `${folder}/prd.json`))
  check(prd.run.outcome === 'complete', `prd.json on the branch says ${prd.run.outcome}`)
  check(prd.run.iterations === charged, `prd.json on the branch counts ${prd.run.iterations} iterations`)
  for (const story of prd.userStories) {
    check(story.passes && !story.blocked, `${story.id} has not passed in prd.json`)
    const expected = story.id === 'US-002' ? 1 : 0
    check(story.retries === expected, `${story.id} has ${story.retries} retries, not ${expected}`)
    const commit = storyCommits.find((one) => one.story === story.id)?.commit
    check(
      story.lastResult?.commit === commit,
      `prd.json names another commit of ${story.id} than has its trailer`,
    )
  }
  const progress = await git(repository, 'show', `${folder}/progress.txt`)
  const entries = progress.match(/^## Iteration \d+/gm) ?? []
  check(
    entries.join() === [1, 2, 3, 4, 5].map((one) => `## Iteration ${one}`).join(),
    `progress.txt has the entries ${entries.join(', ')}`,
  )
  const refused = progress.match(/^\*\*Status:\*\* FAILED/gm)?.length ?? 0
  check(refused === 1, `progress.txt has ${refused} rejected attempts, not 1`)

  const status = await git(repository, 'status', '--porcelain', '--untracked-files=all')
  check(status === '', `the work tree is not clean: ${status.replaceAll('\n', ' ')}`)
  check((await git(repository, 'symbolic-ref', 'HEAD')) === 'refs/heads/ralph/sample', 'HEAD is elsewhere')
  if (baseline !== null) {
    const extra = (await filesOf(repository)).filter((path) => !baseline.files.includes(path))
    check(extra.length === 0, `left behind: ${extra.join(', ')}`)
  }
  return wrong
}

async function sessionsOf(at: string): Promise<string[]> {
  return (await readFile(join(at, 'sessions'), 'utf8')).split('\n').filter(Boolean)
}

/** Ends a run at the point by SIGKILL. Null when it was ended there, else what is wrong. */
async function kill(site: Site, point: Point, at: string): Promise<string | null> {
  await cp(site.template, at, { recursive: true })
  const { process: name, number, at: n, when } = point
  await writeFile(join(at, 'faults', 'plan.json'), JSON.stringify({ process: name, number, at: n, when }))
  const first = await ralph(site, at)
  if (first.signal === 'SIGKILL' && existsSync(join(at, 'faults', 'ended.json'))) return null
  return `not ended there: exit ${first.code ?? first.signal}`
}

/** Goes on from what a run left that was ended at the point, and looks at the end. */
async function goOn(site: Site, point: Point, baseline: Baseline, image: string | undefined): Promise<Trial> {
  const at = image ?? (await mkdtemp(join(site.folder, 'trial-')))
  try {
    const missed = image === undefined ? await kill(site, point, at) : null
    if (missed !== null) return { point, killed: false, wrong: [missed], repeated: 0 }
    const second = await ralph(site, at)
    const sessions = await sessionsOf(at)
    const repeated = sessions.length - baseline.sessions
    if (second.code !== 0) {
      const said = second.err.trim().split('\n').slice(-3).join(' | ').replaceAll(at, '').slice(0, 400)
      const wrong = [`the next run ends with ${second.code ?? second.signal}: ${said}`]
      return { point, killed: true, wrong, repeated }
    }
    const wrong = await look(site, at, baseline)
    if (repeated > 1) wrong.push(`${repeated} sessions more than undisturbed: ${sessions.join(', ')}`)
    return { point, killed: true, wrong, repeated }
  } finally {
    await rm(at, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  }
}

/** One run of which an image is taken at each of the points. */
async function takeImages(site: Site, points: readonly Point[]): Promise<Map<Point, string>> {
  const at = join(site.folder, 'imaged')
  await cp(site.template, at, { recursive: true })
  const images = new Map<Point, string>()
  for (const point of points) {
    const image = await mkdtemp(join(site.folder, 'trial-'))
    await mkdir(join(image, 'faults'))
    images.set(point, image)
  }
  const byMoment = Object.fromEntries(
    [...images].map(([point, image]) => [`${point.at} ${point.when}`, image]),
  )
  const what = [join(at, 'repository'), join(at, 'sessions')]
  await writeFile(
    join(at, 'faults', 'plan.json'),
    JSON.stringify({ process: 'main', number: 1, images: byMoment, what }),
  )
  const whole = await ralph(site, at)
  assert.equal(whole.code, 0, whole.err)
  return images
}

test('ralph run, killed at its effects: the next run loses nothing and repeats the iteration in flight at most', async (t) => {
  const site = await prepare()
  try {
    const began = Date.now()
    const counting = join(site.folder, 'counting')
    await cp(site.template, counting, { recursive: true })
    await writeFile(join(counting, 'faults', 'plan.json'), JSON.stringify({ order: true }))
    const whole = await ralph(site, counting)
    assert.equal(whole.code, 0, whole.err)
    assert.deepEqual(await look(site, counting, null), [])
    const sessions = await sessionsOf(counting)
    assert.equal(sessions.length, 6, sessions.join())
    const baseline = { sessions: sessions.length, files: await filesOf(join(counting, 'repository')) }

    const all = await pointsOf(join(counting, 'faults'), 'main', 1)
    assert.ok(all.length > 200, `only ${all.length} points`)
    const points = SOAK ? all : sample(await boundariesOf(join(counting, 'faults'), all), TRIALS)
    const still = points.filter((point, index) => ['before', 'after'].includes(point.when) && index % 3 > 0)
    const images = SOAK ? new Map<Point, string>() : await takeImages(site, still)
    const trials = await tryAll(points, (point) => goOn(site, point, baseline, images.get(point)))
    const seconds = (Date.now() - began) / 1000
    t.diagnostic(`\n${table([{ scenario: 'ralph run, local', of: all.length, trials, seconds }])}`)
    assert.equal(failures(trials), '')
  } finally {
    await rm(site.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  }
})
