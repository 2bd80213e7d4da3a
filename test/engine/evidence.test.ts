// The final verification names what shows each criterion: it is looked up in the commit, and nothing is assumed.
import assert from 'node:assert/strict'
import test from 'node:test'
import { BRANCH, Chain, goodTurn, story } from './chain.ts'

const PRD = '.ralph/2026-01-31-sample/prd.json'
const STORIES = [story('US-001', 'one'), story('US-002', 'two')]
const FIRST = '<ralph>EVIDENCE:US-001#1 src/one:1 says one</ralph>'
const SECOND = '<ralph>EVIDENCE:US-002#1 gate test runs it</ralph>'
const again = (name: string) => [goodTurn(name), { files: { [`src/${name}`]: `${name} once more\n` } }]
const SCRIPT = { 'US-001': again('one'), 'US-002': again('two') }
const inputs = { 'final-verification': 'true' }

const say = (...lines: string[]) => ({ answer: [...lines, '<ralph>VERIFIED</ralph>'].join('\n') })

test('the final judge: a criterion without evidence resets its story, untrue evidence asks another judge, and evidence is recorded in prd.json', async () => {
  const untrue = '<ralph>EVIDENCE:US-002#1 src/nowhere.ts:3 has it</ralph>'
  const verify = [say(FIRST), say(FIRST, untrue), say(FIRST, SECOND)]
  await using chain = await Chain.open({ stories: STORIES, script: { ...SCRIPT, verify }, inputs })
  assert.equal((await chain.go()).outcome, 'complete')
  assert.deepEqual(
    chain.sessions.map(({ mode, story: id }) => `${mode} ${id}`),
    [
      'run US-001',
      'run US-002',
      'verify US-001,US-002',
      'run US-002',
      'verify US-001,US-002',
      'verify US-001,US-002',
    ],
  )
  const { userStories } = JSON.parse((await chain.read(BRANCH, PRD)) ?? '')
  assert.deepEqual(userStories[0].lastResult.evidence, [
    { criterion: 1, shown: 'src/one:1 says one', path: 'src/one', line: 1, text: 'one', level: 'cited' },
  ])
  const gate = { criterion: 1, shown: 'gate test runs it', level: 'cited' }
  assert.deepEqual(userStories[1].lastResult.evidence, [gate])
})

test('an approval of the final judge without evidence is accepted, unless `evidence: require`', async () => {
  await using asked = await Chain.open({ stories: STORIES, script: SCRIPT, inputs })
  assert.equal((await asked.go()).outcome, 'complete')
  await using required = await Chain.open({
    stories: STORIES,
    script: { ...SCRIPT, verify: [say(), say(FIRST, SECOND)] },
    inputs: { ...inputs, evidence: 'require' },
  })
  assert.equal((await required.go()).outcome, 'complete')
  assert.deepEqual(required.sessions.map(({ mode, story: id }) => `${mode} ${id}`).slice(2), [
    'verify US-001,US-002',
    'run US-001',
    'run US-002',
    'verify US-001,US-002',
  ])
})
