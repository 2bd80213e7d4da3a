// Tables of how reports show the outcome of a run, the status of a story and the result of an attempt. Also the labels of a pull request.

import type { Outcome } from '../engine/model/feature.ts'
import type { TimelineEntry } from '../engine/model/state.ts'
import type { Situation } from '../engine/situation.ts'

export type Colour = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'cyan'
export type CheckConclusion = 'success' | 'failure' | 'neutral' | 'skipped' | 'cancelled' | 'action_required'

type OutcomeRow = {
  /** The conclusion of the roll-up check. If people require the check, only `success` of these allows a merge. */
  check: CheckConclusion
  /** The kind of GitHub's alert frame around what a person has to do. */
  alert: 'TIP' | 'WARNING' | 'IMPORTANT' | null
  title: string
  mark: string
  colour: Colour
}

export const OUTCOMES: Readonly<Record<Outcome, OutcomeRow>> = {
  complete: { check: 'success', alert: 'TIP', title: 'COMPLETE', mark: '✔', colour: 'green' },
  stuck: { check: 'failure', alert: 'WARNING', title: 'STUCK', mark: '■', colour: 'red' },
  'max-iterations': {
    check: 'failure',
    alert: 'IMPORTANT',
    title: 'LIMIT REACHED',
    mark: '■',
    colour: 'yellow',
  },
  budget: { check: 'failure', alert: 'IMPORTANT', title: 'BUDGET SPENT', mark: '■', colour: 'yellow' },
  paused: { check: 'action_required', alert: 'IMPORTANT', title: 'PAUSED', mark: '‖', colour: 'yellow' },
  // Only used if no next job was dispatched: then a person has to run the workflow again.
  continued: { check: 'action_required', alert: null, title: 'CONTINUED', mark: '»', colour: 'blue' },
  error: { check: 'failure', alert: 'WARNING', title: 'ERROR', mark: '✘', colour: 'red' },
  interrupted: { check: 'cancelled', alert: 'IMPORTANT', title: 'INTERRUPTED', mark: '■', colour: 'yellow' },
}

export type RunStatus = {
  title: string
  mark: string
  colour: Colour
  outcome: Outcome | null
  /** Selects the colour of a page or a card, which shows whether a person is needed. */
  tone: 'good' | 'bad' | 'wait' | 'run'
}

/** The status of a run in one or two words. `resumesItself`: the run has paused, and continues without a person. */
export function runStatusOf(situation: Situation, resumesItself: boolean): RunStatus {
  const outcome = situation.kind === 'ended' ? situation.conclusion.outcome : null
  const label = statusLabel(situation, resumesItself)
  return { ...label, outcome, tone: TONES[label.colour] ?? 'wait' }
}

type StatusLabel = Pick<RunStatus, 'title' | 'mark' | 'colour'>

function statusLabel(situation: Situation, resumesItself: boolean): StatusLabel {
  if (situation.kind === 'working') return { title: 'AT WORK', mark: '▶', colour: 'cyan' }
  if (situation.kind === 'ready') return { title: 'READY', mark: '○', colour: 'blue' }
  if (resumesItself) return { title: 'WAITING', mark: '‖', colour: 'blue' }
  return OUTCOMES[situation.conclusion.outcome]
}

const TONES: Readonly<Partial<Record<Colour, RunStatus['tone']>>> = {
  green: 'good',
  red: 'bad',
  cyan: 'run',
  blue: 'run',
}

/**
 * The status of a story. `rejected`: it failed and is tried again; `waiting`: for a story that it depends on; `outside`: not in the
 * scope of this run.
 */
export type StoryStatus =
  | 'passed'
  | 'skipped'
  | 'working'
  | 'rejected'
  | 'blocked'
  | 'waiting'
  | 'open'
  | 'outside'

type StoryStatusRow = {
  sign: string
  /** Its cell in the progress bar. The order of this table is the order in the bar. */
  cell: string
  word: string
  /** Its box in a terminal's list. */
  box: string
  /** Colours of its node in the graph. `ink` is that of the text, so that it is readable on light and on dark pages. */
  fill: string
  ink: string
}

export const STORY_STATUSES: Readonly<Record<StoryStatus, StoryStatusRow>> = {
  passed: { sign: '✅', cell: '🟩', word: 'passed', box: '[x]', fill: '#1a7f37', ink: '#ffffff' },
  skipped: { sign: '⏩', cell: '⬛', word: 'skipped', box: '[-]', fill: '#eaeef2', ink: '#57606a' },
  working: { sign: '🔨', cell: '🟦', word: 'in progress', box: '[>]', fill: '#0969da', ink: '#ffffff' },
  rejected: {
    sign: '🔁',
    cell: '🟨',
    word: 'to be tried again',
    box: '[~]',
    fill: '#9a6700',
    ink: '#ffffff',
  },
  blocked: { sign: '⛔', cell: '🟥', word: 'blocked', box: '[!]', fill: '#cf222e', ink: '#ffffff' },
  waiting: { sign: '⏳', cell: '⬜', word: 'waiting', box: '[.]', fill: '#f6f8fa', ink: '#57606a' },
  open: { sign: '⬜', cell: '⬜', word: 'open', box: '[ ]', fill: '#ffffff', ink: '#24292f' },
  outside: { sign: '▫️', cell: '▫️', word: 'not in this run', box: '[ ]', fill: '#f6f8fa', ink: '#57606a' },
}

type ResultRow = { sign: string; word: string; mark: string; colour: Colour }

/** How each result of an attempt is shown. */
export const RESULTS: Readonly<Record<TimelineEntry['result'], ResultRow>> = {
  passed: { sign: '✅', word: 'passed', mark: '✔', colour: 'green' },
  rejected: { sign: '❌', word: 'rejected', mark: '✘', colour: 'red' },
  returned: { sign: '↩️', word: 'given back', mark: '↩', colour: 'yellow' },
  candidate: { sign: '🔹', word: 'one candidate of several', mark: '◆', colour: 'yellow' },
  reset: { sign: '🔁', word: 'reset', mark: '↺', colour: 'yellow' },
}

/** The labels that Ralph puts on a run's pull request. It never touches other labels. */
export const LABELS = [
  'ralph',
  'ralph:blocked',
  'ralph:stuck',
  'ralph:waiting',
  'ralph:stopped',
  'ralph:complete',
] as const

export type Label = (typeof LABELS)[number]

/** The label of a run that does not continue by itself. */
const OUTCOME_LABELS: Readonly<Record<Outcome, Label>> = {
  complete: 'ralph:complete',
  stuck: 'ralph:stuck',
  'max-iterations': 'ralph:stopped',
  budget: 'ralph:stopped',
  paused: 'ralph:waiting',
  continued: 'ralph:waiting',
  error: 'ralph:stopped',
  interrupted: 'ralph:stopped',
}

/** The labels that the pull request should have now. */
export function labelsOf(view: {
  outcome: Outcome | null
  isOver: boolean
  counts: { blocked: number }
}): Label[] {
  const { outcome, isOver, counts } = view
  if (outcome !== null && isOver) return ['ralph', OUTCOME_LABELS[outcome]]
  return counts.blocked > 0 ? ['ralph', 'ralph:blocked'] : ['ralph']
}
