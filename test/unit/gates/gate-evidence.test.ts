// Gates with real processes: tries, the files that they write, coverage, and what they are compared with.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Gate, GateResult } from '../../../src/engine/model/gate.ts'
import type { GateRun } from '../../../src/engine/model/ports.ts'
import { withEvidence } from '../../../src/gates/gate-evidence.ts'
import { createGates, type GatesOptions } from '../../../src/gates/gates.ts'
import { readInTree } from '../../../src/gates/report-files.ts'
import { createRedactor } from '../../../src/isolation/redact.ts'
import { gateRun } from './gate-run.ts'

const SECRET = 'a-known-value-that-nobody-may-see'
const STORY: Partial<GateRun> = { of: 'story', from: 'old', commit: 'new' }
const GATE: Gate = { name: 'test', run: 'true', timeoutMs: 20_000, when: null, advisory: false }

type Made = { gate: Partial<Gate>; run?: Partial<GateRun>; options?: Partial<GatesOptions> }

/** Runs a gate in a folder with `files`; gives its result. */
async function ran(
  t: TestContext,
  { gate, run = {}, options = {} }: Made,
  files: Record<string, string> = {},
) {
  const top = await mkdtemp(join(tmpdir(), 'ralph-evidence-'))
  t.after(() => rm(top, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(top, path, '..'), { recursive: true })
    await writeFile(join(top, path), text)
  }
  const gates = createGates({
    gates: [{ ...GATE, ...gate }],
    prepare: null,
    lockfileChanged: async () => false,
    parallel: 1,
    code: {
      files: async () => ['src/a.js', 'src/b.js', 'README.md'],
      changedLines: async () => new Map([['src/a.js', [1, 2, 3, 4]]]),
      changedPaths: async () => [],
    },
    restore: async () => {},
    top,
    cwd: top,
    env: { PATH: process.env.PATH ?? '', TOP: top },
    redactor: createRedactor([SECRET]),
    logs: null,
    onStart: () => {},
    onEnd: () => {},
    ...options,
  })
  const [result] = await gates.run(gateRun(run), new AbortController().signal)
  assert.ok(result !== undefined)
  return result
}

const inFile = (path: string, text: string) =>
  `mkdir -p "$(dirname ${path})"; cat > ${path} <<'EOF'\n${text}\nEOF\n`
const remarks = ({ remarks: all = [] }: GateResult) => all

test('a gate that is red, then green on the same files is green and flaky, and shows both tries', async (t) => {
  const restored: string[] = []
  const restore = async (commit: string) => void restored.push(commit)
  const run = 'if [ -e seen ]; then echo fine; else touch seen; echo "Error: odd"; exit 3; fi'
  const result = await ran(t, { gate: { run, retries: 2 }, run: STORY, options: { restore } })
  assert.deepEqual([result.ok, result.flaky, result.ended, restored], [true, true, 'exit 0', ['new']])
  assert.match(result.output, /try 1 of 2[\s\S]*Error: odd[\s\S]*try 2 of 2[\s\S]*fine/)
  assert.deepEqual(remarks(result), ['flaky: failed (exit 3), then passed at try 2 on the same files'])
})

test('a gate that is red at every try is red, and not flaky; without retries it runs once', async (t) => {
  const run = 'echo x >> "$TOP/count"; wc -l < "$TOP/count"; exit 1'
  const top = await mkdtemp(join(tmpdir(), 'ralph-evidence-'))
  t.after(() => rm(top, { recursive: true }))
  const logs = { top: join(top, 'ralph'), folder: 'logs' }
  await mkdir(join(logs.top, logs.folder), { recursive: true })
  const result = await ran(t, { gate: { run, retries: 3 }, options: { logs } })
  assert.deepEqual([result.ok, result.flaky, result.ended], [false, undefined, 'exit 1'])
  assert.equal(result.output, '4\n', 'the room is for the last try')
  const log = await readFile(join(logs.top, logs.folder, 'test.log'), 'utf8')
  assert.match(log, /try 1 of 4 ---\n1\n[\s\S]*try 4 of 4 ---\n4\n/)
  assert.deepEqual(remarks(result), ['failed at each of 4 tries on the same files'])
  const once = await ran(t, { gate: { run } })
  assert.deepEqual([once.output, once.remarks], ['1\n', undefined])
})

