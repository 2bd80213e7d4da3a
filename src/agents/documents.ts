// Documents by which a project speaks to agents: their programs read them unasked, wherever they stand.
import { agentDocuments, agentSettings } from './registry.ts'

/** In any folder, in lower case. */
const DOCUMENTS = [
  ...['agent.md', 'agents.md', 'agents.local.md', 'claude.md', 'claude.local.md', 'gemini.md', 'qwen.md'],
  ...['.clinerules', '.goosehints', '.rules', '.windsurfrules', '.windsurf'],
  ...['.github/copilot-instructions.md', '.github/instructions', '.github/prompts', '.github/chatmodes'],
]
const ALL = [...DOCUMENTS, ...agentSettings].map((name) => `/${name}/`)

/** Whether agents read the file at this path for themselves: documents and settings, in whatever letters. */
export function isAgentDocument(path: string): boolean {
  const folded = `/${path.normalize('NFKC').toLowerCase()}/`
  return ALL.some((name) => folded.includes(name))
}

/** Those that are read in every folder above, too: files, since a folder of settings changes while people work. */
export const documentNames: readonly string[] = ['AGENTS.md', ...agentDocuments]
