// The effects of people's commands on the state. Pure. A command is applied once, by the id of its comment.

import { withStarter } from '../corrections/approvals.ts'
import { addCorrection } from '../corrections/corrections.ts'
import type { Command } from '../model/event.ts'
import type { Scope, Story } from '../model/feature.ts'
import type { Limits } from '../model/limit-types.ts'
import type { State, StoryRecord } from '../model/state.ts'
import { returnWaiting } from '../parallel/waiting.ts'
import { requestArchive } from '../planning/archive-stories.ts'
import { approve, requestPlan, requestSplit, withoutSplit } from '../planning/plan-events.ts'
import { newStory } from '../prd/schema.ts'
import { extendScope } from '../prd/scope.ts'
import { inScope } from '../prd/select.ts'
import { closedBreaker } from '../state/breaker.ts'
import { withoutContests } from '../state/contests.ts'
import { allowDependencies } from '../state/dependencies.ts'
import { resetWaits } from '../state/limits.ts'
import { emptyRecord, unapprovedVerification, withNote } from '../state/state-updates.ts'
import { hasNote } from '../state/story-notes.ts'

const MAX_GUIDANCE = 10

/** The state after a command. `lastComment` moves past each command that was read, even a refused one. */
export function applyCommand(
  state: State,
  command: Command,
  limits: Pick<Limits, 'maxCorrections'> = {},
): State {
  if (command.id !== 0 && command.id <= state.control.lastComment) return state
  const isBeginning = command.id !== 0 && (command.kind === 'run' || command.kind === 'approve')
  const begun = isBeginning ? withStarter(state, command.by) : state
  const applied = applyEffect(begun, command, limits)
  const lastComment = Math.max(applied.control.lastComment, command.id)
  return { ...applied, control: { ...applied.control, lastComment } }
}

function applyEffect(state: State, command: Command, limits: Pick<Limits, 'maxCorrections'>): State {
  switch (command.kind) {
    case 'run':
      return resumeRun(withWholeFeature({ ...state, control: { ...state.control, paused: null } }))
    case 'pause':
    case 'stop': {
      const paused = {
        reason: `${command.kind === 'stop' ? 'stopped' : 'paused'} by ${command.by}`,
        by: command.by,
      }
      return { ...state, control: { ...state.control, paused } }
    }
    case 'retry': {
      const ids = selectIds(state, command.stories, (story) => story.blocked)
      const retried = changeStories(state, ids, command.guidance, (story) => ({
        ...story,
        blocked: false,
        retries: story.passes ? story.retries : 0,
      }))
      const withNotes = replaceNotes(ids.reduce(withoutSplit, retried), ids, retryNote)
      return resumeRun(addToScope(command.fresh === true ? withoutWork(withNotes, ids) : withNotes, ids))
    }
    case 'redo': {
      const ids = selectIds(state, command.stories, (story) => story.passes)
      const again = changeStories(state, ids, command.guidance, (story) => ({
        ...story,
        passes: false,
        skipped: false,
        blocked: false,
        retries: 0,
        lastResult: null,
      }))
      const remark = command.guidance
      const formatNote = remark === '' ? retryNote : () => `to be worked on again: ${remark}`
      const noted = addToScope(replaceNotes(again, ids, formatNote, remark), ids)
      return resumeRun(returnWaiting(withoutContests(noted, ids), ids, 'a command asked for a new attempt'))
    }
    case 'skip': {
      const skipped = changeStories(state, command.stories, command.guidance, (story) => ({
        ...story,
        skipped: !story.passes,
        blocked: false,
      }))
      const why = command.guidance === '' ? '' : `: ${command.guidance}`
      const unsplit = withoutContests(command.stories.reduce(withoutSplit, skipped), command.stories)
      return resumeRun(replaceNotes(unsplit, command.stories, () => `skipped${why}`, command.guidance))
    }
    case 'note':
      return changeStories(state, command.stories, command.guidance, (story) => story, false)
    case 'add':
      return resumeRun(addStory(state, command.title, command.description, command.criteria))
    case 'fix': {
      const { story, text, id, by, at = 0 } = command
      const source = { kind: 'words', comment: id, by } as const
      return resumeRun(addCorrection(state, { story, source, text }, limits, at))
    }
    case 'update': {
      const { sha = '', isHandled = true } = state.baseHead ?? {}
      return resumeRun({ ...state, baseHead: { sha, isHandled, isAsked: true } })
    }
    case 'drop': {
      const drops = [...new Set([...(state.drops ?? []), ...passedStories(state, command.stories)])]
      return resumeRun(drops.length === 0 ? state : { ...state, drops })
    }
    case 'verify':
      return resumeRun({ ...state, verification: { ...unapprovedVerification(state), asked: true } })
    case 'limit': {
      const { granted } = state.control
      const more =
        command.what === 'iterations'
          ? { ...granted, iterations: granted.iterations + command.amount }
          : { ...granted, costUsd: granted.costUsd + command.amount }
      return resumeRun({ ...state, control: { ...state.control, granted: more } })
    }
    case 'split':
      return resumeRun(requestSplit(state, command.story, command.guidance))
    case 'archive':
      return requestArchive(state)
    case 'plan':
      return resumeRun(requestPlan(state, command.guidance))
    case 'approve':
      return resumeRun(approve(state, command))
    case 'allow':
      return resumeRun(allowDependencies(state, command.packages, command.by))
    case 'refused':
      return state
  }
}

