// What "complete" means, in a chain of jobs: a clean clone passes, with the checks as they were, and a red gate is answered by a change.
import assert from 'node:assert/strict'
import test from 'node:test'
import { failureOutput } from '../../src/engine/model/gate-output.ts'
import type { State } from '../../src/engine/model/state.ts'
import { emptyRecord } from '../../src/engine/state/state-updates.ts'
import { Chain, type ChainOptions, goodTurn, story, type Turn } from './chain.ts'

const EXPECTED: Turn = { answer: '<ralph>EXPECTED</ralph>' }
const UNEXPECTED: Turn = { answer: '<ralph>UNEXPECTED</ralph>\n<ralph>REASON:no</ralph>' }

/** Agrees with whatever the code does now. */
const WEAKENS: Turn = { files: { 'src/base': 'other\n', 'tests/base': 'other\n' } }

/** A test by the shell: every file of tests/ says what a file of src/ has to hold. */
const CHECK =
  'for f in tests/*; do diff -q "$f" "src/$(basename $f)" || { echo "expected $(cat $f)"; exit 1; }; done'
const BASE = { 'tests/base': 'base\n', '.gitignore': 'made/\n' }

const chainOf = ({
  inputs = {},
  files = {},
  ...options
}: Partial<ChainOptions> & Pick<ChainOptions, 'script'>) =>
  Chain.open({
    stories: [story('US-001', 'one'), story('US-002', 'two', { priority: 2 })],
    files: { ...BASE, ...files },
    inputs: { 'final-verification': 'true', gates: `test: ${JSON.stringify(CHECK)}`, ...inputs },
    ...options,
  })

const passed = ({ prd }: State) => prd.userStories.filter(({ passes }) => passes).map(({ id }) => id)
const failureOf = async (chain: Chain, id: string) => (await chain.state()).records[id]?.failure
/** As the next prompt, the check and the report show it. */
const shownOf = async (chain: Chain, id: string) => {
  const { failure, gates } = (await chain.state()).records[id] ?? emptyRecord()
  return failureOutput(failure, gates)?.output ?? ''
}

test("a story that needs an ignored file of its session fails its gates, and the next prompt names the file's folder", async () => {
  const gates = 'test: "! ls src/uses-* 2>/dev/null || test -e made/work"'
  await using chain = await chainOf({
    inputs: { gates },
    script: {
      'US-001': [{ files: { 'src/uses-work': 'x\n', 'made/work': 'x\n' } }],
      'US-002': [goodTurn('two')],
    },
  })
  const { outcome } = await chain.go()
  assert.equal(outcome, 'stuck')
  assert.deepEqual(passed(await chain.state()), ['US-002'])
  const { timeline } = await chain.state()
  assert.ok(timeline.every(({ result }) => result !== 'reset'))
  assert.match(
    await shownOf(chain, 'US-001'),
    /Note: the session created ignored files in made. No commit contains them, so the gates ran without them/,
  )
})

test('an ignored program of `prepare` that a session replaced is installed again before the gates', async () => {
  await using chain = await chainOf({
    inputs: {
      prepare: 'mkdir -p made && printf "test -e src/one\\n" >made/tool',
      gates: 'test: "! test -e src/begun || sh made/tool"',
    },
    stories: [story('US-001', 'one')],
    script: {
      'US-001': [{ files: { 'src/begun': 'x\n', 'made/tool': 'exit 0\n' } }, { files: { 'src/one': 'x\n' } }],
    },
  })
  assert.equal((await chain.go()).outcome, 'complete')
  const { timeline } = await chain.state()
  assert.deepEqual(
    timeline.map(({ result }) => result),
    ['rejected', 'passed'],
  )
})

test('a cache that gates leave in an ignored file does not carry over to the run with the checks as they were', async () => {
  const cached = `test -e made/passed || { ${CHECK}; } && mkdir -p made && touch made/passed`
  await using chain = await chainOf({
    stories: [story('US-001', 'one')],
    inputs: { gates: `test: ${JSON.stringify(cached)}` },
    script: { 'US-001': [WEAKENS], expectation: [{}] },
  })
  assert.equal((await chain.go()).outcome, 'stuck')
})

test('clean-room: off runs the final verification in the checkout, with `prepare` in it', async () => {
  await using chain = await chainOf({
    inputs: {
      'clean-room': 'off',
      prepare: 'mkdir -p made && pwd >> made/where',
      gates: 'test: test -e made/where',
    },
    script: { 'US-001': [goodTurn('one')], 'US-002': [goodTurn('two')] },
  })
  assert.equal((await chain.go()).outcome, 'complete')
})

