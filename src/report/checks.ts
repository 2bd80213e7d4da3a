// Check runs: the roll-up `ralph` and one for each story. Pure: who posts them is not known here.

import { passedUnchanged, passedUngated, UNCHANGED, UNGATED } from '../loop/passed.ts'
import type { Outcome, Story } from '../model/feature.ts'
import type { Annotation } from '../model/gate.ts'
import type { State } from '../model/state.ts'
import { cut, oneLine, plainLines } from '../model/text.ts'
import { counts } from '../prd/select.ts'
import { bold, code, markdownText, titleText } from './escape.ts'
import { fitted, utf8Bytes } from './markdown.ts'
import {
  blockedList,
  commitLink,
  type Facts,
  failureBlock,
  lastFailure,
  link,
  nextBlock,
  notesList,
  progressBar,
  spending,
  stacked,
  storyTable,
  timelineTable,
} from './parts.ts'
import {
  attemptsOf,
  costWords,
  headline,
  heldBack,
  humanMs,
  many,
  outcomeNow,
  storyInWork,
  tally,
  whyBlocked,
} from './words.ts'

/**
 * A check run as GitHub's API takes it; `conclusion` is null exactly while it is in progress. Where the check is required,
 * `success`, `neutral` and `skipped` let a pull request be merged (facts 4.2): what is not finished is none of them.
 */
export type Check = {
  name: string
  status: 'in_progress' | 'completed'
  conclusion: 'success' | 'failure' | 'neutral' | 'skipped' | 'cancelled' | 'action_required' | null
  title: string
  summary: string
  text: string
  annotations: Annotation[]
}

/** Bytes that summary and text may have each (facts/github-actions 4.1), with a margin. */
const MOST_BYTES = 65_000
const MOST_TITLE = 255
/** Annotations that a request may carry. */
const MOST_ANNOTATIONS = 50

/** The roll-up check: one name to require or to watch. None is left open when the chain has ended. */
export function rollupCheck(state: State, facts: Facts): Check {
  const outcome = endOf(state, facts)
  const summary = (room: number) =>
    stacked([
      progressBar(state),
      nextBlock(state, facts),
      firstPart(blockedList(state), room),
      notesList(facts),
      runLink(facts),
    ])
  return check('ralph', outcome === null ? null : ROLLUP[outcome], headline(state, outcomeNow(state)).text, {
    summary,
    text: (room) =>
      stacked([
        storyTable(state, facts, Math.floor(room * 0.5)),
        spending(state, facts),
        lastFailure(state, Math.floor(room * 0.15)),
        firstPart(timelineTable(state), Math.floor(room * 0.25)),
      ]),
  })
}

const ROLLUP: Readonly<Record<Outcome, NonNullable<Check['conclusion']>>> = {
  complete: 'success',
  stuck: 'failure',
  'max-iterations': 'failure',
  budget: 'failure',
  error: 'failure',
  paused: 'action_required',
  // Only where nothing was dispatched: the chain waits for somebody to run it again.
  continued: 'action_required',
  interrupted: 'cancelled',
}

/** How a check ends that no report will end any more. */
export type LastWord = Pick<Check, 'title' | 'summary'> & { conclusion: NonNullable<Check['conclusion']> }

/** On a commit that is the head no longer. As `cancelled`: `neutral` would satisfy who requires it, were it the head again. */
export const MOVED_ON: LastWord = {
  conclusion: 'cancelled',
  title: 'The branch has moved on',
  summary: 'Look at the newest commit of the branch.',
}

/** On the head, where the job was ended before its report, or GitHub did not take that. No words of an agent are in it. */
export function lastWordOf(state: State, name: string): LastWord {
  const outcome = outcomeNow(state)
  if (outcome === null || outcome === 'continued') {
    return {
      conclusion: 'cancelled',
      title: 'The job was ended; run the workflow to go on',
      summary: `The job was ended before it could say how it stands; every finished iteration is saved. Go on with ${code('/ralph run')} or *Run workflow*. A job that nobody stopped goes on by itself where the hourly ${code('resume-lost')} workflow is set up.`,
    }
  }
  const { passed, total } = counts(state.prd)
  return {
    conclusion: name === 'ralph' || outcome === 'paused' ? ROLLUP[outcome] : 'cancelled',
    title: `${outcome}: ${passed} of ${total} stories pass`,
    summary: 'The job could not give its last report here. The stories are in prd.json on the branch.',
  }
}

/** The check of one story. A failed attempt that will be followed by another is in progress while the chain goes on. */
export function storyCheck(state: State, storyId: string, facts: Facts): Check {
  const name = `ralph / ${oneLine(storyId, 64)}`
  const story = state.prd.userStories.find((one) => one.id === storyId)
  if (story === undefined) {
    return check(name, 'neutral', 'This story is not in prd.json any more', {
      summary: () => '',
      text: () => '',
    })
  }
  const { conclusion, word, detail } = standOf(state, story, facts)
  const title = `${detail === undefined ? word : `${word}: ${detail}`} · ${story.title}`
  return check(
    name,
    conclusion,
    title,
    {
      summary: () => storySummary(state, story, word, facts),
      text: (room) => storyText(state, story, room),
    },
    conclusion === 'success' ? [] : (facts.annotations?.[storyId] ?? []),
  )
}

/** The outcome that ended the chain; null while it goes on. */
function endOf(state: State, facts: Facts): Outcome | null {
  const outcome = outcomeNow(state)
  const goesOn = (facts.limits.redispatch || state.job.dispatched) && heldBack(state) === null
  return outcome === 'continued' && goesOn ? null : outcome
}

type Stand = { conclusion: Check['conclusion']; word: string; detail?: string }

