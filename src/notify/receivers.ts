// Who is told: a row a service. A new one is a file and a row here.

import type { Request } from '../system/http-post.ts'
import { type Answer, MOST_MS, send } from '../system/http-post.ts'
import { type CommandPlace, runCommand } from './command.ts'
import { discordRequest } from './discord.ts'
import { KINDS, type Kind, type Notice, type NotifySettings } from './notice.ts'
import { slackRequest } from './slack.ts'
import { teamsRequest } from './teams.ts'
import { telegramRequest } from './telegram.ts'
import { webhookRequest } from './webhook.ts'

export type Receiver = {
  kind: Kind
  /** What it answered. Never throws; ends within ten seconds. */
  deliver(notice: Notice, signal: AbortSignal): Promise<Answer>
}

export type ReceiverOptions = CommandPlace & {
  /** For tests: another address of Telegram, and less patience. */
  telegramApi?: string
  timeoutMs?: number
}

type Made = (notice: Notice) => Request

/** Those that the settings name, in one order. */
export function receiversOf(settings: NotifySettings, options: ReceiverOptions): Receiver[] {
  const { slack, discord, teams, telegram, webhook, custom } = settings
  const { timeoutMs = MOST_MS } = options
  const services: Readonly<Record<Exclude<Kind, 'custom'>, Made | null>> = {
    slack: slack === null ? null : (notice) => slackRequest(slack, notice),
    discord: discord === null ? null : (notice) => discordRequest(discord, notice),
    teams: teams === null ? null : (notice) => teamsRequest(teams, notice),
    telegram: telegram === null ? null : (notice) => telegramRequest(telegram, notice, options.telegramApi),
    webhook: webhook === null ? null : (notice) => webhookRequest(webhook, notice),
  }
  return KINDS.flatMap((kind): Receiver[] => {
    if (kind === 'custom')
      return custom === null
        ? []
        : [{ kind, deliver: (notice, signal) => runCommand(custom, notice, options, timeoutMs, signal) }]
    const made = services[kind]
    return made === null ? [] : [{ kind, deliver: (notice, signal) => send(made(notice), timeoutMs, signal) }]
  })
}