test('a gate that was cancelled is not tried again', async (t) => {
  const stop = new AbortController()
  const top = await mkdtemp(join(tmpdir(), 'ralph-evidence-'))
  t.after(() => rm(top, { recursive: true }))
  let begun = 0
  const gates = createGates({
    gates: [{ ...GATE, run: 'echo up; sleep 60', retries: 3 }],
    prepare: null,
    lockfileChanged: async () => false,
    parallel: 1,
    code: { files: async () => [], changedLines: async () => new Map(), changedPaths: async () => [] },
    restore: async () => {
      begun += 1
    },
    top,
    cwd: top,
    env: { PATH: process.env.PATH ?? '' },
    redactor: createRedactor([]),
    logs: null,
    onStart: () => setImmediate(() => stop.abort()),
    onEnd: () => {},
  })
  const [result] = await gates.run(gateRun(), stop.signal)
  assert.deepEqual([result?.ended, result?.remarks, begun], ['cancelled', undefined, 0])
})

const JUNIT = `<?xml version="1.0"?><testsuites><testsuite name="cart">
<testcase name="adds" file="src/b.js"/>
<testcase name="adds ${SECRET}"><failure message="1 != 2 ${SECRET}">at total (src/a.js:3:7)</failure></testcase>
<testcase name="later"><skipped/></testcase>
</testsuite></testsuites>`

test('JUnit and SARIF files give tests and annotations, redacted, those in changed files first', async (t) => {
  const sarif = JSON.stringify({
    runs: [
      {
        results: [
          {
            ruleId: 'no-x',
            level: 'error',
            message: { text: 'no x' },
            locations: [
              { physicalLocation: { artifactLocation: { uri: 'src/b.js' }, region: { startLine: 9 } } },
            ],
          },
        ],
      },
    ],
  })
  const run = `${inFile('out/one.sarif', sarif)}${inFile('out/junit.xml', JUNIT)}exit 1`
  const result = await ran(t, { gate: { run, report: ['out/one.sarif', 'out/*.xml'] }, run: STORY })
  assert.deepEqual(result.tests, { passed: 1, failed: 1, skipped: 1 })
  assert.deepEqual(result.annotations, [
    { path: 'src/a.js', line: 3, message: 'adds ***: 1 != 2 ***', level: 'failure' },
    { path: 'src/b.js', line: 9, message: 'no x - no-x', level: 'failure' },
  ])
  assert.equal(result.remarks, undefined)
})