function standOf(state: State, story: Story, facts: Facts): Stand {
  if (story.passes) {
    const at = attemptsOf(state, story)
    const imported = story.lastResult?.imported === true
    const how = passedUngated(story) ? ` ${UNGATED}` : passedUnchanged(story) ? ` ${UNCHANGED}` : ''
    return {
      conclusion: 'success',
      word: imported
        ? 'Passed before Ralph began'
        : `Passed at ${at > 1 ? `attempt ${at}` : 'the first attempt'}${how}`,
    }
  }
  if (story.skipped) return { conclusion: 'skipped', word: 'Skipped by a person' }
  if (story.blocked) {
    const tries = story.retries === 0 ? '' : ` after ${many(story.retries, 'attempt')}`
    return { conclusion: 'failure', word: `Blocked${tries}`, detail: `/ralph retry ${story.id} -- <hint>` }
  }
  const end = endOf(state, facts)
  const failed = state.records[story.id]?.failure ?? null
  if (end === null) {
    if (storyInWork(state) === story.id)
      return { conclusion: null, word: `In work, attempt ${state.attempt?.number ?? 1}` }
    const word =
      failed === null ? 'To be worked on' : `Attempt ${story.retries} was rejected, to be tried again`
    return { conclusion: null, word }
  }
  if (end === 'interrupted') return { conclusion: 'cancelled', word: 'Cancelled, not done' }
  if (end === 'paused' || end === 'continued') return { conclusion: 'action_required', word: 'Not done' }
  if (failed === null) return { conclusion: 'cancelled', word: 'Not done' }
  return { conclusion: 'failure', word: 'Not done', detail: failed.summary }
}

function storySummary(state: State, story: Story, word: string, facts: Facts): string {
  const record = state.records[story.id]
  const figures = [
    record !== undefined && record.usage.costUsd > 0 ? costWords(record.usage) : '',
    record !== undefined && record.ms > 0 ? humanMs(record.ms) : '',
    story.passes ? commitLink(record?.commit ?? story.lastResult?.commit ?? null, facts.repositoryUrl) : '',
  ].filter((part) => part !== '')
  const why = story.passes || story.skipped ? '' : whyBlocked(state, story)
  return stacked([
    `${bold(markdownText(story.id, 64))} ${markdownText(story.title, 300)}`,
    [markdownText(word, 100), ...figures].join(' · '),
    why === '' ? '' : `**Why:** ${markdownText(why)}`,
    story.blocked && !story.passes && !story.skipped
      ? `**Next:** say what is missing, ${code(`/ralph retry ${story.id} -- <hint>`)}, or leave it out, ${code(`/ralph skip ${story.id}`)}.`
      : '',
    `${tally(state)}.`,
    runLink(facts),
  ])
}

function storyText(state: State, story: Story, room: number): string {
  const record = state.records[story.id]
  const criteria = story.acceptanceCriteria
    .slice(0, 40)
    .map((criterion) => `- ${markdownText(criterion, 300)}`)
  const remarks = (record?.remarks ?? []).slice(0, 40).map((remark) => `- ⚠️ ${markdownText(remark)}`)
  return stacked([
    record === undefined ? '' : failureBlock(record, Math.floor(room * 0.6)),
    remarks.length === 0
      ? ''
      : `#### Look at this when you review\n\n${firstPart(remarks.join('\n'), Math.floor(room * 0.15))}`,
    criteria.length === 0
      ? ''
      : `#### Acceptance criteria\n\n${firstPart(criteria.join('\n'), Math.floor(room * 0.2))}`,
  ])
}

function check(
  name: string,
  conclusion: Check['conclusion'],
  title: string,
  output: { summary: (room: number) => string; text: (room: number) => string },
  annotations: readonly Annotation[] = [],
): Check {
  return {
    name,
    status: conclusion === null ? 'in_progress' : 'completed',
    conclusion,
    title: titleText(title, MOST_TITLE),
    summary: fitted(output.summary, MOST_BYTES, utf8Bytes),
    text: fitted(output.text, MOST_BYTES, utf8Bytes),
    annotations: annotations.map(bounded).filter(isFit).slice(0, MOST_ANNOTATIONS),
  }
}

/** GitHub refuses the whole request for one bad annotation. */
function isFit({ path, line, message }: Annotation): boolean {
  return (
    Number.isSafeInteger(line) &&
    line >= 1 &&
    message.trim() !== '' &&
    path.length <= 1000 &&
    /^(?!\/|\.\.?\/)[^\p{Cc}\\]+$/u.test(path) &&
    !path.includes('/../')
  )
}

function bounded(annotation: Annotation): Annotation {
  return { ...annotation, message: cut(plainLines(annotation.message), 4000) }
}

/** Whole lines from the start, in at most `room` characters, with a last line that says when some are missing. */
function firstPart(text: string, room: number): string {
  if (text.length <= room) return text
  const end = text.lastIndexOf('\n', Math.max(0, room - 40))
  const shown = end <= 0 ? '' : text.slice(0, end)
  return `${shown}\n\n… and ${many(text.slice(shown.length).trim().split('\n').length, 'line')} more`
}

function runLink(facts: Facts): string {
  return facts.runUrl === null ? '' : link('The job and its log', facts.runUrl)
}

/** The same as a commit status, where checks are refused; a description has at most 140 characters. */
export function statusOf(from: Check): {
  context: string
  state: 'pending' | 'success' | 'failure' | 'error'
  description: string
} {
  const { name, conclusion, title } = from
  return {
    context: name,
    state: conclusion === null ? 'pending' : STATUSES[conclusion],
    description: titleText(title, 140),
  }
}

const STATUSES = {
  success: 'success',
  neutral: 'success',
  skipped: 'success',
  failure: 'failure',
  cancelled: 'error',
  // It waits for a person.
  action_required: 'pending',
} as const
