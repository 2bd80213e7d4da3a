// Each check of `ralph doctor`: what it takes for fine, what it warns of, what it calls a fault, and what mends it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { agents, keys } from '../../../src/doctor/agent.ts'
import { CHECKS, type Check, diagnose } from '../../../src/doctor/diagnose.ts'
import { isNewer } from '../../../src/doctor/github.ts'
import { limits } from '../../../src/doctor/limits.ts'
import { browser, gitResult, isolation, nodeResult, services } from '../../../src/doctor/machine.ts'
import { configuration } from '../../../src/doctor/repository.ts'
import { fault, NotSeen, type Result } from '../../../src/doctor/subject.ts'
import { permissions, workflow } from '../../../src/doctor/workflow.ts'
import { readWorkflow } from '../../../src/doctor/workflow-file.ts'
import { readSettings } from '../../../src/settings/index.ts'
import { UserError } from '../../../src/system/errors.ts'
import { ACTION, ciOf, starter, subjectOf } from './subject.ts'

const SIGNAL = new AbortController().signal
const YML = await starter()
const UNPINNED = YML.replace(/@[0-9a-f]{40}(?= # v1\n {8}with)/, '@<sha>')
const SEPARATE = await starter('ralph-separate.yml')

const settings = (flags: Record<string, string>, surface: 'cli' | 'action' = 'cli') =>
  readSettings(surface === 'cli' ? { flags, env: {}, surface } : { inputs: flags, env: {}, surface }).settings
const withBrowser = (executablePath: string) => {
  const text = `browser: { baseUrl: "http://localhost:3000", executablePath: ${executablePath} }`
  return readSettings({ file: { path: 'ralph.config.yml', text }, env: {}, surface: 'cli' }).settings
}
const NEVER = new AbortController().signal
const inCi = (text: string, inputs: Record<string, string> = {}) => subjectOf({}, ciOf(text, inputs))

type Case = [what: string, look: () => Result | Result[] | Promise<Result | Result[]>, ...expected: RegExp[]]

/** `state: found -> fix` of each finding. */
const CASES: Case[] = [
  ['node', () => nodeResult('v24.1.0'), /^ok: v24\.1\.0/],
  ['node', () => nodeResult('v18.19.0'), /^fault: v18\.19\.0 -> install a newer Node/],
  ['git', () => gitResult('git version 2.39.5 (Apple Git-154)\n'), /^ok: 2\.39\.5/],
  ['git', () => gitResult('git version 3.0\n'), /^ok: 3\.0/],
  ['git', () => gitResult('git version 2.34.1\n'), /^fault: 2\.34\.1 -> install a newer git/],
  ['git', () => gitResult(null), /^fault: git is not on the PATH -> install git/],
  ['configuration', () => configuration(subjectOf()), /^ok: fine/],
  [
    'configuration',
    () => configuration(subjectOf({ notes: ['services: not part of this version'] })),
    /^warning: services.* -> /,
  ],
  [
    'configuration',
    () =>
      configuration(
        subjectOf({ mistakes: [{ path: 'a.yml: x', found: '1', expected: 'a text', fix: 'quote it' }] }),
      ),
    /^fault: a\.yml: x: 1 -> quote it/,
  ],
  ['isolation', () => isolation(subjectOf()), /^ok: same-user/],
  [
    'isolation in a job',
    () => isolation(subjectOf({ settings: settings({ isolation: 'same-user' }, 'action') })),
    /^warning: isolation: same-user.* -> leave isolation out/,
  ],
  [
    'isolation that cannot be had',
    () =>
      isolation(
        subjectOf({
          settings: settings({ isolation: 'separate-job' }),
        }),
      ),
    /^warning: separate-job.* -> give --isolation other-user/,
  ],
  ['browser where none is asked for', () => browser(subjectOf(), NEVER)],
  [
    'browser that is none',
    () => browser(subjectOf({ settings: withBrowser('/bin/false') }), NEVER),
    /^fault: \/bin\/false: the browser ended with exit code 1 -> start it by hand/,
  ],
  ['workflow', () => workflow(inCi(YML)), /^ok: \.github\/workflows\/ralph\.yml on main/],
  ['workflow of four jobs', () => workflow(inCi(SEPARATE)), /^ok: /],
  [
    'workflow without the version',
    () => workflow(subjectOf({ settings: settings({}, 'action') }, ciOf(UNPINNED))),
    /^fault: .*job work uses ralph\/action@<sha> -> .*git ls-remote/,
  ],
  [
    'workflow without the version, on a laptop',
    () => workflow(inCi(UNPINNED)),
    /^warning: .*job work uses ralph\/action@<sha> -> .*git ls-remote/,
  ],
  [
    'workflow without generation',
    () => workflow(inCi(YML.replace(/ {6}generation:\n(?: {8}.*\n)+/, ''))),
    /^fault: .* does not declare the input generation -> add .*generation/,
  ],
  [
    'workflow without a dispatch',
    () => workflow(inCi(YML.replace(/ {2}workflow_dispatch:\n(?: {4,}.*\n)+/, ''))),
    /^fault: .* is not started by workflow_dispatch -> write on:/,
  ],
  [
    'workflow without a checkout',
    () => workflow(inCi(YML.replace(/ {6}- uses: actions\/checkout.*\n {8}with:\n {10}.*\n/, ''))),
    /^fault: .*job work checks nothing out -> .*actions\/checkout/,
  ],
  ...['lfs: true', 'filter: blob:none', 'sparse-checkout: src'].map(
    (line): Case => [
      `workflow with ${line}`,
      () => workflow(inCi(YML.replace('persist-credentials: false', line))),
      new RegExp(`^fault: .*checks out with ${line} -> leave .* out`),
    ],
  ),
  [
    'workflow without a key',
    () => workflow(inCi(YML.replace(/ {8}env:\n {10}ANTHROPIC.*\n/, ''))),
    /^warning: .*job work gives claude no key -> add .*secrets\.ANTHROPIC_API_KEY/,
  ],
  [
    'workflow with an input that nobody knows',
    () => workflow(inCi(YML.replace('max-iterations: 50', 'max-iteration: 50'))),
    /^fault: .*max-iteration.* -> /,
  ],
  ['permissions', () => permissions(inCi(YML)), /^ok: /],
  ['permissions of four jobs', () => permissions(inCi(SEPARATE)), /^ok: /],
  [
    'permissions',
    () => permissions(inCi(YML.replace(/ {4}permissions:\n(?: {6}.*\n)+/, '    permissions: write-all\n'))),
    /^ok: /,
  ],
  [
    'permissions that lack one',
    () => permissions(inCi(YML.replace(/ {6}actions: write # the next job\n/, ''))),
    /^fault: .*job work lacks actions: write -> .*actions: write/,
  ],
  [
    'permissions for statuses',
    () => permissions(inCi(YML, { 'report-as': 'statuses' })),
    /^fault: .*job work lacks statuses: write -> /,
  ],
  [
    'permissions for issues',
    () => permissions(inCi(YML.replace(/^ {6}issues: write.*\n/gm, ''))),
    /^fault: .*lacks issues: write -> .*issues: write/,
    /^fault: .*lacks issues: write/,
  ],
  [
    'permissions that nobody wrote',
    () =>
      permissions(inCi(YML.replace('permissions: {}\n', '').replace(/ {4}permissions:\n(?: {6}.*\n)+/g, ''))),
    /^warning: .*job work says none.* -> write into the job/,
    /^warning: .*job comment says none/,
  ],
  ['limits', () => limits(inCi(YML)), /^ok: they fit/],
  ['limits of four jobs', () => limits(inCi(SEPARATE)), /^ok: they fit/],
  [
    'a job that is ended before its deadline',
    () => limits(inCi(YML.replace('timeout-minutes: 310', 'timeout-minutes: 60'))),
    /^fault: job work is ended after 1h 00m, and job-deadline is 5h 00m -> write timeout-minutes: 310, or job-deadline: 50m/,
  ],
  [
    'a job that is ended soon after its deadline',
    () => limits(inCi(YML.replace('timeout-minutes: 310', 'timeout-minutes: 305'))),
    /^warning: .*5h 05m.* -> write timeout-minutes: 310/,
  ],
  [
    'a job that is ended before its gates',
    () => limits(inCi(SEPARATE, { gates: 'e2e: { run: x, timeout: 2h }' })),
    /^warning: job gate is ended after 50m 00s, and its work may take 2h 00m -> write timeout-minutes: 130/,
  ],
  [
    'more iterations than fit a job',
    () => limits(inCi(YML, { 'iterations-per-job': '20' })),
    /^warning: 20 iterations of 30m 00s are 10h 00m.* -> write iterations-per-job: 10/,
  ],
  [
    'an iteration longer than its job',
    () =>
      limits(
        inCi(YML, {
          'iterations-per-job': '1',
          'iteration-timeout': '4h',
          gates: 'a: { run: x, timeout: 2h }',
        }),
      ),
    /^warning: an iteration may take 6h 00m.* -> shorten/,
  ],
  [
    'jobs that do not hold all iterations',
    () => limits(inCi(YML, { 'max-jobs': '3' })),
    /^warning: max-jobs 3 of 5 iterations.* -> leave max-jobs out \(35\)/,
  ],
  [
    'more attempts than iterations',
    () => limits(subjectOf({ settings: settings({ maxIterations: '2' }) })),
    /^warning: max-attempts 3 is more than max-iterations 2 -> /,
  ],
  [
    'no end at all',
    () => limits(subjectOf({ settings: settings({ maxIterations: '0' }) })),
    /^warning: max-iterations is 0.* -> set max-iterations or max-cost-usd/,
  ],
  [
    'key',
    () =>
      keys(
        subjectOf({ settings: settings({ agent: 'amp' }), env: { AMP_API_KEY: 'secret', HOME: '/none' } }),
      ),
    /^ok: AMP_API_KEY is set/,
  ],
  [
    'key on a laptop, where a keychain may have it',
    () => keys(subjectOf({ settings: settings({ agent: 'amp' }), env: { HOME: '/none' } })),
    /^warning: no key.*keychain.* -> log in with amp, or set AMP_API_KEY/,
  ],
  [
    'key in a job',
    () =>
      keys(
        subjectOf({
          settings: settings({ agent: 'amp' }, 'action'),
          env: { HOME: '/none', CI: 'true', RUNNER_ENVIRONMENT: 'github-hosted' },
        }),
      ),
    /^fault: no key.* -> add a valid one to the repository's secrets.*AMP_API_KEY/,
  ],
  ...(
    [
      ['bash -c "x"', /^ok: custom: /],
      ['"/bin/sh" -e', /^ok: custom: /],
      ['/bin/shh', /^warning: .*and \/bin\/shh is not in \/ -> install it, or mend its path/],
      ['sh ./agnt.sh "$@"', /^warning: .*and \.\/agnt\.sh is not in \/ -> /],
      ['"sh" "agnt.sh"', /^warning: .*and agnt\.sh is not in \/ -> /],
      ['sh "$HOME/agent.sh"', /^ok: /],
      ['nosuchagent', /^warning: .*nosuchagent is not on the PATH/],
    ] as const
  ).map(
    ([agentCommand, expected]): Case => [
      `custom agent ${agentCommand}`,
      () => agents(subjectOf({ settings: settings({ agent: 'custom', agentCommand }) }), SIGNAL),
      expected,
    ],
  ),
  [
    'key of a custom agent',
    () => keys(subjectOf({ settings: settings({ agent: 'custom', agentCommand: 'x' }) })),
  ],
]

for (const [what, look, ...expected] of CASES) {
  test(`${what}: ${expected.map(String).join(' and ') || 'nothing to say'}`, async () => {
    const found = [await look()].flat()
    const said = found.map(
      ({ state, found: text, fix }) => `${state}: ${text}${fix === '' ? '' : ` -> ${fix}`}`,
    )
    assert.equal(found.length, expected.length, said.join('\n'))
    for (const [at, pattern] of expected.entries()) assert.match(said[at] ?? '', pattern)
    for (const { state, expected: wanted, fix } of found)
      assert.equal(state === 'ok', wanted === '' && fix === '', said.join('\n'))
  })
}

test('all checks are run, whatever one of them meets', async () => {
  const checks: Check[] = [
    { name: 'breaks', look: () => Promise.reject(new Error('a bug')) },
    {
      name: 'refuses',
      look: () => {
        throw new UserError({ path: 'p', found: 'f', expected: 'e', fix: 'x' })
      },
    },
    { name: 'cannot', look: () => Promise.reject(new NotSeen('not seen', 'look there')) },
    { name: 'hangs', look: () => new Promise(() => {}), timeoutMs: 50 },
    { name: 'is well', look: () => ({ state: 'ok', found: 'yes', expected: '', fix: '' }), alone: true },
  ]
  const found = await diagnose(subjectOf(), checks)
  assert.deepEqual(
    found.map(({ name, state, fix }) => [name, state, fix]),
    [
      ['breaks', 'unknown', 'look at it by hand'],
      ['refuses', 'fault', 'x'],
      ['cannot', 'unknown', 'look there'],
      ['hangs', 'unknown', 'run again when machine and network are less busy'],
      ['is well', 'ok', ''],
    ],
  )
})

test('a service that two checks find in the way is one fault', async () => {
  const taken = (found: string): Result & { name: string } => ({
    ...fault(found, 'e', 'f'),
    name: 'service web',
  })
  const checks: Check[] = [
    { name: 'services', look: () => [taken('somebody is at its port')] },
    { name: 'gates', look: () => [taken('cannot start'), { ...taken('x'), name: 'gate test' }], alone: true },
  ]
  assert.deepEqual(
    (await diagnose(subjectOf(), checks)).map(({ name, found }) => [name, found]),
    [
      ['service web', 'somebody is at its port'],
      ['gate test', 'x'],
    ],
  )
})

test('a person who interrupts is not kept waiting, and what has begun is put in order', async () => {
  const stop = new AbortController()
  let isTidy = false
  const checks: Check[] = [
    { name: 'asks', look: () => new Promise(() => {}) },
    {
      name: 'works',
      alone: true,
      look: async (_subject, signal) => {
        stop.abort()
        await new Promise((resolve) =>
          signal.aborted ? resolve(null) : signal.addEventListener('abort', resolve),
        )
        isTidy = true
        return { state: 'ok', found: 'ended', expected: '', fix: '' }
      },
    },
    { name: 'never', alone: true, look: () => assert.fail('it was begun') },
  ]
  const asked = diagnose(subjectOf({ signal: stop.signal }), checks.slice(1))
  assert.deepEqual(
    (await asked).map(({ found }) => found),
    ['ended', 'not looked at: interrupted'],
  )
  assert.ok(isTidy)
  assert.equal((await diagnose(subjectOf({ signal: stop.signal }), checks.slice(0, 1)))[0]?.state, 'unknown')
})

test('names of checks are told apart', () => {
  assert.equal(new Set(CHECKS.map(({ name }) => name)).size, CHECKS.length)
})

test('a release is newer by its numbers', () => {
  for (const newer of ['v1.0.1', '1.1.0', 'v2.0.0']) assert.ok(isNewer(newer, '1.0.0'), newer)
  for (const not of ['v1.0.0', 'v0.9.9', 'v2', 'nightly', '']) assert.ok(!isNewer(not, '1.0.0'), not)
})

test('a file that does not start Ralph, or is no workflow, is none', () => {
  for (const text of ['', '[]', 'jobs: 4', 'jobs: { a: { steps: [{ uses: ralph/actions@v1 }] } }', ': : :'])
    assert.equal(readWorkflow('x.yml', text, ACTION), null, text)
})

test('services: a program that is missing, a port that is taken, what somebody else runs', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const look = async (written: string) => {
    const found = await services(subjectOf({ settings: settings({ services: written }) }))
    return found.map((one) => `${one.name}: ${one.state}: ${one.found} -> ${one.fix}`).join('\n')
  }
  try {
    assert.equal(await look(''), '')
    const start = 'A=b node server.js'
    assert.match(await look(`web: { start: '${start}', ready: 1 }`), /^service web: ok: /)
    assert.match(await look('web: { start: cd / && ls, ready: { log: x } }'), /^service web: ok: /)
    const missing = await look('web: { start: no-such-program --x, ready: 1 }')
    assert.match(missing, /^service web: fault: there is no program no-such-program -> install it/)
    const later = await look('web: { start: node_modules/.bin/vite, ready: 1 }')
    assert.match(later, /^service web: warning: there is no program node_modules.* -> make it before a run/)
    const taken = await look(`web: { start: node x, ready: 'http://localhost:${port}' }`)
    assert.match(
      taken,
      new RegExp(`fault: http://localhost:${port} answers already: .*process ${process.pid}.* -> end that`),
    )
    assert.match(await look(`db: { ready: ${port} }`), /^service db: ok: answers/)
    assert.match(
      await look('db: { ready: 1 }'),
      /^service db: warning: does not answer: nobody listens there -> /,
    )
  } finally {
    server.close()
  }
})

test('a login on the machine counts', async () => {
  const home = await mkdtemp(join(tmpdir(), 'ralph-doctor-'))
  try {
    const look = () => keys(subjectOf({ env: { HOME: home }, directory: home }))
    assert.equal((await look())[0]?.state, 'warning')
    await mkdir(join(home, '.claude'))
    await writeFile(join(home, '.claude', '.credentials.json'), '{}')
    assert.deepEqual(
      (await look()).map(({ state, found }) => [state, found]),
      [['ok', 'claude has a login here']],
    )
  } finally {
    await rm(home, { recursive: true, force: true })
  }
})
