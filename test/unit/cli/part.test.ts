// `ralph run --stories`, `--epic`: what `run`, `status`, `next` and `verify` say of a part of the feature.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GATE, openPlace } from './place.ts'

const STORIES = ['US-001', 'US-002', 'US-003'].map((id, at) => ({
  id,
  title: id,
  epicId: at === 2 ? '2' : '1',
  acceptanceCriteria: ['it works'],
}))
const writes = (id: string) => [{ files: { [`src/${id}.txt`]: id } }]

test('with --epic complete, every command names the epic, and the next run goes on with the rest', async () => {
  await using place = await openPlace(STORIES)
  await place.setScript(Object.fromEntries(STORIES.map(({ id }) => [id, writes(id)])))
  const flags = [...place.agent, ...GATE, '--no-final-verification']
  const next = await place.json('next', ...flags, '--epic', '2')
  assert.deepEqual([next.next, next.scope], [{ id: 'US-003', title: 'US-003', attempt: 1 }, part('2', 0)])

  const ran = await place.json('run', ...flags, '--epic', '2')
  assert.deepEqual(
    [ran.outcome, ran.storiesTotal, ran.storiesPassed, ran.scope],
    ['complete', 3, 1, part('2', 1)],
  )
  const { out } = await place.ralph('status', '--no-final-verification')
  assert.match(out, /Complete: 1 of 1 story of epic 2 passes; 2 others are not in this run/)
  assert.match(out, /Or continue with the other stories: ralph run\./)
  assert.deepEqual((await place.json('status', '--no-final-verification')).scope, part('2', 1))

  const both = await place.json('run', ...flags, '--stories', 'us-001', '--stories', 'US-002,US-003')
  assert.deepEqual([both.outcome, both.storiesPassed], ['complete', 3])
  const rest = await place.json('run', ...flags)
  assert.deepEqual([rest.outcome, rest.scope], ['complete', undefined])
})

function part(epic: string, passed: number) {
  return { stories: [], epic, total: 1, passed, notAskedFor: 2 }
}
