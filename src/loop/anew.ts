// A run that begins anew (`ralph run --force`): people's plan stays, everything that Ralph wrote of the run before goes into the archive. Pure.
import type { Prd, Story } from '../model/feature.ts'
import { emptyControl } from '../model/job.ts'
import type { State } from '../model/state.ts'
import { emptyRun } from '../prd/schema.ts'
import { notApproved } from './change.ts'
import { peopleNotes } from './notes.ts'

/**
 * The state as a run begins: on the branch as it stands, for a push that rewrites it would lose what people have of it. The
 * generation stays, so that a job of the run before goes on with nothing. `control.anew` is kept until the archive is made.
 */
export function begunAnew(state: State, nonce: string): State {
  const { lastComment, continuePending } = state.control
  const { plan, splits: _splits, archive: _archive, ledger: _ledger, pageEdited: _page, ...rest } = state
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
    verification: { ...notApproved(state), asked: false },
    progress: [],
    recent: [],
    timeline: [],
  }
}

/** The state when the archive is made: what the next commits write follows on it. */
export function archivedRun(state: State): State {
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
