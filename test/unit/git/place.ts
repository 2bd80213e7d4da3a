// A clone of real git with one empty commit, in a folder that goes away with it.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CatFile } from '../../../src/git/cat-file.ts'
import { Git, openClone } from '../../../src/git/git.ts'

const WHO = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@b',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@b',
}

/** `shell` works in the clone as a person does, `our` runs git as Ralph does. */
export async function place(format: 'sha1' | 'sha256' = 'sha1', how = '') {
  const folder = mkdtempSync(join(tmpdir(), 'git-'))
  const top = join(folder, 'clone')
  const env = { PATH: process.env.PATH ?? '', HOME: folder }
  const shell = (script: string, extra: Readonly<Record<string, string>> = {}, input = '', cwd = top) =>
    execFileSync('bash', ['-ec', script], { cwd, env: { ...env, ...WHO, ...extra }, input, encoding: 'utf8' })
  shell(`git init -q -b main --object-format=${format} clone`, {}, '', folder)
  shell(`git commit -q --allow-empty -m base; ${how}`)
  const clone = await openClone(top, env)
  const git = await Git.open(clone, env)
  const objects = new CatFile(git)
  const file = (oid: string) => join(top, '.git/objects', oid.slice(0, 2), oid.slice(2))
  return {
    folder,
    top,
    git,
    objects,
    base: clone.head ?? '',
    shell,
    our: async (args: readonly string[], input = '') => (await git.run(args, { input })).stdout.trim(),
    /** Where a loose object stands. */
    file,
    [Symbol.dispose]() {
      objects[Symbol.dispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
