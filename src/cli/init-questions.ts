// The questions of `ralph init` on a terminal, for what no flag says. Every answer is a flag, too.
import * as clack from '@clack/prompts'
import { agentNames, findAgent } from '../agents/registry.ts'
import type { Settled, Written } from '../init/answers.ts'
import { terminalText } from '../report/escape.ts'
import { readSettings } from '../settings/index.ts'

export type Questions = {
  /** What would be written without a question. */
  proposed: Settled['inputs']
  /** What flags say already. */
  answered: Written
  /** Agents on this machine. */
  here: readonly string[]
  env: Readonly<Record<string, string>>
}

/** The person has left: nothing is to be written. */
class Left extends Error {}

/** The answers by key; null where the person left. */
export async function askAll(questions: Questions): Promise<Written | null> {
  try {
    clack.intro('ralph init')
    const agent = await askAgent(questions)
    const gates =
      'gates' in questions.answered || 'gate' in questions.answered ? {} : await askGates(questions)
    return { ...agent, ...gates, ...(await askLimits(questions, agent)), ...(await askIsolation(questions)) }
  } catch (error) {
    if (error instanceof Left) return null
    throw error
  }
}

export async function askToWrite(count: number): Promise<boolean> {
  const answer = await clack.confirm({
    message: count === 1 ? 'Write this file?' : `Write these ${count} files?`,
  })
  return answer === true
}

async function given<T>(answer: Promise<T | typeof clack.CANCEL_SYMBOL>): Promise<T> {
  const value = await answer
  if (value === clack.CANCEL_SYMBOL) throw new Left()
  return value
}

async function askAgent({ proposed, answered, here }: Questions): Promise<Written> {
  const names = agentNames.map((name) => ({
    value: name,
    label: name,
    hint: name === 'custom' ? 'a command of your own' : here.includes(name) ? 'on this machine' : '',
  }))
  const agent =
    'agent' in answered || 'agentCommand' in answered
      ? String(proposed.agent)
      : await given(
          clack.select({ message: 'Which agent?', options: names, initialValue: String(proposed.agent) }),
        )
  if (agent !== 'custom' || 'agentCommand' in answered) return 'agent' in answered ? {} : { agent }
  const message = 'Its command line; it gets the prompt on standard input'
  return {
    agent,
    agentCommand: await askText(message, '', (text) => (text === '' ? 'a command is needed' : undefined)),
  }
}

async function askGates({ proposed, env }: Questions): Promise<Written> {
  const found = typeof proposed.gates === 'object' ? Object.entries({ ...proposed.gates }) : []
  const options = found.map(([name, run]) => ({
    value: name,
    label: name,
    hint: terminalText(commandOf(run), 60),
  }))
  const chosen =
    options.length === 0
      ? []
      : await given(
          clack.multiselect({
            message: 'Which gates must be green before a story counts as done?',
            options,
            initialValues: options.map(({ value }) => value),
            required: false,
          }),
        )
  const gates = Object.fromEntries(found.filter(([name]) => chosen.includes(name)))
  const isNeeded = chosen.length === 0
  const more = await askText(
    isNeeded
      ? 'A gate as NAME=COMMAND, such as test=npm test (empty: none)'
      : 'Another gate as NAME=COMMAND (empty: no more)',
    '',
    (text) => (text === '' ? undefined : trouble({ gate: [text] }, env)),
  )
  if (more !== '') gates[more.slice(0, more.indexOf('=')).trim()] = more.slice(more.indexOf('=') + 1).trim()
  return { gates: Object.keys(gates).length > 0 ? gates : 'none' }
}

/** A gate's command line, in its short and its long form. */
function commandOf(gate: unknown): string {
  return typeof gate === 'object' && gate !== null && 'run' in gate ? String(gate.run) : String(gate)
}

async function askLimits({ proposed, answered, env }: Questions, { agent }: Written): Promise<Written> {
  const answers: Record<string, unknown> = {}
  const reports = findAgent(String(agent ?? proposed.agent))?.reports
  const rows = [
    ['maxIterations', 'How many iterations may a feature take?', true],
    ['maxCostUsd', 'How many dollars may a feature cost? (empty: no limit)', reports === 'cost'],
  ] as const
  for (const [key, message, isAsked] of rows) {
    if (key in answered || !isAsked) continue
    const answer = await askText(message, String(proposed[key] ?? ''), (text) =>
      text === '' ? undefined : trouble({ [key]: text }, env),
    )
    answers[key] = answer === '' ? null : answer
  }
  return answers
}

async function askIsolation({ proposed, answered }: Questions): Promise<Written> {
  if ('isolation' in answered) return {}
  const options = [
    {
      value: 'other-user',
      label: 'other-user',
      hint: 'an unprivileged user; needs sudo, which hosted runners have',
    },
    { value: 'separate-job', label: 'separate-job', hint: 'jobs without a token that writes; the strongest' },
    { value: 'same-user', label: 'same-user', hint: 'the agent can take the tokens of the job' },
  ]
  const initialValue = String(proposed.isolation ?? 'other-user')
  const isolation = await given(
    clack.select({ message: 'In CI, how far are agent and gates kept from tokens?', options, initialValue }),
  )
  return { isolation }
}

function askText(
  message: string,
  initialValue: string,
  validate: (text: string) => string | undefined,
): Promise<string> {
  return given(clack.text({ message, initialValue, validate: (text) => validate((text ?? '').trim()) })).then(
    (text) => (text ?? '').trim(),
  )
}

/** What the settings say against an answer. */
function trouble(flags: Record<string, string | string[]>, env: Questions['env']): string | undefined {
  const result = readSettings({ flags, env, surface: 'cli' })
  return result.ok ? undefined : result.mistakes.map(({ expected, fix }) => `${expected}; ${fix}`)[0]
}
