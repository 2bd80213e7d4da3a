// Lets an agent reach its model without the key: Ralph's proxy stands in for the vendor's server and adds the key.
import type { AgentVendor } from '../agents/agent.ts'
import { wayToModel } from '../agents/model-way.ts'
import type { ModelProxy } from '../isolation/model-proxy.ts'
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

/** Opens the proxy; null where a proxy cannot serve the agent's set-up. `reach` gives the port by which the agent reaches a port of Ralph's. */
export async function relayModel(
  vendor: AgentVendor,
  env: Environment,
  reach: (port: number) => Promise<number>,
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
  // Node 20 has no `URL.parse`.
  const upstream = URL.canParse(address.trim()) ? new URL(address.trim()) : null
  if (upstream === null || !/^https?:$/.test(upstream.protocol)) {
    const expected = `the address of ${name}'s model`
    throw new UserError({
      path: `env ${addressVariable}`,
      found: address,
      expected,
      fix: 'write an https URL',
    })
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
      ...(addressVariable === null ? {} : { [addressVariable]: url }),
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
