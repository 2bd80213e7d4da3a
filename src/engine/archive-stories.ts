// `ralph archive` of a run that is not finished: stories that are done leave prd.json with the commit that ends the job. Pure.
import type { Prd, Story } from './model/feature.ts'
import { emptyControl } from './model/job.ts'
import type { State } from './model/state.ts'
import { storiesDigest } from './planning/proposed-plan.ts'
import { withoutDone } from './prd/done.ts'
import { emptyRun, newStory } from './prd/schema.ts'
import { unapprovedVerification } from './state-updates.ts'
import { peopleNotes } from './story-notes.ts'

const NOTHING = { asked: false, pending: [], ids: [] }

export function requestArchive(state: State): State {
  return { ...state, archive: { ...(state.archive ?? NOTHING), asked: true } }
}

/**
 * The state with what is done out of its list. Not before the job ends: what passed is published with that commit, or nothing
 * of it is. Who reads the branch before has them in the list, so their ids are kept.
 */
export function archiveDoneStories(state: State): State {
  const { archive } = state
  if (archive?.asked !== true) return state
  const { prd, done } = withoutDone(state.prd)
  const ids = [...new Set([...archive.ids, ...done.map(({ id }) => id)])]
  const words = { ...archive.words, ...Object.fromEntries(done.map((story) => [story.id, wordsOf(story)])) }
  const open = new Set(prd.userStories.map(({ id }) => id))
  const records = Object.fromEntries(Object.entries(state.records).filter(([id]) => open.has(id)))
  return {
    ...state,
    prd,
    records,
    archive: { asked: false, pending: [...archive.pending, ...done], ids, words },
  }
}

/** The state when a commit holds the file of what was done. */
export function withoutPending(state: State): State {
  return state.archive === undefined ? state : { ...state, archive: { ...state.archive, pending: [] } }
}

/** prd.json as people have it, without what Ralph has archived since. Other words under such an id are a new story of theirs. */
export function withoutArchived(
  prd: Prd,
  { archive, prd: { userStories } }: Pick<State, 'archive' | 'prd'>,
): Prd {
  if (archive === undefined || archive.ids.length === 0) return prd
  const open = new Set(userStories.map(({ id }) => id))
  const gone = new Set(archive.ids.filter((id) => !open.has(id)))
  const isArchived = (story: Story) => {
    const words = archive.words?.[story.id]
    return gone.has(story.id) && (words === undefined || words === wordsOf(story))
  }
  return { ...prd, userStories: prd.userStories.filter((story) => !isArchived(story)) }
}

/** What a story asks for, however it stands and however its white space does. */
function wordsOf({ id, title, acceptanceCriteria }: Story): string {
  const story = newStory({ id, title: plain(title), acceptanceCriteria: acceptanceCriteria.map(plain) })
  return storiesDigest([story])
}

function plain(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/**
 * The state as a run begins: on the branch as it stands, for a push that rewrites it would lose what people have of it. The
 * generation stays, so that a job of the run before goes on with nothing. `control.anew` is kept until the archive is made.
 */
export function restartRun(state: State, nonce: string): State {
  const { lastComment, continuePending } = state.control
  const { plan, splits: _splits, archive: _archive, pageEdited: _page, ...kept } = state
  const { documents: _documents, unmarked: _unmarked, ...rest } = kept
  return {
    ...rest,
    // One that nobody has approved yet still waits for it.
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

/** The state when the archive is made: what the next commits write follows on it. */
export function markRunArchived(state: State): State {
  return state.control.anew ? { ...state, control: { ...state.control, anew: false } } : state
}

/** The stories as people wrote them. The parts of one that was split stand beside it. */
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
