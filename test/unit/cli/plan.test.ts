// `ralph plan` on documents that have stories: read without an agent, shown, written all or none, and read again without harm.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openPlace } from './place.ts'

const LIST = '# Auth\n\n- [ ] Sign in with a passkey\n  - works offline\n- [x] Sign out\n'
const TODAY = new Date().toISOString().slice(0, 10)

test('a check list becomes the stories of a feature, and planning it again changes nothing', async () => {
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

test("a named tag of Task Master stays the plan's source, whichever is current", async () => {
  const task = (title: string) => ({ id: 1, title, testStrategy: 'x', status: 'pending' })
  const tags = { master: { tasks: [task('Old')] }, auth: { tasks: [task('Sign in')] } }
  const path = '.taskmaster/tasks/tasks.json'
  const files = { [path]: JSON.stringify(tags), '.taskmaster/state.json': '{"currentTag": "master"}' }
  await using place = await openPlace([{ id: 'US-001' }], files)
  await place.json('plan', 'auth', '--from', `${path}#auth`, '--yes')
  const prd = JSON.parse(await readFile(join(place.repository, `.ralph/${TODAY}-auth/prd.json`), 'utf8'))
  assert.deepEqual(Object.keys(prd.plannedFrom), [`${path}#auth`])
  const again = await place.json('plan', 'auth', '--yes')
  assert.deepEqual([again.written, again.storiesTotal], [[], 1])
})

test('two plans get two names, and one never changes the stories of another without --replace', async () => {
  const spec = (word: string) =>
    `# Implementation Plan\n\n- [ ] 1. ${word} first\n  - Do ${word}\n- [ ] 2. ${word} second\n`
  const files = { '.kiro/specs/alpha/tasks.md': spec('Alpha'), '.kiro/specs/beta/tasks.md': spec('Beta') }
  await using place = await openPlace([{ id: 'US-001' }], files)
  const alpha = await place.json('plan', '--from', '.kiro/specs/alpha', '--yes')
  const beta = await place.json('plan', '--from', '.kiro/specs/beta', '--yes')
  assert.deepEqual([alpha.feature, beta.feature], ['alpha', 'beta'])
  const path = join(place.repository, `.ralph/${TODAY}-alpha/prd.json`)
  const before = await readFile(path, 'utf8')
  const refused = await place.json('plan', 'alpha', '--from', '.kiro/specs/beta', '--yes')
  assert.equal(refused.outcome, 'error')
  assert.match(JSON.stringify(refused), /alpha.*planned from \.kiro\/specs\/alpha\/tasks\.md.*--replace/)
  assert.equal(await readFile(path, 'utf8'), before)
  const replaced = await place.json('plan', 'alpha', '--from', '.kiro/specs/beta', '--yes', '--replace')
  assert.match(JSON.stringify(replaced.stories), /Beta first/)
})
