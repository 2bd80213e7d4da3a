// Which agents there are.

/** The agents that Ralph knows by name, and `custom` for any other command. */
export const agentNames = [
  'claude',
  'codex',
  'amp',
  'opencode',
  'gemini',
  'copilot',
  'cursor',
  'custom',
] as const
export type AgentName = (typeof agentNames)[number]
