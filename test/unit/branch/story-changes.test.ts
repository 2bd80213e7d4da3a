// How much each story changed, counted from the commits of a run.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changesByStory } from '../../../src/branch/story-changes.ts'
import { place } from '../git/place.ts'

const commit = (message: string) => `git add -A; git commit -q -m '${message}'`

test('files and lines of a story are counted over its commits, without the files of Ralph and of others', async () => {
  const trailers = (id: string, nonce = 'n1') => `\n\nRalph-Story: ${id}\nRalph-Run: ${nonce}`
  using at = await place(
    'sha1',
    [
      `printf 'a\\nb\\n' > one.txt; ${commit('base')}`,
      `printf 'a\\nc\\nd\\n' > one.txt; mkdir .ralph; echo x > .ralph/prd.json; ${commit(`feat: US-001${trailers('US-001')}`)}`,
      `printf 'e\\n' > two.txt; ${commit(`fix: US-001${trailers('US-001')}`)}`,
      `printf '\\0\\1' > 'odd	name.bin'; ${commit(`feat: US-002${trailers('US-002')}`)}`,
      `echo f > three.txt; ${commit(`feat: other${trailers('US-003', 'n2')}`)}`,
    ].join('\n'),
  )
  const base = at.shell('git rev-parse HEAD~4').trim()
  const green = at.shell('git rev-parse HEAD').trim()
  const state = { base: { sha: base, branch: 'main' }, green, nonce: 'n1' }
  assert.deepEqual(await changesByStory(at.git, state), {
    'US-001': { files: 2, added: 3, removed: 1 },
    'US-002': { files: 1, added: 0, removed: 0 },
  })
  assert.deepEqual(await changesByStory(at.git, { ...state, nonce: '' }), {})
})
