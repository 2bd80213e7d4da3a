// Whether an agent can reach its model with the settings of isolation and network.
import type { AgentVendor } from '../agents/agent.ts'
import { hostsNotAllowed, wayToModel } from '../agents/model-way.ts'
import type { Settings } from '../settings/read-settings.ts'
import type { Mistake } from '../system/errors.ts'

/** Whether a variable has a value in the environment. */
export const isSetIn = (env: Readonly<Record<string, string | undefined>>) => (name: string) =>
  (env[name] ?? '').trim() !== ''

/**
 * Why an agent cannot reach its model with these settings of isolation and network; null if it can, or if Ralph cannot tell. `isSet`:
 * whether the agent has a value for a variable.
 */
export function unreachableModel(
  {
    isolation,
    network,
    networkAllow,
    auth,
  }: Pick<Settings, 'isolation' | 'network' | 'networkAllow'> & Partial<Pick<Settings, 'auth'>>,
  vendor: AgentVendor,
  isSet: (name: string) => boolean,
): Mistake | null {
  if (isolation !== 'other-user' || network !== 'model' || vendor.name === 'custom') return null
  if (auth === 'oidc' && vendor.keyless !== undefined) return null
  const way = wayToModel(vendor, isSet)
  if (way.kind === 'proxy') return null
  const hosts = way.kind === 'hosts' ? hostsNotAllowed(way.hosts, networkAllow) : []
  // If the vendor's hosts are not known, the allowed hosts may contain them. One allowed host may be all that this account needs.
  if (networkAllow.length > 0 && (way.kind === 'unknown' || hosts.length < way.hosts.length)) return null
  const names = hosts.length === 0 ? 'api.example.com' : hosts.join(' and ')
  return {
    path: 'network',
    found: `\`network: model\` is set, but ${vendor.name} cannot reach its model through Ralph's proxy here.`,
    expected: '',
    fix: `name the hosts of its model in network-allow (${hosts.length === 0 ? 'such as ' : ''}${names}), or set \`network: open\``,
  }
}
