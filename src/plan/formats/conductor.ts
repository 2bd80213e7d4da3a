// Conductor: plan.md of a track. A task is a story, the items below it are its steps.
import { oneLine } from '../../engine/model/text.ts'
import { formatCount } from '../../engine/prd/migrate.ts'
import { withoutEmphasis } from '../story-words.ts'
import type { Format, ParsedStory } from '../types.ts'
import { type Box, flattenBoxes, parseBoxes } from './boxes.ts'

const TRACK = /^(?:\.?conductor)\/tracks\/([^/]+)\//

export const conductor: Format = {
  name: 'Conductor',
  rank: 'detailed',
  discoveryPath: /^\.?conductor\/(?:tracks\/[^/]+\/(?:plan|spec)|product|tech-stack|product-guidelines)\.md$/,
  matches: ({ path, isMarkdown }) => isMarkdown && /^\.?conductor\//.test(path),
  read({ path, name, blocks }) {
    const [place, track] = TRACK.exec(path) ?? []
    const unit = place === undefined ? null : { of: 'Conductor track', name: place.replace(/\/$/, '') }
    const boxes = parseBoxes(blocks)
    if (name !== 'plan.md' || track === undefined || boxes.length === 0) {
      const what =
        name === 'tracks.md' ? 'the register of tracks' : `${name.replace(/\.md$/, '')} of Conductor`
      return { prose: 'background', what, unit, boxes: flattenBoxes(boxes).length }
    }
    // The last task of a phase is a manual verification by a person.
    const isForPeople = ({ text }: Box) => /\bmanual(?:ly)?\b.*\bverif/i.test(text)
    const stories = boxes.filter((box) => !isForPeople(box)).map(parseStory)
    const leftOut = boxes.length - stories.length
    const notes: string[] = []
    if (stories.length > 0)
      notes.push(`${formatCount(stories.length, 'task')} of the track read as user stories.`)
    if (leftOut > 0) notes.push(`left out: ${formatCount(leftOut, 'task')} in which a person checks a phase.`)
    return { stories, unit, notes, root: { project: track }, boxes: leftOut }
  },
}

function parseStory({ line, text, done, details, inside, headings }: Box, index: number): ParsedStory {
  const phase = headings.find(({ level }) => level > 1)
  const title = oneLine(text, 2_000)
    .replace(/^task\b(?: \d+)? ?[:.\u2013-] ?/i, '')
    .replace(/ [`([]{0,2}[0-9a-f]{7,40}[`)\]]{0,2}$/, '')
  return {
    line,
    raw: {
      id: `T${index + 1}`,
      title,
      description: details.join('\n'),
      passes: done,
      epicId: phase === undefined ? null : withoutEmphasis(phase.text).slice(0, 60),
      acceptanceCriteria: flattenBoxes(inside).map((box) => box.text),
    },
    // Like Conductor, Ralph writes the commit after the task's text. The boxes of steps are left to the agent.
    marks: [{ kind: 'box', line, withCommit: true }],
  }
}
