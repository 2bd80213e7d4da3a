// Hands the changes of a session from job to job over as a git pack. Every object is checked when the pack is read.
import { createHash } from 'node:crypto'
import { lstat, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { CatFile } from '../../git/cat-file.ts'
import type { Git } from '../../git/git.ts'
import { removeSync } from '../../system/files.ts'

/** The largest pack: it is read into memory. */
const MAX_BYTES = 256 * 1024 * 1024

/**
 * The path that the artifact steps of the workflow upload from and download to. Of several artifacts each has its own folder, by
 * its name: one cannot hold the file of another.
 */
export function packFile(git: Git, artifact = ''): string {
  return join(git.clone.gitDir, 'ralph', 'handover', artifact, 'work.pack')
}

/** The name of a worker's artifact; empty if there is one artifact. */
export function packArtifact({ attempt }: { attempt: number }, worker: string | null): string {
  return worker === null ? '' : `ralph-work-${attempt}-${worker}`
}

/** Writes the objects of `commit` that `base` does not have. Gives the file's SHA-256. */
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

/** Whether the artifact with the pack was downloaded. */
export async function hasPack(git: Git, artifact = ''): Promise<boolean> {
  const found = await lstat(packFile(git, artifact)).catch(() => null)
  return found?.isFile() === true
}

/** Adds the pack's objects to the clone. Gives why that cannot be done, or null. Nothing is checked out or run. */
export async function readPack(git: Git, sha256: string, artifact = ''): Promise<string | null> {
  const file = packFile(git, artifact)
  const found = await lstat(file).catch(() => null)
  if (found?.isFile() !== true) return 'the artifact has no pack file with the changes'
  if (found.size > MAX_BYTES)
    return `the pack file with the changes is too large (${Math.round(found.size / 1024 / 1024)} MB)`
  const bytes = await readFile(file)
  if (digestOf(bytes) !== sha256) return 'the pack file is not the one that the work job wrote'
  // The pack is hostile: git checks every object of it.
  const options = { input: bytes, accept: [1, 128] }
  const result = await git.run(['index-pack', '--strict', '--fsck-objects', '--stdin'], options)
  return result.code === 0 ? null : `git refused the pack file: ${result.stderr.trim().split('\n')[0] ?? ''}`
}

/** A digest of a commit's code: all entries of its root except `.ralph`, which has times that differ from job to job. */
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
