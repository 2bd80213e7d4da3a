// Which agents there are: one line each.

import type { AgentName } from '../model/agents.ts'
import type { AgentVendor } from './agent.ts'
import { amp } from './amp.ts'
import { claude } from './claude.ts'
import { codex } from './codex.ts'
import { copilot } from './copilot.ts'
import { cursor } from './cursor.ts'
import { custom } from './custom.ts'
import { gemini } from './gemini.ts'
import { opencode } from './opencode.ts'

const VENDORS = {
  claude,
  codex,
  amp,
  opencode,
  gemini,
  copilot,
  cursor,
  custom,
} satisfies Record<AgentName, AgentVendor>

/** The agent of this name, or null. */
export function findAgent(name: string): AgentVendor | null {
  return Object.values(VENDORS).find((vendor) => vendor.name === name) ?? null
}
