// What gates show beside their exit, in a chain of jobs: tries, coverage of the change, and what is remembered of the base.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { describe } from 'node:test'
import { findingSentences } from '../../src/report/findings.ts'
import { toPlainText } from '../../src/report/sentence.ts'
import { viewOf } from '../../src/report/view.ts'
import { freePort } from '../fakes/clone.ts'
import { BRANCH, Chain, goodTurn, story } from './chain.ts'

const STORIES = [story('US-001', 'one')]
const chainOf = (gate: string, script: Chain['script'] = {}, inputs: Record<string, string> = {}) =>
  Chain.open({
    stories: STORIES,
    script: { 'US-001': [goodTurn('one')], ...script },
    inputs: { gates: `test:\n${gate.replace(/^/gm, '  ')}`, 'gate-env': 'COUNT', ...inputs },
    env: { COUNT: join(tmpdir(), `count-${randomUUID()}`) },
  })
const viewed = async (chain: Chain) =>
  viewOf(await chain.state(), {
    ...{ repositoryUrl: 'https://x.test/a/b', runUrl: null, limits: null, now: 0, notes: [] },
  })
/** Red at every run of these numbers, counted beside the tree. What it writes into the tree must be gone at the next. */
const redAt = (...runs: number[]) =>
  `echo x >> "$COUNT"; [ ! -e litter ] || exit 9; touch litter; case $(wc -l < "$COUNT") in ${runs.join('|')}) exit 1;; esac`

test('a flaky gate that is green on its second try, on the committed tree, passes the story and is named in the report', async () => {
  // The baseline is its first run.
  await using chain = await chainOf(`run: ${JSON.stringify(redAt(2))}\nretries: 1`)
  assert.equal((await chain.go()).outcome, 'complete')
  const { findings, stories } = await viewed(chain)
  assert.deepEqual(findingSentences(findings).map(toPlainText), [
    '⚠️ US-001 no gate fails without this change, so no test shows that the change works',
    '⚠️ gate test is flaky: it failed and passed on the same code, in US-001',
  ])
  assert.deepEqual(stories[0]?.remarks, [
    'no gate fails without this change, so no test shows that the change works',
    'gate test: flaky: failed (exit 1), then passed at try 2 on the same files',
  ])
  assert.equal(stories[0]?.attempts, 1)
  assert.equal(await chain.read(BRANCH, 'litter'), null)
})

test('a gate that is green for the story and red in the final verification of the same commit is reported', async () => {
  await using chain = await chainOf(
    // Else what was green in a clean room for the last story counts for the whole.
    `run: ${JSON.stringify(redAt(3))}\nreuse: false`,
    { 'US-001': [goodTurn('one'), { files: { 'src/two': 'two\n' } }] },
    { 'final-verification': 'true', 'max-attempts': '1' },
  )
  await chain.go()
  const { findings } = await viewed(chain)
  assert.deepEqual(findingSentences(findings).map(toPlainText), [
    '⚠️ final verification: gate test passed for US-001, but failed (exit 1) in the final verification of the same commit',
  ])
})

/** Writes lcov: a line of src with `untested` in it never ran. */
const LCOV =
  'for f in src/*; do echo "SF:$f"; awk \'{ print "DA:" NR "," ($0 ~ /untested/ ? 0 : 1) }\' "$f"; echo end_of_record; done > lcov.info'

test('a change whose lines tests cover too little is rejected with its uncovered lines, and passes once they are covered', async () => {
  await using chain = await chainOf(
    `run: ${JSON.stringify(LCOV)}\ncoverage: { file: lcov.info, threshold: 60 }`,
    {
      'US-001': [
        { files: { 'src/one': 'a\nuntested\nuntested too\n', 'src/base': 'untested before\nbase\n' } },
        { files: { 'src/one': 'a\nb\nc\nuntested\n' } },
      ],
    },
  )
  assert.equal((await chain.go()).outcome, 'complete')
  const [first] = (await chain.state()).timeline
  assert.equal(first?.result, 'rejected')
  assert.equal(
    first?.summary,
    'gate test failed (tests ran 25 % of 4 changed lines, but the threshold is 60 %)',
  )
  const [one] = (await viewed(chain)).stories
  assert.deepEqual(one?.remarks, [
    'no gate fails without this change, so no test shows that the change works',
    'gate test: tests ran 60 % of 5 changed lines; no test ran src/base:1, src/one:4',
  ])
  assert.equal(one?.gates[0]?.annotations?.length, 2)
})

