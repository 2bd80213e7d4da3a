// The set-up session, once before the first story. Its work is that story's: guard and gates see both together. Pure.
import type { Kept, Session, State } from '../model/state.ts'
import { addUsage } from '../model/usage.ts'

/** Whether the tree is set up already: by a story that passed, or by the story's own kept work, where that fits. */
export function isSetUp({ control, kept }: State, storyId: string, conflict: string | null): boolean {
  return control.setUp === true || (kept[storyId]?.setUp !== undefined && conflict === null)
}

/** Whether the story's session has something to begin on. */
export function wentWell({ status, hints }: Session): boolean {
  return status === 'finished' && hints.stuck === null && !hints.notDone
}

/** The attempt of a set-up that did not go well: it is charged, or not, as any session is. */
export function failedSetUp(session: Session): Session {
  const { hints, message } = session
  const stuck = hints.stuck === null ? null : `set-up: ${hints.stuck}`
  return { ...session, message: `set-up: ${message}`, hints: { ...hints, stuck } }
}

/** Both as one session of the attempt; `tree` is what stood there between them. */
export function withSetUp(setUp: Session, session: Session, tree: string): Session {
  return {
    ...session,
    usage: addUsage(setUp.usage, session.usage),
    learnings: [...setUp.learnings, ...session.learnings],
    setUp: tree,
  }
}

/** The set-up alone, where nothing may be spent on the story any more: not charged, and its work is kept. */
export function setUpAlone(setUp: Session, why: string, tree: string): Session {
  return { ...setUp, status: 'interrupted', message: `after the set-up ${why}`, setUp: tree }
}

/** What an attempt left, with what is known of it. */
export function keptOf(kept: Kept, session: Session | null): Kept {
  return session?.setUp === undefined ? kept : { ...kept, setUp: session.setUp }
}
