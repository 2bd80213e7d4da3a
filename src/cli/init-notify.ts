// `ralph init --notify`: asks whom a run should tell, and keeps it in a file that only its owner can read.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as clack from '@clack/prompts'
import { KINDS, type Kind } from '../notify/notice.ts'
import { EXIT_CODES, outputsOf } from '../report/outputs.ts'
import { UserError } from '../system/errors.ts'
import { replaceFile } from '../system/files.ts'
import { shellWord } from '../system/shell-word.ts'
import { asking, Cancelled } from './ask.ts'
import { type Answer, type Context, tell } from './context.ts'
import { OWN, OWN_FILE, ownFile, ownNotify } from './notify-own.ts'

export async function initNotify(context: Context): Promise<Answer> {
  const { env } = context
  const ask = asking(context)
  if (ask === null || (env.HOME ?? '') === '')
    throw new UserError({
      path: '--notify',
      found: ask === null ? 'no terminal' : 'no home folder',
      expected: 'somebody who answers',
      fix: `write the lines yourself, such as RALPH_SLACK_WEBHOOK_URL=https://..., into ${OWN_FILE}, and chmod 600 ${OWN_FILE}; in CI, notify: with secrets in the workflow`,
    })
  const before = await ownFile(env)
  try {
    const kinds = await ask.several(
      'Whom should a run tell?',
      KINDS.map((kind) => ({ value: kind, label: LABELS[kind] })),
      KINDS.filter((kind) => before[OWN[kind].names[0]] !== undefined),
    )
    const left = KINDS.filter((kind) => !kinds.includes(kind)).flatMap(
      (kind): readonly string[] => OWN[kind].names,
    )
    // Who is not chosen any more is told no more.
    const values: Record<string, string | null> = Object.fromEntries(left.map((name) => [name, null]))
    for (const name of kinds.flatMap((kind): readonly string[] => OWN[kind].names)) {
      const answer = await clack.password({
        message: `${name}${before[name] === undefined ? '' : ' (empty: as it is)'}`,
      })
      if (clack.isCancel(answer)) throw new Cancelled()
      if (answer !== undefined && answer.trim() !== '') values[name] = answer.trim()
    }
    ownNotify({ ...before, ...values }, OWN_FILE)
    const path = join(env.HOME ?? '', '.ralph.env')
    await replaceFile(path, withVariables(await readFile(path, 'utf8').catch(() => ''), values), 0o600)
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error
    tell(process.stderr, 'Nothing was written.')
    return { code: EXIT_CODES.interrupted, outputs: outputsOf(null, 'interrupted', null) }
  }
  tell(process.stdout, `Written to ${OWN_FILE} (mode 600). Try it: ralph notify --test`)
  return { code: 0, outputs: outputsOf(null, null, null) }
}

const LABELS: Readonly<Record<Kind, string>> = {
  slack: 'Slack, by an incoming webhook',
  discord: "Discord, by a channel's webhook",
  teams: 'Microsoft Teams, by a Workflows webhook',
  telegram: 'Telegram, by a bot',
  webhook: 'a webhook of your own, signed',
  custom: 'a script of your own',
}

/** The text of the file with these values, and without those that are null; what else stands in it stays. */
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
