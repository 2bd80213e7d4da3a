// Caches an installed agent between jobs, as one file. The entry is untrusted, as others may write the repository's caches:
// it is unpacked into a folder of its own, and used only if its version is the wanted one and its program starts.
import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { appendFile, mkdtemp, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { CacheEntry, FileCache } from '../engine/model/ports.ts'
import { messageOf } from '../system/errors.ts'
import { readRegularFileSync } from '../system/files.ts'
import { runUntrusted } from '../system/process.ts'

/** For all of it: an installation takes no longer. */
const CACHE_TIMEOUT_MS = 60_000
/** Part of the cache key: entries of another format are not found. */
const FORMAT_VERSION = 1
const DIGEST_BYTES = 32
const MAX_PACKAGE_BYTES = 1_000_000

export type AgentCache = {
  cache: FileCache
  entry: CacheEntry
  env: Readonly<Record<string, string>>
  signal?: AbortSignal
  report(line: string): void
}

/**
 * A program for one system is none for another; another registry may have other bytes under that version. `registry`: what npm
 * says that it is, from variables, its own configuration and the user's.
 */
export function cacheEntryOf(
  name: string,
  spec: string,
  { env, registry }: { env: Readonly<Record<string, string>>; registry: string },
): CacheEntry {
  const libc = existsSync('/etc/alpine-release') ? 'musl' : 'libc'
  const machine = [process.platform, process.arch, env.ImageOS ?? '', libc]
  const made = JSON.stringify([FORMAT_VERSION, spec, ...machine, registry])
  const version = createHash('sha256').update(made).digest('hex')
  return { key: `ralph-agent-${name}-${process.platform}-${process.arch}-${version.slice(0, 16)}`, version }
}

/** Fills the folder, which is empty; false where nothing is kept, or the service does not answer. */
export async function restoreFromCache(folder: string, keeper: AgentCache): Promise<boolean> {
  return await reportingErrors('restoring the agent', keeper, folder, async (file, signal) => {
    if (!(await keeper.cache.get(keeper.entry, file, signal))) return false
    if (!(await isWhole(file))) throw new Error('the entry is not whole')
    // Without the archive's owners and set-uid bits; tar itself takes names that lead out of the folder for its own.
    const flags = ['--no-same-owner', '--no-same-permissions']
    await tar(['-x', ...flags, '-f', file, '-C', folder], keeper, signal)
    return true
  })
}

/** Once it is installed, and before anything that is not trusted has run in this job. */
export async function saveToCache(folder: string, keeper: AgentCache): Promise<void> {
  await reportingErrors('keeping the agent', keeper, folder, async (file, signal) => {
    // Not compressed: it takes longer than the upload, and an entry is never more than it seems.
    await tar(['-c', '-f', file, '-C', folder, 'node_modules'], keeper, signal)
    // A tar that ends too early may look like a shorter one; behind its end nothing is read.
    await appendFile(file, await digestOf(file))
    await keeper.cache.put(keeper.entry, file, signal)
    return true
  })
}

/** The version that the package in a folder says it has; null where it says none. */
export function versionIn(folder: string, name: string): string | null {
  const bytes = readRegularFileSync(join(folder, 'node_modules', name, 'package.json'), MAX_PACKAGE_BYTES)
  const version: unknown = JSON.parse(bytes?.toString('utf8') ?? '{}').version
  return typeof version === 'string' ? version : null
}

async function digestOf(file: string, length = Number.POSITIVE_INFINITY): Promise<Buffer> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file, { end: length - 1 })) hash.update(chunk)
  return hash.digest()
}

/** Detects a cut upload. No protection against a forged entry, which can have any digest. */
async function isWhole(file: string): Promise<boolean> {
  await using handle = await open(file)
  const length = (await handle.stat()).size - DIGEST_BYTES
  if (length <= 0) return false
  const { buffer } = await handle.read(Buffer.alloc(DIGEST_BYTES), 0, DIGEST_BYTES, length)
  return buffer.equals(await digestOf(file, length))
}

/** Reports errors instead of throwing them: a cache must not fail a job. */
async function reportingErrors(
  what: string,
  { report, signal }: AgentCache,
  beside: string,
  work: (file: string, signal: AbortSignal) => Promise<boolean>,
): Promise<boolean> {
  const limits = [AbortSignal.timeout(CACHE_TIMEOUT_MS), ...(signal === undefined ? [] : [signal])]
  const folder = await mkdtemp(join(dirname(beside), '.installing-cache-'))
  try {
    return await work(join(folder, 'agent.tar'), AbortSignal.any(limits))
  } catch (error) {
    report(`${what} did not succeed (cache: off leaves it out): ${messageOf(error)}`)
    return false
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function tar(args: readonly string[], { env }: AgentCache, signal: AbortSignal): Promise<void> {
  const how = { cwd: '/', env, timeoutMs: CACHE_TIMEOUT_MS, captureBytes: 4096, signal }
  const { exit, output } = await runUntrusted({ file: 'tar', args, ...how })
  if (exit.kind === 'exit' && exit.code === 0) return
  throw new Error(`tar: ${exit.kind} ${output.trim().split('\n').at(-1) ?? ''}`)
}
