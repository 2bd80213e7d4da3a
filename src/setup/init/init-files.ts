// The files that `ralph init` writes, and how each compares with an existing file.
import { Document, isMap, isPair, isSeq, stringify, visit } from 'yaml'
import type { Keyless } from '../../agents/keyless/short-key.ts'
import { toKebabCase } from '../../settings/setting.ts'
import { FEATURE } from '../../settings/setting-names.ts'
import type { ResolvedAnswers, WrittenSettings } from './answers.ts'
import type { ToolStep } from './ci/toolchain.ts'
import type { Indent } from './editorconfig.ts'

/** `adds`: the text is the existing file with a line added. */
export type PlannedFile = { path: string; text: string; adds?: boolean }

/** `there`: an existing file, left as it is. `completed`: a line is added to it. */
export type FileChange = PlannedFile & { kind: 'new' | 'there' | 'completed'; before: string | null }

/** The texts of examples/. */
export type Templates = {
  main: string
  separate: string
  separateParallel: string
  parallel: string
  resume: string
  required: string
  issueForm: string
  bmad: string
}

const SCHEMA = 'https://raw.githubusercontent.com/ralph/action/v1/schemas/ralph.config.schema.json'
export const CONFIG = 'ralph.config.yml'
export const WORKFLOW = '.github/workflows/ralph.yml'
export const RESUME = '.github/workflows/ralph-resume.yml'
export const ISSUE_FORM = '.github/ISSUE_TEMPLATE/ralph.yml'

/** Values for a workflow's template. `inputs`: settings by key, as they are written. */
type WorkflowValues = {
  inputs: WrittenSettings
  /** Secrets that the agent logs in with; none for a command of the user's own. */
  keys: readonly string[]
  /** How the job's identity is exchanged, instead of keys; null for `auth: key`. */
  keyless?: Pick<Keyless, 'needs' | 'permission' | 'when'> | null
  /** Command lines that give a hosted runner what the project needs. */
  setups: readonly string[]
  /** Actions that do the same, before these lines. */
  tools: readonly ToolStep[]
  /** How the checkout takes submodules; null if it leaves them out. */
  submodules?: 'true' | 'recursive' | null
  /** The commit of the action; null if it is unknown: the placeholder stays. */
  pin: string | null
}

type FileOptions = {
  /** Asked for: the workflow that answers for a required check on other people's pull requests. */
  required: boolean
  indent: Indent
}

export function planFiles(
  {
    config,
    inputs,
    jobs,
    setups,
    tools,
    submodules = null,
    keys,
    keyless = null,
    pin,
    required,
    indent,
  }: ResolvedAnswers & WorkflowValues & FileOptions,
  templates: Templates,
): PlannedFile[] {
  const main = templates[jobs === 'one' ? 'main' : jobs]
  return [
    {
      path: WORKFLOW,
      text: withPrefix(fillWorkflow(main, { inputs, keys, keyless, setups, tools, submodules, pin }), {
        ...config,
        ...inputs,
      }),
    },
    {
      path: RESUME,
      text: withPrefix(
        fillWorkflow(templates.resume, { inputs: {}, keys, keyless, setups: [], tools: [], pin }),
        { ...config, ...inputs },
      ),
    },
    ...(required ? [{ path: REQUIRED, text: requiredWorkflow(templates.required, config) }] : []),
    { path: ISSUE_FORM, text: templates.issueForm },
    { path: CONFIG, text: configText(config, jobs, indent) },
    // The same as a run's first commit writes.
    { path: '.ralph/.gitattributes', text: '* linguist-generated=true\n' },
    {
      path: '.ralph/.gitignore',
      text: '# Files that other tools may leave here. Ralph keeps its own logs in .git/ralph.\nscreenshots/\n*.lock\n',
    },
  ]
}

const REQUIRED = '.github/workflows/ralph-required.yml'

function requiredWorkflow(template: string, settings: WrittenSettings): string {
  const noValues = { inputs: {}, keys: [], setups: [], tools: [], pin: null }
  return withPrefix(fillWorkflow(template, noValues), settings)
}

/** The workflow with the project's own start of branch names in its conditions. */
function withPrefix(text: string, { branchName, branchPrefix }: WrittenSettings): string {
  const given = typeof branchName === 'string' ? branchName.replace(FEATURE, '') : branchPrefix
  const prefix = String(given ?? 'ralph/').replaceAll("'", "''")
  return text.replaceAll("'ralph/'", () => `'${prefix}'`)
}

function configText(config: WrittenSettings, jobs: ResolvedAnswers['jobs'], indent: Indent): string {
  const scope =
    jobs !== 'one'
      ? 'for runs on the command line and for all jobs in CI, which read this file from the base branch'
      : 'for runs on the command line. In CI, the inputs in .github/workflows/ralph.yml override them'
  return `# yaml-language-server: $schema=${SCHEMA}\n# Settings ${scope}. Every key is optional.\n\n${configYaml(config, indent)}`
}

/**
 * How a planned file compares with the existing one (null: there is none). A workflow that waits for the commit of
 * the action is given it.
 */
