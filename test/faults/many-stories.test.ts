// A state whose stories stand in several files, ended at every moment of being saved: the one before is there, or the new one,
// whole, and the next process goes on.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { stateOf, stories } from '../unit/engine/samples.ts'
import { place } from '../unit/git/place.ts'
import { openStore } from './many-stories.ts'
import { PRELOAD } from './points.ts'

const SAVE = fileURLToPath(new URL('save-many.ts', import.meta.url))
const MOMENTS = ['before', 'torn', 'after']

test('a save of 1,200 stories that is ended at any moment leaves the old state or the new one, whole', {
  timeout: 120_000,
}, async () => {
  using at = await place()
  const ids = Array.from({ length: 1200 }, (_, index) => `US-${index}`)
  const first = stateOf(stories(...ids), {
    green: at.base,
    base: { branch: 'main', sha: at.base },
    generation: 1,
  })
  const before = await openStore(at.top)
  await before.store.save(first)
  before.close()
  const folder = first.folder.replace('.ralph/', '')
  const [faults, images] = [join(at.folder, 'faults'), join(at.folder, 'images')]
  for (const made of [faults, images]) mkdirSync(made)
  const keys = Array.from({ length: 150 }, (_, n) => MOMENTS.map((when) => `${n + 1} ${when}`)).flat()
  const plan = { what: [at.top], images: Object.fromEntries(keys.map((key) => [key, join(images, key)])) }
  writeFileSync(join(faults, 'plans.json'), JSON.stringify({ 'save-many.ts-1': plan }))
  const env = { ...process.env, FAULTS: faults, NODE_OPTIONS: `--import=${PRELOAD}` }
  execFileSync(process.execPath, [SAVE, at.top, folder], { env, stdio: 'inherit' })
  const moments = keys.map((key) => join(images, key)).filter((image) => existsSync(image))
  const seen = new Set<number>()
  for (const image of moments) {
    const after = await openStore(image)
    const state = (await after.store.load(folder))?.state
    assert.ok(state !== undefined, image)
    seen.add(state.generation)
    assert.equal(state.prd.userStories.length, 1200)
    assert.equal(state.prd.userStories[700]?.passes, state.generation === 2, image)
    await after.store.save({ ...state, generation: 3 })
    assert.equal((await after.store.load(folder))?.state.generation, 3)
    after.close()
    const found = execFileSync('git', ['-C', image, 'fsck', '--strict'], { encoding: 'utf8', stdio: 'pipe' })
    assert.equal(found.replace(/^(?:dangling|notice).*\n/gm, ''), '')
  }
  assert.deepEqual([...seen].sort(), [1, 2])
  assert.ok(moments.length > 30, `${moments.length} moments`)
})
