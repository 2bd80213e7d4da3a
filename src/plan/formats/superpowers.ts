// superpowers: a plan with a section for each task. A task is a story, and its steps are in it.
import type { OpenDocument } from '../open-document.ts'
import type { Format, Passage } from '../types.ts'
import { hasTaskHeading, readTaskList } from './task-list.ts'

const FOLDER = /(?:^|\/)superpowers\/plans\/[^/]+\.md$/
const skill = /\bsuperpowers:(?:executing-plans|subagent-driven-development)\b/

export const superpowers: Format = {
  name: 'superpowers plan',
  rank: 'detailed',
  discoveryPath: /^docs\/superpowers\/plans\/[^/]+\.md$/,
  matches: (document) =>
    document.isMarkdown &&
    (FOLDER.test(document.path) || skill.test(document.text.slice(0, 2_000))) &&
    hasTaskHeading(document.blocks),
  read(document) {
    const { project, root, ...reading } = readTaskList(document)
    const name = (project ?? '').replace(/[ \t]*\bimplementation plan$/i, '')
    const unit = { of: 'superpowers plan', name: document.path, yields: true }
    return { ...reading, root: { ...root, project: name }, unit, context: introduction(document) }
  },
}

/** The paragraphs above the first section: the goal, the architecture, the stack. */
function introduction({ blocks }: OpenDocument): Passage[] {
  const end = blocks.findIndex((block) => block.kind === 'heading' && block.level > 1)
  const words = blocks
    .slice(0, Math.max(end, 0))
    .flatMap((block) => (block.kind === 'words' ? [block.lines.join('\n')] : []))
  return words.length === 0 ? [] : [{ about: 'overview', text: words.join('\n\n') }]
}
