// A receiver of one's own: a JSON body, signed as GitHub signs its webhooks. docs/notify.md describes it.
import { createHmac } from 'node:crypto'
import { VERSION } from '../model/version.ts'
import { inPlain } from '../report/sentence.ts'
import type { Request } from '../system/http-post.ts'
import { jsonTo, type Notice } from './notice.ts'

export function webhookRequest(
  { url, secret }: { url: string; secret: string | null },
  { sign: _sign, next, at, delivery, ...facts }: Notice,
): Request {
  const request = jsonTo(url, {
    ...facts,
    deliveryId: delivery,
    at: new Date(at).toISOString(),
    next: inPlain(next),
  })
  const signature: Record<string, string> =
    secret === null ? {} : { 'x-ralph-signature-256': `sha256=${hmac(secret, request.body)}` }
  return {
    ...request,
    headers: {
      ...request.headers,
      'user-agent': `ralph-action/${VERSION}`,
      'x-ralph-event': facts.event,
      'x-ralph-delivery': delivery,
      ...signature,
    },
  }
}

function hmac(secret: string, body: string): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}
