// Documents by which a project speaks to agents: their programs read them unasked, wherever they stand.
import { agentSettings } from './registry.ts'

/** In any folder, in lower case. */
const DOCUMENTS = [
  ...['agent.md', 'agents.md', 'agents.local.md', 'claude.md', 'claude.local.md', 'gemini.md', 'qwen.md'],
  ...['.clinerules', '.cursorrules', '.goosehints', '.rules', '.windsurfrules', '.windsurf'],
  ...['.github/copilot-instructions.md', '.github/instructions', '.github/prompts', '.github/chatmodes'],
]
const ALL = [...DOCUMENTS, ...agentSettings].map((name) => `/${name}/`)

/** Whether agents read the file at this path for themselves: documents and settings, in whatever letters. */
export function isAgentDocument(path: string): boolean {
  const folded = `/${path.normalize('NFKC').toLowerCase()}/`
  return ALL.some((name) => folded.includes(name))
}

/** Names of those that count for every folder below theirs. */
export const documentNames: readonly string[] = [
  'CLAUDE.md',
  'CLAUDE.local.md',
  'AGENTS.md',
  'GEMINI.md',
  '.claude',
  '.mcp.json',
  '.cursor',
]
