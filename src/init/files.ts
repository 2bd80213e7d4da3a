// The files that `ralph init` writes, and how each stands beside what is there already.
import { parse } from 'yaml'
import { findAgent, isModelKey } from '../agents/registry.ts'
import type { Settled, Written } from './answers.ts'
import { fillWorkflow, UNPINNED, withoutPin, yamlOf } from './workflow.ts'

/** `adds`: what stands there already, and a line of ours. */
export type Planned = { path: string; text: string; adds?: boolean }

/** `differs`: somebody's own work, which is left as it is. `completed`: ours, and only what was missing is added. */
export type Change = Planned & { kind: 'new' | 'same' | 'completed' | 'differs'; before: string | null }

/** The texts of examples/. */
export type Templates = { main: string; separate: string; resume: string; issueForm: string; bmad: string }

const SCHEMA = 'https://raw.githubusercontent.com/ralph/action/v1/schemas/ralph.config.schema.json'
export const CONFIG = 'ralph.config.yml'
export const WORKFLOW = '.github/workflows/ralph.yml'

export type Plan = Settled & {
  /** Lines that give a hosted runner what the project needs. */
  setups: readonly string[]
  /** Names of the secrets that the agent logs in with. */
  keys: readonly string[]
  /** The commit of the action. */
  pin: string | null
}

export function filesOf(
  { config, inputs, isSeparate, setups, keys, pin }: Plan,
  templates: Templates,
): Planned[] {
  const main = isSeparate ? templates.separate : templates.main
  return [
    { path: WORKFLOW, text: fillWorkflow(main, { inputs, keys, setups, pin }) },
    {
      path: '.github/workflows/ralph-resume.yml',
      text: fillWorkflow(templates.resume, { inputs: {}, keys, setups: [], pin }),
    },
    { path: '.github/ISSUE_TEMPLATE/ralph.yml', text: templates.issueForm },
    { path: CONFIG, text: configText(config, isSeparate) },
    // The same as a run's first commit writes.
    { path: '.ralph/.gitattributes', text: '* linguist-generated=true\n' },
    {
      path: '.ralph/.gitignore',
      text: '# What other tools may leave here; Ralph keeps its own logs in .git/ralph.\nscreenshots/\n*.lock\n',
    },
  ]
}

function configText(config: Written, isSeparate: boolean): string {
  const of = isSeparate
    ? 'of runs on a command line and of all jobs in CI, which read this file from the base branch'
    : 'of runs on a command line. In CI, the inputs of .github/workflows/ralph.yml win over them'
  return `# yaml-language-server: $schema=${SCHEMA}\n# Settings ${of}. Every key is optional.\n\n${yamlOf(config)}`
}

/** The secrets that an agent needs: its usual one; of several those that are set here. None for a command of the user's. */
export function keysOf(agent: string, isSet: (name: string) => boolean): string[] {
  const vendor = findAgent(agent)
  const usual = vendor?.login?.keys[0]
  if (usual !== undefined) return [usual]
  const names = (vendor?.env ?? []).filter(isModelKey)
  const here = names.filter(isSet)
  return here.length > 0 ? here : names.slice(0, 1)
}

/** How a file that was planned stands beside the one that is there (null: there is none). */
export function compare({ path, text, adds }: Planned, before: string | null): Change {
  if (before === null) return { path, text, before, kind: 'new' }
  if (adds === true && text !== before) return { path, text, before, kind: 'completed' }
  if (!isSame(path, withoutPin(before), withoutPin(text))) return { path, text, before, kind: 'differs' }
  const pinned = /uses: ralph\/action(@[0-9a-f]{40} # \S+)/.exec(text)?.[1]
  if (pinned === undefined || !before.includes(UNPINNED)) return { path, text, before, kind: 'same' }
  return { path, text: before.replaceAll(UNPINNED, pinned), before, kind: 'completed' }
}

/** Remarks and order are a person's: a YAML file is the same where it says the same. */
function isSame(path: string, one: string, other: string): boolean {
  if (one === other) return true
  if (!/\.ya?ml$/.test(path)) return false
  try {
    return JSON.stringify(sorted(parse(one))) === JSON.stringify(sorted(parse(other)))
  } catch {
    return false
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, one]) => [key, sorted(one)])
}
