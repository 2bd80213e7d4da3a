// Overhead of an iteration: wall time less agent and gate, 10 stories, a 0.2 s agent, one trivial gate, durable checkpoints.
// Run: node bench/overhead.mjs [stories]. Prints figures; asserts nothing.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const stories = Number(process.argv[2] ?? '10')
const folder = mkdtempSync(join(tmpdir(), 'ralph-bench-'))
const repo = join(folder, 'repo')
const log = join(folder, 'times')
const who = {
  GIT_AUTHOR_NAME: 'b',
  GIT_AUTHOR_EMAIL: 'b@localhost',
  GIT_COMMITTER_NAME: 'b',
  GIT_COMMITTER_EMAIL: 'b@localhost',
}
const env = { ...process.env, ...who }

mkdirSync(join(repo, '.ralph', '2026-01-31-bench'), { recursive: true })
const list = Array.from({ length: stories }, (_, at) => ({
  id: `US-${String(at + 1).padStart(3, '0')}`,
  title: `story ${at + 1}`,
  description: 'd',
  acceptanceCriteria: ['c'],
  priority: at,
}))
writeFileSync(
  join(repo, '.ralph', '2026-01-31-bench', 'prd.json'),
  JSON.stringify({ schemaVersion: 2, project: 'bench', userStories: list }),
)
writeFileSync(join(repo, 'README.md'), 'bench\n')
const git = (...args) => execFileSync('git', ['-C', repo, ...args], { env, encoding: 'utf8' })
git('init', '-q', '-b', 'main')
git('add', '-A')
git('commit', '-q', '-m', 'start')

const timed = (what) => `s=$(date +%s%N); ${what}; e=$(date +%s%N); echo $((e-s)) >> '${log}'`
const agent = timed(
  "cat > /dev/null; sleep 0.2; echo $RALPH_STORY_ID > $RALPH_STORY_ID.txt; echo '<ralph>DONE</ralph>'",
)
const args = [
  'run',
  'bench',
  '--json',
  '--agent',
  'custom',
  '--agent-command',
  agent,
  '--gate',
  `ok=${timed('true')}`,
]
args.push('--no-final-verification', '--baseline', 'off', '--max-iterations', '0')
const began = process.hrtime.bigint()
const result = spawnSync(process.execPath, [join(root, 'dist', 'cli', 'main.js'), ...args], {
  cwd: repo,
  env,
  encoding: 'utf8',
})
const wallMs = Number(process.hrtime.bigint() - began) / 1e6
if (result.status !== 0) {
  process.stderr.write(result.stderr)
  process.exit(1)
}
const others = readFileSync(log, 'utf8')
  .split('\n')
  .filter(Boolean)
  .reduce((sum, line) => sum + Number(line) / 1e6, 0)
const status = spawnSync(process.execPath, [join(root, 'dist', 'cli', 'main.js'), '--version'], {
  encoding: 'utf8',
})
const startBegan = process.hrtime.bigint()
spawnSync(process.execPath, [join(root, 'dist', 'cli', 'main.js'), '--version'])
const startMs = Number(process.hrtime.bigint() - startBegan) / 1e6
process.stdout.write(`node ${process.version}, ${stories} stories (${status.stdout.trim()})\n`)
process.stdout.write(
  `wall ${wallMs.toFixed(0)} ms, agent and gates ${others.toFixed(0)} ms, start ${startMs.toFixed(0)} ms\n`,
)
process.stdout.write(`overhead an iteration: ${((wallMs - others - startMs) / stories).toFixed(1)} ms\n`)
rmSync(folder, { recursive: true, force: true })
