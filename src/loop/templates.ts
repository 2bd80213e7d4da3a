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
const ELSEWHERE: readonly (readonly [path: string, mode: Mode])[] = [
  ['LOOP_PROMPT.md', 'run'],
  ['PROMPT_build.md', 'run'],
  ['PROMPT_plan.md', 'plan'],
  ['SETUP_PROMPT.md', 'setup'],
  ['.ralph/PROMPT.md', 'run'],
  ['.ralph/prompt.md', 'run'],
  ['ralph/prompt.md', 'run'],
  ['scripts/ralph/prompt.md', 'run'],
  ['.ralph-tui-prompt.hbs', 'run'],
  ['.ralph-tui/templates/json.hbs', 'run'],
  ['PROMPT.md', 'run'],
  ['prompt.md', 'run'],
]

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
  for (const mode of MODES) {
    const template = await findTemplate(mode, read)
    if (template === null) found.warnings.push(...(await promptsElsewhere(mode, read)))
    else {
      const { path, text } = template
      const { mistakes, warnings } = checkTemplate(path, text, mode)
      found.mistakes.push(...mistakes)
      found.warnings.push(...warnings, ...missingIn(path, text, mode))
      if (path !== `${FOLDER}/${mode}.md`)
        found.notes.push({
          found: `${path} is used as it is`,
          fix: `rename it to ${mode}.md when it is Ralph's own`,
        })
    }
  }
  for (const { name, prompt } of steps) {
    if (prompt === null) continue
    const isText = prompt.kind === 'text'
    const text = isText ? prompt.text : await read(prompt.path)
    if (text === null) found.mistakes.push(missingPrompt(isText ? name : prompt.path))
    else {
      const { mistakes, warnings } = checkTemplate(
        isText ? `prompt of step ${name}` : prompt.path,
        text,
        'run',
      )
      found.mistakes.push(...mistakes)
      found.warnings.push(...warnings)
    }
  }
  return found
}

export function missingPrompt(path: string): Mistake {
  return {
    path: 'steps',
    found: `no ${path}`,
    expected: 'the prompt that a step names, on the branch',
    fix: 'commit it, or mend prompt_file of the step',
  }
}

async function promptsElsewhere(mode: Mode, read: Read): Promise<Remark[]> {
  const remarks: Remark[] = []
  for (const [path] of ELSEWHERE.filter(([, one]) => one === mode)) {
    const text = await read(path)
    // Where file names have no case, both are one.
    if (text === null || (path === 'prompt.md' && (await read('PROMPT.md')) === text)) continue
    const fix = `if it is a prompt of another tool, move it to ${FOLDER}/${mode}.md`
    remarks.push({ found: `${path} is not used`, fix })
  }
  return remarks
}

/** What its session would have to guess. */
function missingIn(path: string, text: string, mode: Mode): Remark[] {
  if (!isWhole(text, mode))
    return mode === 'setup'
      ? []
      : [{ found: `${path} says nothing of its task`, fix: 'it stands before the built-in prompt' }]
  if (mode === 'run' && !namedIn(text, mode).has('acceptanceCriteria'))
    return [
      {
        found: `${path} has no {{acceptanceCriteria}}`,
        fix: 'the agent does not see what its work is judged by',
      },
    ]
  if (lacksAnswer(text, mode))
    return [
      {
        found: `${path} does not say how to answer`,
        fix: 'name {{answer}}, or nothing that comes back is understood',
      },
    ]
  return []
}
