// Words without stories: for an agent to plan from.
import { type Format, reading } from '../types.ts'

export const prose: Format = {
  name: 'prose',
  found: null,
  reads: () => true,
  read: ({ text, isMarkdown }) => {
    if (!isMarkdown) return reading({ prose: 'unknown' })
    return reading({ prose: text.trim() === '' ? 'none' : 'only' })
  },
}
