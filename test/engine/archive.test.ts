// A run that begins anew, and the archive of the one before: nothing is lost, and no archive is written over.
import assert from 'node:assert/strict'
import test from 'node:test'
import { BRANCH, Chain, FOLDER, goodTurn, PRD, story, type Turn } from './chain.ts'

const LEARNED = 'The mailer lives in src/mail; use it.'
const ARCHIVED = '.ralph/archive/2026-01-31-sample'
const again = (name: string) => [goodTurn(name), { files: { [`src/${name}`]: 'again\n' } }, goodTurn(name)]
const SCRIPT = {
  'US-001': again('one').map((turn) => ({ ...turn, session: { learnings: [LEARNED] } })),
  'US-002': again('two'),
}
const open = () =>
  Chain.open({
    stories: [story('US-001', 'one'), story('US-002', 'two', { notes: 'ask Ann' })],
    script: SCRIPT,
    files: { [`${FOLDER}/context.md`]: 'A shop.\n' },
  })
const iterations = async (chain: Chain) => (await chain.prd()).run.iterations

test('a run begun anew keeps the plan, archives the last run with its learnings, and works on every story again', async () => {
  await using chain = await open()
  await chain.go()
  const [before, head] = [await chain.read(BRANCH, PRD), await chain.head()]
  const progress = await chain.read(BRANCH, `${FOLDER}/progress.txt`)
  assert.equal((await chain.go({ anew: true })).outcome, 'complete')
  assert.equal(await chain.read(BRANCH, `${ARCHIVED}/prd.json`), before)
  assert.equal(await chain.read(BRANCH, `${ARCHIVED}/progress.txt`), progress)
  assert.match((await chain.read(BRANCH, `${ARCHIVED}/learnings.md`)) ?? '', /- The mailer lives/)
  assert.equal(await chain.read(BRANCH, `${FOLDER}/context.md`), 'A shop.\n')
  assert.ok(await chain.bare.isAncestor(head, await chain.head()), 'the branch is never rewritten')
  assert.deepEqual(
    chain.sessions.map((one) => one.story),
    ['US-001', 'US-002', 'US-001', 'US-002'],
  )
  const { run, userStories } = await chain.prd()
  assert.deepEqual([run.iterations, userStories[1]?.notes], [2, 'ask Ann'])
  assert.equal((await chain.read(BRANCH, `${FOLDER}/progress.txt`))?.match(/^## Iteration/gm)?.length, 2)
  const { nonce, control } = await chain.state()
  assert.equal(control.anew, false)
  assert.ok((await chain.bare.run(['log', '-1', '--format=%B', BRANCH])).includes(`Ralph-Run: ${nonce}`))

  await chain.go({ anew: true })
  assert.equal(await chain.read(BRANCH, `${ARCHIVED}/prd.json`), before, 'no archive is written over')
  assert.notEqual(await chain.read(BRANCH, `${ARCHIVED}-2/prd.json`), null)
})

test('beginning anew before any run archives nothing', async () => {
  await using chain = await open()
  assert.equal((await chain.go({ anew: true })).outcome, 'complete')
  assert.equal(await chain.read(BRANCH, `${ARCHIVED}/prd.json`), null)
  assert.equal(await iterations(chain), 2)
})

test('beginning anew after the branch was merged and deleted starts from the base and archives the last run', async () => {
  await using chain = await open()
  await chain.go()
  const [head, before] = [await chain.head(), await chain.read(BRANCH, PRD)]
  await chain.move(head, 'main')
  await chain.move(null)
  assert.equal((await chain.go({ anew: true })).outcome, 'complete')
  assert.equal(await chain.read(BRANCH, `${ARCHIVED}/prd.json`), before)
  assert.ok(await chain.bare.isAncestor(head, await chain.head()))
  assert.equal(await iterations(chain), 2)
})

test('`/ralph archive` removes passed stories from prd.json in the commit that ends the run, and later runs do not bring them back', async () => {
  const third: Turn[] = [{}]
  await using chain = await Chain.open({
    stories: [
      story('US-001', 'one'),
      story('US-002', 'two', { dependsOn: ['US-001'] }),
      story('US-003', 'three', { dependsOn: ['US-002'], priority: 2 }),
    ],
    script: { ...SCRIPT, 'US-003': third },
  })
  chain.say('/ralph archive')
  assert.equal((await chain.go()).outcome, 'stuck')
  const left = await chain.prd()
  assert.deepEqual(
    left.userStories.map(({ id, dependsOn, blocked }) => [id, dependsOn, blocked]),
    [['US-003', [], true]],
  )
  const done = JSON.parse((await chain.read(BRANCH, `${FOLDER}/done.json`)) ?? '')
  assert.deepEqual(
    done.userStories.map((one: { id: string; passes: boolean; dependsOn: string[] }) => [
      one.id,
      one.passes,
      one.dependsOn,
    ]),
    [
      ['US-001', true, []],
      ['US-002', true, ['US-001']],
    ],
  )
  const { archive } = await chain.state()
  assert.deepEqual([archive?.asked, archive?.pending, archive?.ids], [false, [], ['US-001', 'US-002']])

  // People push what they had before: the stories that are done stay done.
  await chain.edit((prd) => {
    prd.userStories.push(...done.userStories.map((one: object) => ({ ...one, passes: false })))
  })
  chain.say('/ralph retry US-003')
  third[0] = goodTurn('three')
  chain.say('/ralph archive')
  assert.equal((await chain.go()).outcome, 'complete')
  const { userStories } = await chain.prd()
  assert.deepEqual(
    userStories.map(({ id, passes }) => [id, passes]),
    [['US-003', true]],
  )
  assert.equal(await chain.read(BRANCH, `${FOLDER}/done-2.json`), null, 'a list that is finished stays whole')
})
