// Settings of other Ralph tools, key by key: the equivalent setting of Ralph Action, or what replaces it.
import { isObject } from '../../engine/model/json.ts'
import { isGiven, type Raw } from '../../engine/prd/migrate.ts'
import type { OpenDocument } from '../open-document.ts'

type Tool = {
  found: RegExp
  /** By path of a value: the equivalent setting; `*` is replaced by the value. */
  equivalents: Readonly<Record<string, string>>
  /** By key (also for all keys below it) without an equivalent setting: what replaces it. */
  replacements?: Readonly<Record<string, string>>
  /** Keys that are read elsewhere, or only name things. */
  known?: readonly string[]
  /** The path of a map of commands. */
  gates?: string
  project?: string
}

/** The Ralph tool with steps has its configurations in such a folder. */
const STEPS = /(?:^|\/)configs\/[^/]+\.json$/
const RC = /(?:^|\/)\.ralphrc$/

const FRESH = 'Ralph starts every session fresh'
const NOTIFY = 'use notify (docs/notify.md)'

const tools: readonly Tool[] = [
  {
    found: /^\.ralphy\/config\.ya?ml$/,
    equivalents: { rules: 'instructions: *', 'boundaries.never_touch': 'protected-paths: *' },
    replacements: {
      capabilities: 'use services and browser (docs/browser.md)',
      notifications: NOTIFY,
    },
    known: ['project'],
    gates: 'commands',
    project: 'project.name',
  },
  {
    found: /^\.ralph-tui\/config\.toml$/,
    equivalents: {
      agent: 'agent: *',
      defaultAgent: 'agent: *',
      fallbackAgents: 'fallback-agent: *',
      'agentOptions.model': 'model: *',
      model: 'model: *',
      maxIterations: 'max-iterations: *',
      'errorHandling.maxRetries': 'max-attempts: *',
      'parallel.maxWorkers': 'max-parallel: *',
      envPassthrough: 'agent-env: *',
    },
    replacements: {
      errorHandling: 'use max-attempts and breaker',
      rateLimitHandling: 'Ralph waits for the limit to end, or uses fallback-agent',
      sandbox: 'use isolation or agent-wrapper',
      notifications: NOTIFY,
      autoCommit: 'Ralph commits a story when its gates are green',
      prompt_template: 'use .ralph/prompts/run.md',
      promptTemplate: 'use .ralph/prompts/run.md',
      progressFile: 'see progress.txt in the folder of the feature',
      outputDir: 'see .git/ralph/transcripts',
      command: 'use agent-command',
      agents: 'use agent, agent-args and model',
      tracker: 'use ralph plan --from FILE',
      defaultTracker: 'use ralph plan --from FILE',
      trackers: 'use ralph plan --from FILE',
      parallel: 'use max-parallel',
    },
  },
  {
    // ralph-orchestrator
    found: /^ralph\.ya?ml$/,
    equivalents: {
      'cli.backend': 'agent: *',
      'cli.args': 'agent-args: *',
      agent: 'agent: *',
      'event_loop.max_iterations': 'max-iterations: *',
      max_iterations: 'max-iterations: *',
      'event_loop.max_cost_usd': 'max-cost-usd: *',
      max_cost: 'max-cost-usd: *',
      'event_loop.max_runtime_seconds': 'max-agent-time: *s',
      max_runtime: 'max-agent-time: *s',
      max_tokens: 'max-tokens: *',
      'event_loop.idle_timeout_secs': 'idle-timeout: *s',
      'event_loop.max_consecutive_failures': 'max-attempts: *',
      'core.guardrails': 'instructions: *',
    },
    replacements: {
      'event_loop.completion_promise': 'only gates decide that a story is done',
      completion_promise: 'only gates decide that a story is done',
      'event_loop.prompt_file': 'use ralph plan --from FILE',
      prompt: 'use ralph plan --from FILE',
      'event_loop.checkpoint_interval': 'Ralph saves a checkpoint after every iteration',
      checkpoint_interval: 'Ralph saves a checkpoint after every iteration',
      git_checkpoint: 'Ralph saves a checkpoint after every iteration',
      hats: 'use steps (docs/steps.md)',
      backpressure: 'use gates',
      'core.scratchpad': 'use context.md; Ralph also records learnings',
      'core.specs_dir': 'use ralph plan --from FOLDER',
      memories: 'Ralph records learnings instead',
      tasks: 'use the stories of prd.json',
    },
  },
  {
    found: RC,
    equivalents: {
      MAX_CALLS_PER_HOUR: 'calls-per-hour: *',
      CLAUDE_TIMEOUT_MINUTES: 'iteration-timeout: *m',
      ALLOWED_TOOLS: 'agent-args: --allowedTools *',
      CLAUDE_ALLOWED_TOOLS: 'agent-args: --allowedTools *',
      CLAUDE_MODEL: 'model: *',
      CB_NO_PROGRESS_THRESHOLD: 'breaker.noProgress: *',
      CB_SAME_ERROR_THRESHOLD: 'breaker.sameError: *',
      CB_OUTPUT_DECLINE_THRESHOLD: 'breaker.outputDecline: *',
      CB_COOLDOWN_MINUTES: 'breaker.coolDown: *m',
    },
    replacements: {
      CB_AUTO_RESET: 'Ralph allows a trial after breaker.coolDown',
      CB_PERMISSION_DENIAL_THRESHOLD: 'an attempt fails if its session was refused a tool',
      CLAUDE_CODE_CMD: 'use agent or agent-command',
      CLAUDE_OUTPUT_FORMAT: 'Ralph knows the output format of each agent',
      CLAUDE_USE_CONTINUE: FRESH,
      SESSION_CONTINUITY: FRESH,
      SESSION_EXPIRY_HOURS: FRESH,
      MAX_TOKENS_PER_HOUR: 'use max-tokens, which is for a whole run',
      TASK_SOURCES: 'use ralph plan --from FILE',
      GITHUB_TASK_LABEL: 'use the label in the workflow (docs/plan.md)',
      BEADS_FILTER: 'use ralph plan --from FILE',
      RALPH_VERBOSE: 'use ralph log --follow',
      RALPH_SHELL_INIT_FILE:
        'set the variables in the environment in which you start Ralph, and name them in agent-env',
    },
    known: ['PROJECT_NAME', 'PROJECT_TYPE'],
    project: 'PROJECT_NAME',
  },
  {
    found: STEPS,
    equivalents: {
      max_loops_per_task: 'max-attempts: *',
      'agent.model': 'model: *',
      'agent.timeout': 'iteration-timeout: *',
      'agent.allowed_tools': 'agent-args: --allowedTools *',
    },
    known: ['name', 'description', 'steps', 'agent.prompt_file', 'agent.prd_file', 'agent.marker_file'],
    gates: 'commands',
  },
]

