// The questions of `ralph init` on a terminal, for what no flag says. Every answer is a flag, too.
import { agentNames, findAgent } from '../agents/registry.ts'
import type { Settled, Written } from '../init/answers.ts'
import { terminalText } from '../report/escape.ts'
import { readSettings } from '../settings/index.ts'
import type { Asking } from './ask.ts'

export type Questions = {
  ask: Asking
  /** What would be written without a question. */
  proposed: Settled['inputs']
  /** What flags say already. */
  answered: Written
  /** Agents on this machine. */
  here: readonly string[]
  env: Readonly<Record<string, string>>
}

/** The answers by key. Throws Cancelled where the person left. */
export async function askAll(questions: Questions): Promise<Written> {
  const { answered } = questions
  const agent = await askAgent(questions)
  const gates = 'gates' in answered || 'gate' in answered ? {} : await askGates(questions)
  return { ...agent, ...gates, ...(await askLimits(questions, agent)), ...(await askIsolation(questions)) }
}

const choice = (value: string, hint: string) => ({ value, label: value, hint })

async function askAgent({ ask, proposed, answered, here }: Questions): Promise<Written> {
  const isKnown = 'agent' in answered || 'agentCommand' in answered
  const hintOf = (name: string) => (here.includes(name) ? 'on this machine' : '')
  const choices = agentNames.map((name) =>
    choice(name, name === 'custom' ? 'a command of your own' : hintOf(name)),
  )
  const standard = String(proposed.agent)
  const agent = isKnown ? standard : await ask.choose('Which agent?', choices, standard)
  if (agent !== 'custom' || 'agentCommand' in answered) return 'agent' in answered ? {} : { agent }
  const fault = (text: string) => (text === '' ? 'a command is needed' : undefined)
  const agentCommand = await ask.text('Its command line; it gets the prompt on standard input', { fault })
  return { agent, agentCommand }
}

/** The gates that are chosen among the proposed, and another. */
export async function askGates({
  ask,
  proposed,
  env,
}: Pick<Questions, 'ask' | 'proposed' | 'env'>): Promise<Written> {
  const found = typeof proposed.gates === 'object' ? Object.entries({ ...proposed.gates }) : []
  const names = found.map(([name]) => name)
  const choices = found.map(([name, run]) => choice(name, terminalText(commandOf(run), 60)))
  const question = 'Which gates must be green before a story counts as done?'
  const chosen = names.length === 0 ? [] : await ask.several(question, choices, names, false)
  const gates = Object.fromEntries(found.filter(([name]) => chosen.includes(name)))
  const more = await ask.text(
    chosen.length === 0
      ? 'A gate as NAME=COMMAND, such as test=npm test (empty: none)'
      : 'Another gate as NAME=COMMAND (empty: no more)',
    { fault: (text) => (text === '' ? undefined : trouble({ gate: [text] }, env)) },
  )
  if (more !== '') gates[more.slice(0, more.indexOf('=')).trim()] = more.slice(more.indexOf('=') + 1).trim()
  return { gates: Object.keys(gates).length > 0 ? gates : 'none' }
}

/** A gate's command line, in its short and its long form. */
function commandOf(gate: unknown): string {
  return typeof gate === 'object' && gate !== null && 'run' in gate ? String(gate.run) : String(gate)
}

export async function askLimits(
  { ask, proposed, answered, env }: Questions,
  { agent }: Written,
): Promise<Written> {
  const answers: Record<string, unknown> = {}
  const reports = findAgent(String(agent ?? proposed.agent))?.reports
  const rows = [
    ['maxIterations', 'How many iterations may a feature take?', true],
    ['maxCostUsd', 'How many dollars may a feature cost? (none: no limit)', reports === 'cost'],
  ] as const
  for (const [key, message, isAsked] of rows) {
    if (key in answered || !isAsked) continue
    const fault = (text: string) => (text === 'none' ? undefined : trouble({ [key]: text }, env))
    const answer = await ask.text(message, { standard: String(proposed[key] ?? 'none'), fault })
    answers[key] = answer === 'none' ? null : Number(answer)
  }
  return answers
}

async function askIsolation({ ask, proposed, answered }: Questions): Promise<Written> {
  if ('isolation' in answered) return {}
  const choices = [
    choice('other-user', 'an unprivileged user; needs sudo, which hosted runners have'),
    choice('separate-job', 'jobs without a token that writes; the strongest'),
    choice('same-user', 'the agent can take the tokens of the job'),
  ]
  const question = 'In CI, how far are agent and gates kept from tokens?'
  return { isolation: await ask.choose(question, choices, String(proposed.isolation ?? 'other-user')) }
}

/** What the settings say against an answer. */
function trouble(flags: Record<string, string | string[]>, env: Questions['env']): string | undefined {
  const result = readSettings({ flags, env, surface: 'cli' })
  return result.ok ? undefined : result.mistakes.map(({ expected, fix }) => `${expected}; ${fix}`)[0]
}
