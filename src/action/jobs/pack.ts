// Carries the changes of a session from job to job as a git pack, which is checked object by object when it comes in.
import { createHash } from 'node:crypto'
import { lstat, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { CatFile } from '../../git/cat-file.ts'
import type { Git } from '../../git/git.ts'
import { removeSync } from '../../system/files.ts'

/** A pack is read into memory. */
const MOST_BYTES = 256 * 1024 * 1024

/** Where the workflow's artifact steps take it from, and put it. */
export function packFile(git: Git): string {
  return join(git.clone.gitDir, 'ralph', 'handover', 'work.pack')
}

/** Writes what `commit` has and `base` has not. Gives the file's digest. */
export async function writePack(git: Git, commit: string, base: string): Promise<string> {
  const file = packFile(git)
  removeSync(dirname(file))
  await mkdir(dirname(file), { recursive: true })
  const start = join(dirname(file), 'pack')
  const name = await git.packBetween(commit, base, start)
  await rename(`${start}-${name}.pack`, file)
  for (const kind of ['idx', 'rev']) await rm(`${start}-${name}.${kind}`, { force: true })
  return digestOf(await readFile(file))
}

/** Takes the pack in. Gives why it cannot be used, or null. Nothing of it is checked out or run here. */
export async function readPack(git: Git, sha256: string): Promise<string | null> {
  const file = packFile(git)
  const found = await lstat(file).catch(() => null)
  if (found?.isFile() !== true) return 'there is no pack'
  if (found.size > MOST_BYTES) return `the pack has ${Math.round(found.size / 1024 / 1024)} MB`
  const bytes = await readFile(file)
  if (digestOf(bytes) !== sha256) return 'the pack is not the one that the work job wrote'
  // Every object of it is checked.
  const how = { input: bytes, accept: [1, 128] }
  const taken = await git.run(['index-pack', '--strict', '--fsck-objects', '--stdin'], how)
  return taken.code === 0 ? null : `the pack was refused: ${taken.stderr.trim().split('\n')[0] ?? ''}`
}

/** The code of a commit: every entry at its top but Ralph's own folder, whose times differ from job to job. */
export async function codeDigest(git: Git, objects: CatFile, commit: string): Promise<string> {
  const listed = await git.run(['ls-tree', '-z', '--full-tree', await treeIdOf(objects, commit)])
  const code = listed.stdout.split('\0').filter((entry) => !entry.endsWith('\t.ralph'))
  return digestOf(Buffer.from(code.join('\0')))
}

export async function treeIdOf(objects: CatFile, commit: string): Promise<string> {
  const tree = await objects.root(commit)
  if (tree === null) throw new Error(`there is no commit ${commit} in this clone`)
  return tree
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
