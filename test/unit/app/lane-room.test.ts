// How much room there is for work trees, on the disks of this machine.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { linkSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { laneRoomMistake, measureLaneRoom } from '../../../src/app/lane-room.ts'
import { place } from '../git/place.ts'

const FILE = 'head -c 5000 /dev/zero >file; git add .; git commit -qm file'

async function open() {
  const at = await place('sha1', FILE)
  const commit = at.shell('git rev-parse HEAD').trim()
  const measure = (cache: string) =>
    measureLaneRoom({ git: at.git, clone: at.git.clone }, commit, {
      env: { XDG_CACHE_HOME: cache },
      prepare: false,
    })
  return { ...at, measure }
}

test('a file system that reports no size refuses no work tree', async () => {
  using at = await open()
  const room = await at.measure('/proc')
  assert.equal(room.committed, 8192)
  assert.equal(laneRoomMistake(4, room), null)
})

test('space of work trees that a killed run left counts as free, since they are removed first', async () => {
  using at = await open()
  const cache = join(at.folder, 'cache')
  const before = await at.measure(cache)
  const hash = createHash('sha256').update(at.git.clone.gitDir).digest('hex').slice(0, 8)
  // Links: much to count, and little to write.
  const fill = (name: string) => {
    const left = join(cache, 'ralph', name, 'node_modules')
    mkdirSync(left, { recursive: true })
    writeFileSync(join(left, '0'), Buffer.alloc(32 * 1024 * 1024, 1))
    for (let count = 1; count < 400; count++) linkSync(join(left, '0'), join(left, `${count}`))
  }
  const isMore = async () => (await at.measure(cache)).free > before.free + 6e9
  fill('lane-another-x')
  assert.equal(await isMore(), false, 'the work tree of another checkout')
  fill(`lane-${hash}-x`)
  assert.equal(await isMore(), true)
})
