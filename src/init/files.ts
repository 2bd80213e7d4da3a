// The files that `ralph init` writes, and how each stands beside what is there already.
import { findAgent, isModelKey } from '../agents/registry.ts'
import type { Settled, Written } from './answers.ts'
import { fillWorkflow, yamlOf } from './workflow.ts'

/** `adds`: what stands there already, and a line of ours. */
export type Planned = { path: string; text: string; adds?: boolean }

/** `there`: left as it is, whoever wrote it. `completed`: a line is added to it. */
export type Change = Planned & { kind: 'new' | 'there' | 'completed'; before: string | null }

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
  return { path, text, before, kind: adds === true && text !== before ? 'completed' : 'there' }
}
