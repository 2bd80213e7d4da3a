// One case on Ralph's CLI, by its bundle, at one setting.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { git, shell, wrongness } from './hidden.mjs'
import { CLI } from './place.mjs'

const help = () => execFileSync(process.execPath, [CLI, 'run', '--help'], { encoding: 'utf8' })
let offered
/** Whether the bundle has that choice of `weakened-tests`. */
const hasJudge = () => (offered ??= /--weakened-tests[\s\S]*?\(judge/.test(help()))

const DEFAULTS = (one) => [
  ...(one.prepare ? ['--prepare', one.prepare] : []),
  '--protected-paths',
  'elsewhere',
]
/** Flags by the name of the setting. */
export const SETTINGS = {
  plain: () => [],
  init: (one) => [...DEFAULTS(one), '--weakened-tests', hasJudge() ? 'judge' : 'warn'],
  fail: (one) => [...DEFAULTS(one), '--weakened-tests', 'fail'],
  'other-user': (one) => [...SETTINGS.init(one), '--isolation', 'other-user'],
  require: (one) => [...SETTINGS.init(one), '--needs-proof', 'require'],
  agrees: (one) => SETTINGS.init(one),
}

const GATE_ENV = ['GOCACHE', 'GOTOOLCHAIN', 'PYENV_ROOT'].flatMap((name) => ['--gate-env', name])
const FEATURE = '.ralph/2026-01-31-sample'

export async function ours(place, setting) {
  const { one, repository, env } = place
  mkdirSync(join(repository, FEATURE), { recursive: true })
  const story = {
    id: 'US-001',
    title: one.story.title,
    description: '',
    acceptanceCriteria: one.story.criteria,
    priority: 1,
  }
  writeFileSync(
    join(repository, FEATURE, 'prd.json'),
    JSON.stringify({ schemaVersion: 2, project: 'sample', userStories: [story] }),
  )
  const base = place.commit('base')
  // As `ralph init` proposes it: without -v go says nothing of how many tests ran.
  const proposed = (line) => (setting === 'plain' ? line : line.replace(/^go test /, 'go test -v '))
  const gates = Object.entries(one.gates).flatMap(([name, line]) => ['--gate', `${name}=${proposed(line)}`])
  const isolation = setting === 'other-user' ? [] : ['--isolation', 'same-user']
  const attempts = String(Math.max(1, one.acts.length))
  const args = [
    'run',
    'sample',
    '--agent',
    'custom',
    '--agent-command',
    place.agent,
    '--max-attempts',
    attempts,
  ]
  args.push(...gates, ...isolation, ...GATE_ENV, ...SETTINGS[setting](one))
  const line = [process.execPath, CLI, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
  const started = Date.now()
  const { code, out, isLate } = await shell(line, { cwd: repository, env, timeoutMs: 300_000 })
  const seconds = (Date.now() - started) / 1000
  const status = await shell(`'${process.execPath}' '${CLI}' status sample`, { cwd: repository, env })
  const passed = code === 0
  const told = passed ? findings(status.out) : ''
  const wrong = passed
    ? await wrongness(one, place, git(repository, env, 'rev-parse', 'ralph/sample').trim(), base)
    : null
  return {
    result: passed ? (told === '' ? 'passed' : 'told') : code === 64 || isLate ? 'error' : 'refused',
    wrong,
    told,
    why: passed ? '' : `${isLate ? 'not ended after 300 s: ' : ''}${reason(out, status.out)}`,
    seconds,
  }
}

const USUAL = /^(ralph\/sample:|\s*\[x\]|Complete:|Next:|npm warn|\s*$)/i
/** What `status` says beside that all is well. */
const findings = (text) =>
  text
    .split('\n')
    .filter((line) => !USUAL.test(line))
    .join(' | ')

/** What it says of a story that did not pass. */
function reason(out, status) {
  const lines = `${out}\n${status}`
    .split('\n')
    .filter((line) => /FAILED|reject|refus|\[error\]|NOT VERIFIED|blocked|guard|UNEXPECTED/i.test(line))
  return lines.slice(0, 4).join(' | ').slice(0, 500) || out.slice(-300)
}
