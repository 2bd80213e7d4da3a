// Gates that no baseline covers before a story needs them: one with `when`, and those of a base that may be red. A story that deletes,
// empties or edits their tests does not pass.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { describe } from 'node:test'
import type { State } from '../../src/engine/model/state.ts'
import { place as openPlace, type Place } from './laptop.ts'
import { openSite, outputsOf, type Script, story, type Turn } from './site.ts'

const PRD = '.ralph/2026-01-31-sample/prd.json'
const SUM = 'export const sum = (a, b) => a + b\n'
const TEST = `import assert from 'node:assert/strict'
import test from 'node:test'
import * as math from '../src/math.mjs'

test('sum', () => {
  assert.equal(math.sum(2, 3), 5)
})
`
const TWICE = 'export const twice = (a) => 2 * a\n'
const TWICE_TEST = TEST.replace("'sum'", "'twice'").replace('sum(2, 3), 5', 'twice(2), 4')
const BROKEN = { 'src/math.mjs': `${SUM.replace('+', '-')}${TWICE}`, 'test/twice.test.mjs': TWICE_TEST }
const HONEST: Turn = { files: { 'src/math.mjs': SUM + TWICE, 'test/twice.test.mjs': TWICE_TEST } }

const WRONG: Record<string, Turn> = {
  deletes: { files: { ...BROKEN, 'test/math.test.mjs': null } },
  empties: { files: { ...BROKEN, 'test/math.test.mjs': TEST.replace(/\n {2}assert.*/, '') } },
  edits: { files: { ...BROKEN, 'test/math.test.mjs': TEST.replace(', 5)', ', -1)') } },
  skips: { files: { ...BROKEN, 'test/math.test.mjs': TEST.replace("test('", "test.skip('") } },
}

const testWith = (before: string, after: string) => ({ 'test/math.test.mjs': TEST.replace(before, after) })

const FLAGS = ['--no-final-verification', '--max-attempts', '1']

type Setting = {
  files?: Record<string, string>
  stories?: readonly Record<string, unknown>[]
  gates: unknown
}

/** A project with tests. Each run of its gate adds a line to `runs`. */
async function place(script: Script, { files = {}, stories, gates }: Setting): Promise<Place> {
  const userStories = stories ?? [story('US-001', 'twice', { tags: ['ui'] })]
  return openPlace(
    {
      'src/math.mjs': SUM,
      'test/math.test.mjs': TEST,
      [PRD]: JSON.stringify({ schemaVersion: 2, userStories }),
      'ralph.config.json': JSON.stringify({ gates }),
      ...files,
    },
    script,
  )
}

const RUN = 'echo x >>../runs; node --test'
const WHEN = { gates: { e2e: { run: RUN, when: 'ui' } } }
const runsOf = async (at: Place) =>
  (await readFile(join(at.folder, 'runs'), 'utf8')).trim().split('\n').length
const stateOf = (at: Place): State =>
  JSON.parse(at.git('show', 'refs/ralph/2026-01-31-sample:.ralph-state/state.json'))
const summaryOf = (at: Place) => stateOf(at).timeline.at(-1)?.summary ?? ''

