// The interview: one question after another, each with a default, where documents and settings leave something open.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Documents } from '../documents/index.ts'
import { branchNameFault } from '../prd/names.ts'
import { terminalText } from '../report/escape.ts'
import { many } from '../report/words.ts'
import type { Asking } from './ask.ts'
import type { Flags } from './context.ts'
import type { Scope } from './plan-draft.ts'
import type { Material } from './plan-material.ts'

export const CONFIG_FILES = ['ralph.config.yml', 'ralph.config.yaml', 'ralph.config.json']

/** What was answered about the run: as flags for this command, and as the configuration file that is to be written. */
export type Chosen = { flags: Flags; config: string | null }

const GATES = ['typecheck', 'test', 'lint', 'build']
const LIMITS = [
  ['maxIterations', 'How many iterations at most?', 50],
  ['maxAttempts', 'After how many failed attempts is a story blocked?', 3],
] as const

/** Gates, limits and instructions, where no configuration file says them. */
export async function askSettings(
  ask: Asking,
  workTree: string,
  given: Flags,
  { documents }: Pick<Material, 'documents'>,
): Promise<Chosen> {
  const read = CONFIG_FILES.map((name) => readFile(join(workTree, name)).then(Boolean, () => false))
  if ((await Promise.all(read)).some(Boolean)) return { flags: {}, config: null }
  const config: Record<string, unknown> = {}
  if (given.gate === undefined && given.gates === undefined)
    config.gates = await askGates(ask, documents?.gates ?? {})
  for (const [key, question, standard] of LIMITS) {
    if (given[key] !== undefined) continue
    config[key] = Number(await ask.text(question, { standard: String(standard), fault: countFault }))
  }
  const hint = 'such as: use the existing mailer; Enter for none'
  const instructions =
    given.instructions === undefined ? await ask.text('Instructions for every session?', { hint }) : ''
  if (instructions !== '') config.instructions = instructions
  if (Object.keys(config).length === 0) return { flags: {}, config: null }
  const { stringify } = await import('yaml')
  const flags = Object.fromEntries(
    Object.entries(config).map(([key, value]) => [
      key,
      typeof value === 'object' ? stringify(value) : String(value),
    ]),
  )
  return { flags, config: stringify(config) }
}

async function askGates(ask: Asking, proposed: Readonly<Record<string, string>>): Promise<unknown> {
  const names = [...new Set([...GATES, ...Object.keys(proposed)])]
  for (;;) {
    const gates: Record<string, string> = {}
    for (const name of names) {
      const standard = proposed[name] ?? ''
      const how =
        standard === '' ? { hint: 'a command; Enter for none' } : { standard, hint: 'none for none' }
      const command = await ask.text(`Gate ${terminalText(name, 40)}: which command must exit 0?`, how)
      if (command !== '' && command !== 'none') gates[name] = command
    }
    if (Object.keys(gates).length > 0) return gates
    if (await ask.yes('No gate at all: every change that an agent makes passes. Is that meant?', false))
      return 'none'
  }
}

function countFault(text: string): string | undefined {
  return /^[1-9]\d{0,5}$/.test(text) ? undefined : 'write a number, such as 50'
}

export function askName(ask: Asking, standard: string): Promise<string> {
  const fault = (name: string) => {
    const wrong = /[/\\]/.test(name) ? 'no slash' : branchNameFault(name)
    return wrong === null ? undefined : `a name with ${wrong}`
  }
  return ask.text('What is the feature called? Folder and branch have this name.', { standard, fault })
}

export function askSentence(ask: Asking): Promise<string> {
  const fault = (text: string) => (text.trim().length < 3 ? 'say it in a sentence or two' : undefined)
  const hint = 'people can sign in with a passkey'
  return ask.text('What is the feature? Say who wants what, and how one sees that it is done.', {
    hint,
    fault,
  })
}

/** All, epics, or named stories; null for all. Asked only where there is a choice. */
export async function askScope(ask: Asking, { prd }: Pick<Documents, 'prd'>): Promise<Scope> {
  const open = prd.userStories.filter(({ passes }) => !passes)
  const epics = [...new Set(open.flatMap(({ epicId }) => epicId ?? []))]
  if (open.length < 2) return null
  const scope = await ask.choose('Which of the stories?', [
    { value: 'all', label: `all of them (${open.length})` },
    ...(epics.length > 1
      ? [{ value: 'epics' as const, label: `those of an epic (${many(epics.length, 'epic')})` }]
      : []),
    { value: 'stories', label: 'some of them, by name' },
  ])
  if (scope === 'all') return null
  if (scope === 'epics') {
    const choices = epics.map((epic) => ({ value: epic, label: terminalText(epic, 60) }))
    return { epics: await ask.several('Which epics?', choices, []), stories: [] }
  }
  const choices = open.map(({ id, title }) => ({ value: id, label: `${id}  ${terminalText(title, 60)}` }))
  return { epics: [], stories: await ask.several('Which stories?', choices, []) }
}
