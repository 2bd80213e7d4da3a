// The state between two saves, in a file next to Ralph's refs.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createStore } from '../../../src/branch/store.ts'
import { LeaseLost } from '../../../src/engine/model/ports.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { takeSnapshot } from '../../../src/git/clone.ts'
import { stateOf, stories } from '../engine/samples.ts'
import { place } from '../git/place.ts'

const REF = 'refs/ralph/2026-01-10-auth'
const FOLDER = '2026-01-10-auth'

/** A clone with a saved state, and two stores of it: one of the run, and one of whoever reads it. */
async function saved(count = 1) {
  const here = await place()
  const snapshot = await takeSnapshot(here.git, false)
  const options = { namespace: 'refs/ralph', remote: null, publishRemote: null, snapshot, leaseMs: 60_000 }
  const open = () => createStore(here.git, here.objects, options)
  const run = open()
  const ids = Array.from({ length: count }, (_, at) => `US-${String(at + 1).padStart(3, '0')}`)
  const state: State = {
    ...stateOf(stories(...ids), { green: here.base, base: { branch: 'main', sha: here.base } }),
    folder: `.ralph/${FOLDER}`,
  }
  await run.save(state)
  const note = run.note ?? assert.fail('a store without remote takes notes')
  return {
    ...here,
    run,
    state,
    note,
    file: join(here.git.shared, `state-${FOLDER}.json`),
    ref: () => here.shell(`git rev-parse ${REF}`).trim(),
    read: async () => (await open().load(FOLDER))?.state,
    open,
    [Symbol.dispose]: () => here[Symbol.dispose](),
  }
}

/** Another state, by its last commit that people saw. */
const changed = (state: State, comment: number): State => ({
  ...state,
  control: { ...state.control, lastComment: comment },
})

test('a noted state is read instead of the saved one, and no git object is written', async () => {
  using here = await saved()
  const before = here.ref()
  const objects = () => readdirSync(join(here.top, '.git/objects'), { recursive: true }).length
  const count = objects()
  await here.note(changed(here.state, 7))
  assert.equal(here.ref(), before)
  assert.equal(objects(), count)
  assert.equal((await here.read())?.control.lastComment, 7)
  await here.note(changed(here.state, 8))
  assert.equal((await here.read())?.control.lastComment, 8)
})

test('the next save replaces the note, whoever makes it', async () => {
  using here = await saved()
  await here.note(changed(here.state, 7))
  const next = here.open()
  const loaded = (await next.load(FOLDER))?.state ?? assert.fail()
  await next.save(changed(loaded, 9))
  assert.equal((await here.read())?.control.lastComment, 9)
  assert.ok(!existsSync(here.file), 'nothing is left')
  await assert.rejects(here.note(changed(here.state, 10)), LeaseLost)
  assert.equal((await here.read())?.control.lastComment, 9)
})

test('a note that follows another commit, or is damaged, counts for nothing', async () => {
  using here = await saved()
  await here.note(changed(here.state, 7))
  const note = readFileSync(here.file, 'utf8')
  await here.run.save(changed(here.state, 8))
  for (const text of [note, '', '{', '[]', '{"follows":1}', note.slice(0, note.length / 2)]) {
    writeFileSync(here.file, text)
    assert.equal((await here.read())?.control.lastComment, 8, text.slice(0, 20))
  }
  const current = note.replace(/"follows":"[0-9a-f]+"/, `"follows":"${here.ref()}"`)
  writeFileSync(here.file, current.replace('\\"nonce\\":', '\\"other\\":'))
  assert.equal((await here.read())?.control.lastComment, 8, 'it is no state')
  writeFileSync(here.file, current)
  assert.equal((await here.read())?.control.lastComment, 7, 'else it would count')
})

test('a note of a large state names the files that a save wrote, and survives git gc', async () => {
  using here = await saved(1200)
  await here.note(changed(here.state, 7))
  assert.ok(readFileSync(here.file).length < 20_000, 'the stories are not written again')
  here.shell('git gc -q --prune=now')
  const noted = (await here.read()) ?? assert.fail()
  assert.equal(noted.control.lastComment, 7)
  assert.equal(noted.prd.userStories.length, 1200)
})

test('if the ref is gone, the state is saved instead, which restores it', async () => {
  using here = await saved()
  const file = join(here.git.shared, REF)
  here.shell(`rm '${file}'`)
  await here.note(changed(here.state, 7))
  assert.ok(existsSync(file))
  assert.equal((await here.read())?.control.lastComment, 7)
})

test('whoever follows the run sees that a note was taken', async () => {
  using here = await saved()
  const version = async () => (await here.open().list()).get(FOLDER)
  const before = await version()
  await here.note(changed(here.state, 7))
  const noted = await version()
  assert.notEqual(noted, before)
  await here.note(changed(here.state, 8))
  assert.notEqual(await version(), noted)
})
