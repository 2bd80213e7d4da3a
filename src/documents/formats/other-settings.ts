// Configurations of other Ralphs: their commands are a proposal for gates, the rest is told. Nothing of them takes effect.
import { shown } from '../../model/text.ts'
import { isGiven, isRaw, type Raw } from '../../prd/migrate.ts'
import type { Opened } from '../opened.ts'
import type { Format, Reading } from '../types.ts'
import { commands } from './lists.ts'

type Tool = {
  found: RegExp
  /** Where a value stands, and how it is written here: `*` is the value. */
  ours: Readonly<Record<string, string>>
  /** Where commands stand, by name. */
  gates?: string
  project?: string
}

/** The Ralph with steps: any configuration of it may lie in such a folder. */
const STEPS = /(?:^|\/)configs\/[^/]+\.json$/
const RC = /(?:^|\/)\.ralphrc$/

const tools: readonly Tool[] = [
  {
    found: /^\.ralphy\/config\.ya?ml$/,
    ours: { rules: 'instructions: *', 'boundaries.never_touch': 'protected-paths: *' },
    gates: 'commands',
    project: 'project.name',
  },
  {
    found: /^\.ralph-tui\/config\.toml$/,
    ours: {
      agent: 'agent: *',
      defaultAgent: 'agent: *',
      fallbackAgents: 'fallback-agent: *',
      'agentOptions.model': 'model: *',
      model: 'model: *',
      maxIterations: 'max-iterations: *',
      'errorHandling.maxRetries': 'max-attempts: *',
    },
  },
  {
    // ralph-orchestrator
    found: /^ralph\.ya?ml$/,
    ours: {
      'cli.backend': 'agent: *',
      agent: 'agent: *',
      'event_loop.max_iterations': 'max-iterations: *',
      max_iterations: 'max-iterations: *',
      'event_loop.max_cost_usd': 'max-cost-usd: *',
      max_cost: 'max-cost-usd: *',
      'event_loop.max_runtime_seconds': 'max-agent-time: *s',
      max_runtime: 'max-agent-time: *s',
      'core.guardrails': 'instructions: *',
    },
  },
  {
    found: RC,
    ours: {
      MAX_CALLS_PER_HOUR: 'calls-per-hour: *',
      CLAUDE_TIMEOUT_MINUTES: 'iteration-timeout: *m',
      ALLOWED_TOOLS: 'agent-args: --allowedTools *',
    },
    project: 'PROJECT_NAME',
  },
  {
    found: STEPS,
    ours: {
      max_loops_per_task: 'max-attempts: *',
      'agent.model': 'model: *',
      'agent.timeout': 'iteration-timeout: *',
      'agent.allowed_tools': 'agent-args: --allowedTools *',
    },
    gates: 'commands',
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
  const tool = tools.find(({ found }) => found.test(document.path))
  return tool?.found === STEPS && !Array.isArray(document.fields.steps) ? undefined : tool
}

function read(document: Opened): Partial<Reading> {
  const tool = toolOf(document)
  if (tool === undefined) return {}
  if (tool.found !== RC && document.data.data === null) return { mistakes: document.data.mistakes }
  const fields = fieldsOf(tool, document)
  const said = Object.entries(tool.ours).flatMap(([path, ours]) => {
    const value = at(fields, path)
    if (!isSimple(value)) return []
    const written = ours.replace('*', () => [value].flat().join(', '))
    return shown(written).replace(/^"|"$/g, '')
  })
  const notes = [
    said.length === 0
      ? 'nothing in it means something here.'
      : `it says ${[...new Set(said)].join('; ')}. Put into the workflow, or into ralph.config.yml, what shall hold here.`,
  ]
  const name = /^\.ralph\/configs\/([\w.-]+)\.json$/.exec(document.path)?.[1]
  if (name !== undefined) notes.push(`\`pipeline: ${name}\` runs its steps (docs/steps.md).`)
  const gates = tool.gates === undefined ? {} : commands(fields[tool.gates])
  const names = Object.keys(gates)
  if (names.length > 0) notes.push(`its commands (${names.map(shown).join(', ')}) are a proposal for gates.`)
  const project = tool.project === undefined ? null : at(fields, tool.project)
  return { root: { project: typeof project === 'string' ? project : null }, gates, notes }
}

function fieldsOf(tool: Tool, { text, fields }: Opened): Raw {
  if (tool.found === RC) return assignments(text)
  if (tool.found !== STEPS) return fields
  const all = Array.isArray(fields.steps) ? fields.steps.filter(isRaw) : []
  const of = (type: string) =>
    all
      .filter((step) => step.type === type && step.enabled !== false)
      .map(({ name, config }) => ({ name: String(name), config: isRaw(config) ? config : {} }))
  return {
    ...fields,
    // The last one works, the one before it sets up.
    agent: of('agent').at(-1)?.config,
    commands: Object.fromEntries(of('command').map(({ name, config }) => [name, config.command])),
  }
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
