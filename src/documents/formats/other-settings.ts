// Configurations of other Ralphs: their commands are a proposal for gates, the rest is told. Nothing of them takes effect.
import { shown } from '../../model/text.ts'
import { isGiven, isRaw, type Raw } from '../../prd/migrate.ts'
import type { Opened } from '../opened.ts'
import { type Format, type Reading, reading } from '../types.ts'
import { commands } from './drafted.ts'

/** Where a value stands, what it is called here, and how it is written here. */
type Row = readonly [path: string, ours: string, write?: (value: unknown) => string]

type Tool = {
  name: string
  found: RegExp
  /** The text alone does not say whose it is: the fields must. */
  has?: (fields: Raw) => boolean
  rows: readonly Row[]
  gates?: (fields: Raw) => Record<string, string>
  project?: string
}

const minutes = (value: unknown) => `${String(value)}m`
const seconds = (value: unknown) => `${String(value)}s`
const listed = (value: unknown) => (Array.isArray(value) ? value.join(', ') : String(value))

const tools: readonly Tool[] = [
  {
    name: 'ralphy',
    found: /^\.ralphy\/config\.ya?ml$/,
    rows: [
      ['rules', 'instructions', listed],
      ['boundaries.never_touch', 'protected-paths', listed],
    ],
    gates: ({ commands: given }) => commands(isRaw(given) ? given : {}),
    project: 'project.name',
  },
  {
    name: 'ralph-tui',
    found: /^\.ralph-tui\/config\.toml$/,
    rows: [
      ['agent', 'agent'],
      ['defaultAgent', 'agent'],
      ['fallbackAgents', 'fallback-agent', listed],
      ['agentOptions.model', 'model'],
      ['model', 'model'],
      ['maxIterations', 'max-iterations'],
      ['errorHandling.maxRetries', 'max-attempts'],
      ['subagentTracingDetail', ''],
    ],
  },
  {
    name: 'ralph-orchestrator',
    found: /^ralph\.ya?ml$/,
    rows: [
      ['cli.backend', 'agent'],
      ['agent', 'agent'],
      ['event_loop.max_iterations', 'max-iterations'],
      ['max_iterations', 'max-iterations'],
      ['event_loop.max_cost_usd', 'max-cost-usd'],
      ['max_cost', 'max-cost-usd'],
      ['event_loop.max_runtime_seconds', 'max-agent-time', seconds],
      ['max_runtime', 'max-agent-time', seconds],
      ['core.guardrails', 'instructions', listed],
    ],
  },
  {
    name: '.ralphrc',
    found: /(?:^|\/)\.ralphrc$/,
    rows: [
      ['MAX_CALLS_PER_HOUR', 'calls-per-hour'],
      ['CLAUDE_TIMEOUT_MINUTES', 'iteration-timeout', minutes],
      ['ALLOWED_TOOLS', 'agent-args', (value) => `--allowedTools ${String(value)}`],
    ],
    project: 'PROJECT_NAME',
  },
  {
    name: 'steps',
    found: /(?:^|\/)configs\/[^/]+\.json$/,
    has: ({ steps }) => Array.isArray(steps),
    rows: [
      ['max_loops_per_task', 'max-attempts'],
      ['agent.model', 'model'],
      ['agent.timeout', 'iteration-timeout'],
      ['agent.allowed_tools', 'agent-args', (value) => `--allowedTools ${String(value)}`],
    ],
    gates: ({ steps }) =>
      commands(
        Object.fromEntries(
          stepsOf(steps, 'command').map(({ name, config }) => [String(name), config.command]),
        ),
      ),
  },
]

export const otherSettings: Format = {
  name: 'settings',
  found:
    /^\.ralphy\/config\.ya?ml$|^\.ralph-tui\/config\.toml$|^ralph\.ya?ml$|^(?:\.ralph\/)?\.ralphrc$|^\.ralph\/configs\/[^/]+\.json$/,
  reads: (document) => toolOf(document) !== undefined,
  read,
}

function toolOf(document: Opened): Tool | undefined {
  return tools.find(({ found, has }) => found.test(document.path) && (has?.(document.fields) ?? true))
}

function read(document: Opened): Reading {
  const tool = toolOf(document)
  const isShell = document.path.endsWith('.ralphrc')
  if (!isShell && document.data.data === null) return reading({ mistakes: document.data.mistakes })
  const fields = isShell ? assignments(document.text) : withAgent(document.fields)
  const said = (tool?.rows ?? []).flatMap(([path, ours, write = String]) => {
    const value = at(fields, path)
    return ours === '' || !isSimple(value) ? [] : [`${ours}: ${shown(write(value)).replace(/^"|"$/g, '')}`]
  })
  const notes = [
    said.length === 0
      ? 'nothing in it means something here.'
      : `it says ${[...new Set(said)].join('; ')}. Put into the workflow, or into ralph.config.yml, what shall hold here.`,
  ]
  const name = /^\.ralph\/configs\/([\w.-]+)\.json$/.exec(document.path)?.[1]
  if (tool?.name === 'steps' && name !== undefined)
    notes.push(`\`pipeline: ${name}\` runs its steps (docs/steps.md).`)
  const gates = tool?.gates?.(fields) ?? {}
  const names = Object.keys(gates)
  if (names.length > 0) notes.push(`its commands (${names.map(shown).join(', ')}) are a proposal for gates.`)
  const project = tool?.project === undefined ? null : at(fields, tool.project)
  return reading({ root: { project: typeof project === 'string' ? project : null }, gates, notes })
}

function isSimple(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every((one) => typeof one === 'string')
  return isGiven(value) && value !== '' && typeof value !== 'object'
}

function at(fields: Raw, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (isRaw(value) ? value[name] : undefined), fields)
}

/** The lines NAME=value of a shell's file; nothing of it is run. */
function assignments(text: string): Raw {
  const lines = text.matchAll(/^(?:export[ \t]+)?([A-Z][A-Z0-9_]*)=(?:"([^"\n]*)"|'([^'\n]*)'|([^\s#]*))/gm)
  return Object.fromEntries(
    [...lines].map(([, name = '', one, two, three]) => [name, one ?? two ?? three ?? '']),
  )
}

function stepsOf(steps: unknown, type: string): { name: unknown; config: Raw }[] {
  const all = Array.isArray(steps) ? steps.filter(isRaw) : []
  return all
    .filter((step) => step.type === type && step.enabled !== false)
    .map(({ name, config }) => ({ name, config: isRaw(config) ? config : {} }))
}

/** Of a configuration of steps, the one that works. */
function withAgent(fields: Raw): Raw {
  const agents = stepsOf(fields.steps, 'agent')
  const config = agents.at(-1)?.config
  return config === undefined ? fields : { ...fields, agent: config }
}
