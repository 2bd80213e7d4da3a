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
  /** A question to the vendor that costs nothing and that only a valid key is answered. */
  check?: (env: Readonly<Record<string, string>>) => KeyCheck | null
}

/** `key`: the variable that is tried. */
export type KeyCheck = {
  key: string
  url: string
  headers: Record<string, string>
  /** Whether the answer says that the key is wrong; else HTTP 401 does. */
  isRefused?(status: number, body: string): boolean
}

export type LoginQuestion = {
  login: Login
  /** What the agent will see. */
  env: Readonly<Record<string, string>>
  /** Variables that the user gives the agent beside the vendor's own. */
  extraEnv: readonly string[]
  cwd: string
}

/** Why the agent certainly has no valid key, in words that name the variable; null where it may have one. */
export async function keyTrouble(
  { login, env, extraEnv, cwd }: LoginQuestion,
  ask: typeof fetch = fetch,
): Promise<string | null> {
  const isSet = (name: string): boolean => (env[name] ?? '').trim() !== ''
  if ([...login.others, ...extraEnv].some(isSet)) return null
  const home = env.HOME ?? ''
  const found = await Promise.all([
    ...login.files.map((path) => isThere(join(home, path))),
    ...login.project.map((path) => namesKey(join(cwd, path))),
  ])
  if (found.includes(true)) return null
  if (login.keys.some(isSet)) return refusedKey(login.check?.(env) ?? null, ask)
  // `${{ secrets.NAME }}` of a secret that does not exist is an empty text.
  const empty = login.keys.filter((name) => env[name] !== undefined)
  if (empty.length > 0) return `${empty.join(' and ')} is empty: the secret is not there, or has another name`
  return `no key: none of ${login.keys.join(', ')} is set`
}

/** Only a clear no counts: without an answer, or with any other, the agent itself finds out. */
async function refusedKey(check: KeyCheck | null, ask: typeof fetch): Promise<string | null> {
  if (check === null) return null
  try {
    const answer = await ask(check.url, {
      headers: check.headers,
      redirect: 'error',
      signal: AbortSignal.timeout(CHECK_MS),
    })
    const body = [400, 401].includes(answer.status) ? await answer.text() : ''
    if (!(check.isRefused?.(answer.status, body) ?? answer.status === 401)) return null
    return `${check.key} is refused by ${new URL(check.url).host} (HTTP ${answer.status}): it is wrong or was revoked`
  } catch {
    return null
  }
}

const CHECK_MS = 5000

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
