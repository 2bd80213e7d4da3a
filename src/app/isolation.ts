// The users that agent and gates run as, and the network that they can reach.
import { hostname } from 'node:os'
import type { Clone } from '../git/open-clone.ts'
import type { ClosedNetwork } from '../isolation/closed-network.ts'
import { type OtherUser, openOtherUser } from '../isolation/other-user.ts'
import type { Environment } from '../isolation/untrusted-env.ts'
import type { Settings } from '../settings/read-settings.ts'
import { UserError } from '../system/errors.ts'

/** `agent` and `gates` are the same user, each with its own network. */
export type Isolation = {
  agent: OtherUser
  gates: OtherUser
  /** Makes a port of our loopback reachable for the agent. Returns the port by which the agent reaches it. */
  reach(port: number): Promise<number>
  /** How often a connection was refused, by `host:port`. */
  refused(): ReadonlyMap<string, number>
  close(): Promise<void>
}

/** The fix that people see if `same-user` is chosen in CI. */
export const SAME_USER_WARNING =
  "isolation: same-user: the agent runs as the user of the runner, and can read the job's tokens. If this user is root, or has sudo without a password, leave isolation out"
export const SAME_USER_NOTE =
  'the agent and the gates run as you, with your files and your network. To separate them: --isolation other-user (Linux, with sudo)'

type IsolationOptions = { settings: Settings; env: Environment; clone: Clone; report(text: string): void }

/** Sets up and tests the user that agent and gates run as; null for `same-user`. Throws UserError if that fails. */
export async function openIsolation(options: IsolationOptions): Promise<Isolation | null> {
  const { settings, env } = options
  if (settings.isolation !== 'other-user') return null
  const user = await openOtherUser(otherUserOptions(options))
  if (settings.network === 'open') {
    const reach = async (port: number) => port
    return { agent: user, gates: user, reach, refused: () => new Map(), close: user.close }
  }
  // These run in this order, also if opening fails half-way. The user's processes end first, before the network is opened again.
  const closeSteps: (() => PromiseLike<void>)[] = [user.close]
  try {
    refuseProxied(env)
    const { closeNetwork } = await import(/* webpackChunkName: "proxy" */ '../isolation/closed-network.ts')
    const { openConnectProxy } = await import(/* webpackChunkName: "proxy" */ '../isolation/connect-proxy.ts')
    const network = await closeNetwork(user)
    closeSteps.push(() => network[Symbol.asyncDispose]())
    const proxy = await openConnectProxy(settings.networkAllow)
    closeSteps.push(() => proxy[Symbol.asyncDispose]())
    const agent = withClosedNetwork(user, network, await network.reach(proxy.port))
    return {
      agent,
      gates: settings.gateNetwork === 'open' ? withOpenNetwork(user) : agent,
      reach: network.reach,
      refused: proxy.refused,
      close: () => runAll(closeSteps),
    }
  } catch (error) {
    await runAll(closeSteps).catch(() => {})
    throw error
  }
}

/** Runs all steps in order, also after one that throws. */
async function runAll([first, ...others]: readonly (() => PromiseLike<void>)[]): Promise<void> {
  try {
    await first?.()
  } finally {
    if (others.length > 0) await runAll(others)
  }
}

export function otherUserOptions({ env, clone, report }: Omit<IsolationOptions, 'settings'>) {
  const key = `${env.RUNNER_NAME ?? hostname()} ${clone.commonDir}`
  return { env, workTree: clone.workTree, gitDir: clone.commonDir, key, report }
}

function withClosedNetwork(
  user: OtherUser,
  { enter, sharesLoopback }: ClosedNetwork,
  port: number,
): OtherUser {
  const proxyUrl = `http://127.0.0.1:${port}`
  const proxyNames = ['HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy', 'http_proxy']
  const proxyVariables = Object.fromEntries(proxyNames.map((name) => [name, proxyUrl]))
  const withoutProxy = { NO_PROXY: 'localhost,127.0.0.1,::1', no_proxy: 'localhost,127.0.0.1,::1' }
  return {
    ...user,
    ...(sharesLoopback ? {} : { hasOwnLoopback: true }),
    command: (file, args, cwd, how) => user.command(file, args, cwd, { ...how, enter }),
    // Node's fetch uses the proxy variables only with NODE_USE_ENV_PROXY.
    env: (env) => ({
      ...user.env(env),
      ...proxyVariables,
      ...withoutProxy,
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
    found: `network: model does not work on a runner whose network needs a proxy (${found} is set).`,
    expected: '',
    fix: 'set network: open',
  })
}
