// The parts of a notification, as text: each receiver formats them in its own way. Plain text in it is not escaped yet.

import { addressSecrets } from '../isolation/untrusted-env.ts'
import { titleText } from '../report/escape.ts'
import { formatUsd } from '../report/figures.ts'
import { partText, type Sentence } from '../report/sentence.ts'
import type { Settings } from '../settings/read-settings.ts'
import type { Notice } from './state-changes.ts'

export type NotifySettings = Settings['notify']

/** Where messages go. */
export const RECEIVER_KINDS = ['slack', 'discord', 'teams', 'telegram', 'webhook', 'custom'] as const
export type ReceiverKind = (typeof RECEIVER_KINDS)[number]

/** The one link of a message, to the pull request or the run. No other address becomes a link. */
export function linkOf({ pullRequestUrl, runUrl }: Notice): { name: string; url: string } | null {
  if (pullRequestUrl !== null) return { name: 'Pull request', url: pullRequestUrl }
  return runUrl === null ? null : { name: 'Run', url: runUrl }
}

/** `acme/shop · auth · 5 iterations · $0.42`. */
export function factsOf({ repository, project, feature, iterations, costUsd }: Notice): string {
  const count = `${iterations} ${iterations === 1 ? 'iteration' : 'iterations'}`
  const facts = [repository ?? project, feature, count, costUsd === null ? '' : formatUsd(costUsd)]
  return titleText(facts.filter(Boolean).join(' · '), 300)
}

export function headlineOf({ sign, headline }: Notice): string {
  return `${sign} ${titleText(headline, MAX_HEADLINE)}`
}

const MAX_HEADLINE = 500

/** The sentence as a service shows it: `text` escapes what others wrote, `code` frames what can be typed. */
export function renderSentence(
  sentence: Sentence,
  { text, code }: { text(plain: string): string; code(plain: string): string },
): string {
  return sentence
    .map((part) => {
      if (typeof part === 'string') return text(part)
      if ('code' in part) return code(partText(part).replaceAll('`', "'"))
      return text(titleText(partText(part)))
    })
    .join('')
}

/** For services that show plain text. It mentions no person, and only Ralph's own address is a link. */
export function plainMessage(notice: Notice): string {
  const same = (plain: string) => plain
  const link = linkOf(notice)
  const next = titleText(renderSentence(notice.next, { text: same, code: same }), 1000)
  return [headlineOf(notice), next, factsOf(notice), link?.url ?? ''].filter(Boolean).join('\n')
}

/** The secrets among the settings: anyone who knows such an address can post to it. */
export function notifySecrets({ slack, discord, teams, telegram, webhook }: NotifySettings): string[] {
  const urls = [slack, discord, teams].filter((url) => url !== null)
  return [
    ...urls.flatMap((url) => [new URL(url).href, ...addressSecrets(url)]),
    ...(webhook !== null && new URL(webhook.url).pathname.length > 1
      ? [webhook.url, ...addressSecrets(webhook.url)]
      : []),
    ...[telegram?.botToken ?? '', webhook?.secret ?? ''].filter(({ length }) => length >= SECRET_LENGTH),
  ]
}

/** A shorter value could occur in any text by chance. */
const SECRET_LENGTH = 8
