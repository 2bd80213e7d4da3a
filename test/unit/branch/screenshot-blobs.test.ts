// Pictures of pages: kept by the state's commit, read by every later job.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeScreenshot } from '../../../src/branch/screenshot-blobs.ts'
import { createStore } from '../../../src/branch/store.ts'
import type { Screenshot } from '../../../src/engine/model/gate.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { emptyRecord } from '../../../src/engine/state/state-updates.ts'
import { takeSnapshot } from '../../../src/git/clone.ts'
import { stateOf, stories } from '../engine/samples.ts'
import { place } from '../git/place.ts'

const shot = (blob: string, before: string | null = null): Screenshot => {
  return { url: 'http://localhost:3000/', viewport: '1280x800', blob, bytes: 4, before }
}

const webp = (text: string) => Buffer.from(`RIFF....WEBP${text}`)

function withPictures(state: State, screenshots: Screenshot[]): State {
  const gate = {
    name: 'browser',
    ok: true,
    advisory: false,
    ended: 'no fault',
    ms: 1,
    output: '',
    screenshots,
  }
  return { ...state, records: { 'US-001': { ...emptyRecord(), gates: [gate] } } }
}

for (const format of ['sha1', 'sha256'] as const) {
  test(`screenshots that a state names exist in another clone that loads the state (${format})`, async () => {
    using at = await place(format)
    at.shell(`git init -q --bare --object-format=${format} ../remote.git && git push -q ../remote.git main`)
    const remote = { url: join(at.folder, 'remote.git'), env: {} }
    const options = { namespace: 'refs/ralph', remote, publishRemote: null, leaseMs: 1000 }
    const store = createStore(at.git, at.objects, { ...options, snapshot: await takeSnapshot(at.git, true) })
    const after = await writeScreenshot(at.git, webp('new'))
    const before = await writeScreenshot(at.git, webp('old'))
    const plain = stateOf(stories('US-001'), { green: at.base, base: { branch: 'main', sha: at.base } })
    await store.save(withPictures(plain, [shot(after, before)]))

    using other = await place(format)
    const there = createStore(other.git, other.objects, {
      ...options,
      snapshot: await takeSnapshot(other.git, true),
    })
    assert.equal(await there.readScreenshot(after), null)
    await there.load(plain.folder.replace('.ralph/', ''))
    assert.deepEqual(await there.readScreenshot(after), webp('new'))
    assert.deepEqual(await there.readScreenshot(before), webp('old'))
    const listed = execFileSync('git', ['ls-tree', '-r', '--name-only', 'refs/ralph/2026-01-10-auth'], {
      cwd: join(at.folder, 'remote.git'),
      encoding: 'utf8',
    })
    const wanted = [after, before].sort().map((blob) => `.ralph-state/screenshots/${blob}.webp`)
    assert.deepEqual(listed.trim().split('\n'), [...wanted, '.ralph-state/state.json'])
    // A later attempt has others: this commit does not hold them any more.
    await store.save(plain)
    assert.equal(
      at.shell(`git -C ../remote.git ls-tree -r --name-only refs/ralph/2026-01-10-auth`).trim(),
      '.ralph-state/state.json',
    )
  })
}

test('screenshots that are gone, or never existed, are left out', async () => {
  using at = await place()
  const options = { namespace: 'refs/ralph', remote: null, publishRemote: null, leaseMs: 1000 }
  const store = createStore(at.git, at.objects, { ...options, snapshot: await takeSnapshot(at.git, false) })
  const blob = await writeScreenshot(at.git, webp('new'))
  const gone = 'a'.repeat(40)
  await store.save(
    withPictures(stateOf(stories('US-001'), { green: at.base, base: { branch: 'main', sha: at.base } }), [
      shot(blob, gone),
      shot(at.base),
    ]),
  )
  const names = await at.our(['ls-tree', '-r', '--name-only', 'refs/ralph/2026-01-10-auth'])
  assert.equal(names, `.ralph-state/screenshots/${blob}.webp\n.ralph-state/state.json`)
  assert.equal(await store.readScreenshot(gone), null)
  assert.equal(await store.readScreenshot('../../etc/passwd'), null)
  const text = await writeScreenshot(at.git, Buffer.from('no picture'))
  assert.equal(await store.readScreenshot(text), null)
})
