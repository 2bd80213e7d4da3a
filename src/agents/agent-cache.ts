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

/** The time limit of a whole download or upload. Installing without the cache takes no longer. */
const CACHE_TIMEOUT_MS = 60_000
/** Part of the cache key, so that entries of another format are not found. */
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
 * The key of a cache entry. It depends on the system and on the registry, which may have other bytes under the same version.
 * `registry`: as npm reads it from variables and its configuration.
 */
export function cacheEntryOf(
  name: string,
  spec: string,
  { env, registry }: { env: Readonly<Record<string, string>>; registry: string },
): CacheEntry {
  const libc = existsSync('/etc/alpine-release') ? 'musl' : 'libc'
  const machine = [process.platform, process.arch, env.ImageOS ?? '', libc]
  const identity = JSON.stringify([FORMAT_VERSION, spec, ...machine, registry])
  const version = createHash('sha256').update(identity).digest('hex')
  return { key: `ralph-agent-${name}-${process.platform}-${process.arch}-${version.slice(0, 16)}`, version }
}

/** Fills an empty folder from the cache; false where the cache has no entry or does not answer. */
export async function restoreFromCache(folder: string, agentCache: AgentCache): Promise<boolean> {
  return await reportingErrors('restoring the agent', agentCache, folder, async (file, signal) => {
    if (!(await agentCache.cache.get(agentCache.entry, file, signal))) return false
    if (!(await isWhole(file))) throw new Error('the entry is not whole')
    // The archive's owners and set-uid bits are not restored. tar itself does not write outside the folder.
    const flags = ['--no-same-owner', '--no-same-permissions']
    await tar(['-x', ...flags, '-f', file, '-C', folder], agentCache, signal)
    return true
  })
}

/** Uploads an installed agent. Called before any untrusted program has run in this job. */
export async function saveToCache(folder: string, agentCache: AgentCache): Promise<void> {
  await reportingErrors('keeping the agent', agentCache, folder, async (file, signal) => {
    // Not compressed: compressing takes longer than the upload, and an entry cannot unpack to more than its size.
    await tar(['-c', '-f', file, '-C', folder, 'node_modules'], agentCache, signal)
    // The digest shows a tar that was cut, which could look like a shorter one. tar ignores what follows the archive's end.
    await appendFile(file, await digestOf(file))
    await agentCache.cache.put(agentCache.entry, file, signal)
    return true
  })
}

/** The version in the package.json of an installed package; null where it has none. */
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

/** Whether the upload was complete. This does not detect a forged entry, which can have any digest. */
async function isWhole(file: string): Promise<boolean> {
  await using handle = await open(file)
  const length = (await handle.stat()).size - DIGEST_BYTES
  if (length <= 0) return false
  const { buffer } = await handle.read(Buffer.alloc(DIGEST_BYTES), 0, DIGEST_BYTES, length)
  return buffer.equals(await digestOf(file, length))
}

/** Reports errors instead of throwing them: a cache must not fail a job. */
async function reportingErrors(
  action: string,
  { report, signal }: AgentCache,
  siblingFolder: string,
  work: (file: string, signal: AbortSignal) => Promise<boolean>,
): Promise<boolean> {
  const limits = [AbortSignal.timeout(CACHE_TIMEOUT_MS), ...(signal === undefined ? [] : [signal])]
  const folder = await mkdtemp(join(dirname(siblingFolder), '.installing-cache-'))
  try {
    return await work(join(folder, 'agent.tar'), AbortSignal.any(limits))
  } catch (error) {
    report(`${action} did not succeed (cache: off leaves it out): ${messageOf(error)}`)
    return false
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function tar(args: readonly string[], { env }: AgentCache, signal: AbortSignal): Promise<void> {
  const options = { cwd: '/', env, timeoutMs: CACHE_TIMEOUT_MS, captureBytes: 4096, signal }
  const { exit, output } = await runUntrusted({ file: 'tar', args, ...options })
  if (exit.kind === 'exit' && exit.code === 0) return
  throw new Error(`tar: ${exit.kind} ${output.trim().split('\n').at(-1) ?? ''}`)
}
