// Overhead of an iteration: wall and processor time less agent and gate, a 0.2 s agent, one trivial gate, durable checkpoints.
// Run: node bench/overhead.mjs [stories] [same-user|other-user]. Prints figures; asserts nothing. At other-user (root) the
// network is closed, too. What is paid once a run is told beside: it is the difference to a run of a single story.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ralph = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist', 'cli', 'main.js')
const stories = Math.max(2, Number(process.argv[2] ?? '10'))
const isolation = process.argv[3] ?? 'same-user'
const who = {
  GIT_AUTHOR_NAME: 'b',
  GIT_AUTHOR_EMAIL: 'b@localhost',
  GIT_COMMITTER_NAME: 'b',
  GIT_COMMITTER_EMAIL: 'b@localhost',
}
const env = { ...process.env, ...who }

const version = spawnSync(process.execPath, [ralph, '--version'], { encoding: 'utf8' }).stdout.trim()
const one = measured(1)
const all = measured(stories)
const each = (figure) => `${((all[figure] - one[figure]) / (stories - 1)).toFixed(1)} ms`
process.stdout.write(`node ${process.version}, ${stories} stories, ${isolation} (${version})\n`)
process.stdout.write(`a run of one story: ${one.wall.toFixed(0)} ms, processor ${one.cpu.toFixed(0)} ms\n`)
process.stdout.write(`overhead an iteration: ${each('wall')}, processor ${each('cpu')}\n`)

/** Milliseconds of a whole run without the agent and the gates. */
function measured(count) {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-bench-'))
  const repo = join(folder, 'repo')
  const log = join(folder, 'times')
  chmodSync(folder, 0o755)
  writeFileSync(log, '')
  chmodSync(log, 0o666)
  mkdirSync(join(repo, '.ralph', '2026-01-31-bench'), { recursive: true })
  const list = Array.from({ length: count }, (_, at) => ({
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
  const args = ['run', 'bench', '--json', '--agent', 'custom', '--agent-command', agent]
  args.push('--gate', `ok=${timed('true')}`, '--isolation', isolation)
  args.push('--no-final-verification', '--baseline', 'off', '--max-iterations', '0')
  if (isolation === 'other-user') args.push('--network', 'model')
  const [began, used] = [process.hrtime.bigint(), childrenMs()]
  const result = spawnSync(process.execPath, [ralph, ...args], { cwd: repo, env, encoding: 'utf8' })
  const wall = Number(process.hrtime.bigint() - began) / 1e6
  const cpu = childrenMs() - used
  if (result.status !== 0) {
    process.stderr.write(result.stderr)
    process.exit(1)
  }
  const others = readFileSync(log, 'utf8')
    .split('\n')
    .filter(Boolean)
    .reduce((sum, line) => sum + Number(line) / 1e6, 0)
  rmSync(folder, { recursive: true, force: true })
  return { wall: wall - others, cpu }
}

/** Processor time of all that has ended below us; 0 where the system does not say. */
function childrenMs() {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ')
    return (Number(fields[13]) + Number(fields[14])) * 10
  } catch {
    return 0
  }
}
