// Notification receivers: the request that each service gets, as its vendor documents it. A new one is a function and a row in `receiversOf`.
import { createHmac } from 'node:crypto'
import { oneLine } from '../engine/model/text.ts'
import { VERSION } from '../engine/model/version.ts'
import { type Environment, gateEnv } from '../isolation/untrusted-env.ts'
import { titleText } from '../report/escape.ts'
import { partText, toPlainText } from '../report/sentence.ts'
import { POST_TIMEOUT_MS, type PostResult, type Request, sendRequest } from '../system/http-post.ts'
import { runUntrusted } from '../system/process.ts'
import {
  factsOf,
  headlineOf,
  linkOf,
  type NotifySettings,
  plainMessage,
  type ReceiverKind,
  renderSentence,
} from './notice.ts'
import type { Notice } from './state-changes.ts'

export type Receiver = {
  kind: ReceiverKind
  /** Sends a notice, and returns the answer. Never throws; ends within ten seconds. */
  deliver(notice: Notice, signal: AbortSignal): Promise<PostResult>
}

type CommandPlace = {
  env: Environment
  /** The folder that the command is started in. */
  cwd: string
  isModelKey(name: string): boolean
}

type ReceiverOptions = CommandPlace & {
  /** For tests: another address of Telegram, and less patience. */
  telegramApi?: string
  timeoutMs?: number
}

/** The receivers that the settings name, in the order of `RECEIVER_KINDS`. */
export function receiversOf(settings: NotifySettings, options: ReceiverOptions): Receiver[] {
  const { slack, discord, teams, telegram, webhook, custom } = settings
  const { timeoutMs = POST_TIMEOUT_MS, telegramApi } = options
  const posted = (kind: ReceiverKind, requestOf: (notice: Notice) => Request): Receiver => ({
    kind,
    deliver: (notice, signal) => sendRequest(requestOf(notice), timeoutMs, signal),
  })
  const all: (Receiver | null)[] = [
    slack === null ? null : posted('slack', (notice) => jsonTo(slack, slackBody(notice))),
    discord === null ? null : posted('discord', (notice) => jsonTo(discord, discordBody(notice))),
    teams === null ? null : posted('teams', (notice) => jsonTo(teams, teamsBody(notice))),
    telegram === null ? null : posted('telegram', (notice) => telegramRequest(telegram, notice, telegramApi)),
    webhook === null ? null : posted('webhook', (notice) => webhookRequest(webhook, notice)),
    custom === null
      ? null
      : {
          kind: 'custom',
          deliver: (notice, signal) => runCommand(custom, notice, options, timeoutMs, signal),
        },
  ]
  return all.filter((one) => one !== null)
}

function jsonTo(url: string, body: unknown): Request {
  return { url, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

/** An incoming webhook: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks */
function slackBody(notice: Notice) {
  const link = linkOf(notice)
  // Controls (`<!channel>`, `<@U1>`, `<url|text>`) begin with what is escaped: docs.slack.dev/messaging/formatting-message-text
  const escaped = (text: string) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const next = renderSentence(notice.next, { text: escaped, code: (code) => `\`${escaped(code)}\`` })
  const there = link === null ? '' : ` · <${escaped(link.url).replaceAll('|', '%7C')}|${link.name}>`
  // Verbatim: no address or name in it becomes a link.
  const mrkdwn = (text: string) => ({ type: 'mrkdwn', text, verbatim: true })
  return {
    // Shown in notifications, and by clients that do not show blocks.
    text: escaped(headlineOf(notice)),
    blocks: [
      { type: 'section', text: mrkdwn(escaped(headlineOf(notice))) },
      ...(next === '' ? [] : [{ type: 'section', text: mrkdwn(next) }]),
      { type: 'context', elements: [mrkdwn(escaped(factsOf(notice)) + there)] },
    ],
    unfurl_links: false,
    unfurl_media: false,
  }
}

/** A webhook of a channel: https://docs.discord.com/developers/resources/webhook#execute-webhook */
function discordBody(notice: Notice) {
  const link = linkOf(notice)
  const escaped = (text: string) => text.replace(/[\\*_~`|>#\-[\]()]/g, '\\$&')
  const next = renderSentence(notice.next, { text: escaped, code: (code) => `\`${code}\`` })
  return {
    // Mentions no one, whatever the text says.
    allowed_mentions: { parse: [] },
    embeds: [
      {
        description: [`**${escaped(headlineOf(notice))}**`, next].filter(Boolean).join('\n'),
        footer: { text: factsOf(notice) },
        timestamp: new Date(notice.at).toISOString(),
        ...(link === null ? {} : { title: link.name, url: link.url }),
      },
    ],
  }
}

/**
 * A Workflows webhook that takes Adaptive Cards:
 * https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
 */
function teamsBody(notice: Notice) {
  const link = linkOf(notice)
  // A run of text is not a markdown, as a TextBlock is: https://adaptivecards.io/explorer/TextRun.html
  const line = (text: string, look: object) => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text, ...look }],
  })
  const next = titleText(notice.next.map(partText).join(''), 1000)
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      line(headlineOf(notice), { weight: 'Bolder' }),
      ...(next === '' ? [] : [line(next, {})]),
      line(factsOf(notice), { isSubtle: true, size: 'Small' }),
    ],
    actions: link === null ? [] : [{ type: 'Action.OpenUrl', title: link.name, url: link.url }],
  }
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
  }
}

