// prd.json as a page for people (prd.md). It shows everything that it holds, and reads back to the same stories.
import type { Prd, Story } from '../model/feature.ts'
import { oneLine, plainLines } from '../model/text.ts'
import { inertText } from './inert.ts'

/** By this line the page is known as ours: it is read to the letter. */
export const PAGE_MARK = '<!-- ralph: prd.json as a page -->'

/** A heading for each story, its words, what it waits for, a box for each criterion. */
export function renderPrdMarkdown(prd: Prd): string {
  const parts = [
    `# ${inertText(oneLine(prd.project, 500)) || 'Stories'}`,
    inertText(plainLines(prd.description).trim()),
    '## Stories',
    ...prd.userStories.map(storyPart),
    PAGE_MARK,
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function storyPart({ id, title, description, acceptanceCriteria, dependsOn, passes }: Story): string {
  const criteria = acceptanceCriteria.map(
    (one) => `- [${passes ? 'x' : ' '}] ${inertText(oneLine(one, 60_000))}`,
  )
  const parts = [
    `### ${id}: ${inertText(oneLine(title, 500))}`,
    inertText(plainLines(description).trim()),
    dependsOn.length === 0 ? '' : `**Depends on:** ${dependsOn.join(', ')}`,
    `**Acceptance Criteria:**\n\n${criteria.join('\n')}`,
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}
