// Nothing that is not trusted runs while checkout's credentials lie about.
import * as core from '@actions/core'
import { setCredentialsAside } from '../git/credentials.ts'
import type { ActionContext } from './context.ts'

/** Does `act` while they are out of sight, and tells it their values; says what could not be moved, or given back. */
export async function withCredentialsAside<T>(
  context: ActionContext,
  act: (secrets: readonly string[]) => Promise<T>,
): Promise<T> {
  const credentials = await setCredentialsAside(context.workspace, context.env)
  for (const file of credentials.remaining)
    core.warning(`${file} holds a credential that the agent can read: remove it before this step`)
  try {
    return await act(credentials.secrets)
  } finally {
    for (const file of await credentials.restore())
      core.warning(
        `${file}: somebody has replaced its folder, so checkout's credentials are not put back there`,
      )
  }
}
