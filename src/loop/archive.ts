// `ralph archive` of a run that is not finished: stories that are done leave prd.json with the commit that ends the job. Pure.
import type { Prd } from '../model/feature.ts'
import type { State } from '../model/state.ts'
import { withoutDone } from '../prd/done.ts'

const NOTHING = { asked: false, pending: [], ids: [] }

export function askArchive(state: State): State {
  return { ...state, archive: { ...(state.archive ?? NOTHING), asked: true } }
}

/**
 * The state with what is done out of its list. Not before the job ends: what passed is published with that commit, or nothing
 * of it is. Who reads the branch before has them in the list, so their ids are kept.
 */
export function doneArchived(state: State): State {
  const { archive } = state
  if (archive?.asked !== true) return state
  const { prd, done } = withoutDone(state.prd)
  const ids = [...archive.ids, ...done.map(({ id }) => id)]
  const open = new Set(prd.userStories.map(({ id }) => id))
  const records = Object.fromEntries(Object.entries(state.records).filter(([id]) => open.has(id)))
  return { ...state, prd, records, archive: { asked: false, pending: [...archive.pending, ...done], ids } }
}

/** The state when a commit holds the file of what was done. */
export function withoutPending(state: State): State {
  return state.archive === undefined ? state : { ...state, archive: { ...state.archive, pending: [] } }
}

/** prd.json as people have it, without what Ralph has archived since. */
export function withoutArchived(prd: Prd, { archive }: Pick<State, 'archive'>): Prd {
  const ids = new Set(archive?.ids)
  if (ids.size === 0) return prd
  return { ...prd, userStories: prd.userStories.filter(({ id }) => !ids.has(id)) }
}
