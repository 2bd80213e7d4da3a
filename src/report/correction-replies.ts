// The reply to the person who asked for a correction: two sentences and a link.

import type { CorrectionResult } from '../engine/corrections/corrections.ts'
import { code, link, markdownText } from './escape.ts'
import { capitalize } from './figures.ts'

export type ReplyFacts = {
  id: string
  /** The agent's own summary, redacted and unchecked; empty without one. */
  words: string
  /** The address of a commit. */
  commitUrl(commit: string): string
  /** Ralph's summary comment or the pull request. */
  summaryUrl: string
}

/** The reply for a correction that has ended. */
export function correctionReply(
  result: CorrectionResult,
  { id, words, commitUrl, summaryUrl }: ReplyFacts,
): string {
  const said = words === '' ? '' : ` The agent says: ${markdownText(words, 300)}`
  switch (result.kind) {
    case 'done':
      if (result.isUnchanged)
        return `💬 Nothing was changed, and an independent judge agreed.${said} ${link('Details', summaryUrl)}\n`
      return `✅ Fixed in ${link(`\`${result.commit.slice(0, 7)}\``, commitUrl(result.commit))}, and every gate passed on it.${said}\n`
    case 'answered':
      return `💬 ${markdownText(result.text, 1500)}\n\nAn agent wrote this answer; nothing was changed. ${link('Details', summaryUrl)}\n`
    case 'blocked': {
      const why = capitalize(markdownText(result.why, 200).replace(/\.$/, ''))
      return `⛔ Not fixed: ${why}. Comment ${code(`/ralph retry ${id} -- <hint>`)} to try it again. ${link('Details', summaryUrl)}\n`
    }
    case 'skipped':
      return `⏭️ A person skipped ${code(id)}, so nothing was changed. ${link('Details', summaryUrl)}\n`
  }
}
