// The workflows that `ralph init` writes: those of examples/, with a project's own settings, keys and tools in them.
import { stringify } from 'yaml'
import { kebab } from '../settings/setting.ts'

export type WorkflowAnswers = {
  /** Settings by key, as they are written. */
  inputs: Readonly<Record<string, unknown>>
  /** Secrets that the agent logs in with; none for a command of the user's own. */
  keys: readonly string[]
  /** Command lines that give a hosted runner what the project needs. */
  setups: readonly string[]
  /** The commit of the action; null where it is not known, and its place is left to a person. */
  pin: string | null
}

export const UNPINNED = '@<sha> # v1'
const STEP = /^ {6}- (?:id: \w+\n {8})?uses: ralph\/action@.*\n(?: {8}.*\n)*/gm
const KEY = /^( +)ANTHROPIC_API_KEY: .*\n/gm
/** The step in which agent or gates run: it has settings, or is one of those jobs at `separate-job`. */
const RUNS_CODE = /^ {10}(?:agent|command: (?:work|gate))\b/m

export function fillWorkflow(template: string, { inputs, keys, setups, pin }: WorkflowAnswers): string {
  const setup = setups.map((line) => `      - run: ${line}\n`).join('')
  return template
    .replace(/^(?:#.*\n)+/, '# Written by `ralph init`, and yours to change; it is not written over.\n')
    .replace(STEP, (step) => (RUNS_CODE.test(step) ? setup + withInputs(step, inputs) : step))
    .replace(KEY, (_line, indent: string) =>
      keys.map((key) => `${indent}${key}: \${{ secrets.${key} }}\n`).join(''),
    )
    .replace(/^ {8}env:\n(?! {10})/gm, '')
    .replaceAll(UNPINNED, pin === null ? UNPINNED : `@${pin} # v1`)
}

/** The step with these settings in the place of the example's, whose remarks stay; a step without settings is left. */
function withInputs(step: string, inputs: WorkflowAnswers['inputs']): string {
  return step.replace(/(?<=^ {8}with:\n)(?= {10}agent: )(?: {10}.*\n)+/m, (given) => {
    const remarks = new Map(
      [...given.matchAll(/^ {10}([\w-]+):.*?( #.*)$/gm)].map(([, name, remark]) => [name, remark]),
    )
    const lines = Object.entries(inputs).map(([key, value]) => {
      const name = kebab(key)
      return yamlOf({ [name]: inputValue(value) }).replace(/\n$/, `${remarks.get(name) ?? ''}\n`)
    })
    return lines.join('').replace(/^(?=.)/gm, ' '.repeat(10))
  })
}

/** Settings as inputs of the action: texts by kebab-case name. */
export function inputTexts(settings: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [kebab(key), String(inputValue(value))]),
  )
}

/** Maps and lists are texts in an input. */
function inputValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(String).join('\n')
  return typeof value === 'object' && value !== null ? yamlOf(value) : value
}

export function yamlOf(value: unknown): string {
  // Readers of YAML 1.1 take `off` for false.
  return stringify(value, { lineWidth: 0, blockQuote: 'literal', compat: 'yaml-1.1' })
}
