// Stories side by side beside one after the other, by `ralph run` in one run: 8 independent stories (an agent of 20 s, gates of 1 s);
// the same with one in five in conflict with another; 8 finished candidates whose gates take 30 s; and two stories
// that are green alone, and red together.
// Run, after `npm run build`: node bench/parallel.mjs [scale of the times, 1] [peers]. Prints figures; asserts nothing.
// `peers`: a folder where `npm install ralph-tui bun` was run: its parallel mode runs beside ours. It runs no gate.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runTui } from './minutes/tui.mjs'

const ralph = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist', 'cli', 'main.js')
const scale = Number(process.argv[2] ?? '1')
const peers = process.argv[3]
const STORIES = 8
const who = {
  GIT_AUTHOR_NAME: 'b',
  GIT_AUTHOR_EMAIL: 'b@localhost',
  GIT_COMMITTER_NAME: 'b',
  GIT_COMMITTER_EMAIL: 'b@localhost',
}
const env = { ...process.env, ...who }
/** The first two sessions make what is green alone and red together; the second attempt mends that where it sees both. */
const clash = (count) =>
  `if mkdir "${count}/1" 2>/dev/null; then touch one; elif mkdir "${count}/2" 2>/dev/null; then touch two; elif [ "\${RALPH_ATTEMPT:-1}" != 1 ] && [ -e one ]; then rm -f two; fi`
const NOT_BOTH = '! { [ -e one ] && [ -e two ]; }'

say(`node ${process.version}, ${STORIES} stories, times by ${scale}`)
const one = measured('one worker', { workers: 1, agent: 20, gate: 1 })
const four = measured('four workers', { workers: 4, agent: 20, gate: 1 })
const torn = measured('four workers, one story in five in conflict', {
  workers: 4,
  agent: 20,
  gate: 1,
  conflicts: true,
})
const single = measured('one by one, gates of 30 s', { workers: 1, agent: 0, gate: 30 })
const train = measured('a train of eight, gates of 30 s', { workers: 8, agent: 0, gate: 30 })
measured('four workers, two stories red together', {
  workers: 4,
  agent: 20,
  gate: 1,
  clashes: true,
})
const tui = peers === undefined ? null : await withTui('ralph-tui, four workers')
if (peers !== undefined) await withTui('ralph-tui, four workers, two stories red together', true)
say('')
if (tui !== null) say(`four workers: ${(four / tui).toFixed(2)} of ralph-tui's time`)
say(`four workers: ${(one / four).toFixed(2)} times one`)
say(`of that gain, conflicts take ${(100 * ((torn - four) / (one - four))).toFixed(0)} %`)
say(`the train: ${(single / train).toFixed(2)} times as fast as one by one`)

/** Seconds of a whole run. */
function measured(name, { workers, agent, gate, conflicts = false, clashes = false }) {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-parallel-'))
  try {
    const repo = join(folder, 'repo')
    mkdirSync(join(repo, '.ralph', '2026-01-31-bench'), { recursive: true })
    const userStories = Array.from({ length: STORIES }, (_, at) => ({
      id: `US-${at + 1}`,
      title: `story ${at + 1}`,
      description: 'd',
      acceptanceCriteria: ['c'],
      priority: at,
    }))
    const prd = JSON.stringify({ schemaVersion: 2, project: 'bench', userStories })
    writeFileSync(join(repo, '.ralph', '2026-01-31-bench', 'prd.json'), prd)
    writeFileSync(join(repo, 'shared.txt'), 'nobody\n')
    const git = (...args) => execFileSync('git', ['-C', repo, ...args], { env, encoding: 'utf8' })
    git('init', '-q', '-b', 'main')
    git('add', '-A')
    git('commit', '-qm', 'start')
    // Two of the eight write the same line.
    const shared = conflicts
      ? 'case $RALPH_STORY_ID in US-1|US-3) echo "$RALPH_STORY_ID" >shared.txt;; esac; '
      : ''
    const count = join(folder, 'count')
    mkdirSync(count)
    const both = clashes ? `${clash(count)}; ` : ''
    const check = clashes ? NOT_BOTH : 'true'
    const session = `cat >/dev/null; sleep ${agent * scale}; ${shared}${both}echo 1 >"$RALPH_STORY_ID.txt"`
    const settings = [
      ...['--agent', 'custom', '--agent-command', session, '--gate', `good=sleep ${gate * scale}; ${check}`],
      ...['--isolation', 'same-user', '--no-final-verification', '--baseline', 'off', '--clean-room', 'off'],
      ...['--max-parallel', `${workers}`],
    ]
    const began = performance.now()
    const { status, stderr } = spawnSync(process.execPath, [ralph, 'run', ...settings], {
      cwd: repo,
      env,
      encoding: 'utf8',
    })
    const seconds = (performance.now() - began) / 1000
    if (status !== 0) throw new Error(stderr)
    const landed = git('log', '--format=%s', 'main..ralph/bench')
      .split('\n')
      .filter((line) => line.startsWith('feat: '))
    git('checkout', '-q', 'ralph/bench')
    const isGreen = spawnSync('bash', ['-c', check], { cwd: repo }).status === 0
    say(
      `${name}: ${seconds.toFixed(1)} s, ${landed.length} stories landed, gates ${isGreen ? 'green' : 'RED'}`,
    )
    return seconds
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function withTui(name, clashes = false) {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-tui-'))
  try {
    const count = join(folder, 'count')
    mkdirSync(count)
    const session = `echo 1 >"$$.txt"${clashes ? `; ${clash(count)}` : ''}`
    const gate = clashes ? NOT_BOTH : 'true'
    const run = { peers, folder, stories: STORIES, agentSeconds: 20 * scale, workers: 4, session, gate }
    const { seconds, isGreen } = await runTui(run)
    say(`${name}: ${seconds.toFixed(1)} s, ${STORIES} stories passed, gates ${isGreen ? 'green' : 'RED'}`)
    return seconds
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function say(text) {
  process.stdout.write(`${text}\n`)
}
