// Each check of `ralph doctor`: what it takes for fine, what it warns of, what it calls a fault, and what mends it.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: `${NAME}` is what shells replace.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { isNewer } from '../../../../src/engine/model/version.ts'
import { readSettings } from '../../../../src/settings/read-settings.ts'
import { checkAgents, checkKeys } from '../../../../src/setup/checks/check-agent.ts'
import { checkEvents } from '../../../../src/setup/checks/check-events.ts'
import { checkExamples } from '../../../../src/setup/checks/check-examples.ts'
import { checkLimits } from '../../../../src/setup/checks/check-limits.ts'
import { checkConfiguration } from '../../../../src/setup/checks/check-repository.ts'
import { CHECKS, type Check } from '../../../../src/setup/checks/check-table.ts'
import { diagnose } from '../../../../src/setup/checks/diagnose.ts'
import {
  checkBrowser,
  checkIsolation,
  checkSideBySide,
  gitResult,
} from '../../../../src/setup/checks/machine.ts'
import { type CheckResult, NotCheckedError } from '../../../../src/setup/checks/subject.ts'
import { checkTrust } from '../../../../src/setup/checks/trust.ts'
import { checkPermissions, checkWorkflow } from '../../../../src/setup/checks/workflow.ts'
import { readWorkflow } from '../../../../src/setup/checks/workflow-file.ts'
import { UserError } from '../../../../src/system/errors.ts'
import { ACTION, ciOf, starter, subjectOf } from './subject.ts'

