// A HOME that the agent can use: some of them end at once, or hang, where it is missing or cannot be written.

import { mkdir, mkdtemp, rmdir } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import type { AgentVendor } from './agent.ts'

/**
 * The HOME for the agent: the user's, or `ours` (made if need be) where that is missing. One that is there and cannot be
 * written is kept for a vendor that only reads it, since its login is there; others get `ours`.
 */
export async function homeFor(vendor: AgentVendor, home: string | undefined, ours: string): Promise<string> {
  if (home !== undefined && isAbsolute(home) && (!vendor.writesHome || (await writable(home)))) return home
  await mkdir(ours, { recursive: true })
  return ours
}

/** Tried out: a mode says nothing to root, and nothing of a file system that is mounted to be read. */
async function writable(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { recursive: true })
    await rmdir(await mkdtemp(join(folder, '.ralph-')))
    return true
  } catch {
    return false
  }
}
