// Every question of `ralph init` and `ralph plan` on a terminal, each with a default, for what flags and documents leave open.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { agentNames, findAgent } from '../agents/registry.ts'
import type { Prd, Scope, Story } from '../engine/model/feature.ts'
import { resolveScope } from '../engine/prd/scope.ts'
import type { Documents } from '../plan/documents.ts'
import { hasManyStories, type PlanPart, partsOf } from '../plan/many-stories.ts'
import { terminalText } from '../report/escape.ts'
import { configFileNames, readSettings, type Settings } from '../settings/read-settings.ts'
import { settingRows } from '../settings/settings-table.ts'
import { type ResolvedAnswers, type WrittenSettings, withEscapes } from '../setup/init/answers.ts'
import { detect } from '../setup/init/detect.ts'
import { toYaml } from '../setup/init/init-files.ts'
import { UserError } from '../system/errors.ts'
import type { Flags } from './command-context.ts'
import { openTree } from './init-look.ts'
import { type TrialResults, withKnownRed } from './init-try.ts'
import type { PlanPlace } from './plan-dialogue.ts'
import { nameFault } from './plan-draft.ts'
import type { TerminalPrompts } from './terminal-questions.ts'

type Questions = {
  ask: TerminalPrompts
  /** What would be written if nothing were asked. */
  proposed: ResolvedAnswers['inputs']
  /** What flags say already. */
  answered: WrittenSettings
  /** What an existing configuration says. */
  written: WrittenSettings
  required: boolean
  /** Agents on this machine. */
  here: readonly string[]
  env: Readonly<Record<string, string>>
}

/** The answers by key, and whether a check is required. Throws Cancelled if the person left. */
export async function askAll(questions: Questions): Promise<{ person: WrittenSettings; required: boolean }> {
  const { ask, answered } = questions
  const agent = await askAgent(questions)
  const gates = 'gates' in answered || 'gate' in answered ? {} : await askGates(questions)
  const limits = await askLimits(questions, agent)
  const isolation = await askIsolation(questions)
  const auth = await askAuth(questions, { ...agent, ...isolation })
  const person = { ...agent, ...gates, ...limits, ...isolation, ...auth, ...(await askLearnings(questions)) }
  return { person, required: questions.required || (await ask.yes(REQUIRED, false)) }
}

/** What gates do with tests that are red before any change. Throws Cancelled if the person left. */
export async function askRedTests(ask: TerminalPrompts, tried: TrialResults): Promise<TrialResults> {
  let answered = tried
  for (const red of tried.redTests ?? []) {
    // The tests of a file that cannot be loaded have no names.
    if (!red.isLeftOut || red.what === 'test file') continue
    const are = red.tests.length === 1 ? '1 test is' : `${red.tests.length} tests are`
    const question = `${are} red before any change (${terminalText(red.tests.join(', '), 200)}). What should gate ${red.name} do?`
    const choices = [
      { value: 'leave-out', label: 'not run them' },
      { value: 'known-red', label: 'run them, and accept failures only in them (baseline: known-red)' },
    ]
    if ((await ask.choose(question, choices, 'leave-out')) === 'known-red')
      answered = withKnownRed(answered, red)
  }
  return answered
}

const REQUIRED =
  'Will you make the check `ralph` required? If so, a small workflow lets it pass on all other pull requests'

const choice = (value: string, hint: string) => ({ value, label: value, hint })

async function askAgent({ ask, proposed, answered, here }: Questions): Promise<WrittenSettings> {
  const isKnown = 'agent' in answered || 'agentCommand' in answered
  const hintOf = (name: string) => (here.includes(name) ? 'on this machine' : '')
  const choices = agentNames.map((name) =>
    choice(name, name === 'custom' ? 'your own command' : hintOf(name)),
  )
  const standard = String(proposed.agent)
  const agent = isKnown ? standard : await ask.choose('Which agent?', choices, standard)
  if (agent !== 'custom' || 'agentCommand' in answered) return 'agent' in answered ? {} : { agent }
  const fault = (text: string) => (text === '' ? 'a command is needed' : undefined)
  const agentCommand = await ask.text('Which command starts it? It gets the prompt on standard input', {
    fault,
  })
  return { agent, agentCommand }
}

/** Which of the proposed gates are wanted, and then other gates, one by one. */
async function askGates({
  ask,
  proposed,
  env,
}: Pick<Questions, 'ask' | 'proposed' | 'env'>): Promise<WrittenSettings> {
  const found = typeof proposed.gates === 'object' ? Object.entries({ ...proposed.gates }) : []
  const names = found.map(([name]) => name)
  const choices = found.map(([name, run]) => choice(name, terminalText(commandOf(run), 60)))
  const question = 'Which gates must be green before a story counts as done?'
  const chosen = names.length === 0 ? [] : await ask.several(question, choices, names, false)
  const gates = Object.fromEntries(found.filter(([name]) => chosen.includes(name)))
  for (;;) {
    const isFirst = Object.keys(gates).length === 0
    const more = await ask.text(isFirst ? FIRST_GATE : 'Another gate as NAME=COMMAND (empty: done)', {
      fault: (text) => (text === '' ? undefined : settingFault({ gate: [text] }, env)),
    })
    if (more === '') return { gates: isFirst ? 'none' : gates }
    const cut = more.indexOf('=')
    gates[more.slice(0, cut).trim()] = more.slice(cut + 1).trim()
  }
}

