// Whether a story fits one session: the size guide.
import type { Story } from '../model/feature.ts'

/** Most criteria that one fresh session works off with room for its gates. */
const MOST_CRITERIA = 8
const MOST_WORDS = 600

/** Stories that are too large for one session, with the reason. */
export function sizeRemarks(stories: readonly Story[]): { storyId: string; remark: string }[] {
  return stories.flatMap((story) => {
    if (story.passes || story.skipped) return []
    const remark = tooLarge(story)
    return remark === null ? [] : [{ storyId: story.id, remark }]
  })
}

function tooLarge({ description, acceptanceCriteria, title }: Story): string | null {
  const count = acceptanceCriteria.length
  if (count > MOST_CRITERIA)
    return `${count} acceptance criteria: a story of at most ${MOST_CRITERIA} fits one session; split it`
  const words = [title, description, ...acceptanceCriteria].join(' ').split(/\s+/).length
  if (words > MOST_WORDS)
    return `${words} words: a story of at most ${MOST_WORDS} fits one session; split it, or move the background to context.md`
  return null
}
