// Paths whose content a filter writes (Git LFS, git-crypt): Ralph's git runs no filters, so it commits no such file.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openWorked } from './worked.ts'

async function place(base: string) {
  const folder = mkdtempSync(join(tmpdir(), 'filters-'))
  const top = join(folder, 'clone')
  const env = { PATH: process.env.PATH ?? '', HOME: folder }
  const shell = (script: string, cwd = top) =>
    execFileSync('bash', ['-ec', script], { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  shell('git init -q -b main clone', folder)
  shell(
    `git config user.name a; git config user.email a@b; echo a >a.js; ${base}; git add -A; git commit -qm base`,
  )
  const worked = await openWorked(top, env)
  await worked.repository.checkOut(worked.state.green, null)
  return {
    ...worked,
    shell,
    [Symbol.dispose]() {
      worked.objects[Symbol.dispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const LFS = `printf '*.bin filter=lfs diff=lfs merge=lfs -text\\n' >.gitattributes`
const CRYPT = `printf 'keys/** filter=git-crypt\\n' >.gitattributes`
const POINTER = `printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:${'0'.repeat(64)}\\nsize 12\\n'`

for (const [what, base, script, path] of [
  ['Git LFS, which the machine need not have', LFS, 'head -c 3000 /dev/zero >new.bin', 'new.bin'],
  ['Git LFS, and changes a pointer', `${LFS}; ${POINTER} >old.bin`, 'echo raw >old.bin', 'old.bin'],
  [
    'a filter that the clone has',
    `${CRYPT}; git config filter.git-crypt.required true`,
    'mkdir keys; echo key >keys/one',
    'keys/one',
  ],
] as const)
  test(`a session that adds a file of ${what}: refused with the reason, the rest of its work is saved`, async () => {
    using at = await place(base)
    at.shell(`${script}; echo work >>a.js`)
    const seen = await at.inspect()
    assert.equal(seen.kind, 'refused')
    assert.match(seen.failure?.summary ?? '', /the filter (?:lfs|git-crypt) of \.gitattributes/)
    assert.match(seen.failure?.detail ?? '', new RegExp(path.replace('.', '\\.')))
    const kept = await at.repository.saveWork(at.state, 'US-001')
    assert.deepEqual(kept?.dropped, [path])
    assert.equal(at.shell(`git diff --name-only ${at.state.green} ${kept?.tree}`), 'a.js\n')
  })

for (const [what, base, script] of [
  ['pointers that are moved', `${LFS}; ${POINTER} >old.bin`, 'mv old.bin new.bin'],
  ['a file that is removed', `${LFS}; ${POINTER} >old.bin`, 'rm old.bin'],
  ['a filter that nobody has set up', `printf '*.ipynb filter=strip\\n' >.gitattributes`, 'echo x >n.ipynb'],
] as const)
  test(`${what}: committed, as git would`, async () => {
    using at = await place(base)
    at.shell(script)
    assert.equal((await at.inspect()).kind, 'candidate')
  })