const YML = await starter()
const UNPINNED = YML.replace(/@[0-9a-f]{40}(?= # v1\n {8}with)/, '@<sha>')
const SEPARATE = await starter('ralph-separate.yml')
const WAVE = await starter('ralph-parallel.yml')
const MATRIX = await starter('ralph-separate-parallel.yml')

const settings = (flags: Record<string, string>, surface: 'cli' | 'action' = 'cli') =>
  readSettings(surface === 'cli' ? { flags, env: {}, surface } : { inputs: flags, env: {}, surface }).settings
const withBrowser = (executablePath: string) => {
  const text = `browser: { baseUrl: "http://localhost:3000", executablePath: ${executablePath} }`
  return readSettings({ file: { path: 'ralph.config.yml', text }, env: {}, surface: 'cli' }).settings
}
const inCi = (text: string, inputs: Record<string, string> = {}) => subjectOf({}, ciOf(text, inputs))

type Case = [
  what: string,
  look: () => CheckResult | CheckResult[] | Promise<CheckResult | CheckResult[]>,
  ...expected: RegExp[],
]

/** `state: found -> fix` of each finding. */
const TRUSTED = /^warning: these settings cannot detect answers hard-coded for the tests/
const LESS = {
  ...{ gates: 'test: npm test', prepare: 'npm ci', 'weakened-tests': 'warn', 'clean-room': 'off' },
  isolation: 'same-user',
}

const CASES: Case[] = [
  ['git', () => gitResult('git version 2.39.5 (Apple Git-154)\n'), /^ok: 2\.39\.5/],
  ['git', () => gitResult('git version 3.0\n'), /^ok: 3\.0/],
  [
    'git',
    () => gitResult('git version 2.34.1\n'),
    /^fault: git 2\.34\.1 is too old for Ralph\. -> install git 2\.38 or newer/,
  ],
  ['git', () => gitResult(null), /^fault: git is not installed, or it is not on your PATH\. -> install git/],
  ['configuration', () => checkConfiguration(subjectOf()), /^ok: fine/],
  [
    'configuration',
    () => checkConfiguration(subjectOf({ notes: ['services: not part of this version'] })),
    /^warning: services.* -> /,
  ],
  [
    'configuration',
    () =>
      checkConfiguration(
        subjectOf({ mistakes: [{ path: 'a.yml: x', found: '1', expected: 'a text', fix: 'quote it' }] }),
      ),
    /^fault: a\.yml: x: 1 -> quote it/,
  ],
  [
    'trust',
    () => checkTrust(subjectOf({ settings: settings({ gates: 'test: npm test' }, 'action') })),
    TRUSTED,
  ],
  [
    'trust without gates',
    () => checkTrust(subjectOf()),
    /^warning: no gates: a story would pass as soon as the agent says that it is done -> add a gate/,
  ],
  [
    'trust with less than the defaults',
    () => checkTrust(subjectOf({ settings: settings(LESS, 'action') })),
    /^warning: these settings cannot detect: tests that are deleted.*ignored files.*outside of the checkout.* -> set weakened-tests: judge; set clean-room: on; set isolation: other-user/,
  ],
  ...['for f in $RALPH_CHANGED_FILES; do check $f; done', 'check ${RALPH_CHANGED_FILES:-}'].map(
    (run): Case => [
      `trust in a gate that looks at nothing where the list is left out: ${run}`,
      () => checkTrust(subjectOf({ settings: settings({ gates: `lint: '${run}'` }, 'action') })),
      /^warning: these settings cannot detect: .*RALPH_CHANGED_FILES.* -> .*docs\/gates\.md.*/,
    ],
  ),
  ...[
    'if [ -z "${RALPH_CHANGED_FILES+x}" ]; then all; else some $RALPH_CHANGED_FILES; fi',
    'check -- ${RALPH_CHANGED_FILES-.}',
    'check "${RALPH_CHANGED_FILES:?}"',
    'if [[ -v RALPH_CHANGED_FILES ]]; then some $RALPH_CHANGED_FILES; else all; fi',
    'if [ -n "$RALPH_CHANGED_FILES" ]; then some $RALPH_CHANGED_FILES; else all; fi',
  ].map(
    (run): Case => [
      `trust in a gate that looks at all where the list is left out: ${run}`,
      () => checkTrust(subjectOf({ settings: settings({ gates: `lint: '${run}'` }, 'action') })),
      TRUSTED,
    ],
  ),
  ['isolation', () => checkIsolation(subjectOf()), /^ok: same-user/],
  [
    'isolation in a job',
    () => checkIsolation(subjectOf({ settings: settings({ isolation: 'same-user' }, 'action') })),
    /^warning: isolation: same-user.* -> leave isolation out/,
  ],
  [
    'isolation that cannot be had',
    () =>
      checkIsolation(
        subjectOf({
          settings: settings({ isolation: 'separate-job' }),
        }),
      ),
    /^warning: separate-job.* -> use --isolation other-user/,
  ],
  ['browser where none is asked for', () => checkBrowser(subjectOf())],
  ['browser', () => checkBrowser(subjectOf({ settings: withBrowser('/bin/false') })), /^ok: \/bin\/false/],
  ['workflow', () => checkWorkflow(inCi(YML)), /^ok: \.github\/workflows\/ralph\.yml on main/],
  ['workflow of four jobs', () => checkWorkflow(inCi(SEPARATE)), /^ok: /],
  ['workflow of a wave', () => checkWorkflow(inCi(WAVE)), /^ok: /],
  ['workflow of a wave of separate jobs', () => checkWorkflow(inCi(MATRIX)), /^ok: /],
  [
    'workflow without the version',
    () => checkWorkflow(subjectOf({ settings: settings({}, 'action') }, ciOf(UNPINNED))),
    /^fault: .*job work has no version of the action yet: ralph\/action@<sha> -> .*git ls-remote/,
  ],
  [
    'workflow without the version, on a laptop',
    () => checkWorkflow(inCi(UNPINNED)),
    /^fault: .*job work has no version of the action yet: ralph\/action@<sha> -> run `ralph init` again .*git ls-remote/,
  ],
  [
    'workflow without generation',
    () => checkWorkflow(inCi(YML.replace(/ {6}generation:\n(?: {8}.*\n)+/, ''))),
    /^fault: .* does not declare the input generation -> add .*generation/,
  ],
  [
    'workflow without a dispatch',
    () => checkWorkflow(inCi(YML.replace(/ {2}workflow_dispatch:\n(?: {4,}.*\n)+/, ''))),
    /^fault: .* has no workflow_dispatch trigger -> add on:/,
  ],
  [
    'workflow without a checkout',
    () => checkWorkflow(inCi(YML.replace(/ {6}- uses: actions\/checkout.*\n {8}with:\n {10}.*\n/, ''))),
    /^fault: .*job work does not check out the repository -> .*actions\/checkout/,
  ],
  ...['lfs: true', 'filter: blob:none', 'sparse-checkout: src'].map(
    (line): Case => [
      `workflow with ${line}`,
      () => checkWorkflow(inCi(YML.replace('persist-credentials: false', line))),
      new RegExp(`^fault: .*checks out with ${line}, so files are missing or changed -> leave .* out`),
    ],
  ),
  [
    'workflow without a key',
    () => checkWorkflow(inCi(YML.replace(/ {8}env:\n {10}ANTHROPIC.*\n/, ''))),
    /^warning: .*job work gives claude no key -> add .*secrets\.ANTHROPIC_API_KEY/,
  ],
  [
    'workflow with an input that nobody knows',
    () => checkWorkflow(inCi(YML.replace('max-iterations: 50', 'max-iteration: 50'))),
    /^fault: .*max-iteration.* -> /,
  ],
  ['events', () => checkEvents(inCi(YML)), /^ok: /],
  [
    'events without those of reviews',
    () => checkEvents(inCi(YML.replace(/ {2}pull_request_review(?:_comment)?:\n.*\n/g, ''))),
    /^warning: a review does not start Ralph, because .*pull_request_review/,
  ],
  [
    'events with checks: wait, without a token that starts CI',
    () => checkEvents(inCi(YML.replace('on:\n', 'on:\n  status:\n'), { checks: 'wait' })),
    /^warning: the run would wait forever with `checks: wait`.*publish-token/,
  ],
  ['permissions', () => checkPermissions(inCi(YML)), /^ok: /],
  ['permissions of four jobs', () => checkPermissions(inCi(SEPARATE)), /^ok: /],
  ['permissions of a wave', () => checkPermissions(inCi(WAVE)), /^ok: /],
  ['permissions of a wave of separate jobs', () => checkPermissions(inCi(MATRIX)), /^ok: /],
  [
    'permissions of a worker that may not push the state',
    () => checkPermissions(inCi(WAVE.replace('contents: write # the state', 'contents: read'))),
    /job work lacks contents: write/,
  ],
  [
    'permissions',
    () =>
      checkPermissions(inCi(YML.replace(/ {4}permissions:\n(?: {6}.*\n)+/, '    permissions: write-all\n'))),
    /^ok: /,
  ],
  [
    'permissions that lack one',
    () => checkPermissions(inCi(YML.replace(/ {6}actions: write # the next job\n/, ''))),
    /^fault: .*job work lacks actions: write -> .*actions: write/,
  ],
  [
    'permissions for statuses',
    () => checkPermissions(inCi(YML, { 'report-as': 'statuses' })),
    /^fault: .*job work lacks statuses: write -> /,
  ],
  [
    'permissions for issues',
    () => checkPermissions(inCi(YML.replace(/^ {6}issues: write.*\n/gm, ''))),
    /^fault: .*lacks issues: write -> .*issues: write/,
    /^fault: .*lacks issues: write/,
  ],
  [
    'permissions that nobody wrote',
    () =>
      checkPermissions(
        inCi(YML.replace('permissions: {}\n', '').replace(/ {4}permissions:\n(?: {6}.*\n)+/g, '')),
      ),
    /^warning: .*job work has no `permissions:`.* -> add to the job/,
    /^warning: .*job comment has no `permissions:`/,
  ],
  ['limits', () => checkLimits(inCi(YML)), /^ok: no contradictions/],
  [
    'examples without a key in CI',
    () => checkExamples(inCi(YML, { examples: 'sealed' })),
    /^fault: `examples: sealed` is set, but the workflow does not pass examples-key/,
  ],
  [
    'examples',
    () => checkExamples(inCi(YML, { examples: 'sealed', 'examples-key': 'a'.repeat(32) })),
    /^ok: sealed: one more session/,
  ],
  ['limits of four jobs', () => checkLimits(inCi(SEPARATE)), /^ok: no contradictions/],
  ['limits of a wave', () => checkLimits(inCi(WAVE)), /^ok: no contradictions/],
  ['limits of a wave of separate jobs', () => checkLimits(inCi(MATRIX)), /^ok: no contradictions/],
  [
    'a job that is ended before its deadline',
    () => checkLimits(inCi(YML.replace('timeout-minutes: 310', 'timeout-minutes: 60'))),
    /^fault: job work times out after 1h 00m, and job-deadline is 5h 00m: .* -> write timeout-minutes: 310, or job-deadline: 50m/,
  ],
  [
    'a job that is ended soon after its deadline',
    () => checkLimits(inCi(YML.replace('timeout-minutes: 310', 'timeout-minutes: 305'))),
    /^warning: .*5h 05m.* -> write timeout-minutes: 310/,
  ],
  [
    'a job that is ended before its gates',
    () => checkLimits(inCi(SEPARATE, { gates: 'e2e: { run: x, timeout: 2h }' })),
    /^warning: job gate times out after 50m 00s, but its work can take up to 2h 00m -> write timeout-minutes: 130/,
  ],
  [
    'more iterations than fit a job',
    () => checkLimits(inCi(YML, { 'iterations-per-job': '20' })),
    /^warning: 20 iterations of 30m 00s can take 10h 00m.* -> write iterations-per-job: 10/,
  ],
  [
    'an iteration longer than its job',
    () =>
      checkLimits(
        inCi(YML, {
          'iterations-per-job': '1',
          'iteration-timeout': '4h',
          gates: 'a: { run: x, timeout: 2h }',
        }),
      ),
    /^warning: an iteration can take 6h 00m.* -> shorten/,
  ],
  [
    'jobs that do not hold all iterations',
    () => checkLimits(inCi(YML, { 'max-jobs': '3' })),
    /^warning: 3 jobs \(max-jobs\) with 5 iterations each .* -> leave max-jobs out \(then it is 35\)/,
  ],
  [
    'no end at all',
    () => checkLimits(subjectOf({ settings: settings({ maxIterations: '0' }) })),
    /^warning: max-iterations is 0.* -> set max-iterations or max-cost-usd/,
  ],
  [
    'key',
    () =>
      checkKeys(
        subjectOf({ settings: settings({ agent: 'amp' }), env: { AMP_API_KEY: 'secret', HOME: '/none' } }),
      ),
    /^ok: AMP_API_KEY is set/,
  ],
  [
    'key on a laptop, where a keychain may have it',
    () => checkKeys(subjectOf({ settings: settings({ agent: 'amp' }), env: { HOME: '/none' } })),
    /^warning: no key.*keychain.* -> log in with amp, or export AMP_API_KEY=/,
  ],
  [
    'key in a job',
    () =>
      checkKeys(
        subjectOf({
          settings: settings({ agent: 'amp' }, 'action'),
          env: { HOME: '/none', CI: 'true', RUNNER_ENVIRONMENT: 'github-hosted' },
        }),
      ),
    /^fault: no key.* -> add a valid key to the secrets of the repository.*AMP_API_KEY/,
  ],
  [
    'custom agent',
    () =>
      checkAgents(
        subjectOf({ settings: settings({ agent: 'custom', agentCommand: 'sh "$HOME/agent.sh"' }) }),
      ),
    /^ok: custom: sh/,
  ],
  ...['no-such-agent --fast', './no-such-agent.sh "$@"', 'A=1 B=/x no-such-agent'].map(
    (agentCommand): Case => [
      `custom agent that is not there: ${agentCommand}`,
      () => checkAgents(subjectOf({ settings: settings({ agent: 'custom', agentCommand }) })),
      /^fault: custom: .*: bash cannot find (?:\.\/)?no-such-agent(?:\.sh)? -> install (?:\.\/)?no-such-agent/,
    ],
  ),
  ...['cd / && exec agent', '"$HOME/agent"', 'A=1 sh -c x', '{ agent; }', '/bin/sh'].map(
    (agentCommand): Case => [
      `custom agent that may be there: ${agentCommand}`,
      () => checkAgents(subjectOf({ settings: settings({ agent: 'custom', agentCommand }) })),
      /^ok: custom: /,
    ],
  ),
  [
    'key of a custom agent',
    () => checkKeys(subjectOf({ settings: settings({ agent: 'custom', agentCommand: 'x' }) })),
  ],
]

for (const [what, look, ...expected] of CASES) {
  test(`${what}: ${expected.map(String).join(' and ') || 'no finding'}`, async () => {
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

test('all checks run, whatever one of them throws', async () => {
  const checks: Check[] = [
    { name: 'breaks', seen: 'machine', look: () => Promise.reject(new Error('a bug')) },
    {
      name: 'refuses',
      seen: 'machine',
      look: () => {
        throw new UserError({ path: 'p', found: 'f', expected: 'e', fix: 'x' })
      },
    },
    {
      name: 'cannot',
      seen: 'machine',
      look: () => Promise.reject(new NotCheckedError('not seen', 'look there')),
    },
    {
      name: 'is well',
      seen: 'machine',
      look: () => ({ state: 'ok', found: 'yes', expected: '', fix: '' }),
      alone: true,
    },
  ]
  const found = await diagnose(subjectOf(), checks)
  assert.deepEqual(
    found.map(({ name, state, fix }) => [name, state, fix]),
    [
      ['breaks', 'unknown', 'check this yourself'],
      ['refuses', 'fault', 'x'],
      ['cannot', 'unknown', 'look there'],
      ['is well', 'ok', ''],
    ],
  )
})

test('an interrupt during checks cleans up what was started, and starts no other', async () => {
  const stop = new AbortController()
  const checks: Check[] = [
    {
      name: 'works',
      seen: 'machine',
      alone: true,
      look: async ({ signal }) => {
        stop.abort()
        assert.ok(signal.aborted)
        return { state: 'ok', found: 'ended', expected: '', fix: '' }
      },
    },
    { name: 'never', seen: 'machine', alone: true, look: () => assert.fail('it was begun') },
  ]
  assert.deepEqual(
    (await diagnose(subjectOf({ signal: stop.signal }), checks)).map(({ found }) => found),
    ['ended', 'not checked, because you interrupted'],
  )
})

test('names of checks are unique', () => {
  assert.equal(new Set(CHECKS.map(({ name }) => name)).size, CHECKS.length)
})

test('releases are compared by their numbers', () => {
  for (const newer of ['v1.0.1', '1.1.0', 'v2.0.0']) assert.ok(isNewer(newer, '1.0.0'), newer)
  for (const not of ['v1.0.0', 'v0.9.9', 'v2', 'nightly', '']) assert.ok(!isNewer(not, '1.0.0'), not)
})

test('a file that does not run Ralph, or is no workflow, is not checked', () => {
  for (const text of ['', '[]', 'jobs: 4', 'jobs: { a: { steps: [{ uses: ralph/actions@v1 }] } }', ': : :'])
    assert.equal(readWorkflow('x.yml', text, ACTION), null, text)
})

test('parallel workers: a login that only one session at a time can renew is a warning, a key is not', async () => {
  const home = await mkdtemp(join(tmpdir(), 'ralph-doctor-'))
  const look = async (env = {}, flags = {}) => {
    const subject = { settings: settings({ maxParallel: '2', ...flags }), env: { HOME: home, ...env } }
    const found = await checkSideBySide(subjectOf({ ...subject, checkout: [] }))
    return found.map(({ state, found, fix }) => `${state}: ${found} -> ${fix}`)
  }
  try {
    const fine = ['ok: 2 stories side by side -> ']
    assert.deepEqual(await look(), fine)
    await mkdir(join(home, '.claude'))
    const file = join(home, '.claude', '.credentials.json')
    await writeFile(file, '{"claudeAiOauth":{"accessToken":"a","refreshToken":"secret"}}')
    const [first = '', ...others] = await look()
    assert.ok(
      first.startsWith(
        `warning: the login of claude is in ${file}, which only one session at a time can renew`,
      ),
    )
    assert.match(first, / -> set ANTHROPIC_API_KEY or .*, or leave max-parallel out$/)
    assert.ok(!first.includes('secret'))
    assert.deepEqual(others, [])
    assert.deepEqual(await look({ CLAUDE_CODE_OAUTH_TOKEN: 'x' }), fine)
    assert.deepEqual(await look({}, { agent: 'gemini' }), fine)
    await mkdir(join(home, 'moved'))
    await writeFile(
      join(home, 'moved', 'auth.json'),
      '{"OPENAI_API_KEY":null,"tokens":{"refresh_token":"r"}}',
    )
    assert.match(
      (await look({ CODEX_HOME: join(home, 'moved') }, { agent: 'codex' }))[0] ?? '',
      /^warning: the login of codex /,
    )
    await writeFile(join(home, 'moved', 'auth.json'), '{"OPENAI_API_KEY":"k","tokens":{"refresh_token":""}}')
    assert.deepEqual(await look({ CODEX_HOME: join(home, 'moved') }, { agent: 'codex' }), fine)
  } finally {
    await rm(home, { recursive: true, force: true })
  }
})

test('a login on the machine counts as a key', async () => {
  const home = await mkdtemp(join(tmpdir(), 'ralph-doctor-'))
  try {
    const look = () => checkKeys(subjectOf({ env: { HOME: home }, directory: home }))
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
