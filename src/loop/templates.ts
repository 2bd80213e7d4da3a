// Where prompt templates stand, ours and those that other tools left; and what is wrong with them. Pure.
import type { AgentStep } from '../model/pipeline.ts'
import type { Mistake } from '../system/errors.ts'
import { isWhole, lacksAnswer } from './prompt.ts'
import { checkTemplate, namedIn, type Remark } from './template.ts'
import { MODES, type Mode } from './variables.ts'

const FOLDER = '.ralph/prompts'
/** By mode, the first that is there: ours, then the names that other tools gave theirs in the same folder. */
const FILES: Readonly<Record<Mode, readonly string[]>> = {
  run: ['run.md', 'LOOP_PROMPT.md', 'PROMPT_build.md'],
  plan: ['plan.md', 'PROMPT_plan.md'],
  verify: ['verify.md'],
  setup: ['setup.md', 'SETUP_PROMPT.md'],
}
/** Prompts that other tools keep elsewhere. They may be something else: they are pointed out, and used when moved. */
const ELSEWHERE: Readonly<Record<Mode, readonly string[]>> = {
  run: ['LOOP_PROMPT.md', 'PROMPT_build.md', 'PROMPT.md', '.ralph/PROMPT.md', 'ralph/prompt.md'],
  plan: ['PROMPT_plan.md'],
  verify: [],
  setup: ['SETUP_PROMPT.md'],
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

/** What a run must not start with, what it says at its start, and what else `validate` says. */
export type TemplateFindings = { mistakes: Mistake[]; notes: Remark[]; warnings: Remark[] }

export function sayRemark({ found, fix }: Remark): string {
  return `${found}: ${fix}`
}

/** `steps`: those of a pipeline that may have a prompt of their own. */
export async function checkTemplates(
  read: Read,
  steps: readonly AgentStep[] = [],
): Promise<TemplateFindings> {
  const found: TemplateFindings = { mistakes: [], notes: [], warnings: [] }
  const check = (path: string, text: string, mode: Mode) => {
    const { mistakes, warnings } = checkTemplate(path, text, mode)
    found.mistakes.push(...mistakes)
    found.warnings.push(...warnings)
  }
  for (const mode of MODES) {
    const template = await findTemplate(mode, read)
    if (template === null) {
      const fix = `if it is a prompt of another tool, move it to ${FOLDER}/${mode}.md`
      for (const path of ELSEWHERE[mode])
        if ((await read(path)) !== null) found.warnings.push({ found: `${path} is not used`, fix })
      continue
    }
    const { path, text } = template
    check(path, text, mode)
    found.warnings.push(...missingIn(path, text, mode))
    const fix = `rename it to ${mode}.md when it is Ralph's own`
    if (path !== `${FOLDER}/${mode}.md`) found.notes.push({ found: `${path} is used as it is`, fix })
  }
  for (const { name, prompt } of steps) {
    if (prompt?.kind === 'text') check(`prompt of step ${name}`, prompt.text, 'run')
    if (prompt?.kind !== 'file') continue
    const text = await read(prompt.path)
    if (text === null) found.mistakes.push(missingPrompt(prompt.path))
    else check(prompt.path, text, 'run')
  }
  return found
}

export function missingPrompt(path: string): Mistake {
  const fix = 'commit it, or mend prompt_file of the step'
  return { path: 'steps', found: `no ${path}`, expected: 'the prompt that a step names, on the branch', fix }
}

function missingIn(path: string, text: string, mode: Mode): Remark[] {
  if (mode === 'setup') return []
  if (!isWhole(text, mode))
    return [{ found: `${path} says nothing of its task`, fix: 'it stands before the built-in prompt' }]
  if (mode === 'run' && !namedIn(text, mode).has('acceptanceCriteria')) {
    const fix = 'the agent does not see what its work is judged by'
    return [{ found: `${path} has no {{acceptanceCriteria}}`, fix }]
  }
  const fix = 'name {{answer}}, or nothing that comes back is understood'
  return lacksAnswer(text, mode) ? [{ found: `${path} does not say how to answer`, fix }] : []
}
