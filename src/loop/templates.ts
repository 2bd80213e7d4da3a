// Where prompt templates stand, ours and those that other tools left; and what is wrong with them. Pure.
import type { AgentStep } from '../model/pipeline.ts'
import type { Mistake } from '../system/errors.ts'
import { checkTemplate } from './template.ts'
import { MODES, type Mode } from './variables.ts'

const FOLDER = '.ralph/prompts'
/** By mode, the first that is there: ours, then the names that other tools gave theirs in the same folder. */
const FILES: Readonly<Record<Mode, readonly string[]>> = {
  run: ['run.md', 'LOOP_PROMPT.md', 'PROMPT_build.md'],
  plan: ['plan.md', 'PROMPT_plan.md'],
  verify: ['verify.md'],
  setup: ['setup.md', 'SETUP_PROMPT.md'],
}
/** A file's text at the commit, or in the tree, that a run would start from; null where there is none. */
export type Read = (path: string) => Promise<string | null>
export type Template = { path: string; text: string }

/** The template of a mode; null where the built-in one is used. */
export async function findTemplate(mode: Mode, read: Read): Promise<Template | null> {
  for (const name of FILES[mode]) {
    const path = `${FOLDER}/${name}`
    const text = await read(path)
    if (text !== null && text.trim() !== '') return { path, text }
  }
  return null
}

/** What a run must not start with, and what it says at its start. */
export type TemplateFindings = { mistakes: Mistake[]; notes: string[] }

/** `steps`: those of a pipeline that may have a prompt of their own. */
export async function checkTemplates(
  read: Read,
  steps: readonly AgentStep[] = [],
): Promise<TemplateFindings> {
  const mistakes: Mistake[] = []
  const notes: string[] = []
  for (const mode of MODES) {
    const template = await findTemplate(mode, read)
    if (template === null) continue
    const { path, text } = template
    mistakes.push(...checkTemplate(path, text, mode))
    if (path !== `${FOLDER}/${mode}.md`)
      notes.push(`${path} is used as it is: rename it to ${mode}.md when it is Ralph's own`)
  }
  for (const { name, prompt } of steps) {
    if (prompt?.kind === 'text') mistakes.push(...checkTemplate(`prompt of step ${name}`, prompt.text, 'run'))
    if (prompt?.kind !== 'file') continue
    const text = await read(prompt.path)
    mistakes.push(...(text === null ? [missingPrompt(prompt.path)] : checkTemplate(prompt.path, text, 'run')))
  }
  return { mistakes, notes }
}

export function missingPrompt(path: string): Mistake {
  const fix = 'commit it, or mend prompt_file of the step'
  return { path: 'steps', found: `no ${path}`, expected: 'the prompt that a step names, on the branch', fix }
}
