// Whether an agent has anything to log in with. Asked before branch and pull request exist; it says no only where that is certain.
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** How a vendor's program is logged in. */
export type Login = {
  /** Variables that hold a key: those that people are told to set, the usual one first. */
  keys: readonly string[]
  /** Variables that may do without: another provider, a gateway, a folder with a login. */
  others: readonly string[]
  /** Files below HOME in which a login, or the way to one, may stand. */
  files: readonly string[]
  /** Files of the project that may name a key, or a program that gives one. */
  project: readonly string[]
}

export type LoginQuestion = {
  login: Login
  /** What the agent will see. */
  env: Readonly<Record<string, string>>
  /** Variables that the user gives the agent beside the vendor's own. */
  extraEnv: readonly string[]
  cwd: string
}

/** Why the agent certainly has no key, in words that name the variable and go on from `claude: `; null where it may have one. */
export async function missingKey({ login, env, extraEnv, cwd }: LoginQuestion): Promise<string | null> {
  const isSet = (name: string): boolean => (env[name] ?? '').trim() !== ''
  if ([...login.keys, ...login.others, ...extraEnv].some(isSet)) return null
  const home = env.HOME ?? ''
  const found = await Promise.all([
    ...login.files.map((path) => isThere(join(home, path))),
    ...login.project.map((path) => namesKey(join(cwd, path))),
  ])
  if (found.includes(true)) return null
  // `${{ secrets.NAME }}` of a secret that does not exist is an empty text.
  const empty = login.keys.filter((name) => env[name] !== undefined)
  if (empty.length > 0) return `${empty.join(' and ')} is empty: the secret is not there, or has another name`
  return `no key: none of ${login.keys.join(', ')} is set`
}

/** What cannot be looked at may be there. */
function isThere(path: string): Promise<boolean> {
  return access(path).then(() => true, isElse)
}

function namesKey(path: string): Promise<boolean> {
  return readFile(path, 'utf8').then((text) => /key|token|bedrock|vertex|foundry/i.test(text), isElse)
}

function isElse(error: NodeJS.ErrnoException): boolean {
  return error.code !== 'ENOENT' && error.code !== 'ENOTDIR'
}

/**
 * Whether an agent may be logged in where we do not look: by a keychain, or a program of that name that adds a key. Then
 * its own session tells.
 */
export function mayBeLoggedIn(
  env: Readonly<Record<string, string | undefined>>,
  how: { platform: string; isInstalledByUs: boolean; isWrapped: boolean },
): boolean {
  if (how.isWrapped) return true
  if (env.RUNNER_ENVIRONMENT === 'github-hosted') return false
  return (env.CI ?? '') === '' || how.platform === 'darwin' || !how.isInstalledByUs
}
