// Whether a story fits into one session. An agent that runs out of room before its gates are green has worked for nothing.
import type { Story } from '../engine/model/feature.ts'

const MAX_CRITERIA = 8
/** Generous, as story files of BMAD contain notes and code. */
const MAX_WORDS = 2_000
/** Story points. Teams split a story with more. */
const MAX_POINTS = 8

// "Build the entire dashboard" is a feature; "Add a filter to the task list" is a story.
const WHOLE =
  /\b(?:entire|whole|complete|full)\s+(?:[\p{L}-]+\s+){0,2}(?:app|application|system|platform|dashboard|site|website|product|backend|frontend|api|module|service)\b/iu

/** Stories that are too large for one session, with the reason. Passed and skipped stories are left out. */
export function sizeRemarks(stories: readonly Story[]): { storyId: string; remark: string }[] {
  return stories.flatMap((story) => {
    const reason = story.passes || story.skipped ? null : reasonOf(story)
    if (reason === null) return []
    return [{ storyId: story.id, remark: `${reason}. Split the story.` }]
  })
}

function reasonOf({ title, description, acceptanceCriteria, extra }: Story): string | null {
  if (acceptanceCriteria.length > MAX_CRITERIA)
    return `${acceptanceCriteria.length} acceptance criteria are too many for one session (at most ${MAX_CRITERIA})`
  const texts = new Set([title, description, ...acceptanceCriteria].map((text) => text.trim()))
  const words = [...texts].join(' ').split(/\s+/).length
  if (words > MAX_WORDS) return `${words} words are too many for one session (at most ${MAX_WORDS})`
  const points = Number(extra?.points ?? extra?.storyPoints ?? 0)
  if (points > MAX_POINTS) return `${points} points are too many for one session (at most ${MAX_POINTS})`
  const [whole] = WHOLE.exec(title) ?? []
  return whole === undefined ? null : `"${whole}" is a feature, and does not fit into one session`
}