describe('a gate with `when`', () => {
  for (const [what, turn] of Object.entries(WRONG))
    test(`its first story ${what} a test of it: rejected`, async () => {
      await using at = await place({ 'US-001': [turn] }, WHEN)
      const ended = await at.ralph(['run', ...FLAGS])
      assert.equal(ended.code, 1, ended.out)
      assert.match(summaryOf(at), /^gate e2e/)
    })

  test('runs on the base once, for the first story with its tag; honest stories pass without a finding', async () => {
    const stories = [
      story('US-001', 'other', { priority: 1 }),
      story('US-002', 'twice', { tags: ['ui'], priority: 2 }),
      story('US-003', 'more', { tags: ['ui'], priority: 3 }),
    ]
    const at3 = { 'src/more.mjs': 'export const more = 1\n', 'test/more.test.mjs': MORE_TEST }
    await using at = await place(
      { 'US-001': [{ files: { 'src/other.mjs': '\n' } }], 'US-002': [HONEST], 'US-003': [{ files: at3 }] },
      { ...WHEN, stories, gates: { ...WHEN.gates, fast: 'true' } },
    )
    const ended = await at.ralph(['run', ...FLAGS, '--needs-proof', 'off', '--weakened-tests', 'fail'])
    assert.equal(ended.code, 0, ended.out)
    assert.match(ended.out, /\[e2e \(before the story\)\] PASSED \(.*, 1 passed\)/)
    // The base of US-002; then, for both stories, the change and the checks as they were.
    assert.equal(await runsOf(at), 1 + 2 + 2, ended.out)
    assert.deepEqual(stateOf(at).baselineGates?.e2e?.tests, { passed: 3, failed: 0, skipped: 0 })
    assert.doesNotMatch((await at.ralph(['status'])).out, /^ *!/m)
  })

  test('red before its first story: that is no finding, and shows which tests need the change', async () => {
    const files = { 'test/twice.test.mjs': TWICE_TEST }
    const product = { files: { 'src/math.mjs': SUM + TWICE } }
    await using at = await place({ 'US-001': [product] }, { ...WHEN, files })
    const ended = await at.ralph(['run', ...FLAGS, '--needs-proof', 'require'])
    assert.equal(ended.code, 0, ended.out)
    assert.match(ended.out, /\[e2e \(before the story\)\] fails \(exit 1, .*, 1 passed, 1 failed\)/)
    assert.deepEqual(stateOf(at).records['US-001']?.gates[0]?.proof, {
      tests: 1,
      names: ['test/twice.test.mjs: twice'],
    })
  })

  test('a run killed after that run on the base: the next one runs it once more, and charges no session', async () => {
    await using at = await place({ 'US-001': [WRONG.edits ?? {}] }, WHEN)
    const [runs, there, goOn] = ['runs', 'there', 'go-on'].map((name) => join(at.folder, name))
    assert.ok(there !== undefined && goOn !== undefined)
    execFileSync('mkfifo', [there, goOn])
    // The second run is that of the change. The next run of Ralph uses a clean room, which is in another folder.
    const run = `echo x >>${runs}; [ $(wc -l <${runs}) != 2 ] || { echo >"${there}"; cat "${goOn}"; }; node --test`
    await at.write({ 'ralph.config.json': JSON.stringify({ gates: { e2e: { run, when: 'ui' } } }) })
    at.git('commit', '-qam', 'a gate that waits')
    const first = at.start(['run', ...FLAGS])
    await readFile(there, 'utf8')
    first.kill('SIGKILL')
    await first.ended
    const ended = await at.ralph(['run', ...FLAGS])
    assert.equal(ended.code, 1, ended.out)
    assert.equal((await at.prompts()).length, 2, 'the session, and a judge of the changed test')
    assert.match(summaryOf(at), /^gate e2e/)
    // In the next run: the base, the change, and the runs with the old checks, without the change, and with a mistake.
    assert.equal(await runsOf(at), 2 + 5)
    assert.equal(at.git('status', '--porcelain'), '')
  })
})

describe('`baseline: off`', () => {
  const OFF = [...FLAGS, '--baseline', 'off']
  const RED = { 'test/twice.test.mjs': TWICE_TEST }
  const gates = { test: RUN }
  const wrongTwice = TWICE.replace('2', '3')
  const wrongTest = TWICE_TEST.replace(', 4)', ', 6)')

  for (const [what, turn] of Object.entries(WRONG))
    test(`a story ${what} a green test of a gate that is red on the base: rejected`, async () => {
      await using at = await place({ 'US-001': [turn] }, { gates, files: RED })
      const ended = await at.ralph(['run', ...OFF])
      assert.equal(ended.code, 1, ended.out)
      assert.match(summaryOf(at), /^gate test/)
    })

  test('a story edits the red test that it has to make green, with or without product: rejected', async () => {
    for (const product of [{ 'src/math.mjs': SUM + wrongTwice }, {}]) {
      const edited = TWICE_TEST.replace('math.twice(2), 4', 'math.twice?.(2) ?? 6, 6')
      const turn = { files: { ...product, 'test/twice.test.mjs': edited } }
      await using at = await place({ 'US-001': [turn] }, { gates, files: RED })
      const ended = await at.ralph(['run', ...OFF])
      assert.equal(ended.code, 1, ended.out)
      assert.match(summaryOf(at), /^gate test \(checks as they were\): red .*twice/)
    }
  })

  test('the tests did not even run on the base: edited ones are rejected, and as they were they may pass', async () => {
    const built = { test: `node -e 'import("./src/twice.mjs")' && node --test` }
    const reads = (text: string) => text.replace('math.mjs', 'twice.mjs')
    const files = { 'test/twice.test.mjs': reads(TWICE_TEST) }
    const wrong = { 'src/twice.mjs': wrongTwice, 'test/twice.test.mjs': reads(wrongTest) }
    await using at = await place({ 'US-001': [{ files: wrong }] }, { gates: built, files })
    const ended = await at.ralph(['run', ...OFF])
    assert.equal(ended.code, 1, ended.out)
    assert.match(summaryOf(at), /^gate test \(checks as they were\): red/)
    const more = {
      'src/twice.mjs': TWICE,
      'test/twice.test.mjs': `${reads(TWICE_TEST)}\ntest('two', () => {})\n`,
    }
    await using honest = await place({ 'US-001': [{ files: more }] }, { gates: built, files })
    const passed = await honest.ralph(['run', ...OFF, '--weakened-tests', 'fail'])
    assert.equal(passed.code, 0, passed.out)
    assert.doesNotMatch((await honest.ralph(['status'])).out, /^ *!/m)
  })

  test('a gate that did not run on the base, as the one before it was red: its tests count all the same', async () => {
    const both = { lint: '[ -e src/linted ]', test: RUN }
    const linted = { 'src/linted': 'yes\n' }
    const turn = { files: { ...WRONG.deletes?.files, ...linted } }
    await using at = await place({ 'US-001': [turn] }, { gates: both })
    const ended = await at.ralph(['run', ...OFF])
    assert.equal(ended.code, 1, ended.out)
    assert.match(summaryOf(at), /^gate test/)
    await using honest = await place(
      { 'US-001': [{ files: { ...HONEST.files, ...linted } }] },
      { gates: both },
    )
    const passed = await honest.ralph(['run', ...OFF, '--weakened-tests', 'fail'])
    assert.equal(passed.code, 0, passed.out)
    assert.doesNotMatch((await honest.ralph(['status'])).out, /^ *!/m)
  })
})

