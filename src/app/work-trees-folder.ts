// Where Ralph keeps folders outside the checkout.
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '../isolation/untrusted-env.ts'

/** The folder for work trees alongside the checkout. It is not below the checkout: tools search parent folders for their files. */
export function workTreesFolder(env: Environment): string {
  const cache = env.XDG_CACHE_HOME ?? join(env.HOME ?? homedir(), '.cache')
  return env.RUNNER_TEMP === undefined ? join(cache, 'ralph') : join(env.RUNNER_TEMP, 'ralph')
}