test("clean-room: off removes ignored files that a story's gates left before the final verification", async () => {
  const cached = `test -e made/passed || { ${CHECK}; } && mkdir -p made && touch made/passed`
  await using chain = await chainOf({
    inputs: { 'clean-room': 'off', gates: `test: ${JSON.stringify(cached)}` },
    script: { 'US-001': [goodTurn('one')], 'US-002': [{ files: { 'src/base': 'broken\n' } }] },
  })
  assert.equal((await chain.go()).outcome, 'stuck')
  const { timeline } = await chain.state()
  const ends = timeline.map(({ storyId, result }) => `${storyId} ${result}`)
  assert.deepEqual(ends.slice(0, 3), ['US-001 passed', 'US-002 passed', 'US-002 reset'])
})

test("the clean room has the checkout's folder name, a history and a home of its own, and a fresh `prepare`", async () => {
  const isClean =
    'git rev-parse -q --verify origin/main && test -z "$(git status --porcelain)" && test "$(cat made/deps)" = 1'
  const gate = `case $PWD in */clean-*/job-*) ${isClean};; *) test -e made/deps;; esac`
  await using chain = await chainOf({
    inputs: { gates: `test: ${JSON.stringify(gate)}`, prepare: 'mkdir -p made && echo 1 >> made/deps' },
    script: { 'US-001': [goodTurn('one')], 'US-002': [goodTurn('two')] },
  })
  const { outcome, reason } = await chain.go()
  assert.equal(outcome, 'complete', reason)
  // For the job, and once more in the room.
  assert.equal(chain.gates.filter((name) => name === 'prepare').length, 2)
})

test('the clean room has caches of its own, whatever the person has set', async () => {
  const outside = `${process.env.TMPDIR ?? '/tmp'}/outside`
  const names = ['NPM_CONFIG_CACHE', 'PIP_CACHE_DIR', 'UV_CACHE_DIR', 'GOCACHE', 'CARGO_HOME']
  const own = names.map((name) => `case \${${name}:-$HOME/x} in $HOME/*);; *) exit 1;; esac`).join('; ')
  const set = names.map((name) => `test "$${name}" = ${outside}`).join(' && ')
  await using chain = await chainOf({
    stories: [story('US-001', 'one')],
    inputs: { gates: `test: ${JSON.stringify(`case $PWD in */clean-*) ${own};; *) ${set};; esac`)}` },
    env: Object.fromEntries(names.map((name) => [name, outside])),
    script: { 'US-001': [goodTurn('one')] },
  })
  const { outcome, reason } = await chain.go()
  assert.equal(outcome, 'complete', reason)
})

test('a gate that is red in the final verification resets the story that broke it, and runs for that story until it is green', async () => {
  const ui = 'ui: { run: "! grep -q broken src/page", when: ui }'
  await using chain = await chainOf({
    stories: ['US-001', 'US-002', 'US-003', 'US-004'].map((id, at) => story(id, id, { priority: at + 1 })),
    files: { 'src/page': 'fine\n' },
    inputs: { gates: `test: "true"\n${ui}`, 'iterations-per-job': '20', 'max-attempts': '5' },
    script: {
      'US-001': [goodTurn('one')],
      // Breaks the page; then changes something else; then mends it.
      'US-002': [
        { files: { 'src/page': 'broken\n' } },
        { files: { 'src/other': 'x\n' } },
        { files: { 'src/page': 'mended\n' } },
      ],
      'US-003': [goodTurn('three')],
      'US-004': [goodTurn('four')],
    },
  })
  const { outcome, reason } = await chain.go()
  assert.equal(outcome, 'complete', reason)
  const { timeline, records } = await chain.state()
  assert.deepEqual(
    timeline.filter(({ result }) => result === 'reset').map(({ storyId }) => storyId),
    ['US-002'],
  )
  assert.deepEqual(
    timeline.filter(({ storyId }) => storyId === 'US-002').map(({ result }) => result),
    ['passed', 'reset', 'rejected', 'passed'],
  )
  assert.equal(records['US-002']?.owes, undefined)
})

