// Whom a person wants told wherever they run Ralph: variables, and ~/.ralph.env, which nobody else may read. Their names are
// those of the Ralph with plan and build, so that what was set up for it is heard here.
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import * as z from 'zod/mini'
import type { Settings } from '../settings/index.ts'
import { notify as schema } from '../settings/structures.ts'
import { isMap } from '../settings/values.ts'
import { type Mistake, UserError } from '../system/errors.ts'
import { shellWord } from '../system/shell-word.ts'

export type Variables = Readonly<Record<string, string | null | undefined>>

export const OWN_FILE = '~/.ralph.env'

type Row = { names: readonly [string, ...string[]]; read(...values: string[]): unknown }

/** Of each kind the variables that make it, the first of which is needed. */
export const OWN = {
  slack: { names: ['RALPH_SLACK_WEBHOOK_URL'], read: (url) => url },
  discord: { names: ['RALPH_DISCORD_WEBHOOK_URL'], read: (url) => url },
  teams: { names: ['RALPH_TEAMS_WEBHOOK_URL'], read: (url) => url },
  telegram: {
    names: ['RALPH_TELEGRAM_BOT_TOKEN', 'RALPH_TELEGRAM_CHAT_ID'],
    read: (botToken, chatId) => ({ botToken, chatId }),
  },
  webhook: { names: ['RALPH_WEBHOOK_URL', 'RALPH_WEBHOOK_SECRET'], read: (url, secret) => ({ url, secret }) },
  // A script takes the message as its argument there.
  custom: { names: ['RALPH_CUSTOM_NOTIFY_SCRIPT'], read: (path = '') => `${shellWord(path)} "$1"` },
} satisfies Record<Exclude<keyof Settings['notify'], 'every'>, Row>

/** The settings with whom the person wants told beside. Throws UserError for what cannot be read, or what others can read. */
export async function withOwnNotify(settings: Settings, env: Variables): Promise<Settings> {
  const file = await ownFile(env)
  const notify = { ...ownNotify(file, OWN_FILE), ...ownNotify(env, 'the environment') }
  const named = Object.entries(settings.notify).filter(([, value]) => value !== null)
  return { ...settings, notify: { ...settings.notify, ...notify, ...Object.fromEntries(named) } }
}

/** What the file says; nothing where there is none. */
export async function ownFile({ HOME }: Variables): Promise<Variables> {
  const path = join(HOME ?? '', '.ralph.env')
  const found = (HOME ?? '') === '' ? null : await stat(path).catch(() => null)
  if (found === null) return {}
  const mode = found.mode & 0o777
  if (!found.isFile() || (mode & 0o077) !== 0)
    throw new UserError({
      path: OWN_FILE,
      found: found.isFile() ? `a file that others can read (mode ${mode.toString(8)})` : 'no regular file',
      expected: 'a file of mode 600: it holds keys',
      fix: `chmod 600 ${OWN_FILE}`,
    })
  return parseEnv(await readFile(path, 'utf8'))
}

/** Whom variables name. Throws UserError with every mistake. */
export function ownNotify(variables: Variables, where: string): Partial<Settings['notify']> {
  const mistakes: Mistake[] = []
  const found = Object.entries(OWN).map(([kind, { names, read }]: [string, Row]) => {
    const values = names.map((name) => variables[name]?.trim() ?? '')
    if (values.every((value) => value === '')) return {}
    const result = z.safeParse(schema, { [kind]: read(...values) })
    if (result.success) return { [kind]: Object.entries(result.data).find(([key]) => key === kind)?.[1] }
    const [issue] = result.error.issues
    const at = isMap(read(...values)) ? issue?.path.at(-1) : undefined
    const index = at === undefined ? 0 : Object.keys(read(...values) ?? {}).indexOf(String(at))
    const [expected = '', fix = ''] = (issue?.message ?? '').split('\n')
    const name = names[Math.max(0, index)] ?? names[0]
    mistakes.push({
      path: `${where}: ${name}`,
      found: values[index] === '' ? 'nothing' : '(hidden)',
      expected,
      fix,
    })
    return {}
  })
  if (mistakes.length > 0) throw new UserError(mistakes)
  return Object.assign({}, ...found)
}