const FIRST_GATE = 'A gate as NAME=COMMAND, such as test=npm test (empty: none)'

/** A gate's command line, in its short and its long form. */
function commandOf(gate: unknown): string {
  return typeof gate === 'object' && gate !== null && 'run' in gate ? String(gate.run) : String(gate)
}

async function askLimits(
  { ask, proposed, answered, env }: Pick<Questions, 'ask' | 'proposed' | 'answered' | 'env'>,
  { agent }: WrittenSettings,
): Promise<WrittenSettings> {
  const answers: Record<string, unknown> = {}
  const reports = findAgent(String(agent ?? proposed.agent))?.reports
  const rows = [
    ['maxIterations', 'How many iterations may a feature take?', 'none', true],
    ['maxAttempts', 'After how many failed attempts is a story blocked?', MAX_ATTEMPTS, true],
    ['maxCostUsd', 'How many dollars may a feature cost? (none: no limit)', 'none', reports === 'cost'],
  ] as const
  for (const [key, message, unset, isAsked] of rows) {
    if (key in answered || !isAsked) continue
    const fault = (text: string) =>
      text === 'none' && unset === 'none' ? undefined : settingFault({ [key]: text }, env)
    const answer = await ask.text(message, { standard: String(proposed[key] ?? unset), fault })
    // The default of a setting needs no line in a file.
    if (answer === MAX_ATTEMPTS && unset === MAX_ATTEMPTS && proposed[key] === undefined) continue
    answers[key] = answer === 'none' ? null : Number(answer)
  }
  return answers
}

const MAX_ATTEMPTS = settingRows.find(({ key }) => key === 'maxAttempts')?.defaultText ?? ''

async function askIsolation({ ask, proposed, answered }: Questions): Promise<WrittenSettings> {
  if ('isolation' in answered) return {}
  const choices = [
    choice('other-user', 'an unprivileged user; needs sudo, which hosted runners have'),
    choice('separate-job', 'a separate job without a write token; the strictest'),
    choice('same-user', "no isolation: the agent can read the job's tokens"),
  ]
  const question = 'How strictly should CI isolate the agent?'
  return { isolation: await ask.choose(question, choices, String(proposed.isolation ?? 'other-user')) }
}

/** Asked only if the agent can be reached by the job's identity, and not from where the agent could ask for one itself. */
async function askAuth(
  { ask, proposed, answered }: Questions,
  { agent, isolation }: WrittenSettings,
): Promise<WrittenSettings> {
  const vendor = findAgent(String(agent ?? proposed.agent))
  const level = isolation ?? answered.isolation ?? proposed.isolation ?? 'other-user'
  if ('auth' in answered || vendor?.keyless === undefined || level !== 'other-user') return {}
  const choices = [
    choice('key', 'a secret of the repository'),
    choice('oidc', "a short-lived key for the job's identity; nothing is stored"),
  ]
  const auth = await ask.choose(
    'In CI, how does Ralph log in to the model?',
    choices,
    String(proposed.auth ?? 'key'),
  )
  return auth === 'key' ? {} : { auth }
}

/** A complete run writes into a file of the project, and creates it: the person decides that here, and once. */
async function askLearnings({ ask, answered, written }: Questions): Promise<WrittenSettings> {
  if ('agentsMd' in answered || 'agentsMd' in written) return {}
  return (await ask.yes(LEARNINGS, true)) ? {} : { agentsMd: 'off' }
}

const LEARNINGS =
  'When a feature is complete, add what its sessions learned to AGENTS.md? (creates the file if there is none)'

/** Why the settings refuse an answer; undefined if they take it. */
function settingFault(flags: Record<string, string | string[]>, env: Questions['env']): string | undefined {
  const result = readSettings({ flags, env, surface: 'cli' })
  return result.ok ? undefined : result.mistakes.map(({ expected, fix }) => `${expected}; ${fix}`)[0]
}

// ---- of `ralph plan`

/** The answers about the run: as flags for this command, and as the configuration file to write, null for none. */
export type PlanSettings = { flags: Flags; config: string | null }

