// Writes Ralph's own git directory, `.git/ralph/git`: its configuration, ignore rules and boundaries.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { lstat, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isFolderSync, readRegularFileSync, removeSync, replaceFile } from '../system/files.ts'
import { fsPath } from '../system/path-text.ts'
import type { Clone } from './open-clone.ts'
import type { Permissions } from './sharing.ts'

/** Milliseconds. The program that made an older lock is gone. */
const STALE_MS = 10_000
/**
 * git syncs objects and refs to the disk, and waits for a ref's lock longer than a lock can be valid. `batch`: the new objects of a
 * command are written out together and the disk is flushed once, which takes a fraction of the time. The ref that names them is synced
 * by itself afterwards.
 */
export const REF_SETTINGS = [
  'fsync=loose-object,reference',
  'fsyncMethod=batch',
  `filesRefLockTimeout=${STALE_MS + 2000}`,
]

/** Settings of the clone that change what `git add` and `git checkout` do with bytes and names. */
const ADOPTED_SETTINGS =
  /^(core\.(autocrlf|eol|safecrlf|ignorecase|filemode|symlinks|sharedrepository|precomposeunicode|protecthfs|protectntfs|longpaths|bigfilethreshold)|user\.(name|email)|extensions\.objectformat)$/

/** git's caches of commits and packs. git trusts them, and an agent that writes into .git could forge them. */
export const UNTRUSTED_GIT_CACHES = ['commitGraph', 'multiPackIndex']

const FIXED_CONFIG = `[gc]
	auto = 0
[maintenance]
	auto = false
[protocol "ext"]
	allow = never
[protocol "file"]
	allow = user
[advice]
	detachedHead = false
[fetch]
	recurseSubmodules = false
[submodule]
	recurse = false
[commit]
	gpgSign = false
[http]
	lowSpeedLimit = 1
	lowSpeedTime = 60
`

/** `own`: the directory with the index of one work tree. `shared`: the directory with refs and configuration of all work trees. */
export type Directories = { own: string; shared: string; permissions: Permissions }

/** Rewrites the directory, and undoes all changes in it. `ignored`: the user's own ignore rules. */
export async function writeDirectory(
  clone: Clone,
  { own, shared, permissions }: Directories,
  ignored: Buffer,
): Promise<void> {
  for (const folder of [own, join(shared, 'refs'), join(shared, 'info')]) {
    if (isFolderSync(folder)) continue
    mkdirSync(folder, { recursive: true })
    permissions.share(dirname(dirname(folder)), dirname(folder), folder)
  }
  const rules = join(shared, 'info', 'ignored')
  const files: [string, string | Buffer][] = [
    [join(shared, 'config'), configOf(clone, rules)],
    [join(own, 'HEAD'), 'ref: refs/heads/ralph-unborn\n'],
    [join(shared, 'info', 'exclude'), readRegularFileSync(join(clone.commonDir, 'info', 'exclude')) ?? ''],
    [rules, ignored],
    [join(shared, 'info', 'attributes'), ''],
  ]
  // Files that would redirect git, or change the history that it sees.
  const foreign = [join(shared, 'info', 'grafts'), join(own, 'config.worktree')]
  foreign.push(join(shared, 'info', 'sparse-checkout'))
  // This file, not the environment, tells git where the refs are.
  if (own === shared) foreign.push(join(own, 'commondir'))
  else files.push([join(own, 'commondir'), `${shared}\n`])
  for (const file of foreign) removeSync(file)
  const shallow = new Set([...shallowCommits(clone.commonDir), ...shallowCommits(shared)])
  if (shallow.size > 0) files.push([join(shared, 'shallow'), `${[...shallow].join('\n')}\n`])
  for (const [file, text] of files) await writeOwn(file, text, permissions)
}

function configOf({ config }: Clone, ignored: string): string {
  const core = ['repositoryformatversion = 1', 'bare = false', 'hooksPath = /dev/null', 'fsmonitor = false']
  core.push(`excludesFile = ${quoted(ignored)}`, ...REF_SETTINGS, 'attributesFile = /dev/null')
  core.push(...UNTRUSTED_GIT_CACHES.map((name) => `${name} = false`))
  const adopted = [...config].filter(([key]) => ADOPTED_SETTINGS.test(key))
  const lines = adopted.map(([key, value]) => {
    const [group = '', name = ''] = key.split('.')
    return `[${group}]\n\t${name} = ${quoted(value)}\n`
  })
  return `[core]\n${core.map((line) => `\t${line}\n`).join('')}${FIXED_CONFIG}${lines.join('')}`
}

/** A value in git's configuration. */
export function quoted(value: string): string {
  return `"${value.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n')}"`
}

/** The commits of a git directory whose parents were left out when it was cloned; none in a whole clone. */
export function shallowCommits(directory: string): string[] {
  const text = readRegularFileSync(join(directory, 'shallow'))?.toString('utf8') ?? ''
  return text.split('\n').filter(Boolean)
}

/** Writes a file unless it already has this content. */
async function writeOwn(file: string, text: string | Buffer, permissions: Permissions): Promise<void> {
  const wanted = Buffer.from(text)
  if (readRegularFileSync(file)?.equals(wanted) === true) return
  await replaceFile(file, wanted)
  permissions.share(file)
}

/** Replaces a file by a rename, whatever is there. Throws if it is on another file system. */
export function renameIntoPlace({ own }: { own: string }, bytes: string | Buffer, file: string): void {
  const fresh = join(own, 'fresh')
  removeSync(fresh)
  writeFileSync(fresh, bytes, { flag: 'wx' })
  try {
    renameSync(fresh, fsPath(file))
  } catch {
    removeSync(file)
    renameSync(fresh, fsPath(file))
  }
}

/** Removes stale locks of refs, left by a git that died, for example in a power cut. git itself never removes them. */
export async function removeStaleLocks(directory: string): Promise<void> {
  const entries = await readdir(join(directory, 'refs'), { recursive: true }).catch(() => [])
  const locks = entries.filter((name) => name.endsWith('.lock')).map((name) => join('refs', name))
  for (const name of [...locks, 'packed-refs.lock']) await removeStaleLock(join(directory, name))
}

/** `staleMs`: milliseconds after which the program that made it is gone. */
export async function removeStaleLock(file: string, staleMs = STALE_MS): Promise<void> {
  const found = await lstat(file).catch(() => null)
  if (found !== null && Math.abs(Date.now() - found.mtimeMs) > staleMs) await rm(file, { force: true })
}
