// A person's own notifications: environment variables, and ~/.ralph.env, which no other user may read. Their names are those of
// another Ralph (the one with `plan` and `build`), so that what was set up for it works here.
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import * as z from 'zod/mini'
import { isObject } from '../engine/model/json.ts'
import { RECEIVER_KINDS, type ReceiverKind } from '../notify/notice.ts'
import { outputsOf } from '../report/outputs.ts'
import type { Settings } from '../settings/read-settings.ts'
import { notify as schema } from '../settings/structures.ts'
import { type Mistake, UserError } from '../system/errors.ts'
import { faultOf } from '../system/faults.ts'
import { replaceFile } from '../system/files.ts'
import { shellWord } from '../system/shell-word.ts'
import type { CommandResult, Context } from './command-context.ts'
import { terminalPrompts } from './terminal-questions.ts'

export type Variables = Readonly<Record<string, string | null | undefined>>

const OWN_FILE = '~/.ralph.env'

type Row = { names: readonly [string, ...string[]]; read(...values: string[]): unknown }

/** The variables of each kind of service. The first one is required. */
const OWN_VARIABLES = {
  slack: { names: ['RALPH_SLACK_WEBHOOK_URL'], read: (url) => url },
  discord: { names: ['RALPH_DISCORD_WEBHOOK_URL'], read: (url) => url },
  teams: { names: ['RALPH_TEAMS_WEBHOOK_URL'], read: (url) => url },
  telegram: {
    names: ['RALPH_TELEGRAM_BOT_TOKEN', 'RALPH_TELEGRAM_CHAT_ID'],
    read: (botToken, chatId) => ({ botToken, chatId }),
  },
  webhook: { names: ['RALPH_WEBHOOK_URL', 'RALPH_WEBHOOK_SECRET'], read: (url, secret) => ({ url, secret }) },
  // The other Ralph passes the message as the script's argument.
  custom: { names: ['RALPH_CUSTOM_NOTIFY_SCRIPT'], read: (path = '') => `${shellWord(path)} "$1"` },
} satisfies Record<Exclude<keyof Settings['notify'], 'every'>, Row>

/** The settings with the person's own services added. Throws UserError for a file that others can read, and for bad values. */
export async function withOwnNotify(settings: Settings, env: Variables): Promise<Settings> {
  const file = await ownFile(env)
  const notify = { ...ownNotify(file, OWN_FILE), ...ownNotify(env, 'the environment') }
  const named = Object.entries(settings.notify).filter(([, value]) => value !== null)
  return { ...settings, notify: { ...settings.notify, ...notify, ...Object.fromEntries(named) } }
}

/** The variables in the file; none if there is no file. */
async function ownFile({ HOME }: Variables): Promise<Variables> {
  const path = join(HOME ?? '', '.ralph.env')
  const found = (HOME ?? '') === '' ? null : await stat(path).catch(() => null)
  if (found === null) return {}
  const mode = found.mode & 0o777
  if (!found.isFile() || (mode & 0o077) !== 0)
    throw new UserError({
      path: OWN_FILE,
      found: found.isFile()
        ? `other users can read this file, which holds keys (mode ${mode.toString(8)}).`
        : 'this is not a regular file.',
      expected: '',
      fix: `chmod 600 ${OWN_FILE}`,
    })
  return parseEnv(await readFile(path, 'utf8'))
}

/** The services that the variables describe. Throws UserError with every mistake. */
function ownNotify(variables: Variables, where: string): Partial<Settings['notify']> {
  const mistakes: Mistake[] = []
  const found = Object.entries(OWN_VARIABLES).map(([kind, { names, read }]: [string, Row]) => {
    const values = names.map((name) => variables[name]?.trim() ?? '')
    if (values.every((value) => value === '')) return {}
    const result = z.safeParse(schema, { [kind]: read(...values) })
    if (result.success) return { [kind]: Object.entries(result.data).find(([key]) => key === kind)?.[1] }
    const [issue] = result.error.issues
    const at = isObject(read(...values)) ? issue?.path.at(-1) : undefined
    const index = at === undefined ? 0 : Object.keys(read(...values) ?? {}).indexOf(String(at))
    const name = names[Math.max(0, index)] ?? names[0]
    const { expected, fix } = faultOf(issue)
    const found = values[index] === '' ? 'nothing' : '(hidden)'
    mistakes.push({ path: `${where}: ${name}`, found, expected, fix })
    return {}
  })
  if (mistakes.length > 0) throw new UserError(mistakes)
  return Object.assign({}, ...found)
}

/** `ralph init --notify`: asks where a run should send notifications, and writes that to the file. */
export async function initNotify(context: Context): Promise<CommandResult> {
  const { env } = context
  const ask = terminalPrompts(context)
  if (ask === null || (env.HOME ?? '') === '')
    throw new UserError({
      path: '--notify',
      found:
        ask === null
          ? 'Ralph cannot ask for the address, because there is no terminal.'
          : 'there is no home folder to write to.',
      expected: '',
      fix: `write lines such as RALPH_SLACK_WEBHOOK_URL=https://... into ${OWN_FILE}, then chmod 600 ${OWN_FILE}. In CI, use the input notify of the workflow, with secrets`,
    })
  const before = await ownFile(env)
  const kinds = await ask.several(
    'Which services should a run send notifications to?',
    RECEIVER_KINDS.map((kind) => ({ value: kind, label: LABELS[kind] })),
    RECEIVER_KINDS.filter((kind) => before[OWN_VARIABLES[kind].names[0]] !== undefined),
  )
  const values: Record<string, string | null> = {}
  for (const kind of RECEIVER_KINDS)
    for (const name of OWN_VARIABLES[kind].names) {
      // The variables of a service that is no longer chosen are removed from the file.
      if (!kinds.includes(kind)) {
        values[name] = null
        continue
      }
      const answer = await ask.secret(`${name}${before[name] === undefined ? '' : ' (empty: as it is)'}`)
      if (answer !== '') values[name] = answer
    }
  ownNotify({ ...before, ...values }, OWN_FILE)
  const path = join(env.HOME ?? '', '.ralph.env')
  await replaceFile(path, withVariables(await readFile(path, 'utf8').catch(() => ''), values), 0o600)
  context.print(`Written to ${OWN_FILE} (mode 600). Try it: ralph notify --test`)
  return { code: 0, outputs: outputsOf(null, null, null) }
}

const LABELS: Readonly<Record<ReceiverKind, string>> = {
  slack: 'Slack, through an incoming webhook',
  discord: "Discord, through a channel's webhook",
  teams: 'Microsoft Teams, through a Workflows webhook',
  telegram: 'Telegram, through a bot',
  webhook: 'your own webhook, signed',
  custom: 'your own script',
}

/** The text of the file with these values set, and those that are null removed. All other lines stay. */
export function withVariables(text: string, values: Readonly<Record<string, string | null>>): string {
  const isReplaced = (line: string) => {
    const name = /^\s*(?:export\s+)?(\w+)\s*=/.exec(line)?.[1]
    return name !== undefined && Object.hasOwn(values, name)
  }
  const kept = text.split('\n').filter((line) => !isReplaced(line))
  while (kept.at(-1) === '') kept.pop()
  const lines = Object.entries(values).flatMap(([name, value]) =>
    value === null ? [] : [`export ${name}=${shellWord(value)}`],
  )
  return `${[...kept, ...lines].join('\n')}\n`
}
