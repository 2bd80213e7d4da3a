// A section "Quality Gates" with a list of commands, as ralph-tui's and seed 1's documents have it.
import type { Block } from '../markdown.ts'

/** The commands, each named by its own words. */
export function qualityGates(blocks: readonly Block[]): Record<string, string> {
  const gates: Record<string, string> = {}
  let isGates = false
  for (const block of blocks) {
    if (block.kind === 'heading') isGates = /^quality gates\b/i.test(block.text)
    if (block.kind !== 'points' || !isGates) continue
    for (const { text } of block.points) {
      const [, command] = /`([^`]{1,500})`/.exec(text) ?? []
      const name = command
        ?.toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/^-|-$/g, '')
        .slice(0, 40)
      if (command !== undefined && name !== undefined && name !== '') gates[name] = command
    }
  }
  return gates
}
