// Slack, by an incoming webhook: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks

import type { Request } from '../system/http-post.ts'
import { factsOf, headlineOf, jsonTo, linkOf, type Notice, sentenceIn } from './notice.ts'

/** Controls (`<!channel>`, `<@U1>`, `<url|text>`) begin with what is escaped: docs.slack.dev/messaging/formatting-message-text. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

export function slackRequest(url: string, notice: Notice): Request {
  const link = linkOf(notice)
  const next = sentenceIn(notice.next, { text: escaped, code: (code) => `\`${escaped(code)}\`` })
  // Verbatim: no address or name in it becomes a link.
  const mrkdwn = (text: string) => ({ type: 'mrkdwn', text, verbatim: true })
  const facts = escaped(factsOf(notice))
  return jsonTo(url, {
    // In notifications, and where blocks are not shown.
    text: escaped(headlineOf(notice)),
    blocks: [
      { type: 'section', text: mrkdwn(escaped(headlineOf(notice))) },
      ...(next === '' ? [] : [{ type: 'section', text: mrkdwn(next) }]),
      {
        type: 'context',
        elements: [
          mrkdwn(
            link === null ? facts : `${facts} · <${escaped(link.url).replaceAll('|', '%7C')}|${link.name}>`,
          ),
        ],
      },
    ],
    unfurl_links: false,
    unfurl_media: false,
  })
}
