// The pipeline of an iteration in the loop as it is: real commands, real git, agents as functions.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runUsage } from '../../src/engine/model/usage-totals.ts'
import { BRANCH, badTurn, Chain, goodTurn, type Script, story } from './chain.ts'

const work = { name: 'work', type: 'agent' }
const commit = { name: 'commit', type: 'git-commit' }
const shell = (name: string, command: string, more: Record<string, unknown> = {}, config = {}) => ({
  name,
  type: 'command',
  config: { command, ...config },
  ...more,
})
const open = (
  steps: unknown,
  script: Script,
  inputs: Record<string, string> = {},
  stories = [story('US-001', 'one')],
) => Chain.open({ stories, script, config: { steps }, inputs })
/** What ran of sessions, a word each. */
const ran = (chain: Chain) => chain.sessions.map(({ step }) => step?.name ?? '').join(' ')

describe('steps before the commit', () => {
  test('command steps change the tree, and the guard, the gates and the commit include their changes', async () => {
    const steps = [
      work,
      shell('format', 'tr a-z A-Z < src/one > src/upper; env | grep -c KEY > src/keys; true'),
      { name: 'nothing', type: 'noop' },
      { name: 'readme', type: 'readme-check' },
      commit,
    ]
    await using chain = await open(steps, { 'US-001': [goodTurn('one')] })
    assert.equal((await chain.go()).outcome, 'complete')
    assert.equal(await chain.read(BRANCH, 'src/upper'), 'ONE\n')
    assert.equal(await chain.read(BRANCH, 'src/keys'), '0\n')
    assert.deepEqual(chain.said, [
      '1 of 4: work (agent)',
      '2 of 4: format (command)',
      '3 of 4: nothing (noop)',
      '4 of 4: readme (readme-check)',
    ])
  })

  test('a command step that fails rejects the attempt, and its output is in the next prompt', async () => {
    const steps = [work, shell('lint', 'test -e src/ok || { echo "src/one:1 is not right"; exit 3; }')]
    await using chain = await open(steps, {
      'US-001': [goodTurn('one'), { files: { 'src/ok': 'ok\n' } }],
    })
    assert.equal((await chain.go()).outcome, 'complete')
    const { timeline } = await chain.state()
    assert.deepEqual(
      timeline.map(({ result, summary }) => [result, summary]),
      [
        ['rejected', 'step lint: exit 3'],
        ['passed', 'every gate passed'],
      ],
    )
    assert.equal(chain.sessions[1]?.step?.failed, 'step lint: exit 3')
    const rejected = chain.events.find((event) => event.kind === 'worked')
    assert.ok(rejected?.kind === 'worked')
    assert.match(rejected.session.detail ?? '', /src\/one:1 is not right/)
  })

  test('a workflow file that a command step writes is refused by the guard, as one of the agent is', async () => {
    const steps = [
      work,
      shell('sneak', 'mkdir -p .github/workflows; echo "on: push" > .github/workflows/x.yml'),
    ]
    await using chain = await open(steps, { 'US-001': [goodTurn('one')] }, { 'max-attempts': '1' })
    assert.equal((await chain.go()).outcome, 'stuck')
    assert.equal(await chain.read(BRANCH, '.github/workflows/x.yml'), null)
  })

  test('a failing command step is retried; with continueOnError the attempt goes on and the next agent step gets the failure', async () => {
    const steps = [
      work,
      shell('flaky', 'echo x >> src/tries; test "$(wc -l < src/tries)" -ge 2', { maxRetries: 1 }),
      shell('check', 'exit 4', { continueOnError: true }),
      { name: 'mend', type: 'agent' },
    ]
    await using chain = await open(steps, { 'US-001': [goodTurn('one')] })
    assert.equal((await chain.go()).outcome, 'complete')
    assert.equal(await chain.read(BRANCH, 'src/tries'), 'x\nx\n')
    assert.equal(ran(chain), 'work mend')
    assert.equal(chain.sessions[1]?.step?.failed, 'step check: exit 4')
    assert.ok(chain.said.includes('check: exit 4; continues'))
  })

  test('a verify step that is red passes its result to the next agent step, and files that gates write stay out of the commit', async () => {
    const steps = [
      work,
      { name: 'look', type: 'verify', continueOnError: true },
      { name: 'mend', type: 'agent' },
    ]
    await using chain = await open(
      steps,
      { 'US-001': [badTurn('one')], 'US-001 mend': [goodTurn('one')] },
      { gates: 'test: "touch litter; ! grep -rqs RED src"' },
    )
    assert.equal((await chain.go()).outcome, 'complete')
    assert.equal(chain.sessions[1]?.step?.failed, 'step look: gate test failed (exit 1)')
    assert.equal(await chain.read(BRANCH, 'litter'), null)
    assert.equal(await chain.read(BRANCH, 'src/one'), 'one\n')
    assert.equal((await chain.state()).timeline.length, 1)
  })

  test('readme-check: a missing README rejects the attempt', async () => {
    const steps = [work, { name: 'readme', type: 'readme-check', config: { path: 'docs/README.md' } }]
    await using chain = await open(steps, { 'US-001': [goodTurn('one')] }, { 'max-attempts': '1' })
    assert.equal((await chain.go()).outcome, 'stuck')
    assert.match(
      (await chain.state()).timeline[0]?.summary ?? '',
      /step readme: there is no docs\/README\.md/,
    )
  })
})