describe('the final verification compares a gate with `when` with the fork point', () => {
  const gates = { e2e: { run: 'node --test', when: 'ui' }, fast: 'true' }
  const FINAL = ['--max-attempts', '1', '--needs-proof', 'off']
  const [plain, tagged] = [
    story('US-001', 'one', { priority: 1 }),
    story('US-002', 'twice', { tags: ['ui'], priority: 2 }),
  ]
  const edits = { files: { 'src/math.mjs': SUM.replace('+', '-'), ...testWith(', 5)', ', -1)') } }

  test('a story without the tag edits a test of it: the story is reset, whether or not the gate ran for another one', async () => {
    for (const stories of [[plain], [{ ...tagged, priority: 0 }, plain]]) {
      const other = {
        'src/twice.mjs': TWICE,
        'test/twice.test.mjs': TWICE_TEST.replace('math.mjs', 'twice.mjs'),
      }
      await using at = await place({ 'US-001': [edits], 'US-002': [{ files: other }] }, { gates, stories })
      const ended = await at.ralph(['run', ...FINAL])
      assert.equal(ended.code, 1, ended.out)
      assert.match(ended.out, /gate e2e \(checks as they were\): red .*sum/)
      const passing = stateOf(at).prd.userStories.filter(({ passes }) => passes)
      assert.deepEqual(
        passing.map(({ id }) => id),
        stories.length === 1 ? [] : ['US-002'],
      )
    }
  })

  test('a story without the tag adds a test to its file: complete, without a finding', async () => {
    const more = `${TEST}\ntest('more', () => {})\n`
    const turn = { files: { 'src/other.mjs': '// other\n', 'test/math.test.mjs': more } }
    await using at = await place({ 'US-001': [turn] }, { gates, stories: [plain] })
    const ended = await at.ralph(['run', ...FINAL, '--weakened-tests', 'fail'])
    assert.equal(ended.code, 0, ended.out)
    assert.doesNotMatch((await at.ralph(['status'])).out, /US-001: gate|final verification: gate/)
  })

  test('a story without the tag corrects a test that fails at the fork point: complete, without a finding', async () => {
    const turns = { 'US-001': [{ files: { 'test/math.test.mjs': TEST } }], 'US-002': [HONEST] }
    const files = testWith(', 5)', ', 6)')
    await using at = await place(turns, { gates, files, stories: [plain, tagged] })
    const ended = await at.ralph(['run', ...FINAL, '--weakened-tests', 'fail'])
    assert.equal(ended.code, 0, ended.out)
    assert.doesNotMatch((await at.ralph(['status'])).out, /: gate e2e/)
  })
})

test('separate-job: the gate job hands over what gates did on the base, which the next attempt does not run again', async () => {
  await using site = await openSite({
    separate: true,
    stories: [story('US-001', 'twice', { tags: ['ui'] })],
    files: { 'src/math.mjs': SUM, 'test/math.test.mjs': TEST },
    // The second attempt begins with the work of the first.
    script: { 'US-001': [WRONG.edits ?? {}, { files: { ...HONEST.files, 'test/math.test.mjs': TEST } }] },
    inputs: {
      baseline: 'off',
      'weakened-tests': 'fail',
      'final-verification': 'false',
      gates: 'test: node --test test/math.test.mjs\ne2e: { run: node --test test/*.test.mjs, when: ui }',
    },
  })
  const run = await site.go()
  assert.equal(outputsOf(run).outcome, 'complete', site.log())
  const { timeline, baselineGates = {} } = await site.state()
  assert.deepEqual(
    timeline.map(({ result, summary }) => `${result} ${summary.slice(0, 39)}`),
    ['rejected gate test (checks as they were): red (e', 'passed every gate passed'],
  )
  assert.deepEqual(Object.keys(baselineGates), ['test', 'e2e'])
  assert.equal(site.log().split('e2e (before the story)] PASSED').length - 1, 1, site.log())
})

const MORE_TEST = TEST.replace("'sum'", "'more'").replace('math.sum(2, 3), 5', '1, 1')