test('a story that a red gate reset needs a change to pass: a judge cannot approve it', async () => {
  await using chain = await chainOf({
    stories: [story('US-001', 'one')],
    files: { 'src/page': 'fine\n' },
    inputs: { gates: 'test: "true"\nui: { run: "! grep -q broken src/page", when: ui }' },
    script: { 'US-001': [{ files: { 'src/page': 'broken\n' } }, {}] },
  })
  assert.equal((await chain.go()).outcome, 'stuck')
  const { summary = '' } = (await failureOf(chain, 'US-001')) ?? {}
  assert.equal(
    summary,
    'gate ui failed in the final verification because of this story, but the session changed nothing',
  )
})

test('a gate that is red and later green on the same code is reported as flaky, and the story does not pass', async () => {
  const count = 'echo x >> "$COUNT"; case $(wc -l < "$COUNT") in 2) exit 1;; esac'
  await using chain = await chainOf({
    stories: [story('US-001', 'one')],
    inputs: { gates: `test: ${JSON.stringify(count)}`, 'gate-env': 'COUNT' },
    env: { COUNT: `${process.env.TMPDIR ?? '/tmp'}/count-${process.pid}-${Date.now()}` },
    script: { 'US-001': [goodTurn('one'), {}] },
  })
  assert.equal((await chain.go()).outcome, 'stuck')
  const { summary = '' } = (await failureOf(chain, 'US-001')) ?? {}
  assert.equal(
    summary,
    'gate test is flaky: it failed in the previous attempt, and now passes on the same code',
  )
  assert.match(await shownOf(chain, 'US-001'), /^Red:[\s\S]*Green on the same code:/)
})

test('a final judge without a verdict is asked again, and the gates are not run again', async () => {
  await using chain = await chainOf({
    stories: [story('US-001', 'one')],
    script: { 'US-001': [goodTurn('one')], verify: [{ answer: 'hm' }, { answer: 'well' }, {}] },
  })
  assert.equal((await chain.go()).outcome, 'complete')
  assert.equal(chain.sessions.filter(({ mode }) => mode === 'verify').length, 3)
  // The baseline, and the story in a clean room, which counts for the whole.
  assert.equal(chain.gates.filter((name) => name === 'test').length, 2)
})

for (const [judge, answers, outcome] of [
  ['agrees', [EXPECTED], 'complete'],
  ['disagrees', [UNEXPECTED], 'stuck'],
  ['says VERIFIED to everything', [{}], 'stuck'],
] as const) {
  test(`edited expectations of a test, and a judge who ${judge}`, async () => {
    await using chain = await chainOf({
      stories: [story('US-001', 'one')],
      script: { 'US-001': [WEAKENS], expectation: answers },
    })
    const ended = await chain.go()
    assert.equal(ended.outcome, outcome, ended.reason)
    const [asked] = chain.sessions.filter(({ findings }) => findings !== undefined)
    assert.match(asked?.findings ?? '', /^gate test \(checks as they were\): red \(exit 1\): .*expected base/)
    // What was asked for once is not asked again at the end.
    const questions = chain.sessions.filter(({ findings }) => findings !== undefined).length
    assert.equal(questions, outcome === 'complete' ? 1 : 3)
  })
}

for (const [how, outcome] of [
  ['fail', 'stuck'],
  ['warn', 'complete'],
  ['off', 'complete'],
] as const) {
  test(`edited expectations of a test, with weakened-tests: ${how}`, async () => {
    await using chain = await chainOf({
      stories: [story('US-001', 'one')],
      inputs: { 'weakened-tests': how },
      script: { 'US-001': [WEAKENS] },
    })
    const ended = await chain.go()
    assert.equal(ended.outcome, outcome, ended.reason)
    assert.equal(chain.gates.includes('test (checks as they were)'), how !== 'off')
    assert.ok(chain.sessions.every(({ findings }) => findings === undefined))
  })
}

for (const [judge, answers, outcome] of [
  ['agrees', [EXPECTED], 'complete'],
  ['says VERIFIED to everything', [{}], 'stuck'],
] as const) {
  test(`after a red gate a story edits its own new test instead of the code, and a judge who ${judge}`, async () => {
    await using chain = await chainOf({
      stories: [story('US-001', 'one')],
      script: {
        'US-001': [
          { files: { 'src/one': 'wrong\n', 'tests/one': 'right\n' } },
          { files: { 'tests/one': 'wrong\n' } },
          {},
        ],
        expectation: answers,
      },
    })
    const ended = await chain.go()
    assert.equal(ended.outcome, outcome, ended.reason)
    const [asked] = chain.sessions.filter(({ findings }) => findings !== undefined)
    assert.match(asked?.findings ?? '', /^gate test \(checks as they were\): red/)
  })
}

