// What of the settings for messages is a secret: redacted wherever something is written.
import type { Settings } from '../settings/index.ts'

/** What may be shown nowhere: who knows it can write there. */
export function notifySecrets({ slack, discord, teams, telegram, webhook }: Settings['notify']): string[] {
  const urls = [slack, discord, teams].filter((url) => url !== null).map((url) => new URL(url))
  return [
    // Errors may name the path alone. A short one is none of a service, and may stand in anybody's code.
    ...urls.flatMap(({ href, pathname }) => [href, pathname].filter(({ length }) => length >= SECRET_PATH)),
    ...(webhook !== null && new URL(webhook.url).pathname.length > 1 ? [webhook.url] : []),
    ...[telegram?.botToken ?? '', webhook?.secret ?? ''].filter(({ length }) => length >= SECRET_LENGTH),
  ]
}

const SECRET_PATH = 24
/** Shorter ones stand everywhere by chance. */
const SECRET_LENGTH = 8
