// What is put into the archive of a job: the report first, no link, nothing without end.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { unzipSync } from 'fflate'
import { artifactName } from '../../../src/action/runner.ts'
import { packUploads } from '../../../src/action/upload.ts'

async function top(files: Record<string, string | Buffer>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-upload-'))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return folder
}

test('report, logs and transcripts are uploaded; files elsewhere or behind a link are not', async () => {
  const outside = await top({ 'secret.log': 'secret' })
  const folder = await top({
    'report/auth.html': '<p>',
    'transcripts/US-001-1.log': 'a',
    'transcripts/US-001-2.log': 'b',
    'screenshots/1/a b.webp': 'c',
    'prompt.md': 'x',
  })
  await symlink(join(outside, 'secret.log'), join(folder, 'transcripts', 'US-001-3.log'))
  await symlink(outside, join(folder, 'transcripts', 'more'))
  await symlink(outside, join(folder, 'logs'))
  const { zip, files, left } = await packUploads(folder)
  const found = unzipSync(zip)
  assert.deepEqual(Object.keys(found), [
    'report/auth.html',
    'screenshots/1/a_b.webp',
    'transcripts/US-001-2.log',
    'transcripts/US-001-1.log',
  ])
  assert.deepEqual([files, left, Buffer.from(found['report/auth.html'] ?? []).toString()], [4, 0, '<p>'])
  assert.equal((await packUploads(join(folder, 'nowhere'))).files, 0)
  await Promise.all([rm(folder, { recursive: true }), rm(outside, { recursive: true })])
})

test('artifacts are at most 20 MB, and of a long file the end is kept', async () => {
  const noise = randomBytes(5_000_000)
  const many = Object.fromEntries(
    Array.from({ length: 9 }, (_, at) => [`transcripts/US-00${at}-1.log`, noise]),
  )
  const folder = await top({ ...many, 'report/auth.html': '<p>' })
  const { zip, files, left } = await packUploads(folder)
  assert.ok(zip.length <= 20_000_000, String(zip.length))
  assert.equal(files + left, 10)
  const found = unzipSync(zip)
  assert.ok(found['report/auth.html'] !== undefined)
  assert.ok(Buffer.from(found['transcripts/US-008-1.log'] ?? []).equals(noise.subarray(1_000_000)))
  await rm(folder, { recursive: true })
})

test("an artifact's name is valid whatever the feature is called", () => {
  assert.equal(artifactName('a:b*c', { id: 7, attempt: 2 }, 'whole'), 'ralph-a_b_c-7-2')
  assert.equal(artifactName('auth', { id: 7, attempt: 1 }, 'gate'), 'ralph-auth-7-1-gate')
})
