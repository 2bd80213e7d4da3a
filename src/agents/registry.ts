// Which agents there are: one line each.

import type { AgentVendor } from './agent.ts'
import { amp } from './amp.ts'
import { claude } from './claude.ts'
import { codex } from './codex.ts'
import { copilot } from './copilot.ts'
import { cursor } from './cursor.ts'
import { custom } from './custom.ts'
import { gemini } from './gemini.ts'
import { opencode } from './opencode.ts'

const VENDORS: readonly AgentVendor[] = [claude, codex, amp, opencode, gemini, copilot, cursor, custom]

/** Names that the input `agent` takes. */
export const agentNames: readonly string[] = VENDORS.map((vendor) => vendor.name)

/** The agent of this name, or null. */
export function findAgent(name: string): AgentVendor | null {
  return VENDORS.find((vendor) => vendor.name === name) ?? null
}
