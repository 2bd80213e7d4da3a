// The token that a person has for GitHub on this machine.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** The token of the environment, else that of the GitHub CLI where a person has logged in; null if there is none. */
export async function tokenFor(server: string, env: Record<string, string>): Promise<string | null> {
  const token = env.GH_TOKEN || env.GITHUB_TOKEN
  if (token) return token
  const host = new URL(server).host
  const output = promisify(execFile)('gh', ['auth', 'token', '--hostname', host], { env, timeout: 5000 })
  return output.then(({ stdout }) => stdout.trim() || null).catch(() => null)
}
