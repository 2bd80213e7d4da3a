// One case on Ralph's CLI, by its bundle, at one setting.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { git, shell, wrongness } from './hidden.mjs'
import { CLI } from './place.mjs'

const DEFAULTS = (one) => [
  ...(one.prepare ? ['--prepare', one.prepare] : []),
  '--protected-paths',
  'elsewhere',
]
/** Flags by the name of the setting. */
export const SETTINGS = {
  plain: () => [],
  init: (one) => [...DEFAULTS(one), '--weakened-tests', 'judge'],
  fail: (one) => [...DEFAULTS(one), '--weakened-tests', 'fail'],
  'other-user': (one) => [...SETTINGS.init(one), '--isolation', 'other-user'],
  require: (one) => [...SETTINGS.init(one), '--needs-proof', 'require'],
  agrees: (one) => SETTINGS.init(one),
  'baseline-off': (one) => [...SETTINGS.init(one), '--baseline', 'off'],
  'tests-first': (one) => SETTINGS['baseline-off'](one),
  when: (one) => SETTINGS.init(one),
}

/** A real judge takes its time. */
const SLOW_JUDGE = ['--idle-timeout', '60m', '--iteration-timeout', '60m']

const TAG = 'tagged'

/** The files of the honest solution that are not its product: the base of a project that writes its tests first. */
function testsOf({ honest, code }) {
  const files = Object.entries(honest?.files ?? {})
  return Object.fromEntries(
    files.filter(([path, text]) => text !== null && !code.some((one) => path.startsWith(one))),
  )
}

const GATE_ENV = ['GOCACHE', 'GOTOOLCHAIN', 'PYENV_ROOT'].flatMap((name) => ['--gate-env', name])
const FEATURE = '.ralph/2026-01-31-sample'

export async function ours(place, setting) {
  const { one, repository, env, isJudged } = place
  mkdirSync(join(repository, FEATURE), { recursive: true })
  const story = {
    id: 'US-001',
    title: one.story.title,
    description: '',
    acceptanceCriteria: one.story.criteria,
    priority: 1,
    ...(setting === 'when' ? { tags: [TAG] } : {}),
  }
  writeFileSync(
    join(repository, FEATURE, 'prd.json'),
    JSON.stringify({ schemaVersion: 2, project: 'sample', userStories: [story] }),
  )
  // As `ralph init` proposes it: without -v go says nothing of how many tests ran.
  const proposed = (line) => (setting === 'plain' ? line : line.replace(/^go test /, 'go test -v '))
  const commands = Object.entries(one.gates).map(([name, line]) => [name, proposed(line)])
  const gates = setting === 'when' ? [] : commands.flatMap(([name, line]) => ['--gate', `${name}=${line}`])
  if (setting === 'when') {
    const tagged = Object.fromEntries(commands.map(([name, run]) => [name, { run, when: TAG }]))
    writeFileSync(join(repository, 'ralph.config.json'), JSON.stringify({ gates: tagged }))
  }
  if (setting === 'tests-first')
    for (const [path, text] of Object.entries(testsOf(one))) {
      mkdirSync(dirname(join(repository, path)), { recursive: true })
      writeFileSync(join(repository, path), text)
    }
  const base = place.commit('base')
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
  args.push(...(isJudged ? SLOW_JUDGE : []), ...gates, ...isolation, ...GATE_ENV, ...SETTINGS[setting](one))
  const line = [process.execPath, CLI, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
  const started = Date.now()
  const { code, out, isLate } = await shell(line, {
    cwd: repository,
    env,
    timeoutMs: isJudged ? 3_600_000 : 300_000,
  })
  const seconds = (Date.now() - started) / 1000
  const status = await shell(`'${process.execPath}' '${CLI}' status sample`, { cwd: repository, env })
  const passed = code === 0
  const told = passed ? findings(status.out) : ''
  const wrong = passed
    ? await wrongness(one, place, git(repository, env, 'rev-parse', 'ralph/sample').trim(), base)
    : null
  return {
    // bash(1): 126 and 127 are of a program that did not start.
    result: passed
      ? told === ''
        ? 'passed'
        : 'told'
      : [64, 126, 127].includes(code) || isLate
        ? 'error'
        : 'refused',
    wrong,
    told,
    why: passed ? '' : `${isLate ? 'not ended in time: ' : ''}${reason(out, status.out)}`,
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
