// Logins and their numbers.
import { createHash } from 'node:crypto'

/** GitHub Actions' own app and bot. */
export const actionsApp = { id: 15368, slug: 'github-actions' }
export const actionsBot = 'github-actions[bot]'

/** A stable number for a login; the bot of Actions has its real one. */
export function accountId(login: string): number {
  if (login === actionsBot) return 41898282
  return createHash('sha256').update(login).digest().readUInt32BE(0) % 90_000_000
}
