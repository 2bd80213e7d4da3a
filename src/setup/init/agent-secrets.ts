// The secrets of a workflow that an agent logs in with.
import { findAgent, isModelKey } from '../../agents/registry.ts'

/** Secrets that an agent needs: its usual one; of several, those that are set here. None for the user's own command. */
export function secretsOfAgent(agent: string, isSet: (name: string) => boolean): string[] {
  const vendor = findAgent(agent)
  const usual = vendor?.login?.keys[0]
  if (usual !== undefined) return [usual]
  const names = (vendor?.env ?? []).filter(isModelKey)
  const setNames = names.filter(isSet)
  return setNames.length > 0 ? setNames : names.slice(0, 1)
}
