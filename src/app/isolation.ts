// As whom agent and gates run, and what of the network they have.
import { hostname } from 'node:os'
import type { Clone } from '../git/open-clone.ts'
import type { ClosedNetwork } from '../isolation/closed-network.ts'
import { type OtherUser, openOtherUser } from '../isolation/other-user.ts'
import type { Environment } from '../isolation/untrusted-env.ts'
import type { Settings } from '../settings/read-settings.ts'
import { UserError } from '../system/errors.ts'

/** `agent` and `gates` are one user, each with its network. */
export type Isolation = {
  agent: OtherUser
  gates: OtherUser
  /** The port at which the agent reaches a port of our loopback. */
  reach(port: number): Promise<number>
  /** What was asked for and refused: `host:port`, and how often. */
  refused(): ReadonlyMap<string, number>
  close(): Promise<void>
}

/** Where it is chosen in CI, on every surface. */
export const SAME_USER_WARNING =
  'isolation: same-user: the agent is the user of the runner, and can take the tokens of the job. Leave isolation out where root or sudo without a password is there'
export const SAME_USER_NOTE =
  'isolation: same-user: agent and gates run as you, with your files and your network; --isolation other-user keeps them apart (Linux, with sudo)'

type IsolationOptions = { settings: Settings; env: Environment; clone: Clone; say(text: string): void }

/** The user as whom agent and gates run, tried out; null for `same-user`. Throws UserError where it cannot be had. */
export async function openIsolation(options: IsolationOptions): Promise<Isolation | null> {
  const { settings, env } = options
  if (settings.isolation !== 'other-user') return null
  const user = await openOtherUser(otherUserOptions(options))
  if (settings.network === 'open') {
    const reach = async (port: number) => port
    return { agent: user, gates: user, reach, refused: () => new Map(), close: user.close }
  }
  // What stands already, also where the rest cannot be had. None of the user's processes lives to see its network opened.
  const close: (() => PromiseLike<void>)[] = [user.close]
  try {
    refuseProxied(env)
    const { closeNetwork } = await import(/* webpackChunkName: "proxy" */ '../isolation/closed-network.ts')
    const { openConnectProxy } = await import(/* webpackChunkName: "proxy" */ '../isolation/connect-proxy.ts')
    const network = await closeNetwork(user)
    close.push(() => network[Symbol.asyncDispose]())
    const wayOut = await openConnectProxy(settings.networkAllow)
    close.push(() => wayOut[Symbol.asyncDispose]())
    const agent = withClosedNetwork(user, network, await network.reach(wayOut.port))
    return {
      agent,
      gates: settings.gateNetwork === 'open' ? withOpenNetwork(user) : agent,
      reach: network.reach,
      refused: wayOut.refused,
      close: () => closeAll(close),
    }
  } catch (error) {
    await closeAll(close).catch(() => {})
    throw error
  }
}

async function closeAll([first, ...others]: readonly (() => PromiseLike<void>)[]): Promise<void> {
  try {
    await first?.()
  } finally {
    if (others.length > 0) await closeAll(others)
  }
}

export function otherUserOptions({ env, clone, say }: Omit<IsolationOptions, 'settings'>) {
  const key = `${env.RUNNER_NAME ?? hostname()} ${clone.commonDir}`
  return { env, workTree: clone.workTree, gitDir: clone.commonDir, key, say }
}

function withClosedNetwork(
  user: OtherUser,
  { enter, sharesLoopback }: ClosedNetwork,
  port: number,
): OtherUser {
  const proxy = `http://127.0.0.1:${port}`
  const variables = ['HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy', 'http_proxy'].map((name) => [name, proxy])
  const direct = { NO_PROXY: 'localhost,127.0.0.1,::1', no_proxy: 'localhost,127.0.0.1,::1' }
  return {
    ...user,
    ...(sharesLoopback ? {} : { hasOwnLoopback: true }),
    command: (file, args, cwd, how) => user.command(file, args, cwd, { ...how, enter }),
    // Node's own fetch goes by them where it is told to.
    env: (env) => ({
      ...user.env(env),
      ...Object.fromEntries(variables),
      ...direct,
      NODE_USE_ENV_PROXY: '1',
    }),
  }
}

function withOpenNetwork(user: OtherUser): OtherUser {
  return {
    ...user,
    command: (file, args, cwd, how) => user.command(file, args, cwd, { ...how, isOpen: true }),
  }
}

function refuseProxied(env: Environment): void {
  const found = ['HTTPS_PROXY', 'https_proxy'].find((name) => (env[name] ?? '') !== '')
  if (found === undefined) return
  throw new UserError({
    path: 'network',
    found: `network: model behind ${found}`,
    expected: 'a runner with a network of its own',
    fix: 'write network: open',
  })
}
