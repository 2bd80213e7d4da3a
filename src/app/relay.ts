// Lets an agent reach its model without the key: Ralph's proxy stands in for the vendor's server and adds the key.
import type { AgentVendor } from '../agents/agent.ts'
import type { Keyless } from '../agents/keyless/short-key.ts'
import { wayToModel } from '../agents/model-way.ts'
import type { ModelProxy, ModelProxyOptions } from '../isolation/model-proxy.ts'
import type { Environment } from '../isolation/untrusted-env.ts'
import { UserError } from '../system/errors.ts'

export type ModelRelay = {
  proxy: ModelProxy
  /** The agent's environment with the proxy's address and key, and without the vendor's. */
  env: Environment
  args: readonly string[]
  /** Requests are passed on until this is disposed of. Without it the agent's code could use the model from a gate. */
  admit(): Disposable
}

type Reach = (port: number) => Promise<number>

/** Opens the proxy; null if a proxy cannot serve the agent's set-up. `reach` gives the port by which the agent reaches a port of Ralph's. */
export async function relayModel(
  vendor: AgentVendor,
  env: Environment,
  reach: Reach,
  warn: (message: string) => void,
): Promise<ModelRelay | null> {
  const isSet = (variable: string) => (env[variable] ?? '').trim() !== ''
  const { relay, name } = vendor
  const way = wayToModel(vendor, isSet)
  if (relay === undefined || way.kind !== 'proxy') return null
  const { key: keyName } = way
  const { addressVariable } = relay
  const address = addressVariable !== null && isSet(addressVariable) ? env[addressVariable] : relay.upstream
  if (address == null) return null
  const upstream = upstreamAt(address, name, addressVariable)
  const { proxy, url, admit } = await openProxy({ upstream, key: env[keyName]?.trim() ?? '', warn }, reach)
  const others = Object.entries(env).filter(([variable]) => !relay.keys.includes(variable))
  return {
    proxy,
    env: {
      ...Object.fromEntries(others),
      [keyName]: proxy.key,
      ...(addressVariable === null ? {} : { [addressVariable]: url }),
    },
    args: relay.args?.(url) ?? [],
    admit,
  }
}

/** Opens the proxy for an agent without a stored key. The variables of the exchange and all keys are taken from its environment. */
export async function relayKeyless(
  vendor: AgentVendor,
  way: Keyless,
  env: Environment,
  key: () => Promise<string>,
  reach: Reach,
  warn: (message: string) => void,
): Promise<ModelRelay> {
  const { keyStart, headers } = way
  const upstream = upstreamAt(way.upstream(env), vendor.name, way.addressVariable)
  const options = {
    ...{ upstream, key, warn },
    ...(keyStart === undefined ? {} : { keyStart }),
    ...(headers === undefined ? {} : { headers }),
  }
  const { proxy, url, admit } = await openProxy(options, reach)
  const withheld = [...(vendor.login?.keys ?? []), ...(vendor.relay?.keys ?? [])]
  const others = Object.entries(env).filter(([variable]) => !withheld.includes(variable))
  return {
    proxy,
    env: {
      ...Object.fromEntries(others),
      ...way.set,
      [way.keyVariable]: proxy.key,
      [way.addressVariable]: url,
    },
    args: [],
    admit,
  }
}

function upstreamAt(address: string, agent: string, variable: string | null): URL {
  // Node 20 has no `URL.parse`.
  const upstream = URL.canParse(address.trim()) ? new URL(address.trim()) : null
  if (upstream !== null && /^https?:$/.test(upstream.protocol)) return upstream
  throw new UserError({
    path: `env ${variable}`,
    found: address,
    expected: `the address of ${agent}'s model`,
    fix: 'write an https URL',
  })
}

async function openProxy(options: Omit<ModelProxyOptions, 'isOpen'>, reach: Reach) {
  const { openModelProxy } = await import(/* webpackChunkName: "proxy" */ '../isolation/model-proxy.ts')
  let sessions = 0
  const proxy = await openModelProxy({ ...options, isOpen: () => sessions > 0 })
  return {
    proxy,
    url: `http://127.0.0.1:${await reach(proxy.port)}`,
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