/** Gates, limits and instructions, if no configuration file has them. */
export async function askSettings(
  ask: TerminalPrompts,
  { clone: { workTree }, context, settings }: Pick<PlanPlace, 'clone' | 'context' | 'settings'>,
  documents: Documents | null,
): Promise<PlanSettings> {
  const { agent, agentCommand } = settings
  const { flags: answered, env } = context
  if (configFileNames.some((name) => existsSync(join(workTree, name)))) return { flags: {}, config: null }
  const gates = { ...detect(openTree(workTree)).gates, ...documents?.gates }
  const questions = { ask, proposed: { agent, gates, maxIterations: 50 }, answered, env }
  const config: Record<string, unknown> = {
    ...('gate' in answered || 'gates' in answered ? {} : await askGates(questions)),
    ...(await askLimits(questions, {})),
  }
  if (!('instructions' in answered)) {
    const hint = 'for example "use the existing mailer"; press Enter for none'
    config.instructions = (await ask.text('Instructions for every session?', { hint })) || null
  }
  const entries = Object.entries(config).filter(([, value]) => value !== null)
  if (entries.length === 0) return { flags: {}, config: null }
  // The agent is written as well: a later command, such as `ralph init`, does not change the file.
  const agentSettings = agentCommand === null ? { agent } : { agent, agentCommand: withEscapes(agentCommand) }
  const flagOf = (value: unknown) => (typeof value === 'object' ? toYaml(value) : String(value))
  const flags = Object.fromEntries(entries.map(([key, value]) => [key, flagOf(value)]))
  return { flags, config: toYaml({ ...agentSettings, ...Object.fromEntries(entries) }) }
}

export function askName(ask: TerminalPrompts, standard: string): Promise<string> {
  const fault = (name: string) => {
    const wrong = nameFault(name)
    return wrong === null ? undefined : `a name with ${wrong}`
  }
  return ask.text('What is the feature called?', { standard, fault })
}

export function askSentence(ask: TerminalPrompts): Promise<string> {
  const fault = (text: string) => (text.trim().length < 3 ? 'say it in a sentence or two' : undefined)
  const hint = 'people can sign in with a passkey'
  return ask.text('What is the feature for?', { hint, fault })
}

/** An epic or named stories, as flags say, else as the person answers; null for all stories. */
export async function chosenScope(
  ask: TerminalPrompts | null,
  { stories, epic }: Pick<Settings, 'stories' | 'epic'>,
  prd: Prd,
): Promise<Scope | null> {
  // Dependencies come along by themselves, so they are left out here: only the names can be wrong.
  const alone = prd.userStories.map((story) => ({ ...story, dependsOn: [] }))
  const { scope, mistakes } = resolveScope({ ...prd, userStories: alone }, { stories, epic }, 0)
  if (mistakes.length > 0) throw new UserError(mistakes)
  return scope ?? (ask === null ? null : askScope(ask, prd))
}

async function askScope(ask: TerminalPrompts, prd: Prd): Promise<Scope | null> {
  const open = prd.userStories.filter(({ passes }) => !passes)
  const parts = partsOf(prd)
  const epics = parts.filter(({ epic }) => epic !== null)
  if (open.length < 2) return null
  if (hasManyStories(prd)) return askPart(ask, parts, open)
  const whole = { value: 'all' as const, label: `all of them (${open.length})` }
  const some = { value: 'stories' as const, label: 'some of them, by name' }
  const one = { value: 'epic' as const, label: `one epic (there are ${epics.length})` }
  const part = await ask.choose(
    'Which of the stories?',
    epics.length > 1 ? [whole, one, some] : [whole, some],
  )
  if (part === 'all') return null
  if (part === 'epic') {
    const choices = epics.map(({ epic, ...one }) => ({ value: epic ?? '', label: partLabel(one) }))
    return { stories: [], epic: await ask.choose('Which epic?', choices), job: 0 }
  }
  return askStories(ask, open)
}

/** Which part of a plan that is too large for one run. */
async function askPart(
  ask: TerminalPrompts,
  parts: readonly PlanPart[],
  open: readonly Story[],
): Promise<Scope | null> {
  const choices = [
    ...parts.map((part, index) => ({ value: `part ${index}`, label: partLabel(part) })),
    { value: 'stories', label: 'some of them, by name' },
    { value: 'all', label: `all of them (${open.length})` },
  ]
  const answer = await ask.choose(
    `${open.length} open stories are a lot for one run. Which part should Ralph plan?`,
    choices,
  )
  if (answer === 'all') return null
  if (answer === 'stories') return askStories(ask, open)
  const part = parts[Number(answer.slice('part '.length))]
  return part === undefined
    ? null
    : { stories: part.epic === null ? [...part.stories] : [], epic: part.epic, job: 0 }
}

function partLabel({ name, count }: Pick<PlanPart, 'name' | 'count'>): string {
  return `${terminalText(name, 60)} (${count})`
}

async function askStories(ask: TerminalPrompts, open: readonly Story[]): Promise<Scope> {
  const choices = open.map(({ id, title }) => ({ value: id, label: `${id}  ${terminalText(title, 60)}` }))
  return { stories: await ask.several('Which stories?', choices, []), epic: null, job: 0 }
}
