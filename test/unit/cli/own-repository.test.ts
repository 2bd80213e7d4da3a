// What a run does to a person's repository is said: the branch that it switches to, and edits that do not count.
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { joinContext } from '../../../src/cli/plan-draft.ts'
import { FOLDER, GATE, good, openPlace } from './place.ts'

const NO_JUDGE = ['--final-verification', 'false']

test('run says which branch it switches to and how to get back; a pass that people wrote by hand is reported', async () => {
  await using place = await openPlace([{ id: 'US-001' }, { id: 'US-002' }])
  await place.setScript({ 'US-001': [good('US-001')], 'US-002': [good('US-002')] })
  const first = await place.ralph('run', '--once', ...place.agent, ...GATE, ...NO_JUDGE)
  assert.equal(first.code, 5, first.err)
  const said = first.out + first.err
  assert.match(said, /Your checkout switches to ralph\/sample, and stays there\. To go back: git switch main/)
  assert.match(said, /Checkout:? .*ralph\/sample is checked out\. To go back: git switch main/)

  const path = `${FOLDER}/prd.json`
  const prd = JSON.parse(await place.read(path))
  prd.userStories[1].passes = true
  await writeFile(join(place.repository, path), JSON.stringify(prd, null, 2))
  const second = await place.ralph('run', ...place.agent, ...GATE, ...NO_JUDGE)
  assert.equal(second.code, 0, second.err)
  const warned = second.out + second.err
  assert.match(warned, /has `passes: true` for US-002, which Ralph ignores, because only gates pass a story/)
  assert.doesNotMatch(warned, /`passes: true` for US-001/)
  assert.doesNotMatch(warned, /Your checkout switches to/)
  assert.equal((await place.called()).length, 2)
})

test("a pass in people's commit on the branch is reported as well", async () => {
  await using place = await openPlace([{ id: 'US-001' }, { id: 'US-002' }])
  await place.setScript({ 'US-001': [good('US-001')], 'US-002': [good('US-002')] })
  await place.ralph('run', '--once', ...place.agent, ...GATE, ...NO_JUDGE)
  const path = `${FOLDER}/prd.json`
  const prd = JSON.parse(await place.read(path))
  prd.userStories[1].passes = true
  await writeFile(join(place.repository, path), JSON.stringify(prd, null, 2))
  place.git('commit', '-qam', 'docs: it passes')
  const { out, err } = await place.ralph('run', ...place.agent, ...GATE, ...NO_JUDGE)
  assert.match(out + err, /has `passes: true` for US-002, which Ralph ignores/)
})

test("context.md keeps the documents' words and takes a session's, too", () => {
  assert.equal(joinContext('', ''), null)
  assert.equal(joinContext('## Overview\n\nA shop.\n', ''), '## Overview\n\nA shop.\n')
  assert.equal(joinContext('', 'Uses Fastify.'), 'Uses Fastify.')
  assert.equal(
    joinContext('## Overview\n\nA shop.\n', 'Uses Fastify.\n'),
    '## Overview\n\nA shop.\n\n## From the planning session\n\nUses Fastify.\n',
  )
})
