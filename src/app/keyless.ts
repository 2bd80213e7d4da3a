// A key of minutes instead of a stored one: Ralph asks the runner for the job's identity and exchanges it. Only the proxy gets the key.
import type { AgentVendor } from '../agents/agent.ts'
import {
  type Ask,
  findKeyless,
  type Keyless,
  KeylessRefusal,
  renewingKey,
  type ShortKey,
} from '../agents/keyless/short-key.ts'
import { agentsWithKeyless } from '../agents/registry.ts'
import { asString, jsonObject } from '../engine/model/json.ts'
import type { Environment } from '../isolation/untrusted-env.ts'
import type { Settings } from '../settings/read-settings.ts'
import { messageOf, UserError } from '../system/errors.ts'
import { type ModelRelay, relayKeyless } from './relay.ts'

const TIMEOUT_MS = 30_000

type KeylessOptions = {
  settings: Pick<Settings, 'token'>
  env: Environment
  reach(port: number): Promise<number>
  warn(message: string): void
  ask?: Ask
  now?: () => number
}

/** The way that `auth: oidc` takes for this agent; null for `auth: key`. Throws UserError if it cannot be taken. */
export function keylessWay(
  vendor: AgentVendor,
  { auth, isolation, surface }: Pick<Settings, 'auth' | 'isolation' | 'surface'>,
  isSet: (variable: string) => boolean,
): Keyless | null {
  if (auth !== 'oidc') return null
  // On a laptop there is no job that has an identity: the key or login of the person counts.
  if (surface === 'cli' && !isSet('ACTIONS_ID_TOKEN_REQUEST_URL')) return null
  const way = findKeyless(vendor.keyless, isSet)
  const mistake = (found: string, expected: string, fix: string) =>
    new UserError({ path: 'auth', found, expected, fix })
  if (way === null) {
    const names = agentsWithKeyless().join(' or ')
    throw mistake(
      `auth: oidc does not work with ${vendor.name}; it works with ${names}.`,
      '',
      'set auth: key, or choose another agent',
    )
  }
  // The same user could read the token for identities in Ralph's own environment.
  if (isolation !== 'other-user')
    throw mistake(
      `auth: oidc needs isolation: other-user, because otherwise the agent could request an identity itself. Here, isolation is ${isolation}.`,
      '',
      'set isolation: other-user, or auth: key',
    )
  const lacking = way.needs.filter((variable) => !isSet(variable))
  if (lacking.length > 0)
    throw mistake(
      `${way.name} needs ${lacking.join(', ')} in the env of the step.`,
      '',
      'follow docs/how-to/keyless.md',
    )
  return way
}

/**
 * Opens the proxy with a key for the job's identity. The first exchange is made here: a refusal is a UserError before anything is charged.
 */
export async function openKeyless(
  vendor: AgentVendor,
  way: Keyless,
  options: KeylessOptions,
): Promise<ModelRelay> {
  const { env, reach, warn, ask = post, now = Date.now } = options
  const exchange = async (): Promise<ShortKey> => {
    const identity = await identityOf(way, options, ask)
    return await way.exchange(identity, env, ask, now())
  }
  const key = renewingKey(exchange, now, warn)
  try {
    await key()
  } catch (error) {
    throw new UserError({
      path: 'auth',
      found: `${way.name} gave no key: ${messageOf(error)}`,
      expected: '',
      fix: "compare the provider's rule with this workflow (docs/how-to/keyless.md)",
    })
  }
  return relayKeyless(vendor, way, env, key, reach, warn)
}

/** A new identity for each exchange: providers refuse one that was used before. */
async function identityOf(
  { identity, permission }: Keyless,
  { env, settings }: KeylessOptions,
  ask: Ask,
): Promise<string> {
  if (identity.kind === 'job-token') {
    if (settings.token !== null) return settings.token
    throw new KeylessRefusal('the step has no token: leave `token` at its default, the job token')
  }
  const { ACTIONS_ID_TOKEN_REQUEST_URL: address = '', ACTIONS_ID_TOKEN_REQUEST_TOKEN: token = '' } = env
  if (address === '' || token === '')
    throw new KeylessRefusal(
      `the job is not allowed to request an identity token. Add \`${permission}: write\` to its permissions`,
    )
  const url = `${address}&audience=${encodeURIComponent(identity.audience(env))}`
  const answer = await ask({
    url,
    headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
    body: '',
  })
  const value = answer.status === 200 ? asString(jsonObject(answer.body)?.value) : null
  if (value === null)
    throw new KeylessRefusal(`the runner did not issue an identity token: HTTP ${answer.status}`)
  return value
}

/** Never follows a redirect, which could send an identity anywhere. */
async function post({ url, headers, body }: Parameters<Ask>[0]): ReturnType<Ask> {
  const method = body === '' ? 'GET' : 'POST'
  const response = await fetch(url, {
    ...{ method, headers, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) },
    ...(body === '' ? {} : { body }),
  }).catch((error: unknown) => {
    const cause = error instanceof Error ? (error.cause ?? error) : error
    throw new KeylessRefusal(`${new URL(url).host} cannot be reached: ${messageOf(cause)}`)
  })
  return { status: response.status, body: (await response.text()).slice(0, MAX_ANSWER) }
}

const MAX_ANSWER = 64 * 1024
