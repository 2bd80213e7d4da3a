// Archives of folders, for caches between jobs: a tar, and after it the digest of all its bytes, which shows an upload that was cut.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { appendFile, mkdtemp, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { messageOf } from './errors.ts'
import { type RunRequest, runUntrusted } from './process.ts'

const DIGEST_BYTES = 32

/** Paths below a folder. `as`: the user whose program reads or writes them, and so may do no more than that user. */
export type ArchivedPaths = Pick<RunRequest, 'env' | 'as' | 'signal' | 'timeoutMs'> & {
  folder: string
  paths: readonly string[]
}

/** Writes the archive of the paths. Not compressed: that takes longer than the upload, and an entry cannot unpack to more than its size. */
export async function packFolders(file: string, archived: ArchivedPaths): Promise<void> {
  await tar(['-c', '-f', '-'], archived, async (to, from) => {
    to.end()
    await pipeline(from, createWriteStream(file, { flags: 'wx', mode: 0o600 }))
  })
  await appendFile(file, await digestOf(file))
}

/**
 * Unpacks these paths of an archive, and nothing else that it holds. Rejects if the archive is not whole, or lacks a path. The digest
 * does not show a forged archive, which can have any. tar itself writes neither outside the folder nor through links of the archive.
 */
export async function unpackFolders(file: string, archived: ArchivedPaths): Promise<void> {
  if (!(await isWhole(file))) throw new Error('the entry is not whole')
  // The archive's owners and set-uid bits are not restored.
  const flags = ['--no-same-owner', '--no-same-permissions']
  await tar(['-x', ...flags, '-f', '-'], archived, async (to) => {
    // tar does not read what follows the archive's end.
    await pipeline(createReadStream(file), to).catch(() => {})
  })
}

/** What decides whether programs that were installed on one machine start on another. */
export function machineIdentity({ ImageOS = '' }: Readonly<Record<string, string>>): string[] {
  return [process.platform, process.arch, ImageOS, existsSync('/etc/alpine-release') ? 'musl' : 'libc']
}

/** The time limit, and who to report an error to. */
export type CacheAttempt = {
  /** What was tried, for the report: `restoring the agent`. */
  action: string
  timeoutMs: number
  signal?: AbortSignal | undefined
  report(line: string): void
}

/** Reports errors instead of throwing them: a cache must not fail a job. `work` gets the path of a file in `place` that does not exist. */
export async function withCacheFile(
  place: string,
  { action, timeoutMs, signal, report }: CacheAttempt,
  work: (file: string, signal: AbortSignal) => Promise<boolean>,
): Promise<boolean> {
  const limits = [AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])]
  const folder = await mkdtemp(join(place, '.installing-cache-'))
  try {
    return await work(join(folder, 'entry.tar'), AbortSignal.any(limits))
  } catch (error) {
    report(`${action} failed (to do without the cache, set cache: off): ${messageOf(error)}`)
    return false
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function digestOf(file: string, length = Number.POSITIVE_INFINITY): Promise<Buffer> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file, { end: length - 1 })) hash.update(chunk)
  return hash.digest()
}

async function isWhole(file: string): Promise<boolean> {
  await using handle = await open(file)
  const length = (await handle.stat()).size - DIGEST_BYTES
  if (length <= 0) return false
  const { buffer } = await handle.read(Buffer.alloc(DIGEST_BYTES), 0, DIGEST_BYTES, length)
  return buffer.equals(await digestOf(file, length))
}

/** The archive goes through pipes, since the user of tar may not read Ralph's files. */
async function tar(
  args: readonly string[],
  { folder, paths, ...how }: ArchivedPaths,
  transfer: (...streams: Parameters<NonNullable<RunRequest['dialogue']>>) => Promise<void>,
): Promise<void> {
  let transferred: Promise<unknown> = Promise.resolve()
  const { exit, output } = await runUntrusted({
    ...{ file: 'tar', args: [...args, '--', ...paths], cwd: folder, captureBytes: 4096, ...how },
    dialogue: (...streams) => {
      transferred = transfer(...streams).catch((error: unknown) => error)
    },
  })
  const error = await transferred
  if (error !== undefined) throw error
  if (exit.kind === 'exit' && exit.code === 0) return
  throw new Error(`tar: ${exit.kind} ${output.trim().split('\n').at(-1) ?? ''}`)
}