/** The limits in a prd.json of the Ralph for BMAD; its gates are read with the stories. */
const storyList: Tool = {
  found: /(?:^|\/)prd\.json$/,
  equivalents: { 'config.maxIterations': 'max-iterations: *', 'config.stuckThreshold': 'max-attempts: *' },
}

export type OtherSettings = {
  tool: Tool
  fields: Raw
  /** The equivalent settings as lines of a workflow, for people. */
  lines: string[]
  /** The equivalent settings as fields of ralph.config. */
  settings: Record<string, unknown>
  /** Keys without an equivalent setting, each with its replacement if there is one. */
  unread: string[]
}

export function detectTool(document: OpenDocument): Tool | undefined {
  const tool = tools.find(({ found }) => found.test(document.path))
  return tool?.found === STEPS && !Array.isArray(document.fields.steps) ? undefined : tool
}

/** Whether the file is a shell script, not data. */
export function isShellFile({ found }: Tool): boolean {
  return found === RC
}

/** The settings in a file of another tool; null for any other file. */
export function readOtherSettings(document: OpenDocument): OtherSettings | null {
  const tool = detectTool(document) ?? (storyList.found.test(document.path) ? storyList : undefined)
  if (tool === undefined) return null
  const fields = fieldsOf(tool, document)
  const lines: string[] = []
  const settings: Record<string, unknown> = {}
  for (const [path, ours] of Object.entries(tool.equivalents)) {
    const value = valueAt(fields, path)
    if (!isSimple(value)) continue
    lines.push(ours.replace('*', () => [value].flat().join(', ')))
    const [key = '', pattern = ''] = ours.split(': ')
    const setting = camelCase(key)
    if (!(setting in settings)) settings[setting] = settingOf(setting, pattern, value)
  }
  return { tool, fields, lines, settings: nested(settings), unread: unreadIn(tool, fields) }
}

