// Prompt templates, looked at before anything begins that would be told them.
import { checkTemplates, type Read } from '../loop/templates.ts'
import type { AgentStep } from '../model/pipeline.ts'
import { UserError } from '../system/errors.ts'

/** What people should hear at the start. Throws UserError where a template names what no session has. */
export async function refuseTemplates(read: Read, steps: readonly AgentStep[] = []): Promise<string[]> {
  const { mistakes, notes } = await checkTemplates(read, steps)
  if (mistakes.length > 0) throw new UserError(mistakes)
  return notes
}
