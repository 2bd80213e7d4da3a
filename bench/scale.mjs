// How a run grows: 10,000 stories, 100,000 files, 200 MB of agent output, a thousand iterations. Processor time, because
// wall time says nothing on a machine that others use. Run with Node 24: node_modules/.bin/node bench/scale.mjs
// [stories] [files] [output] [long]; without words all of them. Prints figures; asserts nothing.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parsePrd } from '../src/engine/prd/parse.ts'
import { pickStory } from '../src/engine/prd/select.ts'
import { serializePrd } from '../src/engine/prd/serialize.ts'

const ralph = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist', 'cli', 'main.js')
const AGENT = "cat > /dev/null; echo x > $RALPH_STORY_ID.txt; echo '<ralph>DONE</ralph>'"
const env = { ...process.env }
for (const who of ['AUTHOR', 'COMMITTER'])
  Object.assign(env, { [`GIT_${who}_NAME`]: 'b', [`GIT_${who}_EMAIL`]: 'b@localhost' })

const SCENES = {
  async stories() {
    const parsed = parsePrd(prdOf(10_000, 5000), 'prd.json')
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.mistakes))
    say('10,000 stories, read', `${median(() => parsePrd(prdOf(10_000, 5000), 'prd.json'))} ms`)
    say('10,000 stories, written', `${median(() => serializePrd(parsed.prd))} ms`)
    say('10,000 stories, the next one', `${median(() => pickStory(parsed.prd))} ms`)
    const run = await measured({ stories: 10_000, passed: 5000, iterations: 22 })
    say('10,000 stories, an iteration', ms(run.each(2, 22)))
  },

  async files() {
    const run = await measured({ stories: 20, files: 100_000, iterations: 12 })
    say('100,000 files, start to the first agent', ms(run.at(1)))
    say('100,000 files, an iteration', ms(run.each(2, 12)))
    say('100,000 files, git status', ms(run.status))
  },

  async output() {
    for (const [what, line] of [
      ['lines of 100 bytes', 'x'.repeat(99)],
      ['lines of 2 bytes', 'x'],
    ]) {
      const agent = `cat > /dev/null; yes '${line}' | head -c 200000000; echo x > $RALPH_STORY_ID.txt`
      const run = await measured({ stories: 1, iterations: 1, agent })
      say(`200 MB of output, ${what}`, `${ms(run.main)}, at most ${run.megabytes} MB of memory`)
    }
  },

  async long() {
    const run = await measured({ stories: 1001, iterations: 1001 })
    say('an iteration, from 2 to 52', ms(run.each(2, 52)))
    say('an iteration, from 950 to 1,000', ms(run.each(950, 1000)))
  },
}

const chosen = process.argv.slice(2)
for (const [name, scene] of Object.entries(SCENES))
  if (chosen.length === 0 || chosen.includes(name)) await scene()

/** `each`: of an iteration with all that it started, agent and gate included; `main`: of the process alone. */
async function measured({ stories, passed = 0, files = 0, iterations, agent = AGENT }) {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-scale-'))
  try {
    const repo = join(folder, 'repo')
    const log = join(folder, 'log')
    writeFileSync(log, '')
    const feature = join(repo, '.ralph', '2026-01-31-bench')
    mkdirSync(feature, { recursive: true })
    writeFileSync(join(feature, 'prd.json'), prdOf(stories, passed))
    for (let at = 0; at < files; at += 1) {
      const place = join(repo, `d${at % 300}`, `e${at % 7}`)
      if (at < 2100) mkdirSync(place, { recursive: true })
      writeFileSync(join(place, `f${at}.txt`), `file ${at}\n`)
    }
    const git = (...args) => execFileSync('git', ['-C', repo, ...args], { env, encoding: 'utf8' })
    git('init', '-q', '-b', 'main')
    git('add', '-A')
    git('commit', '-q', '-m', 'start')
    git('status')
    const before = childrenMs()
    git('status')
    const status = childrenMs() - before
    const command = `echo >> '${log}'; ${agent}`
    const args = ['run', 'bench', '--json', '--no-final-verification', '--baseline', 'off']
    args.push('--agent', 'custom', '--agent-command', command, '--gate', 'ok=true')
    args.push('--max-iterations', String(iterations), '--iterations-per-job', '0')
    return { status, ...(await watched(args, repo, log)) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Processor time by the number of sessions that had begun, looked at again and again. */
async function watched(args, cwd, log) {
  const flags =
    process.env.SCALE_PROFILE === undefined
      ? []
      : ['--cpu-prof', `--cpu-prof-dir=${process.env.SCALE_PROFILE}`]
  const child = spawn(process.execPath, [...flags, ralph, ...args], {
    cwd,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said = `${said}${chunk}`.slice(-2000)
  })
  let isOver = false
  child.on('exit', () => {
    isOver = true
  })
  const spent = new Map()
  let [main, megabytes] = [0, 0]
  for (; !isOver; await delay(2)) {
    const file = `/proc/${child.pid}`
    if (!existsSync(file)) break
    try {
      const times = timesOf(file)
      const begun = readFileSync(log, 'utf8').length
      if (!spent.has(begun)) spent.set(begun, times.all)
      main = times.own
      const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`${file}/status`, 'utf8'))?.[1]
      megabytes = Math.max(megabytes, Math.round(Number(peak ?? 0) / 1024))
    } catch {
      break
    }
  }
  if (said !== '' && spent.size < 2) process.stderr.write(said)
  const at = (begun) => spent.get(begun) ?? Number.NaN
  return { main, megabytes, at, each: (from, to) => (at(to) - at(from)) / (to - from) }
}

/** Milliseconds: of a process itself, and with all that has ended below it. */
function timesOf(folder) {
  const fields = readFileSync(`${folder}/stat`, 'utf8').split(') ')[1].split(' ')
  const [user, system, below, systemBelow] = fields.slice(11, 15).map((ticks) => Number(ticks) * 10)
  return { own: user + system, all: user + system + below + systemBelow, below: below + systemBelow }
}

function childrenMs() {
  return timesOf('/proc/self').below
}

function prdOf(count, passed) {
  const userStories = Array.from({ length: count }, (_, index) => ({
    id: `US-${index}`,
    title: `Story ${index}`,
    description: 'As a user I want it',
    acceptanceCriteria: ['one', 'two'],
    dependsOn: index === 0 ? [] : [`US-${index - 1}`],
    priority: index,
    passes: index < passed,
  }))
  return JSON.stringify({ schemaVersion: 2, project: 'bench', userStories })
}

function median(act) {
  const times = Array.from({ length: 15 }, () => {
    const began = process.cpuUsage()
    act()
    const { user, system } = process.cpuUsage(began)
    return (user + system) / 1000
  })
  return times.sort((one, other) => one - other)[7].toFixed(1)
}

function ms(time) {
  return `${time.toFixed(1)} ms`
}

function say(what, figure) {
  process.stdout.write(`${what}: ${figure}\n`)
}
