// prd.md as people edit it, read back over the stories that it was made from. Pure.
import { readDocuments, renderPrdMarkdown } from '../documents/index.ts'
import { splitInto } from '../loop/settled.ts'
import type { Prd, Story } from '../model/feature.ts'
import { UserError } from '../system/errors.ts'
import { relisted } from './plan-draft.ts'

/** The page's words and list; what it does not show, such as tags, stays. Throws UserError with every mistake. */
export function fromPage(text: string, before: Prd, path = 'prd.md'): Prd {
  const result = readDocuments([{ path, text }])
  if (!result.ok) throw new UserError(result.mistakes)
  const { project, description, userStories } = result.documents.prd
  if (userStories.length === 0) {
    const fix = 'write a heading such as "### US-001: Sign in", and a list of criteria below it'
    throw new UserError({ path, found: 'no story', expected: 'at least one', fix })
  }
  const old = new Map(before.userStories.map((story) => [story.id, story]))
  let priority = 1
  const stories = userStories.map((story): Story => {
    const known = old.get(story.id)
    priority = known?.priority ?? priority
    const { title, description, acceptanceCriteria, dependsOn } = story
    return { ...(known ?? story), title, description, acceptanceCriteria, dependsOn, priority }
  })
  return { ...relisted(before, stories), project: project || before.project, description }
}

/** Whether the page of these stories reads back to them: not with ids that no heading is known by. */
export function isReadBack(prd: Prd): boolean {
  const result = readDocuments([{ path: 'prd.md', text: renderPrdMarkdown(prd) }])
  return result.ok && idsOf(result.documents.prd) === idsOf(prd)
}

function idsOf({ userStories }: Prd): string {
  return userStories.map(({ id }) => id).join()
}

/** Whether people have changed the page since it was written; how stories stand is no edit, nor is that one was split since. */
export function isEdited(page: string, prd: Prd): boolean {
  return differs(page, prd) && differs(page, unsplit(prd))
}

/** The stories as they were before some of them were split. */
function unsplit(prd: Prd): Prd {
  const wholes = prd.userStories.map((story) => ({ id: story.id, parts: splitInto(story) }))
  const parts = new Set(wholes.flatMap((whole) => whole.parts))
  const wholeOf = new Map(wholes.map(({ id, parts: each }) => [each.at(-1), id]))
  // A part may have been split in its turn.
  const back = (id: string) => wholes.reduce((one) => wholeOf.get(one) ?? one, id)
  const userStories = prd.userStories
    .filter(({ id }) => !parts.has(id))
    .map((story) => ({ ...story, dependsOn: story.dependsOn.map(back) }))
  return { ...prd, userStories }
}

function differs(page: string, prd: Prd): boolean {
  if (page === renderPrdMarkdown(prd) || !isReadBack(prd)) return false
  const wordsOf = (one: Prd) => renderPrdMarkdown(relisted(one, one.userStories.map(unstarted)))
  try {
    return wordsOf(fromPage(page, prd)) !== wordsOf(fromPage(renderPrdMarkdown(prd), prd))
  } catch (error) {
    if (error instanceof UserError) return true
    throw error
  }
}

function unstarted(story: Story): Story {
  return { ...story, passes: false }
}
