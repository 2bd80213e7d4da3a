// Discord, by a webhook of a channel: https://docs.discord.com/developers/resources/webhook#execute-webhook

import type { Request } from '../system/http-post.ts'
import { factsOf, headlineOf, jsonTo, linkOf, type Notice, sentenceIn } from './notice.ts'

const COLOURS: Readonly<Record<string, number>> = {
  complete: 0x1a7f37,
  stuck: 0xcf222e,
  error: 0xcf222e,
  budget: 0x9a6700,
  'max-iterations': 0x9a6700,
}
const BLUE = 0x0969da

function escaped(text: string): string {
  return text.replace(/[\\*_~`|>#\-[\]()]/g, '\\$&')
}

export function discordRequest(url: string, notice: Notice): Request {
  const link = linkOf(notice)
  const next = sentenceIn(notice.next, { text: escaped, code: (code) => `\`${code}\`` })
  return jsonTo(url, {
    // Nobody, whatever the text says.
    allowed_mentions: { parse: [] },
    embeds: [
      {
        description: [`**${escaped(headlineOf(notice))}**`, next].filter(Boolean).join('\n'),
        color: COLOURS[notice.outcome ?? ''] ?? BLUE,
        footer: { text: factsOf(notice) },
        timestamp: new Date(notice.at).toISOString(),
        ...(link === null ? {} : { title: link.name, url: link.url }),
      },
    ],
  })
}