test('a drop in the number of tests is reported once, compared with the baseline or else with the first green run', async () => {
  const run = 'echo "test result: ok. $(ls src | wc -l) passed; 0 failed; 0 ignored"'
  const stories = ['US-001', 'US-002', 'US-003'].map((id) => story(id, id))
  for (const baseline of ['require', 'off']) {
    await using chain = await Chain.open({
      stories,
      script: {
        'US-001': [goodTurn('one')],
        'US-002': [{ files: { 'src/base': null } }],
        'US-003': [goodTurn('three')],
      },
      inputs: {
        gates: `test:\n  run: ${JSON.stringify(run)}`,
        baseline,
        'weakened-tests': 'warn',
        'needs-proof': 'off',
      },
    })
    assert.equal((await chain.go()).outcome, 'complete')
    const { stories: views } = await viewed(chain)
    assert.deepEqual(
      views.map(({ remarks }) => remarks),
      [[], ['gate test: ran 1 tests, 1 fewer than before (2)'], []],
    )
    assert.deepEqual((await chain.state()).baselineGates?.test?.tests, { passed: 2, failed: 0, skipped: 0 })
  }
})

describe('a service port that another program takes during the run ends the run and charges no attempt', () => {
  const take = async (port: number): Promise<Server> => {
    const server = createServer().listen(port, '127.0.0.1').unref()
    await once(server, 'listening')
    return server
  }
  const leave = async (server: Server): Promise<void> => void (await once(server.close(), 'close'))
  /** A service whose port somebody else has from the first session on, and the way to let go of it. */
  async function withPort(
    meanwhile: (chain: Chain) => Promise<unknown>,
    config: Record<string, unknown> = {},
    turns: Chain['script'][string] = [],
  ) {
    const port = await freePort()
    const web = {
      start: `node -e 'require("net").createServer().listen(${port}, "127.0.0.1")'`,
      ready: { tcp: `127.0.0.1:${port}` },
      restartBeforeVerify: true,
    }
    let other: Server | undefined
    const act = async (chain: Chain) => {
      other ??= await take(port)
      await meanwhile(chain)
    }
    const chain = await Chain.open({
      stories: STORIES,
      script: { 'US-001': [{ ...goodTurn('one'), meanwhile: act }, ...turns] },
      config: { services: { web }, ...config },
    })
    await chain.go()
    return { chain, leave: () => leave(other as Server) }
  }
  const ended = (chain: Chain, how: string) => {
    const { outcome, reason } = chain.conclusions.at(-1) ?? {}
    assert.equal(outcome, how)
    assert.match(reason ?? '', /^service web cannot start: .*already answers/)
  }

  test('while a commit of people is gated: their branch is not paused', async () => {
    const { chain, leave } = await withPort((there) => there.commit(BRANCH, { 'src/two': 'two\n' }, 'two'))
    await using _ = chain
    ended(chain, 'error')
    await chain.go()
    ended(chain, 'error')
    assert.equal((await chain.state()).control.paused ?? null, null)
    await leave()
    assert.equal((await chain.go()).outcome, 'complete')
    assert.equal((await chain.prd()).userStories[0]?.retries, 0)
  })

  test('in a verify step before the commit: the attempt is given back', async () => {
    const steps = [
      { name: 'work', type: 'agent' },
      { name: 'look', type: 'verify' },
      { name: 'mend', type: 'agent' },
    ]
    const { chain, leave } = await withPort(async () => {}, { steps }, [goodTurn('one')])
    await using _ = chain
    ended(chain, 'paused')
    assert.deepEqual(
      (await chain.state()).timeline.map(({ result }) => result),
      ['returned'],
    )
    await leave()
    chain.say('/ralph run')
    assert.equal((await chain.go()).outcome, 'complete')
    assert.equal((await chain.prd()).userStories[0]?.retries, 0)
  })
})
