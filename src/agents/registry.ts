// Which agents there are: one line each. What others have to know of all of them is derived here.

import type { KeyShape } from '../system/redact.ts'
import { type AgentVendor, type HomeShare, variablesOf } from './agent.ts'
import { amp } from './amp.ts'
import { claude } from './claude.ts'
import { codex } from './codex.ts'
import { copilot } from './copilot.ts'
import { cursor } from './cursor.ts'
import { custom } from './custom.ts'
import { gemini } from './gemini.ts'
import { opencode } from './opencode.ts'

/** The first one is the default. */
const VENDORS: readonly [AgentVendor, ...AgentVendor[]] = [
  claude,
  codex,
  amp,
  opencode,
  gemini,
  copilot,
  cursor,
  custom,
]

/** Names that the input `agent` takes. */
export const agentNames: readonly string[] = VENDORS.map((vendor) => vendor.name)
export const defaultAgent = VENDORS[0].name

/** The agent of this name, or null. */
export function findAgent(name: string): AgentVendor | null {
  return VENDORS.find((vendor) => vendor.name === name) ?? null
}

/** The agent whose program this is, or null; bash may run anything. */
export function agentOfProgram(program: string): string | null {
  return VENDORS.find((vendor) => vendor !== custom && vendor.program === program)?.name ?? null
}

/** What sessions of an agent get of a person's home. A command of the user's own may start any of them. */
export function homeSharesOf(vendor: AgentVendor): HomeShare[] {
  const vendors = vendor === custom ? VENDORS : [vendor]
  return vendors.map(({ login, home }) => ({
    ...home,
    files: [...(login?.files ?? []), ...(home?.files ?? [])],
  }))
}

/** What no agent may change of its own or another's settings, in any folder. */
export const agentSettings: readonly string[] = [...new Set(VENDORS.flatMap((vendor) => vendor.settings))]
/** Documents that agents read in folders above the project, too. */
export const agentDocuments: readonly string[] = VENDORS.flatMap(({ documents = [] }) => documents)

export const keyShapes: readonly KeyShape[] = VENDORS.flatMap((vendor) => vendor.keyShapes)

/** Keys that pay for a model: the agent's, never the gates'. */
const MODEL_KEYS = new Set(['FACTORY_API_KEY', ...VENDORS.flatMap(variablesOf).filter(isKeyName)])

/** Whether a variable of this name holds a key that pays for a model. */
export function isModelKey(name: string): boolean {
  return MODEL_KEYS.has(name.toUpperCase())
}

/** `MAX_THINKING_TOKENS` is none. */
function isKeyName(name: string): boolean {
  return /KEY|SECRET|TOKEN(?!S)/.test(name)
}
