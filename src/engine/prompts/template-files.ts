// Finds prompt templates, Ralph's own and those of other tools, and checks them. Pure.

import type { Mistake } from '../../system/errors.ts'
import type { AgentStep } from '../model/pipeline-step.ts'
import { checkTemplate } from './template.ts'
import { MODES, type Mode } from './variables.ts'

const FOLDER = '.ralph/prompts'
/** File names by mode; the first that exists counts: Ralph's own, then names of other tools in the same folder. */
const FILES: Readonly<Record<Mode, readonly string[]>> = {
  run: ['run.md', 'LOOP_PROMPT.md', 'PROMPT_build.md'],
  plan: ['plan.md', 'PROMPT_plan.md'],
  verify: ['verify.md'],
  setup: ['setup.md', 'SETUP_PROMPT.md'],
}
/** Paths of other tools' prompts. They may be something else: Ralph reports them, and uses them once they are moved. */
const OTHER_TOOLS_PATHS: Readonly<Record<Mode, readonly string[]>> = {
  run: ['LOOP_PROMPT.md', 'PROMPT_build.md', 'PROMPT.md', '.ralph/PROMPT.md', 'ralph/prompt.md'],
  plan: ['PROMPT_plan.md'],
  verify: [],
  setup: ['SETUP_PROMPT.md'],
}

/** Reads a file at the commit, or in the tree, that a run would start from; null if it does not exist. */
export type ReadText = (path: string) => Promise<string | null>
export type Template = { path: string; text: string }

/** The template of a mode; null if the built-in one is used. */
export async function findTemplate(mode: Mode, read: ReadText): Promise<Template | null> {
  for (const name of FILES[mode]) {
    const path = `${FOLDER}/${name}`
    const text = await read(path)
    if (text !== null && text.trim() !== '') return { path, text }
  }
  return null
}

/** Mistakes that stop a run, notes that a run prints at its start, and warnings that only `validate` prints. */
export type TemplateFindings = { mistakes: Mistake[]; notes: string[]; warnings: string[] }

/** Checks all templates. `steps`: the steps of a pipeline, which may have their own prompts. */
export async function checkTemplates(
  read: ReadText,
  steps: readonly AgentStep[] = [],
): Promise<TemplateFindings> {
  const mistakes: Mistake[] = []
  const notes: string[] = []
  const warnings: string[] = []
  for (const mode of MODES) {
    const template = await findTemplate(mode, read)
    if (template === null) {
      const fix = `if it is a prompt of another tool, move it to ${FOLDER}/${mode}.md`
      for (const path of OTHER_TOOLS_PATHS[mode])
        if ((await read(path)) !== null) warnings.push(`Ralph does not use ${path}: ${fix}`)
      continue
    }
    const { path, text } = template
    mistakes.push(...checkTemplate(path, text, mode))
    if (path !== `${FOLDER}/${mode}.md`)
      notes.push(`Ralph uses ${path}. When you have adapted it to Ralph, rename it to ${mode}.md`)
  }
  for (const { name, prompt } of steps) {
    if (prompt?.kind === 'text') mistakes.push(...checkTemplate(`prompt of step ${name}`, prompt.text, 'run'))
    if (prompt?.kind !== 'file') continue
    const text = await read(prompt.path)
    mistakes.push(...(text === null ? [missingPrompt(prompt.path)] : checkTemplate(prompt.path, text, 'run')))
  }
  return { mistakes, notes, warnings }
}

export function missingPrompt(path: string): Mistake {
  const fix = 'commit it, or fix prompt_file of the step'
  return {
    path: 'steps',
    found: `a step names the prompt ${path}, which is not on the branch.`,
    expected: '',
    fix,
  }
}
