// The content of check runs: the roll-up `ralph` and one for each story. `github/post-checks.ts` posts them.
import type { Annotation } from '../engine/model/gate.ts'
import type { State } from '../engine/model/state.ts'
import { oneLine, sanitizeText, truncate } from '../engine/model/text.ts'
import { utf8Bytes } from '../system/excerpt.ts'
import { commitLink, fitToLimit, joinBlocks, list, section, table, truncateLines } from './blocks.ts'
import { CRITERIA, criteriaRows, criteriaTexts } from './criteria.ts'
import { code, link, markdownText, titleText } from './escape.ts'
import { costOrEmpty, formatDuration, joinWithDots, pluralize } from './figures.ts'
import { findingsBlock } from './findings.ts'
import { outcomeNow, tally } from './headline.ts'
import { type CheckConclusion, OUTCOMES } from './outcomes.ts'
import {
  evidenceBlock,
  failureBlock,
  lastFailure,
  nextBlock,
  progressBar,
  sentenceList,
  spendingBlock,
  statusLine,
  storyIdMarkdown,
  storyTable,
} from './parts.ts'
import type { StoryView } from './stories.ts'
import type { View } from './view.ts'

/**
 * A check run as GitHub's API takes it. `conclusion` is null exactly while it is in progress. With a required check, GitHub allows a
 * merge on `success`, `neutral` and `skipped`, so unfinished work never gets one of these.
 */
export type Check = {
  name: string
  conclusion: CheckConclusion | null
  title: string
  summary: string
  text: string
  annotations: Annotation[]
  /** Buttons on the check's page. A click reaches Ralph only if the check belongs to an App of the user. */
  actions: readonly CheckAction[]
}

/** GitHub's limits: 20, 40 and 20 characters. */
type CheckAction = { label: string; description: string; identifier: 'retry' | 'skip' }

const BUTTONS: readonly CheckAction[] = [
  { label: 'Retry', description: 'Unblock this story and try it again', identifier: 'retry' },
  { label: 'Skip', description: 'Leave out this story; others continue', identifier: 'skip' },
]

/** GitHub takes 65,535 bytes of a summary, and as many of a text. This limit leaves a margin. */
const MAX_BYTES = 65_000
const MAX_TITLE = 255
/** GitHub's limit for one request. */
const MAX_ANNOTATIONS = 50

/** The roll-up check: the one that people require or watch. It always has a conclusion when the chain has ended. */
export function rollupCheck(view: View): Check {
  const conclusion = view.outcome !== null && view.isOver ? OUTCOMES[view.outcome].check : null
  const summary = [
    findingsBlock(view.findings, null),
    progressBar(view),
    nextBlock(view),
    sentenceList(view.blocked),
    sentenceList(view.notes),
    runLink(view),
  ]
  const text = (room: number) => [
    storyTable(view, Math.floor(room * 0.6)),
    spendingBlock(view),
    evidenceBlock(view, Math.floor(room * 0.2)),
    lastFailure(view, Math.floor(room * 0.15)),
  ]
  return check('ralph', conclusion, statusLine(view), summary, text)
}

/** The end of a check that no later report will close. */
export type ClosingReport = Pick<Check, 'title' | 'summary'> & { conclusion: CheckConclusion }

/** For a commit that is no longer the head. Not `neutral`: that would satisfy a required check if the commit became the head again. */
export const MOVED_ON: ClosingReport = {
  conclusion: 'cancelled',
  title: 'The branch has a newer commit',
  summary: 'Look at the checks of the newest commit of the branch.',
}

