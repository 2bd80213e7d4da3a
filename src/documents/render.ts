// prd.json as a page for people (prd.md).
import type { Prd, Story } from '../model/feature.ts'
import { oneLine, plainLines } from '../model/text.ts'

/** Reads back to the same stories: a heading for each, boxes for its criteria. */
export function renderPrdMarkdown(prd: Prd): string {
  const title = oneLine(prd.project) || 'Stories'
  const parts = [
    `# ${title}`,
    plainLines(prd.description).trim(),
    '## Stories',
    ...prd.userStories.map(storyPart),
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function storyPart({ id, title, description, acceptanceCriteria, dependsOn, passes }: Story): string {
  const fields = dependsOn.length === 0 ? [] : [`**Depends on:** ${dependsOn.join(', ')}`]
  const criteria = acceptanceCriteria.map((one) => `- [${passes ? 'x' : ' '}] ${oneLine(one, 2_000)}`)
  const parts = [
    `### ${id}: ${oneLine(title, 500)}`,
    plainLines(description).trim(),
    ...fields,
    `**Acceptance Criteria:**\n\n${criteria.join('\n')}`,
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}
