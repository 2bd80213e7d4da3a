// Whether an agent can work: its program can be started, and it has a login. Checked before branch and pull request exist. A login
// counts as missing only if that is certain.
import { access, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { OtherUser } from '../isolation/other-user.ts'
import { describeExit, runUntrusted } from '../system/process.ts'
import { findProgram } from '../system/program.ts'
import type { AgentVendor, KeyCheck, Login } from './agent.ts'
import { lineWithoutKeys } from './session-end.ts'

export type Unready = { reason: string; fix: string }

export type Availability =
  | { ok: true; version: string }
  /** `isSlow`: the program exists, but did not answer in time. */
  | ({ ok: false; isSlow: boolean } & Unready)

export type AvailableOptions = { as?: OtherUser | null; signal?: AbortSignal; timeoutMs?: number }

/** Agents are large programs, which start slowly on a busy machine. */
const VERSION_TIMEOUT_MS = 2 * 60_000

/** Looks the program up in `env.PATH` and asks for its version. */
export async function checkAgent(
  vendor: AgentVendor,
  env: Readonly<Record<string, string>>,
  { timeoutMs = VERSION_TIMEOUT_MS, ...options }: AvailableOptions = {},
): Promise<Availability> {
  const { program } = vendor
  const file = findProgram(program, env.PATH ?? '')
  if (file === null) return { ok: false, isSlow: false, ...unready(vendor, notFoundReason(vendor)) }
  const args = ['--version']
  const cwd = dirname(file)
  const run = await runUntrusted({ ...options, file, args, env, timeoutMs, cwd, captureBytes: 4096 })
  const output = run.output.trim()
  if (run.exit.kind === 'exit' && run.exit.code === 0) {
    const version = /\d+\.\d+[\w.+-]*/.exec(output)
    return { ok: true, version: version?.[0] ?? lineWithoutKeys(output.split('\n')[0] ?? '') }
  }
  if (run.exit.kind === 'timeout') {
    const reason = `${program} is installed, but did not print its version within ${timeoutMs / 1000} seconds`
    return { ok: false, isSlow: true, reason, fix: 'run again when the machine is less busy' }
  }
  const reason = `${program} --version ${describeExit(run.exit)}${output === '' ? '' : `: ${output}`}`
  return { ok: false, isSlow: false, ...unready(vendor, reason) }
}

/** Why the agent's program cannot be started, without starting it; null if it is on the PATH. */
export function missingProgram(vendor: AgentVendor, path: string): Unready | null {
  return findProgram(vendor.program, path) === null ? unready(vendor, notFoundReason(vendor)) : null
}

function notFoundReason({ program }: AgentVendor): string {
  return `${program} is not on your PATH`
}

function unready({ npm, install }: AgentVendor, reason: string): Unready {
  const fix =
    npm === null
      ? install
      : `set agent-version, so that Ralph installs it, or install it yourself: ${install}`
  return { reason: lineWithoutKeys(reason), fix }
}

type LoginCheck = {
  login: Login
  /** The agent's environment. */
  env: Readonly<Record<string, string>>
  /** Variables that the user passes to the agent, in addition to the vendor's own. */
  extraEnv: readonly string[]
  cwd: string
}

/** Why it is certain that the agent has no valid key, with the variable's name; null if it may have one. */
export async function findKeyProblem(
  { login, env, extraEnv, cwd }: LoginCheck,
  fetchUrl: typeof fetch = fetch,
): Promise<string | null> {
  const isSet = (name: string): boolean => (env[name] ?? '').trim() !== ''
  if ([...login.alternatives, ...extraEnv].some(isSet)) return null
  const home = env.HOME ?? ''
  const haveLogin = await Promise.all([
    ...login.files.map((path) => exists(join(home, path))),
    ...login.projectFiles.map((path) => namesKey(join(cwd, path))),
  ])
  if (haveLogin.includes(true)) return null
  if (login.keys.some(isSet)) return findRefusedKey(login.check?.(env) ?? null, fetchUrl)
  // `${{ secrets.NAME }}` of a secret that does not exist is an empty text.
  const empty = login.keys.filter((name) => env[name] !== undefined)
  if (empty.length > 0)
    return `${empty.join(' and ')} is empty: the secret does not exist, or has another name`
  return `no key is set (${login.keys.join(', ')})`
}

/** Tries the key, and returns why it is refused. Only a clear refusal counts: after any other answer, or none, a session will show it. */
async function findRefusedKey(check: KeyCheck | null, fetchUrl: typeof fetch): Promise<string | null> {
  if (check === null) return null
  try {
    const answer = await fetchUrl(check.url, {
      headers: check.headers,
      redirect: 'error',
      signal: AbortSignal.timeout(CHECK_MS),
    })
    const body = [400, 401].includes(answer.status) ? await answer.text() : ''
    if (!(check.isRefused?.(answer.status, body) ?? answer.status === 401)) return null
    return `${new URL(check.url).host} refuses ${check.key} (HTTP ${answer.status}): the key is wrong or was revoked`
  } catch {
    return null
  }
}

const CHECK_MS = 5000

/** Whether a path exists. Also true if that cannot be seen, for example without permission. */
function exists(path: string): Promise<boolean> {
  return access(path).then(() => true, mayExist)
}

function namesKey(path: string): Promise<boolean> {
  return readFile(path, 'utf8').then((text) => /key|token|bedrock|vertex|foundry/i.test(text), mayExist)
}

function mayExist(error: NodeJS.ErrnoException): boolean {
  return error.code !== 'ENOENT' && error.code !== 'ENOTDIR'
}

/**
 * Whether an agent may have a login that Ralph cannot see: in a keychain, or from a wrapper that adds a key. Only a session can
 * show whether it has.
 */
export function mayBeLoggedIn(
  env: Readonly<Record<string, string | undefined>>,
  conditions: { platform: string; isInstalledByUs: boolean; isWrapped: boolean },
): boolean {
  if (conditions.isWrapped) return true
  if (env.RUNNER_ENVIRONMENT === 'github-hosted') return false
  return (env.CI ?? '') === '' || conditions.platform === 'darwin' || !conditions.isInstalledByUs
}
