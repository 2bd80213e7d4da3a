// beads: the output of `bd list --json`. The export file of beads is only a copy of its database, and is neither read nor written.
import { isObject } from '../../engine/model/json.ts'
import { formatCount, type Raw } from '../../engine/prd/migrate.ts'
import type { OpenDocument } from '../open-document.ts'
import type { Format, ParsedStory, Reading } from '../types.ts'
import { dropUnknownDependencies, nameEntries } from './left-out.ts'

/** Stands for a path in a document that is the output of beads. No file has this path. */
const BEADS_ANSWER = 'beads'

export const beads: Format = {
  name: 'beads',
  rank: 'detailed',
  discoveryPath: null,
  matches: ({ path }) => path === BEADS_ANSWER,
  read,
}

const DONE = /^closed$/
const LEFT = /^(?:deferred|pinned|tombstone)$/
/** Issue types that are not work by themselves. */
const NO_WORK = /^(?:epic|gate|message|molecule|event|decision|milestone|agent|role|wisp)$/

function read({ data: { data, mistakes } }: OpenDocument): Partial<Reading> {
  if (data === null) return { mistakes }
  const all = (Array.isArray(data.value) ? data.value : []).filter(isObject)
  const isWork = ({ issue_type: type, status }: Raw) =>
    !NO_WORK.test(String(type)) && !LEFT.test(String(status))
  const kept = all.filter(isWork)
  const { stories, notes: waits } = dropUnknownDependencies(kept.map(parseStory))
  const left = all.filter((one) => !kept.includes(one))
  const notes = [...waits]
  if (stories.length > 0)
    notes.unshift(`${formatCount(stories.length, 'issue')} of beads read as user stories.`)
  if (left.length > 0)
    notes.push(
      `left out: ${formatCount(left.length, 'issue')} not to be worked on (such as epics, gates and deferred issues): ${nameEntries(left)}.`,
    )
  return { stories, notes }
}

function parseStory(issue: Raw): ParsedStory {
  const links = (Array.isArray(issue.dependencies) ? issue.dependencies : []).filter(isObject)
  const linked = (type: string) =>
    links
      .filter((one) => (one.type ?? one.dependency_type) === type)
      .map((one) => String(one.depends_on_id ?? one.id))
  const criteria = typeof issue.acceptance_criteria === 'string' ? issue.acceptance_criteria.split('\n') : []
  return {
    line: 1,
    raw: {
      ...{ id: String(issue.id), title: issue.title },
      description: [issue.description, issue.design, issue.notes]
        .filter((one) => typeof one === 'string' && one !== '')
        .join('\n\n'),
      acceptanceCriteria: criteria
        .map((one) => one.replace(/^[ \t]*(?:[-*+]|\d+[.)])[ \t]+(?:\[[ xX]\][ \t]*)?/, '').trim())
        .filter(Boolean),
      epicId: linked('parent-child')[0] ?? null,
      dependsOn: linked('blocks'),
      passes: DONE.test(String(issue.status)),
      ...(Array.isArray(issue.labels) && issue.labels.length > 0 ? { tags: issue.labels.map(String) } : {}),
    },
    urgency: typeof issue.priority === 'number' ? issue.priority : 2,
  }
}