describe('a second agent step', () => {
  const review = { name: 'review', type: 'agent', config: { agent: 'codex', prompt: 'Review it.' } }

  test('its review runs in a fresh session, and the cost of both sessions counts', async () => {
    await using chain = await open([work, review], {
      'US-001': [goodTurn('one')],
      'US-001 review': [{ files: { 'src/one': 'one, reviewed\n' } }],
    })
    assert.equal((await chain.go()).outcome, 'complete')
    assert.deepEqual(
      chain.sessions.map(({ step }) => [step?.name, step?.agent]),
      [
        ['work', null],
        ['review', 'codex'],
      ],
    )
    assert.equal(await chain.read(BRANCH, 'src/one'), 'one, reviewed\n')
    const state = await chain.state()
    const { prd, control } = state
    const { calls, costUsd } = runUsage(state)
    assert.deepEqual([calls, costUsd, prd.run.iterations], [2, 0.02, 1])
    assert.equal(control.calls.length, 2)
  })

  test('a refusal in its text rejects the attempt, and the next prompt has its reasons', async () => {
    const no = { session: { hints: { done: false, notDone: false, stuck: 'there is no test for it' } } }
    await using chain = await open([work, review], { 'US-001': [goodTurn('one')], 'US-001 review': [no, {}] })
    assert.equal((await chain.go()).outcome, 'complete')
    assert.equal(ran(chain), 'work review work review')
    assert.match(chain.sessions[2]?.step?.failed ?? '', /step review: there is no test for it/)
  })

  test('a budget that is used up before its review: the attempt is given back uncharged, and the run ends in budget', async () => {
    await using chain = await open(
      [work, review],
      { 'US-001': [goodTurn('one')] },
      { 'max-tokens': '1000', agent: 'custom' },
    )
    const { outcome } = await chain.go()
    assert.equal(outcome, 'budget')
    assert.equal(ran(chain), 'work')
    const { prd, kept } = await chain.state()
    assert.equal(prd.run.iterations, 0)
    assert.ok(kept['US-001'] !== undefined)
  })
})

describe('a step that ends the run (endRunOn)', () => {
  test('before the commit: the attempt is given back with its work, and the run is paused', async () => {
    const window = shell('window', 'echo "closed on Fridays"; exit 10', {}, { endRunOn: [10] })
    await using chain = await open([work, window], { 'US-001': [goodTurn('one')] })
    const { outcome, reason } = await chain.go()
    assert.deepEqual([outcome, reason], ['paused', 'step window ends the run (closed on Fridays)'])
    const { prd, kept } = await chain.state()
    assert.deepEqual([prd.run.iterations, prd.userStories[0]?.retries], [0, 0])
    assert.ok(kept['US-001'] !== undefined)
  })

  test('before the first agent step: nothing is spent, and a later run goes on', async () => {
    const guard = shell('window', 'test ! -e ../closed', {}, { endRunOn: [1] })
    await using chain = await open([guard, work], { 'US-001': [goodTurn('one')] })
    await chain.block('closed', true)
    assert.equal((await chain.go()).outcome, 'paused')
    assert.equal(runUsage(await chain.state()).calls, 0)
    await chain.block('closed', false)
    assert.equal((await chain.go()).outcome, 'complete')
  })

  test('after the commit: the story has passed, and what the step wrote is discarded', async () => {
    const last = shell('enough', 'echo litter > src/litter; exit 9', {}, { endRunOn: [9] })
    const stories = [story('US-001', 'one'), story('US-002', 'two')]
    await using chain = await open(
      [work, commit, last],
      { 'US-001': [goodTurn('one')], 'US-002': [goodTurn('two')] },
      {},
      stories,
    )
    assert.equal((await chain.go()).outcome, 'paused')
    assert.deepEqual(
      (await chain.prd()).userStories.map(({ passes }) => passes),
      [true, false],
    )
    assert.equal(await chain.read(BRANCH, 'src/litter'), null)
    assert.ok(chain.said.includes('Ralph discarded the changes that steps after git-commit made'))
    assert.equal((await chain.go()).outcome, 'complete')
    assert.equal(await chain.read(BRANCH, 'src/litter'), null)
  })

  test('a step after the commit that fails without endRunOn is a warning', async () => {
    await using chain = await open([work, commit, shell('tell', 'exit 1')], { 'US-001': [goodTurn('one')] })
    assert.equal((await chain.go()).outcome, 'complete')
    assert.ok(
      chain.notes.some(
        (note) =>
          note === 'step tell: exit 1, but US-001 has passed, because Ralph committed it before that step',
      ),
    )
  })
})

test('a circuit breaker that a step opened in one job is open in the next', async () => {
  const fragile = shell('fragile', 'exit 1', {
    continueOnError: true,
    circuitBreaker: { threshold: 1, resetAfter: '10h' },
  })
  const stories = [story('US-001', 'one'), story('US-002', 'two')]
  await using chain = await open(
    [work, fragile],
    { 'US-001': [goodTurn('one')], 'US-002': [goodTurn('two')] },
    { 'iterations-per-job': '1' },
    stories,
  )
  assert.equal((await chain.go()).outcome, 'complete')
  assert.equal(chain.said.filter((line) => line.includes('fragile (command)')).length, 1)
  assert.ok(chain.said.some((line) => line.startsWith('step fragile is left out until ')))
  assert.equal((await chain.state()).control.circuits?.fragile?.failures, 1)
})

test('without steps in the configuration the state has no field for them', async () => {
  await using chain = await open([], { 'US-001': [goodTurn('one')] })
  assert.equal((await chain.go()).outcome, 'complete')
  assert.ok(!('circuits' in (await chain.state()).control))
  assert.equal(chain.sessions[0]?.step, undefined)
})
