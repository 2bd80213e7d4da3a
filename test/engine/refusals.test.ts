// A judge refuses a story with a counterexample: it runs in a clean room, and the story owes it until it is green.
import assert from 'node:assert/strict'
import test from 'node:test'
import { BRANCH, Chain, goodTurn, story, type Turn } from './chain.ts'

const STORIES = [story('US-001', 'one')]
const inputs = { 'final-verification': 'true' }
const WITHOUT: Turn = { files: { 'src/one': 'one, again\n' } }
const WITH: Turn = { files: { 'src/one': 'one and two\n' } }
const CHECK = { 'check/two.sh': 'grep -q two src/one || { echo "no two"; exit 1; }\n' }

const refuse = (command: string, files: Turn['files'] = {}): Turn => ({
  ...(files === undefined ? {} : { files }),
  answer: [
    '<ralph>RESET:US-001</ralph>',
    '<ralph>REASON:two is missing</ralph>',
    ...(command === '' ? [] : [`<ralph>COUNTEREXAMPLE:US-001 ${command}</ralph>`]),
  ].join('\n'),
})
const APPROVE: Turn = { answer: '<ralph>VERIFIED</ralph>' }

async function run(script: Record<string, readonly Turn[]>) {
  const chain = await Chain.open({ stories: STORIES, script, inputs })
  const { outcome } = await chain.go()
  const sessions = chain.sessions.map(({ mode, findings }) =>
    findings === undefined ? mode : 'second judge',
  )
  const state = await chain.state()
  return { chain, outcome, sessions, state }
}

test('a red counterexample sends the story back, and the story owes it until it is green', async () => {
  const script = {
    'US-001': [goodTurn('one'), WITHOUT, WITH],
    verify: [refuse('bash check/two.sh', CHECK), APPROVE],
  }
  const { chain, outcome, sessions, state } = await run(script)
  await using _ = chain
  assert.equal(outcome, 'complete')
  assert.deepEqual(sessions, ['run', 'verify', 'second judge', 'run', 'run', 'verify'])
  assert.equal(chain.gates.filter((name) => name === 'counterexample US-001').length, 3)
  const refused = chain.events.findLast((event) => event.kind === 'rejected' || event.kind === 'gated')
  assert.ok(refused !== undefined)
  assert.match(JSON.stringify(chain.sessions), /no two/)
  assert.equal(await chain.read(BRANCH, 'check/two.sh'), null)
  assert.equal(state.records['US-001']?.counterexamples, undefined)
})

test('a green counterexample makes the refusal void, and the report says so', async () => {
  const script = { 'US-001': [goodTurn('one')], verify: [refuse('grep -q one src/one'), APPROVE] }
  const { chain, outcome, sessions, state } = await run(script)
  await using _ = chain
  assert.equal(outcome, 'complete')
  assert.deepEqual(sessions, ['run', 'verify', 'verify'])
  const [voided = ''] = state.verification.voided ?? []
  assert.equal(
    voided,
    "Ralph ignores the judge's refusal of US-001: its counterexample grep -q one src/one passes",
  )
})

test('a counterexample that a second judge calls wrong makes the refusal void', async () => {
  const counterexample = [{ answer: '<ralph>UNEXPECTED</ralph>\n<ralph>REASON:it checks too much</ralph>' }]
  const script = { 'US-001': [goodTurn('one')], verify: [refuse('false'), APPROVE], counterexample }
  const { chain, outcome, sessions, state } = await run(script)
  await using _ = chain
  assert.equal(outcome, 'complete')
  assert.deepEqual(sessions, ['run', 'verify', 'second judge', 'verify'])
  assert.match(
    state.verification.voided?.[0] ?? '',
    /a second judge says that its counterexample is wrong: it checks/,
  )
})

for (const [what, command] of [
  ['words', ''],
  ['a command that cannot be run', 'no-such-program'],
] as const)
  test(`a refusal with ${what} only costs a story one attempt`, async () => {
    const script = {
      'US-001': [goodTurn('one'), WITHOUT],
      verify: [refuse(command), refuse(command), APPROVE],
    }
    const { chain, outcome, sessions, state } = await run(script)
    await using _ = chain
    assert.equal(outcome, 'complete')
    assert.deepEqual(sessions, ['run', 'verify', 'run', 'verify', 'verify'])
    assert.match(
      state.verification.voided?.[0] ?? '',
      /a refusal without one has already cost this story an attempt/,
    )
  })

test('a judge can leave no link and no change of a file', async () => {
  const files = { 'src/one': 'judge\n', 'check/two.sh': 'grep -q judge src/one\n' }
  const script = { 'US-001': [goodTurn('one'), WITH], verify: [refuse('bash check/two.sh', files), APPROVE] }
  const { chain, sessions } = await run(script)
  await using _ = chain
  // The judge's own change of the product is not there, so its check is red.
  assert.deepEqual(sessions.slice(0, 4), ['run', 'verify', 'second judge', 'run'])
})
