// The interview: one question after another, each with a default, where documents and settings leave something open.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { withEscapes } from '../init/answers.ts'
import { detect } from '../init/detect.ts'
import { yamlOf } from '../init/files.ts'
import type { Prd, Scope } from '../model/feature.ts'
import { scopeOf } from '../prd/scope.ts'
import { terminalText } from '../report/escape.ts'
import { configFileNames, type Settings } from '../settings/index.ts'
import { UserError } from '../system/errors.ts'
import type { Asking } from './ask.ts'
import type { Context, Flags } from './context.ts'
import { openTree } from './init-look.ts'
import { askGates, askLimits } from './init-questions.ts'
import { nameFault } from './plan-draft.ts'
import type { Material } from './plan-material.ts'

/** What was answered about the run: as flags for this command, and as the configuration file that is to be written. */
export type Chosen = { flags: Flags; config: string | null }

/** Gates, limits and instructions, where no configuration file says them. */
export async function askSettings(
  ask: Asking,
  workTree: string,
  { flags: answered, env }: Pick<Context, 'flags' | 'env'>,
  { documents }: Pick<Material, 'documents'>,
  { agent, agentCommand }: Pick<Settings, 'agent' | 'agentCommand'>,
): Promise<Chosen> {
  if (configFileNames.some((name) => existsSync(join(workTree, name)))) return { flags: {}, config: null }
  const gates = { ...detect(openTree(workTree)).gates, ...documents?.gates }
  const questions = { ask, proposed: { agent, gates, maxIterations: 50 }, answered, here: [], env }
  const config: Record<string, unknown> = {
    ...('gate' in answered || 'gates' in answered ? {} : await askGates(questions)),
    ...(await askLimits(questions, {})),
  }
  if (!('instructions' in answered)) {
    const hint = 'such as: use the existing mailer; Enter for none'
    config.instructions = (await ask.text('Instructions for every session?', { hint })) || null
  }
  const entries = Object.entries(config).filter(([, value]) => value !== null)
  if (entries.length === 0) return { flags: {}, config: null }
  // Whoever comes later, such as `ralph init`, leaves the file as it is.
  const who = agentCommand === null ? { agent } : { agent, agentCommand: withEscapes(agentCommand) }
  const flagOf = (value: unknown) => (typeof value === 'object' ? yamlOf(value) : String(value))
  const flags = Object.fromEntries(entries.map(([key, value]) => [key, flagOf(value)]))
  return { flags, config: yamlOf({ ...who, ...Object.fromEntries(entries) }) }
}

export function askName(ask: Asking, standard: string): Promise<string> {
  const fault = (name: string) => {
    const wrong = nameFault(name)
    return wrong === null ? undefined : `a name with ${wrong}`
  }
  return ask.text('What is the feature called?', { standard, fault })
}

export function askSentence(ask: Asking): Promise<string> {
  const fault = (text: string) => (text.trim().length < 3 ? 'say it in a sentence or two' : undefined)
  const hint = 'people can sign in with a passkey'
  return ask.text('What is the feature for?', { hint, fault })
}

/** All, an epic, or named stories: as flags say, else as the person does where there is a choice; null for all. */
export async function chosenScope(
  ask: Asking | null,
  { stories, epic }: Pick<Settings, 'stories' | 'epic'>,
  prd: Prd,
): Promise<Scope | null> {
  // What they wait for comes along: here only the names can be wrong.
  const alone = prd.userStories.map((story) => ({ ...story, dependsOn: [] }))
  const { scope, mistakes } = scopeOf({ ...prd, userStories: alone }, { stories, epic }, 0)
  if (mistakes.length > 0) throw new UserError(mistakes)
  return scope ?? (ask === null ? null : askScope(ask, prd))
}

async function askScope(ask: Asking, prd: Prd): Promise<Scope | null> {
  const open = prd.userStories.filter(({ passes }) => !passes)
  const epics = [...new Set(open.flatMap(({ epicId }) => epicId ?? []))]
  if (open.length < 2) return null
  const whole = { value: 'all' as const, label: `all of them (${open.length})` }
  const some = { value: 'stories' as const, label: 'some of them, by name' }
  const one = { value: 'epic' as const, label: `those of an epic (there are ${epics.length})` }
  const part = await ask.choose(
    'Which of the stories?',
    epics.length > 1 ? [whole, one, some] : [whole, some],
  )
  if (part === 'all') return null
  if (part === 'epic') {
    const choices = epics.map((epic) => ({ value: epic, label: terminalText(epic, 60) }))
    return { stories: [], epic: await ask.choose('Which epic?', choices), job: 0 }
  }
  const choices = open.map(({ id, title }) => ({ value: id, label: `${id}  ${terminalText(title, 60)}` }))
  return { stories: await ask.several('Which stories?', choices, []), epic: null, job: 0 }
}
