// How an agent reaches its model on a closed network: through Ralph's proxy, or at hosts that `network-allow` has to name.
import { isAllowed } from '../engine/model/network.ts'
import type { AgentVendor } from './agent.ts'

type IsSet = (variable: string) => boolean

/**
 * - `proxy`: Ralph's proxy passes its requests on and adds the key in the variable `key`.
 * - `hosts`: the hosts of its model, as entries of `network-allow`.
 * - `unknown`: nothing that Ralph knows tells its hosts, as for a command of the user's own.
 */
export type ModelWay =
  | { kind: 'proxy'; key: string }
  | { kind: 'hosts'; hosts: readonly string[] }
  | { kind: 'unknown' }

/** `isSet`: whether the agent has a value for this variable. */
export function wayToModel({ relay, modelHosts }: AgentVendor, isSet: IsSet): ModelWay {
  const key = relay?.keys.find(isSet)
  const hasAddress =
    relay?.upstream != null || (relay?.addressVariable != null && isSet(relay.addressVariable))
  if (relay !== undefined && key !== undefined && hasAddress && !relay.disabledBy.some(isSet))
    return { kind: 'proxy', key }
  const ofKeys = Object.entries(modelHosts?.byKey ?? {}).flatMap(([name, hosts]) =>
    isSet(name) ? hosts : [],
  )
  const hosts = [...(modelHosts?.always ?? []), ...ofKeys]
  return hosts.length === 0 ? { kind: 'unknown' } : { kind: 'hosts', hosts }
}

/** The hosts that the list of `network-allow` does not let through. */
export function hostsNotAllowed(hosts: readonly string[], allowed: readonly string[]): string[] {
  return hosts.filter((host) => {
    const [name = '', port = '443'] = host.split(':')
    return !allowed.includes(host) && !isAllowed(allowed, name.replace(/^\*\./, 'any.'), Number(port))
  })
}
