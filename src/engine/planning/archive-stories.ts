// `ralph archive` of an unfinished run: the commit that ends the job moves finished stories out of prd.json. Pure.
import type { Prd, Story } from '../model/feature.ts'
import { emptyControl } from '../model/job.ts'
import type { State } from '../model/state.ts'
import { withoutDone } from '../prd/done.ts'
import { collapseSpaces } from '../prd/merge-edits.ts'
import { emptyRun, newStory } from '../prd/schema.ts'
import { unapprovedVerification } from '../state/state-updates.ts'
import { peopleNotes } from '../state/story-notes.ts'
import { storiesDigest } from './proposed-plan.ts'

const EMPTY_ARCHIVE = { asked: false, pending: [], ids: [] }

export function requestArchive(state: State): State {
  return { ...state, archive: { ...(state.archive ?? EMPTY_ARCHIVE), asked: true } }
}

/**
 * Moves the finished stories out of the list. This waits for the end of a job, so that one commit publishes both the passes and the
 * archive. Their ids are kept, since people's prd.json may still have these stories.
 */
export function archiveDoneStories(state: State): State {
  const { archive } = state
  if (archive?.asked !== true) return state
  const { prd, done } = withoutDone(state.prd)
  const ids = [...new Set([...archive.ids, ...done.map(({ id }) => id)])]
  const words = {
    ...archive.words,
    ...Object.fromEntries(done.map((story) => [story.id, textDigest(story)])),
  }
  const open = new Set(prd.userStories.map(({ id }) => id))
  const records = Object.fromEntries(Object.entries(state.records).filter(([id]) => open.has(id)))
  return {
    ...state,
    prd,
    records,
    archive: { asked: false, pending: [...archive.pending, ...done], ids, words },
  }
}

/** The state after a commit with the file of the finished stories. */
export function withoutPending(state: State): State {
  return state.archive === undefined ? state : { ...state, archive: { ...state.archive, pending: [] } }
}

/** People's prd.json without stories that Ralph has archived since. A story with such an id but another text is a new one. */
export function withoutArchived(
  prd: Prd,
  { archive, prd: { userStories } }: Pick<State, 'archive' | 'prd'>,
): Prd {
  if (archive === undefined || archive.ids.length === 0) return prd
  const open = new Set(userStories.map(({ id }) => id))
  const gone = new Set(archive.ids.filter((id) => !open.has(id)))
  const isArchived = (story: Story) => {
    const words = archive.words?.[story.id]
    return gone.has(story.id) && (words === undefined || words === textDigest(story))
  }
  return { ...prd, userStories: prd.userStories.filter((story) => !isArchived(story)) }
}

/** A digest of a story's id, title and criteria, regardless of white space and progress. */
function textDigest({ id, title, acceptanceCriteria }: Story): string {
  const criteria = acceptanceCriteria.map(collapseSpaces)
  return storiesDigest([newStory({ id, title: collapseSpaces(title), acceptanceCriteria: criteria })])
}

/**
 * The state of a run that begins again. The branch is kept, as rewriting it would lose commits of people. The generation stays, so
 * that a late job of the previous run does nothing. `control.again` is set until the previous run is archived.
 */
export function restartRun(state: State, nonce: string): State {
  const { lastComment, continuePending } = state.control
  const { plan, splits: _splits, archive: _archive, pageEdited: _page, ...kept } = state
  const { documents: _documents, unmarked: _unmarked, contests: _contests, ...others } = kept
  const { waiting: _waiting, ...rest } = others
  return {
    ...rest,
    // A plan without an approval still waits for it.
    ...(plan === undefined || plan.phase === 'begun' ? {} : { plan }),
    nonce,
    prd: withoutRun(state.prd, state),
    attempts: {},
    kept: {},
    records: {},
    control: { ...emptyControl(), lastComment, continuePending, anew: true },
    verification: { ...unapprovedVerification(state), asked: false },
    progress: [],
    recent: [],
    timeline: [],
    sessions: [],
  }
}

/** The state once the archive is made: the next commits belong to the new run. */
export function markRunArchived(state: State): State {
  return state.control.anew ? { ...state, control: { ...state.control, anew: false } } : state
}

/** The stories without their progress. A split story stays skipped, since its parts are in the list. */
function withoutRun(prd: Prd, { records }: Pick<State, 'records'>): Prd {
  const userStories = prd.userStories.map((story) => ({
    ...story,
    passes: false,
    retries: 0,
    blocked: false,
    skipped: story.skipped && isSplit(story),
    lastResult: null,
    notes: peopleNotes(story, records[story.id]),
  }))
  return { ...prd, run: emptyRun(), userStories }
}

function isSplit({ extra }: Story): boolean {
  const splitInto = extra?.splitInto
  return Array.isArray(splitInto) && splitInto.length > 0
}
