// Removes the homes of sessions that a killed process left on this machine.
import * as homes from '../agents/home.ts'
import { everyHomeShare } from '../agents/registry.ts'
import type { Environment } from '../isolation/untrusted-env.ts'

/** Saves a login that a session had renewed there. Homes of processes that are alive are kept. */
export function removeLostHomes(env: Environment): Promise<void> {
  return homes.removeLostHomes(env, everyHomeShare())
}
