// The list of agents, one line each, and what the other rooms need to know about all of them.

import type { KeyShape } from '../isolation/redact.ts'
import { type AgentVendor, agentVariables, type HomeShare } from './agent.ts'
import { amp } from './amp.ts'
import { claude } from './claude.ts'
import { codex } from './codex.ts'
import { copilot } from './copilot.ts'
import { cursor } from './cursor.ts'
import { custom } from './custom.ts'
import { droid } from './droid.ts'
import { gemini } from './gemini.ts'
import { opencode } from './opencode.ts'
import { qwen } from './qwen.ts'

/** The first one is the default. */
const VENDORS: readonly [AgentVendor, ...AgentVendor[]] = [
  claude,
  codex,
  amp,
  opencode,
  gemini,
  copilot,
  cursor,
  qwen,
  droid,
  custom,
]

export const agentNames: readonly string[] = VENDORS.map((vendor) => vendor.name)
export const defaultAgent = VENDORS[0].name

export function findAgent(name: string): AgentVendor | null {
  return VENDORS.find((vendor) => vendor.name === name) ?? null
}

/** Agents that `auth: oidc` is possible with. */
export const agentsWithKeyless = (): string[] =>
  VENDORS.filter(({ keyless }) => keyless !== undefined).map(({ name }) => name)

/** The agent whose program this is, or null; bash may run anything. */
export function agentOfProgram(program: string): string | null {
  return VENDORS.find((vendor) => vendor !== custom && vendor.program === program)?.name ?? null
}

/** What sessions of an agent get of a person's home. A command of the user's own may start any of them. */
export function homeSharesFor(vendor: AgentVendor): HomeShare[] {
  const vendors = vendor === custom ? VENDORS : [vendor]
  return vendors.map(({ login, home }) => ({
    ...home,
    files: [...(login?.files ?? []), ...(home?.files ?? [])],
  }))
}

/** What sessions of any agent get of a person's home. */
export const everyHomeShare = (): HomeShare[] => homeSharesFor(custom)

/** Files and folders of agents' settings, which no agent may change in any folder. */
export const agentSettings: readonly string[] = [...new Set(VENDORS.flatMap((vendor) => vendor.settings))]
/** Documents that agents also read in every folder above the work tree. */
export const documentNames: readonly string[] = [
  'AGENTS.md',
  ...VENDORS.flatMap(({ documents = [] }) => documents),
]

/**
 * Documents of a project that agents' programs read unasked, in any folder, in lower case. Those in `documents` of a vendor's file are added
 * to them: here are the documents of programs that have no such file.
 */
const OTHER_DOCUMENTS = [
  ...['agent.md', 'agents.local.md'],
  ...['.clinerules', '.goosehints', '.rules', '.windsurfrules', '.windsurf'],
  ...['.github/copilot-instructions.md', '.github/instructions', '.github/prompts', '.github/chatmodes'],
]
const DOCUMENTS = [...OTHER_DOCUMENTS, ...documentNames.map((name) => name.toLowerCase())]
const AGENT_FILES = [...DOCUMENTS, ...agentSettings].map((name) => `/${name}/`)

/** Whether agents read the file at this path unasked: a document or a setting, whatever the case of its letters. */
export function isAgentDocument(path: string): boolean {
  const folded = `/${path.normalize('NFKC').toLowerCase()}/`
  return AGENT_FILES.some((name) => folded.includes(name))
}

export const keyShapes: readonly KeyShape[] = VENDORS.flatMap((vendor) => vendor.keyShapes)

/** Keys that pay for a model: the agent's, never the gates'. */
const MODEL_KEYS = new Set(VENDORS.flatMap(agentVariables).filter(isKeyName))

/** Whether a variable of this name holds a key that pays for a model. */
export function isModelKey(name: string): boolean {
  return MODEL_KEYS.has(name.toUpperCase())
}

/** Whether the name is that of a key: `MAX_THINKING_TOKENS` is not. */
function isKeyName(name: string): boolean {
  return /KEY|SECRET|TOKEN(?!S)/.test(name)
}
