// Caches an installed agent between jobs, as one file. The entry is untrusted, as others may write the repository's caches. So it is
// unpacked into its own folder, and used only if its version is the wanted one and its program starts.
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import type { CacheEntry, FileCache } from '../engine/model/ports.ts'
import { machineIdentity, packFolders, unpackFolders, withCacheFile } from '../system/cache-archive.ts'
import { readRegularFileSync } from '../system/files.ts'

/** The time limit of a whole download or upload. Installing without the cache takes no longer. */
const CACHE_TIMEOUT_MS = 60_000
/** Part of the cache key, so that entries of another format are not found. */
const FORMAT_VERSION = 1
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
  const identity = JSON.stringify([FORMAT_VERSION, spec, ...machineIdentity(env), registry])
  const version = createHash('sha256').update(identity).digest('hex')
  return { key: `ralph-agent-${name}-${process.platform}-${process.arch}-${version.slice(0, 16)}`, version }
}

/** Fills an empty folder from the cache; false if the cache has no entry or does not answer. */
export async function restoreFromCache(folder: string, agentCache: AgentCache): Promise<boolean> {
  const { cache, entry } = agentCache
  return await inCacheFile('restoring the agent', folder, agentCache, async (file, signal) => {
    if (!(await cache.get(entry, file, signal))) return false
    await unpackFolders(file, archived(folder, agentCache, signal))
    return true
  })
}

/** Uploads an installed agent. Called before any untrusted program has run in this job. */
export async function saveToCache(folder: string, agentCache: AgentCache): Promise<void> {
  const { cache, entry } = agentCache
  await inCacheFile('keeping the agent', folder, agentCache, async (file, signal) => {
    await packFolders(file, archived(folder, agentCache, signal))
    await cache.put(entry, file, signal)
    return true
  })
}

function archived(folder: string, { env }: AgentCache, signal: AbortSignal) {
  return { folder, paths: ['node_modules'], env, signal, timeoutMs: CACHE_TIMEOUT_MS }
}

function inCacheFile(
  action: string,
  folder: string,
  { signal, report }: AgentCache,
  work: (file: string, signal: AbortSignal) => Promise<boolean>,
): Promise<boolean> {
  return withCacheFile(dirname(folder), { action, timeoutMs: CACHE_TIMEOUT_MS, signal, report }, work)
}

/** The version in the package.json of an installed package; null if it has none. */
export function versionIn(folder: string, name: string): string | null {
  const bytes = readRegularFileSync(join(folder, 'node_modules', name, 'package.json'), MAX_PACKAGE_BYTES)
  const version: unknown = JSON.parse(bytes?.toString('utf8') ?? '{}').version
  return typeof version === 'string' ? version : null
}
