// Microsoft Teams, by a Workflows webhook that takes Adaptive Cards:
// https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using

import { titleText } from '../report/escape.ts'
import type { Request } from '../system/http-post.ts'
import { factsOf, headlineOf, jsonTo, linkOf, type Notice } from './notice.ts'

export function teamsRequest(url: string, notice: Notice): Request {
  const link = linkOf(notice)
  const next = notice.next.map((part) => {
    if (typeof part === 'string') return run(part)
    return 'code' in part
      ? run(titleText(part.code, part.most), { fontType: 'Monospace' })
      : run(titleText('text' in part ? part.text : part.button))
  })
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      line([run(headlineOf(notice), { weight: 'Bolder' })]),
      ...(next.length === 0 ? [] : [line(next)]),
      line([run(factsOf(notice), { isSubtle: true, size: 'Small' })]),
    ],
    actions: link === null ? [] : [{ type: 'Action.OpenUrl', title: link.name, url: link.url }],
  }
  return jsonTo(url, {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
  })
}

/** A run of text is no markdown, as a TextBlock is: https://adaptivecards.io/explorer/TextRun.html */
function run(text: string, look: Readonly<Record<string, unknown>> = {}) {
  return { type: 'TextRun', text, ...look }
}

function line(inlines: readonly ReturnType<typeof run>[]) {
  return { type: 'RichTextBlock', inlines }
}
