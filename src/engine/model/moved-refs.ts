// People's refs that moved while agents and gates ran: by a person, or by hostile code. Pure.
import { shellWord } from '../../system/shell-word.ts'

/** What a ref pointed to before and points to now: an object id, `ref: <name>` for a symbolic ref, null if it does not exist. */
export type MovedRef = { ref: string; from: string | null; to: string | null }

/** Joins moves: each ref from its first value to its last, without refs that have their first value again. */
export function mergeMoves(before: readonly MovedRef[], fresh: readonly MovedRef[]): MovedRef[] {
  const all = new Map(before.map((moved) => [moved.ref, moved]))
  for (const moved of fresh) all.set(moved.ref, { ...moved, from: (all.get(moved.ref) ?? moved).from })
  return [...all.values()].filter(({ from, to }) => from !== to)
}

/** Sorts refs that existed before first, so that many new refs do not hide a branch that moved. */
export function existingRefsFirst(moved: readonly MovedRef[]): MovedRef[] {
  return [...moved.filter(({ from }) => from !== null), ...moved.filter(({ from }) => from === null)]
}

/** `refs/heads/main moved (1234567 to 89abcde)`. */
export function formatMovedRef({ ref, from, to }: MovedRef): string {
  if (from === null) return `${ref} is new (at ${short(to)})`
  return to === null
    ? `${ref} was deleted (it was at ${short(from)})`
    : `${ref} moved (${short(from)} to ${short(to)})`
}

/** The git command that restores the ref, and fails if it has moved again. */
export function undoCommand({ ref, from, to }: MovedRef): string {
  const name = shellWord(ref)
  const target = symbolic(from)
  if (target !== null) return `git symbolic-ref ${name} ${shellWord(target)}`
  // A ref that is symbolic now is replaced itself, not the ref that it points to.
  const expected = to === null ? "''" : symbolic(to) === null ? to : ''
  return `git update-ref --no-deref ${from === null ? '-d ' : ''}${name} ${[from, expected].filter(Boolean).join(' ')}`.trim()
}

function symbolic(at: string | null): string | null {
  return at?.startsWith('ref: ') ? at.slice(5) : null
}

function short(at: string | null): string {
  return symbolic(at) ?? (at ?? '').slice(0, 12)
}