test('edited tests that the code passes in both versions cost one gate run more, and no judge', async () => {
  await using chain = await chainOf({
    stories: [story('US-001', 'one')],
    script: { 'US-001': [{ files: { 'src/one': 'one\n', 'tests/one': 'one\n', 'tests/base': null } }] },
  })
  assert.equal((await chain.go()).outcome, 'complete')
  assert.ok(chain.sessions.every(({ findings }) => findings === undefined))
})

test('two stories that weaken a test together are found in the final verification, and the one that broke it is reset', async () => {
  await using chain = await chainOf({
    inputs: { 'iterations-per-job': '20' },
    script: {
      // Nothing breaks yet: the test is gone, and what it asked for still holds.
      'US-001': [{ files: { 'tests/base': null, 'tests/one': 'one\n', 'src/one': 'one\n' } }],
      'US-002': [
        { files: { 'src/base': 'other\n' } },
        { files: { 'src/base': 'base\n', 'src/two': 'two\n' } },
      ],
      expectation: [UNEXPECTED],
    },
  })
  const ended = await chain.go()
  assert.equal(ended.outcome, 'complete', ended.reason)
  const { timeline } = await chain.state()
  assert.deepEqual(
    timeline.filter(({ result }) => result === 'reset').map(({ storyId }) => storyId),
    ['US-002'],
  )
})

test('a gate that prints failed tests and exits 0 is red', async () => {
  const count = 'grep -q broken src/page && echo "# fail 1" || printf "# pass 1\\n# fail 0\\n"'
  await using chain = await chainOf({
    stories: [story('US-001', 'one')],
    files: { 'src/page': 'fine\n' },
    inputs: { gates: `test: ${JSON.stringify(count)}` },
    script: { 'US-001': [{ files: { 'src/page': 'broken\n' } }], expectation: [EXPECTED] },
  })
  assert.equal((await chain.go()).outcome, 'stuck')
  const { kind, summary = '' } = (await failureOf(chain, 'US-001')) ?? {}
  assert.deepEqual(
    [kind, summary],
    ['gates', 'gate test failed (exit 0, but its output reports 1 failed test)'],
  )
})

/** Counts a test for each line of tests/, and skips those that say so. */
const COUNTS =
  'cat tests/* | grep -c . | sed "s/^/# pass /"; cat tests/* | grep -c skip | sed "s/^/# skipped /"; true'

test('tests that a story adds to an existing file are not counted as missing in the final verification', async () => {
  await using chain = await chainOf({
    stories: [story('US-001', 'one')],
    inputs: { gates: `test: ${JSON.stringify(COUNTS)}` },
    script: { 'US-001': [{ files: { 'tests/base': 'base\nmore\n', 'src/one': 'one\n' } }] },
  })
  const ended = await chain.go()
  assert.equal(ended.outcome, 'complete', ended.reason)
  assert.ok(chain.gates.includes('test (checks as they were)'))
  assert.ok(chain.sessions.every(({ findings }) => findings === undefined))
})

test('a skipped test that a story removes is reported, however many tests the story adds', async () => {
  await using chain = await chainOf({
    stories: [story('US-001', 'one')],
    files: { 'tests/base': 'base\nskip\n' },
    inputs: { gates: `test: ${JSON.stringify(COUNTS)}` },
    script: { 'US-001': [{ files: { 'tests/base': 'base\n', 'tests/one': 'one\ntwo\n' } }] },
  })
  assert.equal((await chain.go()).outcome, 'stuck')
  const { summary = '' } = (await failureOf(chain, 'US-001')) ?? {}
  assert.match(
    summary,
    /^gate test \(checks as they were\): 1 test that was skipped is now deleted or no longer skipped; no judge confirmed/,
  )
})

test("an ignore file that a change adds and a gate's command names is left out of one gate run, and what it hid is found", async () => {
  await using chain = await chainOf({
    stories: [story('US-001', 'one')],
    files: { 'src/page.js': 'fine\n' },
    inputs: { gates: 'lint: "test -e .lintignore || ! grep broken src/page.js"' },
    script: { 'US-001': [{ files: { 'src/page.js': 'broken\n', '.lintignore': 'src/page.js\n' } }] },
  })
  assert.equal((await chain.go()).outcome, 'stuck')
  const { summary = '' } = (await failureOf(chain, 'US-001')) ?? {}
  assert.match(summary, /^gate lint \(checks as they were\): red \(exit 1\): broken; no judge confirmed/)
})
