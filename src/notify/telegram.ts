// Telegram, by a bot: https://core.telegram.org/bots/api#sendmessage

import type { Request } from '../system/http-post.ts'
import { jsonTo, type Notice, plainMessage } from './notice.ts'

const TELEGRAM_API = 'https://api.telegram.org'

/** `api` is Telegram's own, but in tests. */
export function telegramRequest(
  { botToken, chatId }: { botToken: string; chatId: string },
  notice: Notice,
  api = TELEGRAM_API,
): Request {
  return jsonTo(`${api}/bot${botToken}/sendMessage`, {
    chat_id: chatId,
    // Without parse_mode nothing in it is markup.
    text: plainMessage(notice),
    link_preview_options: { is_disabled: true },
  })
}
