// The events of a gate job, as the job that lands takes them.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { FromGate, GateEvent } from '../../../../src/action/jobs/handover.ts'
import { codeDigest } from '../../../../src/action/jobs/pack.ts'
import { takeEvents } from '../../../../src/action/jobs/taken-events.ts'
import type { Workspace } from '../../../../src/app/workspace.ts'
import type { Gate, GateResult } from '../../../../src/engine/model/gate.ts'
import type { RepositoryPort } from '../../../../src/engine/model/ports.ts'
import { CatFile } from '../../../../src/git/cat-file.ts'
import { Git, openClone } from '../../../../src/git/git.ts'
import type { Settings } from '../../../../src/settings/read-settings.ts'
import { limitsWith, NOW, RESERVED, session, stateOf, stories } from '../../engine/samples.ts'

const GATES: Gate[] = ['lint', 'test'].map((name) => ({
  name,
  run: 'x',
  timeoutMs: 1,
  when: null,
  advisory: false,
}))
const result = (name: string, ok: boolean): GateResult => ({
  name,
  ok,
  advisory: false,
  ended: '',
  ms: 1,
  output: '',
})

const SECRET = 'a-known-value-that-nobody-may-see'

test('gate results of separate jobs: gates and reds outside of them count, and a missing gate is red unless its service failed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-answered-'))
  const env = { PATH: process.env.PATH ?? '', HOME: folder }
  const run = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], {
      cwd: folder,
      env,
      encoding: 'utf8',
    })
  run('init', '-q')
  await writeFile(join(folder, 'a.txt'), 'a\n')
  run('add', '-A')
  run('commit', '-qm', 'base')
  const commit = run('rev-parse', 'HEAD').trim()
  const git = await Git.open(await openClone(folder, env), env)
  using objects = new CatFile(git)
  const code = await codeDigest(git, objects, commit)
  const landed = async (gates: GateResult[], seen: string | null = code) => {
    return (await resultsOf(gates, seen)).map(({ name, ok, ended }) => [name, ok, ended].join(' ').trim())
  }
  const redact = (text: string) => text.replaceAll(SECRET, '***')
  const takeFrom = (gate: FromGate, configured = GATES) =>
    takeEvents(
      { work: null, gate },
      {
        workspace: { git, objects, redactor: { redact } } as unknown as Workspace,
        settings: { gates: configured, browser: null, steps: null } as unknown as Settings,
        limits: limitsWith({ weakenedTests: 'judge' }),
        repository: {} as RepositoryPort,
      },
    )
  const state = stateOf(stories('US-001'), { green: commit })
  const attempt = {
    ...RESERVED,
    phase: 'guarded' as const,
    session: session(),
    candidate: { commit, empty: false, remarks: [], builtAt: NOW },
  }
  const resultsOf = async (gates: GateResult[], seen: string | null, storyId = 'US-001') => {
    const event = await takeFrom({ nonce: 'n', code: seen, event: { kind: 'gated', storyId, gates } })(
      { kind: 'gates', attempt },
      state,
    )
    assert.ok(event.kind === 'gated' && event.commit === commit)
    return event.gates
  }
  const green = GATES.map(({ name }) => result(name, true))
  assert.deepEqual(await landed(green), ['lint true', 'test true'])
  assert.deepEqual(await landed([result('lint', true)]), [
    'lint true',
    'test false no result from the gate job',
  ])
  assert.deepEqual(await landed([...green, result('service web', false)]), [
    'lint true',
    'test true',
    'service web false',
  ])
  assert.deepEqual(await landed([result('service web', false)]), ['service web false'])
  assert.deepEqual(await landed([result('lint', false), result('service web', false)]), [
    'lint false',
    'service web false',
  ])
  // A control in the middle hides nothing.
  const hidden = `${SECRET.slice(0, 5)}\u001b[0m${SECRET.slice(5)}`
  const more = {
    tests: { passed: 1, failed: 0, skipped: 0 },
    remarks: [`flaky: ${hidden}`],
    annotations: [{ path: 'a.txt', line: 1, message: `\n${hidden}\nno`, level: 'notice' as const }],
  }
  const [told] = await resultsOf([{ ...result('lint', true), ...more }, result('test', true)], code)
  assert.deepEqual(told?.remarks, ['flaky: ***'])
  assert.deepEqual(told?.annotations, [{ path: 'a.txt', line: 1, message: '*** no', level: 'notice' }])
  assert.deepEqual(told?.tests, more.tests)
  // What configured gates did on the base, for the story that was asked for.
  const said = {
    lint: { ms: 2, red: true as const, failing: [hidden] },
    elsewhere: { ms: 2 },
    ['__proto__']: { ms: 2 },
  }
  const atBase = async (storyId: string) => {
    const event = { kind: 'gated' as const, storyId, gates: green, base: said }
    const taken = await takeFrom({ nonce: 'n', code, event })({ kind: 'gates', attempt }, state)
    return taken.kind === 'gated' ? taken.base : null
  }
  assert.deepEqual(await atBase('US-001'), { lint: { ms: 2, red: true, failing: ['***'] } })
  assert.equal(await atBase('US-002'), undefined)
  const ofOther = await resultsOf(green, code, 'US-002')
  assert.deepEqual(
    ofOther.map(({ ok, ended }) => [ok, ended]),
    [[false, 'no result from the gate job']],
  )
  const weaker = {
    ...result('test (checks as they were)', false),
    further: 'checks' as const,
    advisory: true,
  }
  assert.deepEqual(await landed([...green, weaker]), [
    'lint true',
    'test true',
    'test (checks as they were) false',
  ])
  const elsewhere = await landed([...green, result('service web', false)], 'f'.repeat(40))
  assert.deepEqual(elsewhere, ['lint false the gate job ran on other code'])
  // A join with people's commits: a story is blamed only if a gate is red, and only if it has passed.
  const joined = { green: commit, people: null, takenBack: [], entries: [] }
  const gateJoin = {
    kind: 'gate-join' as const,
    branch: { kind: 'joining' as const, head: 'people', joined },
  }
  const passedState = stateOf(stories('US-001', 'US-002'), { green: commit })
  const [first, second] = passedState.prd.userStories
  assert.ok(first && second)
  const oncePassed = {
    ...passedState,
    prd: { ...passedState.prd, userStories: [{ ...first, passes: true }, second] },
  }
  const blamedFor = async (gates: GateResult[], storyId: string) => {
    const broken = { storyId, summary: `gate test: ${SECRET}` }
    const event = await takeFrom({ nonce: 'n', code, event: { kind: 'join-gated', gates, broken } })(
      gateJoin,
      oncePassed,
    )
    assert.ok(event.kind === 'join-gated')
    return event.broken === null ? null : [event.broken.storyId, event.broken.failure.summary]
  }
  const red = [result('lint', true), result('test', false)]
  assert.deepEqual(await blamedFor(red, 'US-001'), ['US-001', 'gate test: ***'])
  assert.equal(await blamedFor(red, 'US-002'), null, 'it has not passed')
  assert.equal(await blamedFor(green, 'US-001'), null, 'no gate is red')
  // The final verification: only a gate job that ran every gate on this code lets the judge be next, and it never approves.
  const whole = async (event: GateEvent, seen = code) => {
    const taken = await takeFrom({ nonce: 'n', code: seen, event })({ kind: 'verify' }, state)
    return taken.kind === 'verified' ? [taken.kind, taken.verdict.kind] : [taken.kind]
  }
  assert.deepEqual(await whole({ kind: 'whole-gated', gates: green }), ['whole-gated'])
  assert.deepEqual(await whole({ kind: 'whole-gated', gates: [result('lint', true)] }), ['verified', 'none'])
  assert.deepEqual(await whole({ kind: 'whole-gated', gates: green }, 'f'.repeat(64)), ['verified', 'none'])
  assert.deepEqual(await whole({ kind: 'baselined', gates: green }), ['verified', 'none'])
  const reset = { kind: 'reset' as const, stories: ['US-001'], reason: 'gate test is red', gate: 'test' }
  assert.deepEqual(await whole({ kind: 'verified', gates: red, verdict: reset }), ['verified', 'reset'])
  // A gate job blames nobody for a gate that is green, or that it does not name.
  assert.deepEqual(await whole({ kind: 'verified', gates: green, verdict: reset }), ['verified', 'none'])
  const other = { ...reset, gate: 'elsewhere' }
  assert.deepEqual(await whole({ kind: 'verified', gates: red, verdict: other }), ['verified', 'none'])
  // The browser's, which is asked for by its tags, is how pages were before any story.
  const ui = { name: 'browser', run: 'x', timeoutMs: 1, when: ['ui'], advisory: false }
  const webp = Buffer.concat([
    Buffer.from('RIFF'),
    Buffer.alloc(4),
    Buffer.from('WEBPVP8 '),
    Buffer.alloc(20),
  ])
  const blob = 'a'.repeat(40)
  const page = { url: 'http://localhost:3000/', viewport: '1280x800', blob, bytes: webp.length, before: null }
  const base = async (gates: GateResult[]) => {
    const pictures = { [blob]: webp.toString('base64') }
    const handed = { nonce: 'n', code, event: { kind: 'baselined' as const, gates }, pictures }
    const event = await takeFrom(handed, [...GATES, ui])({ kind: 'baseline' }, state)
    const results = event.kind === 'baselined' ? event.gates : []
    return results.map(({ name, advisory, screenshots = [] }) => [name, advisory, screenshots.length])
  }
  const both = [
    ['lint', false, 0],
    ['test', false, 0],
  ]
  assert.deepEqual(await base([...green, { ...result('browser', true), screenshots: [page] }]), [
    ...both,
    ['browser', true, 1],
  ])
  assert.deepEqual(await base(green), both)
  await rm(folder, { recursive: true })
})