/** For the head, if the job ended before its report, or if GitHub refused the report. It contains no text of an agent. */
export function closingReportOf(state: State, name: string): ClosingReport {
  const outcome = outcomeNow(state)
  if (outcome === null || outcome === 'continued') {
    return {
      conclusion: 'cancelled',
      title: 'The job was stopped; run the workflow to continue',
      summary: `The job was stopped before it could report its result. Every finished iteration is saved. Continue with ${code('/ralph run')} or *Run workflow*. If the hourly ${code('resume-lost')} workflow is set up, it resumes a job that no person stopped.`,
    }
  }
  return {
    conclusion: name === 'ralph' || outcome === 'paused' ? OUTCOMES[outcome].check : 'cancelled',
    title: titleText(`${outcome}: ${tally(state)}`, MAX_TITLE),
    summary: 'The job could not write its report here. The stories are in prd.json on the branch.',
  }
}

const STORY_PREFIX = 'ralph / '

/** The feature and the story of one of Ralph's checks, read from its external id; null for a check of another program. */
export function parseExternalId(externalId: string): { feature: string; storyId: string } | null {
  const [, feature = '', storyId = ''] = /^ralph:([^:]+):ralph \/ (.+)$/s.exec(externalId) ?? []
  return feature === '' ? null : { feature, storyId }
}

/** The check of one story. It stays in progress after a failed attempt, as long as another attempt will follow. */
export function storyCheck(view: View, id: string): Check {
  const name = `${STORY_PREFIX}${oneLine(id, 64)}`
  const story = view.stories.find((storyView) => storyView.id === id)
  if (story === undefined) return check(name, 'neutral', 'This story is no longer in prd.json', [], () => [])
  const { conclusion, word, detail } = checkStatus(view, story)
  const title = `${detail === undefined ? word : `${word}: ${detail}`} · ${story.title}`
  const text = (room: number) => storyText(story, view.links.blob, room)
  return check(name, conclusion, title, storySummary(view, story, word), text, view.annotations[id])
}

type CheckStatus = { conclusion: Check['conclusion']; word: string; detail?: string }

function checkStatus(
  view: View,
  { id, status, how, aside, attempts, retries, failure }: StoryView,
): CheckStatus {
  switch (status) {
    case 'passed': {
      if (how === 'imported') return { conclusion: 'success', word: 'Passed before Ralph began' }
      const attempt = attempts > 1 ? `attempt ${attempts}` : 'the first attempt'
      return { conclusion: 'success', word: `Passed on ${attempt} ${aside}`.trim() }
    }
    case 'skipped':
      return { conclusion: 'skipped', word: 'Skipped by a person' }
    case 'blocked': {
      const tries = retries === 0 ? '' : ` after ${pluralize(retries, 'attempt')}`
      return { conclusion: 'failure', word: `Blocked${tries}`, detail: `/ralph retry ${id} -- <hint>` }
    }
    case 'working':
      return { conclusion: null, word: `In progress, attempt ${Math.max(1, attempts)}` }
    case 'outside':
      return { conclusion: 'cancelled', word: 'Not part of this run' }
  }
  if (view.chainGoesOn) {
    const tried =
      failure === null ? 'Not started yet' : `Attempt ${attempts} was rejected; another one follows`
    return { conclusion: null, word: tried }
  }
  if (view.outcome === 'paused' || view.outcome === 'continued')
    return { conclusion: 'action_required', word: 'Not done' }
  if (failure === null || view.outcome === 'interrupted') return { conclusion: 'cancelled', word: 'Not done' }
  return { conclusion: 'failure', word: 'Not done', detail: failure.summary }
}

function storySummary(view: View, story: StoryView, word: string): string[] {
  const { id, title, status, why, usage, ms, commit } = story
  const isSettled = status === 'passed' || status === 'skipped'
  const figures = joinWithDots(
    markdownText(word, 100),
    costOrEmpty(usage),
    ms > 0 ? formatDuration(ms) : '',
    commitLink(commit, view.links.repository),
  )
  const remarks = story.remarks.slice(0, 5).map((remark) => `⚠️ ${markdownText(remark, 160)}`)
  const retry = code(`/ralph retry ${id} -- <hint>`)
  const skip = code(`/ralph skip ${id}`)
  return [
    `${storyIdMarkdown(id)} ${markdownText(title, 300)}`,
    figures,
    status === 'passed' ? list(remarks) : '',
    isSettled || why === '' ? '' : `**Why:** ${markdownText(why)}`,
    status === 'blocked' ? `**Next:** give a hint with ${retry}, or leave the story out with ${skip}.` : '',
    `${view.tally}.`,
    runLink(view),
  ]
}

