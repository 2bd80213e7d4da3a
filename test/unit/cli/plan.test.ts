// `ralph plan` on documents that have stories: read without an agent, shown, written all or none, and read again without harm.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openPlace } from './place.ts'

const LIST = '# Auth\n\n- [ ] Sign in with a passkey\n  - works offline\n- [x] Sign out\n'
const TODAY = new Date().toISOString().slice(0, 10)

test('a check list becomes the stories of a feature; read again it changes nothing', async () => {
  await using place = await openPlace([{ id: 'US-001' }], { 'fix_plan.md': LIST })
  const first = await place.json('plan', 'auth', '--from', 'fix_plan.md', '--yes')
  assert.deepEqual(first.written, [`.ralph/${TODAY}-auth/prd.md`, `.ralph/${TODAY}-auth/prd.json`])
  const prd = JSON.parse(await readFile(join(place.repository, `.ralph/${TODAY}-auth/prd.json`), 'utf8'))
  const [open, done] = prd.userStories
  assert.deepEqual([open.title, open.passes], ['Sign in with a passkey', false])
  assert.equal(done.lastResult.imported, true)
  const again = await place.json('plan', 'auth', '--from', 'fix_plan.md', '--yes')
  assert.deepEqual(again.written, [])
  assert.equal((await place.json('status', 'auth')).storiesTotal, 2)
})
