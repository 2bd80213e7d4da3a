// Agent OS: tasks.md of a spec. A parent task is a story with its sub-tasks as steps; other files are background.
import type { Format } from '../types.ts'
import { wholePassage } from './background.ts'
import { flattenBoxes, parseBoxes } from './boxes.ts'
import { readTaskList } from './task-list.ts'
import { hasBox } from './task-section.ts'

const ROOT = /(?:^|\/)\.?agent-os\//
const SPEC = /^(?:.*\/)?\.?agent-os\/specs\/[^/]+\//

export const agentOs: Format = {
  name: 'Agent OS',
  rank: 'detailed',
  discoveryPath:
    /^\.?agent-os\/(?:specs\/[^/]+\/(?:tasks|spec|requirements)|product\/(?:mission|tech-stack))\.md$/,
  matches: ({ path, isMarkdown }) => isMarkdown && ROOT.test(path),
  read(document) {
    const { path, name, folder, blocks, text, file } = document
    const [spec] = SPEC.exec(path) ?? []
    const unit =
      spec === undefined ? null : { of: 'Agent OS spec', name: spec.replace(/\/$/, ''), yields: true }
    if (name === 'tasks.md' && unit !== null && blocks.some(hasBox)) {
      const { project: _, root, ...reading } = readTaskList(document, { numbers: true })
      return { ...reading, root: { ...root, project: projectOf(folder) }, unit }
    }
    const isKnown =
      unit !== null || file.isNamed === true || /\/product\/(?:mission|tech-stack)\.md$/.test(path)
    return {
      prose: text.trim() === '' || !isKnown ? 'none' : 'background',
      what: `${name.replace(/\.md$/, '')} of Agent OS`,
      boxes: flattenBoxes(parseBoxes(blocks)).length,
      unit,
      context: name === 'spec.md' ? wholePassage('specification', document) : [],
    }
  },
}

/** `.agent-os/specs/2025-09-01-notes/` is the feature "notes". */
function projectOf(folder: string): string {
  return (folder.split('/').at(-2) ?? '').replace(/^\d{4}-\d\d-\d\d-/, '')
}