test('a report that is stale, missing, broken, too large, no file or behind a link gives a remark, and never makes a gate red', async (t) => {
  const run = [
    `mkfifo pipe.xml; ln -s "$TOP/.." linked; ln -s old.xml link.xml; echo '{"runs": 7}' > odd.sarif; echo '<a><b>' > broken.xml`,
    'truncate -s 200G large.xml; echo "no json" > no.sarif; echo "<html></html>" > page.xml',
  ].join('\n')
  const report = [
    ...['old.xml', 'none.xml', 'pipe.xml', 'linked/*.xml', 'linked/x.xml', 'link.xml', 'odd.sarif'],
    ...['broken.xml', 'large.xml', 'no.sarif', 'page.xml', '**/*.never'],
  ]
  const result = await ran(t, { gate: { run, report }, run: STORY }, { 'old.xml': JUNIT })
  assert.equal(result.ok, true)
  assert.equal(result.tests, undefined)
  const said = remarks(result).map((one) => one.replace(/ \(.*/, ''))
  assert.deepEqual(said, [
    'report old.xml: the gate wrote no new file, and Ralph reads no old ones',
    'report none.xml: there is no such file',
    'report pipe.xml: it is not a readable file',
    'report linked/*.xml: there is no such file',
    'report linked/x.xml: there is no such file',
    'report link.xml: it is not a readable file',
    'report large.xml: it is too large to read',
    'report **/*.never: there is no such file',
    'report odd.sarif: Ralph cannot read it: the file is damaged',
    'report broken.xml: Ralph cannot read it: the file is damaged',
    'report no.sarif: Ralph cannot read it: the file is damaged',
    'report page.xml: Ralph cannot read it: neither JUnit XML nor SARIF',
  ])
})

test('a report behind a folder that is a link out of the tree is not read', async (t) => {
  const outside = await mkdtemp(join(tmpdir(), 'ralph-outside-'))
  t.after(() => rm(outside, { recursive: true }))
  await writeFile(join(outside, 'junit.xml'), JUNIT)
  await symlink(outside, join(outside, 'self'))
  const run = `ln -s ${outside} out; touch ${outside}/junit.xml`
  for (const path of ['out/junit.xml', 'out/*.xml', '**/junit.xml']) {
    const result = await ran(t, { gate: { run, report: [path] } })
    assert.deepEqual(
      [result.tests, remarks(result)],
      [undefined, [`report ${path}: there is no such file`]],
      path,
    )
  }
})

test('a report is read only inside the tree and up to its limit, through one open file', async (t) => {
  const top = await mkdtemp(join(tmpdir(), 'ralph-opened-'))
  const outside = await mkdtemp(join(tmpdir(), 'ralph-outside-'))
  t.after(() => Promise.all([top, outside].map((folder) => rm(folder, { recursive: true }))))
  await mkdir(join(top, 'in'))
  await writeFile(join(top, 'in/a.xml'), '12345')
  await writeFile(join(outside, 'a.xml'), '12345')
  await symlink(outside, join(top, 'out'))
  await symlink('in/a.xml', join(top, 'link.xml'))
  execFileSync('mkfifo', [join(top, 'pipe.xml')])
  const read = async (path: string, most = 5) => (await readInTree(top, join(top, path), most))?.toString()
  assert.deepEqual(
    [await read('in/a.xml'), await read('in/a.xml', 4), await read('in')],
    ['12345', 'too-large', undefined],
  )
  for (const path of ['out/a.xml', '../a.xml', 'link.xml', 'pipe.xml', 'in/none', 'in/a.xml/x'])
    assert.equal(await read(path), undefined, path)
  await symlink(top, join(outside, 'tree'))
  assert.equal(
    (await readInTree(join(outside, 'tree'), join(outside, 'tree/in/a.xml'), 9))?.toString(),
    '12345',
  )
})

test('an annotation with an invalid line number is left out of the state', async (t) => {
  const line = '<testcase file="src/a.js" line="1e999"><failure message="x"/></testcase>'
  const run = `${inFile('junit.xml', `<testsuite>${line}</testsuite>`)}exit 1`
  const result = await ran(t, { gate: { run, report: ['junit.xml'] }, run: STORY })
  assert.deepEqual(JSON.parse(JSON.stringify(result)).annotations[0].line, 1)
})

const LCOV = 'SF:src/a.js\nDA:1,1\nDA:2,0\nDA:3,0\nDA:9,0\nend_of_record'

test('changed lines that no test ran are reported with their places', async (t) => {
  const coverage = { file: 'lcov.info', threshold: null }
  const result = await ran(t, { gate: { run: inFile('lcov.info', LCOV), coverage }, run: STORY })
  assert.equal(result.ok, true)
  assert.deepEqual(remarks(result), ['tests ran 33 % of 3 changed lines; no test ran src/a.js:2-3'])
  assert.deepEqual(result.annotations, [
    { path: 'src/a.js', line: 2, message: 'No test ran lines 2 to 3.', level: 'notice' },
  ])
})

test('below the coverage threshold the gate is red and names the lines; at the threshold it is green', async (t) => {
  const made = (threshold: number, of: GateRun['of'] = 'story') =>
    ran(t, {
      gate: { run: inFile('lcov.info', LCOV), coverage: { file: 'lcov.info', threshold }, retries: 1 },
      run: { ...STORY, of },
    })
  const red = await made(34)
  assert.deepEqual(
    [red.ok, red.ended, red.flaky],
    [false, 'tests ran 33 % of 3 changed lines, but the threshold is 34 %', undefined],
  )
  assert.match(red.output, /No test ran:\n {2}src\/a\.js:2-3\n/)
  assert.equal((await made(33)).ok, true)
  assert.equal((await made(100, 'join')).ok, true, 'what people pushed is theirs')
})

test('with a threshold, a changed file that the report does not name counts as not run', async (t) => {
  const changed = new Map([
    ['src/a.js', [1]],
    ['src/b.js', [1, 2, 7]],
    ['src/b.d.ts', [1]],
    ['test/b.js', [1]],
    ['src/b.spec.js', [1]],
    ['README.md', [1]],
  ])
  const code = {
    files: async () => [...changed.keys()],
    changedLines: async () => changed,
    changedPaths: async () => [],
  }
  const made = (threshold: number | null) =>
    ran(t, {
      gate: { run: inFile('lcov.info', `${LCOV}\nSF:src/c.ts`), coverage: { file: 'lcov.info', threshold } },
      run: STORY,
      options: { code },
    })
  const red = await made(26)
  assert.deepEqual(
    [red.ok, red.ended],
    [false, 'tests ran 25 % of 4 changed lines, but the threshold is 26 %'],
  )
  assert.match(red.output, /No test ran:\n {2}src\/b\.js:1-7\n/)
  assert.deepEqual(remarks(red), [
    'tests ran 25 % of 4 changed lines; no test ran src/b.js:1-7',
    'lcov.info does not contain src/b.js, so these lines count as not run',
  ])
  assert.equal((await made(25)).ok, true)
  const told = await made(null)
  assert.deepEqual([told.ok, remarks(told)], [true, ['lcov.info does not contain src/b.js']])
})

test('a further run leaves out tests of the change, so it has no coverage threshold', async (t) => {
  const coverage = { file: 'lcov.info', threshold: 76 }
  for (const further of ['checks', 'product'] as const) {
    const gate = { run: inFile('lcov.info', LCOV), coverage }
    const { ok, remarks } = await ran(t, { gate, run: { ...STORY, further } })
    assert.deepEqual({ ok, remarks }, { ok: true, remarks: undefined })
  }
})

test('without a coverage report a threshold is not reached; on the base there is no threshold', async (t) => {
  const made = (threshold: number | null, run: Partial<GateRun> = STORY, script = 'true') =>
    ran(t, { gate: { run: script, coverage: { file: 'lcov.info', threshold } }, run }, { 'lcov.info': LCOV })
  const red = await made(80)
  assert.deepEqual(
    [red.ok, red.ended],
    [false, 'no coverage file shows which changed lines the tests ran, but the threshold is 80 %'],
  )
  assert.match(red.output, /the gate wrote no new file/)
  assert.deepEqual((await made(null)).ok, true)
  assert.equal((await made(80, { of: 'baseline', from: 'new', commit: 'new' })).ok, true)
  assert.match((await made(80, STORY, 'echo what > lcov.info')).output, /neither lcov nor Cobertura/)
})

test('a gate that counted tests before and names no number now is red, but not because of commits of people', async (t) => {
  const baseline = { test: { ms: 100, tests: { passed: 40, failed: 0, skipped: 0 } } }
  const silent = (of: GateRun['of'], before: GateRun['baseline'] = baseline) =>
    ran(t, { gate: { run: 'echo all fine' }, run: { of, baseline: before } })
  for (const kind of ['story', 'whole'] as const) {
    const { ok, ended } = await silent(kind)
    assert.deepEqual(
      [ok, ended],
      [false, 'exit 0, but its output does not say how many tests ran (before: 40)'],
    )
  }
  assert.equal((await silent('join')).ok, true)
  assert.equal((await silent('story', {})).ok, true)
})

test('a test run without a number at the fork point has a remark with what would give one; a linter has none', async (t) => {
  const remarkOn = async (name: string, run: string, of: GateRun['of'] = 'baseline') =>
    remarks(await ran(t, { gate: { name, run }, run: { of } })).join('\n')
  assert.match(
    await remarkOn('unit', 'true # go test ./...'),
    /does not say how many tests ran.*: add `-v` to `go test`$/,
  )
  assert.match(await remarkOn('test', 'true'), /JUnit XML, and set `report` to that file$/)
  assert.equal(await remarkOn('lint', 'true'), '')
  assert.equal(await remarkOn('test', 'echo "# pass 3"'), '')
  assert.equal(await remarkOn('test', 'true', 'story'), '')
})

test('fewer tests, more skipped tests and files without tests are findings of a green gate', async (t) => {
  const baseline = { test: { ms: 100, tests: { passed: 40, failed: 0, skipped: 0 } } }
  const made = async (said: string, before: GateRun['baseline'] = baseline) =>
    (await ran(t, { gate: { run: `echo '${said}'` }, run: { baseline: before } })).findings ?? []
  const passed = (line: string) => made(`test result: ok. ${line}; 0 measured`)
  assert.deepEqual(await passed('40 passed; 0 failed; 0 ignored'), [])
  assert.deepEqual(await passed('35 passed; 0 failed; 5 ignored'), [
    'ran 35 tests, 5 fewer than before (40); 5 are skipped',
  ])
  assert.deepEqual(await made('all fine', {}), [])
  assert.deepEqual(await passed('41 passed; 0 failed; 2 ignored'), [
    'number of skipped tests: 2, more than before (0)',
  ])
  assert.deepEqual(await made('✔ /repo/test/sum.test.js (12.5ms)\nℹ pass 40'), ['1 test file ran no test'])
  const slow = await ran(t, { gate: { run: 'sleep 0.2' }, run: { baseline: { test: { ms: 1 } } } })
  assert.deepEqual(remarks(slow), [], 'a tenth of a second is no matter, however many times as long')
  const red = await ran(t, { gate: { run: 'exit 1' }, run: { baseline } })
  assert.deepEqual([remarks(red), red.findings], [[], undefined], 'a red one came to nothing')
})

test('a green gate that ran no test says so, on the base too; one that says nothing of tests does not', async (t) => {
  const gate = (run: string) => ({ gate: { run } })
  for (const phase of ['baseline', 'story'] as const) {
    const run = { of: phase }
    const empty = await ran(t, { ...gate('echo "Ran 0 tests in 0.000s"'), run })
    assert.equal(empty.ok, true)
    assert.deepEqual(empty.remarks, ['ran no test, so its exit code 0 proves nothing'])
    const linter = { gate: { run: 'echo done', name: 'lint' }, run }
    assert.equal((await ran(t, linter)).remarks, undefined)
  }
})

test('gates find programs of .venv/bin, but not if the commit has files in it', async (t) => {
  const made = { gate: { run: 'greet' }, run: { commit: 'new' } }
  const files = { '.venv/bin/greet': '#!/bin/sh\necho hi\n' }
  const gate = { ...made.gate, run: 'chmod +x .venv/bin/greet; greet' }
  assert.equal((await ran(t, { ...made, gate }, files)).ok, true)
  const code = {
    files: async () => Object.keys(files),
    changedLines: async () => new Map(),
    changedPaths: async () => [],
  }
  assert.match((await ran(t, { ...made, gate, options: { code } }, files)).ended, /exit 127/)
})

test('a gate that became slow gets a remark, except in a clean clone, where build caches are empty', async () => {
  const slow = async (of: GateRun['of'], cold: Partial<GateRun> = {}) => {
    const took = { ok: true, ended: 'exit 0', ms: 60_000, output: '' }
    const code = { files: async () => [], changedLines: async () => new Map(), changedPaths: async () => [] }
    const run = gateRun({ of, baseline: { test: { ms: 2000 } }, ...cold })
    const options = { top: '/', cwd: '/', code, redact: (text: string) => text }
    return (await withEvidence(GATE, took, null, run, options)).remarks ?? []
  }
  assert.deepEqual(await slow('story'), ['took 60 s, 30 times as long as on the base (2.0 s)'])
  assert.deepEqual(await slow('whole'), [])
  assert.deepEqual(await slow('story', { fork: 'base' }), [], 'the last story')
})

test('a gate that exits with 0 is red when it counts more failed tests than before', async (t) => {
  const said = (failed: number) => `echo 'Tests: ${failed} failed, 3 passed, ${failed + 3} total'`
  const made = (failed: number, run: Partial<GateRun> = STORY) => ran(t, { gate: { run: said(failed) }, run })
  const red = await made(1)
  assert.deepEqual([red.ok, red.ended], [false, 'exit 0, but its output reports 1 failed test'])
  const before = { ...STORY, baseline: { test: { ms: 100, tests: { passed: 4, failed: 2, skipped: 0 } } } }
  assert.equal((await made(2, before)).ok, true, 'so it was before the change')
  assert.deepEqual((await made(3, before)).ended, 'exit 0, but its output reports 3 failed tests (2 before)')
  assert.equal((await made(1, { of: 'baseline' })).ok, true, 'a base is taken as it is')
  const written = inFile('r.xml', JUNIT)
  const report = await ran(t, { gate: { run: written, report: ['r.xml'] }, run: STORY })
  assert.deepEqual([report.ok, report.ended], [false, 'exit 0, but its output reports 1 failed test'])
})
