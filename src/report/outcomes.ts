// What reports make of each outcome of a job, of each way in which a story stands, and of labels: one table each.

import type { Outcome } from '../engine/model/feature.ts'
import type { TimelineEntry } from '../engine/model/state.ts'
import type { Situation } from '../engine/situation.ts'

export type Colour = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'cyan'
export type CheckConclusion = 'success' | 'failure' | 'neutral' | 'skipped' | 'cancelled' | 'action_required'

type OutcomeRow = {
  /** The conclusion of the roll-up check. Of these only `success` lets a pull request be merged where it is required. */
  check: CheckConclusion
  /** The frame of GitHub's markdown around what a person has to do. */
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
  // The check ends so only where no job was dispatched: a person has to run the workflow again.
  continued: { check: 'action_required', alert: null, title: 'CONTINUED', mark: '»', colour: 'blue' },
  error: { check: 'failure', alert: 'WARNING', title: 'ERROR', mark: '✘', colour: 'red' },
  interrupted: { check: 'cancelled', alert: 'IMPORTANT', title: 'INTERRUPTED', mark: '■', colour: 'yellow' },
}

export type RunStatus = {
  title: string
  mark: string
  colour: Colour
  outcome: Outcome | null
  /** The colour of a page or a card: shows at a glance whether a person is needed. */
  tone: 'good' | 'bad' | 'wait' | 'run'
}

/** How a run stands in two words. `rests`: it has paused, and goes on by itself. */
export function runStatusOf(situation: Situation, rests: boolean): RunStatus {
  const outcome = situation.kind === 'ended' ? situation.conclusion.outcome : null
  const words = statusLabel(situation, rests)
  return { ...words, outcome, tone: TONES[words.colour] ?? 'wait' }
}

function statusLabel(situation: Situation, rests: boolean): Pick<RunStatus, 'title' | 'mark' | 'colour'> {
  if (situation.kind === 'working') return { title: 'AT WORK', mark: '▶', colour: 'cyan' }
  if (situation.kind === 'ready') return { title: 'READY', mark: '○', colour: 'blue' }
  if (rests) return { title: 'WAITING', mark: '‖', colour: 'blue' }
  return OUTCOMES[situation.conclusion.outcome]
}

const TONES: Readonly<Partial<Record<Colour, RunStatus['tone']>>> = {
  green: 'good',
  red: 'bad',
  cyan: 'run',
  blue: 'run',
}

/**
 * How a story stands. `rejected`: has failed and is tried again; `waiting`: for a story that it depends on; `outside`: not in
 * the part of the feature that was asked for.
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
  /** In the progress bar; in the order of this table. */
  cell: string
  word: string
  /** In the list of a terminal. */
  box: string
  /** Of its node in the graph: readable on light and on dark pages, so each brings the colour of its text. */
  fill: string
  ink: string
}

export const STORY_STATUSES: Readonly<Record<StoryStatus, StoryStatusRow>> = {
  passed: { sign: '✅', cell: '🟩', word: 'passed', box: '[x]', fill: '#1a7f37', ink: '#ffffff' },
  skipped: { sign: '⏩', cell: '⬛', word: 'skipped', box: '[-]', fill: '#eaeef2', ink: '#57606a' },
  working: { sign: '🔨', cell: '🟦', word: 'in work', box: '[>]', fill: '#0969da', ink: '#ffffff' },
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
  outside: { sign: '▫️', cell: '▫️', word: 'not asked for', box: '[ ]', fill: '#f6f8fa', ink: '#57606a' },
}

type ResultRow = { sign: string; word: string; mark: string; colour: Colour }

/** The result of an attempt. */
export const RESULTS: Readonly<Record<TimelineEntry['result'], ResultRow>> = {
  passed: { sign: '✅', word: 'passed', mark: '✔', colour: 'green' },
  rejected: { sign: '❌', word: 'rejected', mark: '✘', colour: 'red' },
  returned: { sign: '↩️', word: 'given back', mark: '↩', colour: 'yellow' },
  candidate: { sign: '🔹', word: 'one candidate of several', mark: '◆', colour: 'yellow' },
  reset: { sign: '🔁', word: 'reset', mark: '↺', colour: 'yellow' },
}

/** The labels of a run's pull request: worked on by Ralph, and how that stands. Ralph leaves every other label alone. */
export const LABELS = [
  'ralph',
  'ralph:blocked',
  'ralph:stuck',
  'ralph:waiting',
  'ralph:stopped',
  'ralph:complete',
] as const

export type Label = (typeof LABELS)[number]

/** Where nothing goes on by itself. */
const ENDED: Readonly<Record<Outcome, Label>> = {
  complete: 'ralph:complete',
  stuck: 'ralph:stuck',
  'max-iterations': 'ralph:stopped',
  budget: 'ralph:stopped',
  paused: 'ralph:waiting',
  continued: 'ralph:waiting',
  error: 'ralph:stopped',
  interrupted: 'ralph:stopped',
}

/** Those that it bears now. */
export function labelsOf(view: {
  outcome: Outcome | null
  isOver: boolean
  counts: { blocked: number }
}): Label[] {
  const { outcome, isOver, counts } = view
  if (outcome !== null && isOver) return ['ralph', ENDED[outcome]]
  return counts.blocked > 0 ? ['ralph', 'ralph:blocked'] : ['ralph']
}