export function compareFile(
  { path, text, adds }: PlannedFile,
  before: string | null,
  pin: string | null,
): FileChange {
  if (before === null) return { path, text, before, kind: 'new' }
  if (pin !== null && path.startsWith('.github/workflows/') && before.includes(UNPINNED))
    return { path, text: before.replaceAll(UNPINNED, `@${pin} # v1`), before, kind: 'completed' }
  return { path, text, before, kind: adds === true && text !== before ? 'completed' : 'there' }
}

export const UNPINNED = '@<sha> # v1'
const STEP = /^ {6}- (?:id: \w+\n {8})?uses: ralph\/action@.*\n(?: {8}.*\n)*/gm
const CHECKOUT = /^ {6}- uses: actions\/checkout@.*\n {8}with:\n {10}persist-credentials: .*\n/gm
const KEY = /^( +)ANTHROPIC_API_KEY: .*\n/gm
/** The step in which agent or gates run: it has settings, or a key, or is the job of the gates at `separate-job`. */
const RUNS_CODE = /^ {10}(?:agent|command: gate|ANTHROPIC_API_KEY)\b/m

export function fillWorkflow(
  template: string,
  { inputs, keys, keyless = null, setups, tools, submodules = null, pin }: WorkflowValues,
): string {
  const setup = [...tools.map(toolStep), ...setups.map((line) => `      - run: ${line}\n`)].join('')
  return withPermission(template, keyless)
    .replace(/^(?:#.*\n)+/, '# Written by `ralph init`, which never overwrites your changes.\n')
    .replace(STEP, (step) => (RUNS_CODE.test(step) ? setup + withInputs(step, inputs) : step))
    .replace(KEY, (_line, indent: string) =>
      (keyless === null ? keys.map((key) => `${key}: \${{ secrets.${key} }}`) : variablesOf(keyless))
        .map((line) => `${indent}${line}\n`)
        .join(''),
    )
    .replace(/^ {8}env:\n(?! {10})/gm, '')
    .replace(CHECKOUT, (step) =>
      submodules === null ? step : `${step}          submodules: ${submodules}\n`,
    )
    .replaceAll(UNPINNED, pin === null ? UNPINNED : `@${pin} # v1`)
}

/** Jobs that reach the model may ask for their identity. */
function withPermission(template: string, keyless: WorkflowValues['keyless']): string {
  if (keyless == null) return template
  const line = `      ${keyless.permission}: write # exchanged for a key that is valid for minutes (docs/how-to/keyless.md)\n`
  return template
    .split(/^(?= {2}[\w-]+:\n)/m)
    .map((job) => (job.search(KEY) < 0 ? job : job.replace(/^ {4}permissions:\n/m, (start) => start + line)))
    .join('')
}

/** Ids of the exchange are not secret, so they are variables of the repository. */
function variablesOf({ needs, when }: NonNullable<WorkflowValues['keyless']>): string[] {
  return [...(when === null ? [] : [`${when}: 1`]), ...needs.map((name) => `${name}: \${{ vars.${name} }}`)]
}

function toolStep({ action, commit, tag, inputs }: ToolStep): string {
  const values =
    Object.keys(inputs).length === 0 ? '' : toYaml({ with: inputs }).replace(/^(?=.)/gm, '        ')
  return `      - uses: ${action}@${commit} # ${tag}\n${values}`
}

/** The step with these settings instead of the example's, and with the example's comments; a step without settings stays. */
function withInputs(step: string, inputs: WrittenSettings): string {
  return step.replace(/(?<=^ {8}with:\n)(?= {10}agent: )(?: {10}.*\n)+/m, (inputLines) => {
    const remarks = new Map(
      [...inputLines.matchAll(/^ {10}([\w-]+):.*?( #.*)$/gm)].map(([, name, remark]) => [name, remark]),
    )
    const lines = Object.entries(inputs).map(([key, value]) => {
      const name = toKebabCase(key)
      return toYaml({ [name]: inputValue(value) }).replace(/\n$/, `${remarks.get(name) ?? ''}\n`)
    })
    return lines.join('').replace(/^(?=.)/gm, ' '.repeat(10))
  })
}

/** Settings as inputs of the action: texts by kebab-case name. */
export function inputTexts(settings: WrittenSettings): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [toKebabCase(key), String(inputValue(value))]),
  )
}

/** Maps and lists are texts in an input. */
function inputValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(String).join('\n')
  return typeof value === 'object' && value !== null ? toYaml(value) : value
}

// Readers of YAML 1.1 take `off` for false.
const YAML = { lineWidth: 0, blockQuote: 'literal', compat: 'yaml-1.1' } as const

export function toYaml(value: unknown): string {
  return stringify(value, YAML)
}

/** Maps and lists within a key are on its line if nothing may be indented. */
function configYaml(config: WrittenSettings, indent: Indent): string {
  if (indent !== 'none') return stringify(config, { ...YAML, indent })
  const document = new Document(config)
  visit(document, (_key, node, path) => {
    if ((isMap(node) || isSeq(node)) && path.some(isPair)) node.flow = true
  })
  return document.toString({ ...YAML, blockQuote: false })
}