/** A `run` after the scope is complete widens it to the whole feature, unless this job itself was started for that scope. */
function withWholeFeature(state: State): State {
  const { prd, control } = state
  const isOver = prd.run.outcome === 'complete' && control.scope?.job !== prd.run.jobs
  return isOver ? withScope(state, null) : state
}

/** Adds the stories that a person names to the run's scope. */
function addToScope(state: State, ids: readonly string[]): State {
  return withScope(state, extendScope(state.control.scope, ids))
}

/** The state with another scope. If it has stories that the verification has not judged, the approval is withdrawn. */
export function withScope(state: State, scope: Scope | null): State {
  const [before, after] = [inScope(state.control.scope), inScope(scope)]
  const isWider = state.prd.userStories.some((story) => after(story) && !before(story))
  const verification = isWider ? unapprovedVerification(state) : state.verification
  return { ...state, verification, control: { ...state.control, scope } }
}

/** Ends waits and Ralph's own pause, and restarts the count of jobs. Only `run` ends a pause of a person. */
function resumeRun(state: State): State {
  const paused = state.control.paused?.by === 'ralph' ? null : state.control.paused
  return {
    ...state,
    verification: { ...state.verification, sessions: 0 },
    control: {
      ...resetWaits(state.control),
      paused,
      jobsBefore: Math.max(0, state.prd.run.jobs - 1),
    },
  }
}

/**
 * Replaces Ralph's outdated notes on these stories. The new note is never empty, since that would mean that all notes are people's. A
 * remark in the command is noted even if there was no note.
 */
function replaceNotes(
  state: State,
  ids: readonly string[],
  formatNote: (record: StoryRecord) => string,
  remark = '',
): State {
  const open = state.prd.userStories.filter(({ id, passes }) => ids.includes(id) && !passes)
  return open
    .filter(({ id }) => remark !== '' || hasNote(state, id))
    .reduce((after, { id }) => withNote(after, id, formatNote(after.records[id] ?? emptyRecord())), state)
}

function retryNote({ failure }: StoryRecord): string {
  return failure?.summary || 'to be tried again'
}

/** Discards the saved work of these stories: their next attempts begin at the green commit. */
function withoutWork(state: State, ids: readonly string[]): State {
  const kept = Object.entries(state.kept).filter(([id]) => !ids.includes(id))
  const unwanted = (attempts: State['attempts']): State['attempts'] =>
    Object.fromEntries(
      Object.entries(attempts).map(([key, attempt]) => [
        key,
        ids.includes(attempt.storyId) ? { ...attempt, unwanted: true } : attempt,
      ]),
    )
  const records = Object.entries(state.records).map(([id, record]) => {
    const { redTree: _, ...fresh } = record
    return [id, ids.includes(id) ? fresh : record]
  })
  return {
    ...withoutContests(state, ids),
    kept: Object.fromEntries(kept),
    attempts: unwanted(state.attempts),
    ...(state.waiting === undefined ? {} : { waiting: unwanted(state.waiting) }),
    records: Object.fromEntries(records),
  }
}

function passedStories({ prd }: State, ids: readonly string[]): string[] {
  return prd.userStories.filter(({ id, passes }) => passes && ids.includes(id)).map(({ id }) => id)
}

function selectIds(state: State, ids: string[] | 'all', all: (story: Story) => boolean): string[] {
  if (ids !== 'all') return ids
  const isInScope = inScope(state.control.scope)
  return state.prd.userStories.filter((story) => isInScope(story) && all(story)).map((story) => story.id)
}

function changeStories(
  state: State,
  ids: readonly string[],
  guidance: string,
  change: (story: Story) => Story,
  resets = true,
): State {
  const known = state.prd.userStories.filter((story) => ids.includes(story.id))
  const notes = { ...state.control.guidance }
  const records = { ...state.records }
  for (const { id } of known) {
    if (guidance !== '') notes[id] = [...(notes[id] ?? []), guidance].slice(-MAX_GUIDANCE)
    const record = records[id]
    if (record !== undefined)
      records[id] = { ...record, interruptions: 0, breaker: resets ? closedBreaker() : record.breaker }
  }
  const userStories = state.prd.userStories.map((story) => (ids.includes(story.id) ? change(story) : story))
  const changed = userStories.some((story, index) => story.passes !== state.prd.userStories[index]?.passes)
  return {
    ...state,
    records,
    prd: { ...state.prd, userStories },
    control: { ...state.control, guidance: notes },
    verification: changed ? unapprovedVerification(state) : state.verification,
  }
}

function addStory(state: State, title: string, description: string, criteria: string[]): State {
  // The id of an archived story is never used again.
  const ids = [...state.prd.userStories.map((story) => story.id), ...(state.archive?.ids ?? [])]
  const numbers = ids.map((known) => Number(/^US-(\d{1,9})$/i.exec(known)?.[1] ?? 0))
  const id = `US-${String(Math.max(0, ...numbers) + 1).padStart(3, '0')}`
  const priority = Math.max(0, ...state.prd.userStories.map((story) => story.priority)) + 1
  const story = newStory({
    id,
    title,
    description,
    priority,
    acceptanceCriteria: criteria.length > 0 ? criteria : [title],
  })
  const prd = { ...state.prd, userStories: [...state.prd.userStories, story] }
  return addToScope({ ...state, prd, verification: unapprovedVerification(state) }, [id])
}
