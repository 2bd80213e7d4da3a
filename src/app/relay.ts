// The agent's way to its model where it is not to hold the key: a proxy of ours in the place of the vendor's server.
import type { AgentVendor } from '../agents/agent.ts'
import type { ModelProxy } from '../isolation/model-proxy.ts'
import type { Environment } from '../isolation/untrusted-env.ts'
import { UserError } from '../system/errors.ts'

export type ModelRelay = {
  proxy: ModelProxy
  /** The agent's environment with the proxy's address and key, and without the vendor's. */
  env: Environment
  args: readonly string[]
  /** Requests are passed on until it is disposed: code of the agent's runs in gates, too. */
  admit(): Disposable
}

/** Null where the agent is set up in a way that no proxy can stand in. `reach`: the port as the agent reaches it. */
export async function relayModel(
  { relay, name }: AgentVendor,
  env: Environment,
  reach: (port: number) => Promise<number>,
  warn: (message: string) => void,
): Promise<ModelRelay | null> {
  const isSet = (variable: string) => (env[variable] ?? '').trim() !== ''
  const keyName = relay?.keys.find(isSet)
  if (relay === undefined || keyName === undefined || relay.unless.some(isSet)) return null
  const given = relay.base !== null && isSet(relay.base) ? env[relay.base] : relay.upstream
  if (given == null) return null
  // `URL.parse` is not there on Node 20.
  const upstream = URL.canParse(given.trim()) ? new URL(given.trim()) : null
  if (upstream === null || !/^https?:$/.test(upstream.protocol)) {
    const expected = `the address of ${name}'s model`
    throw new UserError({ path: `env ${relay.base}`, found: given, expected, fix: 'write an https URL' })
  }
  const { openModelProxy } = await import(/* webpackChunkName: "proxy" */ '../isolation/model-proxy.ts')
  let sessions = 0
  const key = env[keyName]?.trim() ?? ''
  const proxy = await openModelProxy({ upstream, key, warn, isOpen: () => sessions > 0 })
  const url = `http://127.0.0.1:${await reach(proxy.port)}`
  const others = Object.entries(env).filter(([variable]) => !relay.keys.includes(variable))
  return {
    proxy,
    env: {
      ...Object.fromEntries(others),
      [keyName]: proxy.key,
      ...(relay.base === null ? {} : { [relay.base]: url }),
    },
    args: relay.args?.(url) ?? [],
    admit() {
      sessions += 1
      return {
        [Symbol.dispose]() {
          sessions -= 1
        },
      }
    },
  }
}
