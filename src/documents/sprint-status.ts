// sprint-status.yaml brought up to date: only the words of a status change; comments, order and layout stay.
import { isScalar, parseDocument } from 'yaml'
import type { Prd, Story } from '../model/feature.ts'
import { isRaw, type Raw } from '../prd/migrate.ts'
import { type Tracked, trackedIn } from './formats/sprint-tracker.ts'

/** From the first to the last; a status is never set to one before it, and a word that is none of these stays. */
const LEVELS = [
  ['backlog', 'notstarted', 'todo', 'planned', 'pending', 'open'],
  ['drafted', 'draft', 'contexted'],
  ['readyfordev', 'ready', 'approved'],
  ['inprogress', 'started', 'active', 'doing'],
  ['review', 'inreview', 'readyforreview'],
  ['done', 'completed', 'complete', 'closed', 'accepted'],
]
const IN_PROGRESS = 3
const DONE = LEVELS.length - 1

type Edit = { from: number; to: number; word: string }

/** The text with what the stories have come to: comments and order kept, no status lowered; null where nothing changes. */
export function updateSprintStatus(text: string, prd: Prd): string | null {
  const document = parseDocument(text)
  const fields = plainValue(document)
  if (fields === null) return null
  const tracked = trackedIn(fields)
  const spelled = spelling(tracked)
  const edits: Edit[] = []
  /** The level that the status has then. */
  const raise = (at: Tracked['statusAt'], status: string, wanted: number): number => {
    const level = levelOf(status)
    const node = document.getIn(at, true)
    if (level < 0 || level >= wanted || !isScalar(node) || !node.range) return level
    const [from, to] = node.range
    const quote = /^["']/.exec(text.slice(from, to))?.[0] ?? ''
    edits.push({ from, to, word: `${quote}${spelled(wanted)}${quote}` })
    return wanted
  }
  const stories = new Map(prd.userStories.map((story) => [story.id, story]))
  const levels = tracked.map(({ id, status, statusAt }) => ({
    epic: id.split('.')[0] ?? '',
    level: raise(statusAt, status, wantedLevel(stories.get(id))),
  }))
  const { development_status: all } = fields
  for (const [key, status] of Object.entries(isRaw(all) ? all : {})) {
    const [, epic] = /^epic-(\d+)$/.exec(key) ?? []
    const own = levels.filter((story) => story.epic === epic).map(({ level }) => level)
    if (epic === undefined || own.length === 0 || typeof status !== 'string') continue
    const begun = Math.max(...own) >= IN_PROGRESS ? IN_PROGRESS : -1
    raise(['development_status', key], status, own.every((level) => level === DONE) ? DONE : begun)
  }
  if (edits.length === 0) return null
  const inOrder = edits.toSorted((a, b) => b.from - a.from)
  return inOrder.reduce((now, { from, to, word }) => now.slice(0, from) + word + now.slice(to), text)
}

/** Null for what is no sound map: also where an alias leads nowhere, or there are too many of them. */
function plainValue(document: ReturnType<typeof parseDocument>): Raw | null {
  try {
    const value: unknown = document.errors.length > 0 ? null : document.toJS({ maxAliasCount: 100 })
    return isRaw(value) ? value : null
  } catch {
    return null
  }
}

function levelOf(status: string): number {
  const word = status.toLowerCase().replace(/[^a-z]/g, '')
  return LEVELS.findIndex((words) => words.includes(word))
}

/** What Ralph itself has come to; an imported pass is a word of the documents. */
function wantedLevel(story: Story | undefined): number {
  if (story === undefined || story.skipped) return -1
  if (story.passes) return story.lastResult?.imported === true ? -1 : DONE
  return story.retries > 0 || story.blocked ? IN_PROGRESS : -1
}

/** As the file's other words are spelled. */
function spelling(tracked: readonly Tracked[]): (level: number) => string {
  const words = tracked.map(({ status }) => status.toLowerCase())
  const isSnake = words.some((word) => word.includes('_'))
  const isCompleted = !words.includes('done') && (isSnake || words.includes('completed'))
  return (level) => {
    if (level === DONE) return isCompleted ? 'completed' : 'done'
    return isSnake ? 'in_progress' : 'in-progress'
  }
}