/** A bot: https://core.telegram.org/bots/api#sendmessage */
function telegramRequest(
  { botToken, chatId }: NonNullable<NotifySettings['telegram']>,
  notice: Notice,
  api = 'https://api.telegram.org',
): Request {
  return jsonTo(`${api}/bot${botToken}/sendMessage`, {
    chat_id: chatId,
    // Without parse_mode nothing in it is markup.
    text: plainMessage(notice),
    link_preview_options: { is_disabled: true },
  })
}

/** The user's own receiver: a JSON body, signed as GitHub signs its webhooks. docs/notify.md describes it. */
function webhookRequest(
  { url, secret }: NonNullable<NotifySettings['webhook']>,
  { sign: _sign, next, at, delivery, ...facts }: Notice,
): Request {
  const body = { ...facts, deliveryId: delivery, at: new Date(at).toISOString(), next: toPlainText(next) }
  const request = jsonTo(url, body)
  const headers: Record<string, string> = {
    ...request.headers,
    'user-agent': `ralph-action/${VERSION}`,
    'x-ralph-event': facts.event,
    'x-ralph-delivery': delivery,
  }
  if (secret !== null)
    headers['x-ralph-signature-256'] =
      `sha256=${createHmac('sha256', secret).update(request.body).digest('hex')}`
  return { ...request, headers }
}

/** Runs a command of the trusted configuration as Ralph's own user, without any token in its environment. Never throws. */
async function runCommand(
  command: string,
  notice: Notice,
  { env, cwd, isModelKey }: CommandPlace,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<PostResult> {
  const { GITHUB_WORKSPACE: _workspace, ...allowed } = gateEnv(env, { extra: [], isModelKey }).env
  const { exit, output } = await runUntrusted({
    file: 'bash',
    // The message is also `$1`, because scripts made for another Ralph expect it there.
    args: ['-c', command, 'ralph', plainMessage(notice)],
    cwd,
    env: { ...allowed, ...variablesOf(notice) },
    stdin: `${plainMessage(notice)}\n`,
    timeoutMs,
    signal,
    captureBytes: 2000,
  })
  if (exit.kind === 'exit' && exit.code === 0) return { ok: true, detail: 'exit 0' }
  const why = exit.kind === 'exit' ? `exit ${exit.code}` : exit.kind
  const last = 'reason' in exit ? exit.reason : output.trim().split('\n').at(-1)
  return { ok: false, detail: [why, last].filter(Boolean).join(': ') }
}

function variablesOf(notice: Notice): Record<string, string> {
  const { total, passed, blocked } = notice.stories
  const variables = {
    RALPH_EVENT: notice.event,
    RALPH_REPOSITORY: notice.repository ?? '',
    RALPH_FEATURE: notice.feature,
    RALPH_BRANCH: notice.branch,
    RALPH_OUTCOME: notice.outcome ?? '',
    RALPH_STORIES_TOTAL: String(total),
    RALPH_STORIES_PASSED: String(passed),
    RALPH_STORIES_BLOCKED: blocked.join(' '),
    RALPH_URL: linkOf(notice)?.url ?? '',
  }
  // A variable holds no NUL.
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, oneLine(value, 2000)]))
}