function storyText(story: StoryView, blob: string, room: number): string[] {
  const remarks = story.remarks.slice(0, 40).map((remark) => `⚠️ ${markdownText(remark)}`)
  const rows = criteriaRows(story, blob).slice(0, 40)
  const criteria = list(
    criteriaTexts(story)
      .slice(0, 40)
      .map((criterion) => markdownText(criterion, 400)),
  )
  const shown = rows.length > 0 ? table(CRITERIA, rows) : criteria
  return [
    failureBlock(story, Math.floor(room * 0.6)),
    section('Look at this in your review', truncateLines(list(remarks), Math.floor(room * 0.15))),
    section('Acceptance criteria', truncateLines(shown, Math.floor(room * 0.2))),
  ]
}

/** `text` renders the body in about `room` bytes. A summary needs no limit. */
function check(
  name: string,
  conclusion: Check['conclusion'],
  title: string,
  summary: readonly string[],
  text: (room: number) => readonly string[],
  annotations: readonly Annotation[] = [],
): Check {
  return {
    name,
    conclusion,
    title: titleText(title, MAX_TITLE),
    summary: joinBlocks(summary),
    text: fitToLimit((room) => joinBlocks(text(room)), MAX_BYTES, utf8Bytes),
    annotations: annotations
      .map((annotation) => ({
        ...annotation,
        message: truncate(sanitizeText(annotation.message), 4000),
      }))
      .filter(isValidAnnotation)
      .slice(0, MAX_ANNOTATIONS),
    actions: name !== 'ralph' && conclusion === 'failure' ? BUTTONS : [],
  }
}

/** GitHub refuses the whole request if one annotation is invalid. */
function isValidAnnotation({ path, line, message }: Annotation): boolean {
  const isPath = /^(?!\/|\.\.?\/)[^\p{Cc}\\]{1,1000}$/u.test(path) && !path.includes('/../')
  return isPath && Number.isSafeInteger(line) && line >= 1 && message.trim() !== ''
}

function runLink({ links: { run } }: View): string {
  return run === null ? '' : link('The job and its log', run)
}

/**
 * The check as a commit status, for tokens that may not write checks. A description has at most 140 characters. The name differs from
 * the check's, because GitHub requires both if a check and a status have the same required name.
 */
export function commitStatusOf({ name, conclusion, title }: Pick<Check, 'name' | 'conclusion' | 'title'>) {
  const state = conclusion === null ? ('pending' as const) : STATUSES[conclusion]
  return { context: `${name}${STATUS_SUFFIX}`, state, description: titleText(title, 140) }
}

const STATUS_SUFFIX = ' (status)'

/** The name of the check that a commit status of Ralph replaces; null for any other status. */
export function checkOfStatus(context: string): string | null {
  if (!context.endsWith(STATUS_SUFFIX)) return null
  const name = context.slice(0, -STATUS_SUFFIX.length)
  return isCheckOfRalph(name) ? name : null
}

/** Whether a check or status is Ralph's own: `ralph`, `ralph / US-001`, a status for one, or the answer of `init --required`. */
export function isOwnName(name: string): boolean {
  return /^ralph(?: [/(]|$)/.test(name)
}

/** Whether Ralph posts a check of this name, for the run or for a story. */
export function isCheckOfRalph(name: string): boolean {
  return name === 'ralph' || name.startsWith(STORY_PREFIX)
}

const STATUSES = {
  success: 'success',
  neutral: 'success',
  skipped: 'success',
  failure: 'failure',
  cancelled: 'error',
  // The run waits for a person.
  action_required: 'pending',
} as const