const LISTS = ['agentArgs', 'agentEnv', 'protectedPaths']

function settingOf(key: string, pattern: string, value: unknown): unknown {
  const all = [value].flat().map(String)
  if (pattern === '*' && !Array.isArray(value) && !LISTS.includes(key))
    return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  if (key === 'instructions') return all.join('\n')
  if (key === 'fallbackAgent') return all[0]
  if (pattern.startsWith('--')) return [pattern.split(' ')[0], all.join(',')]
  return LISTS.includes(key) ? all : pattern.replace('*', () => all.join(', '))
}

/** Turns keys such as `breaker.noProgress` into nested maps. */
function nested(settings: Raw): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(settings)) {
    const [name = '', inner] = key.split('.')
    if (inner === undefined) result[name] = value
    else result[name] = { ...(isObject(result[name]) ? result[name] : {}), [inner]: value }
  }
  return result
}

function camelCase(key: string): string {
  return key.replace(/-([a-z])/g, (_all, letter: string) => letter.toUpperCase())
}

const MAX_UNREAD = 40

function unreadIn(
  { equivalents: equivalent, replacements: instead = {}, known = [], gates }: Tool,
  fields: Raw,
): string[] {
  if (equivalent === storyList.equivalents) return []
  const isBelow = (path: string, above: string) => path === above || path.startsWith(`${above}.`)
  const read = [...Object.keys(equivalent), ...known, ...(gates === undefined ? [] : [gates])]
  const replaced = new Map<string, string>()
  for (const path of leavesOf(fields)) {
    if (read.some((one) => isBelow(path, one))) continue
    const named = Object.keys(instead).filter((one) => isBelow(path, one))
    const longest = named.toSorted((a, b) => b.length - a.length)[0]
    replaced.set(longest ?? path, longest === undefined ? '' : `: ${instead[longest]}`)
  }
  return [...replaced].slice(0, MAX_UNREAD).map(([path, place]) => `${path}${place}`)
}

const DEEPEST = 4

function leavesOf(fields: Raw, above = '', depth = 0): string[] {
  return Object.entries(fields).flatMap(([key, value]) => {
    const path = above === '' ? key : `${above}.${key}`
    if (isObject(value) && depth < DEEPEST) return leavesOf(value, path, depth + 1)
    return isGiven(value) ? [path] : []
  })
}

function fieldsOf(tool: Tool, { text, fields }: OpenDocument): Raw {
  if (tool.found === RC) return assignments(text)
  if (tool.found !== STEPS) return fields
  const all = Array.isArray(fields.steps) ? fields.steps.filter(isObject) : []
  const of = (type: string) =>
    all
      .filter((step) => step.type === type && step.enabled !== false)
      .map(({ name, config }) => ({ name: String(name), config: isObject(config) ? config : {} }))
  return {
    ...fields,
    // The last agent step works on the story; one before it only sets up.
    agent: of('agent').at(-1)?.config,
    commands: Object.fromEntries(of('command').map(({ name, config }) => [name, config.command])),
  }
}

function isSimple(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every((one) => typeof one === 'string')
  return isGiven(value) && value !== '' && typeof value !== 'object'
}

export function valueAt(fields: Raw, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), fields)
}

/** The lines NAME=value of a shell script, with the default of `${NAME:-value}`. The script is not run. */
function assignments(text: string): Raw {
  const lines = text.matchAll(/^(?:export[ \t]+)?([A-Z][A-Z0-9_]*)=(?:"([^"\n]*)"|'([^'\n]*)'|([^\s#]*))/gm)
  return Object.fromEntries(
    [...lines].map(([, name = '', one, two, three]) => {
      const value = one ?? two ?? three ?? ''
      return [name, /^\$\{\w+:-([^{}]*)\}$/.exec(value)?.[1] ?? value]
    }),
  )
}
