// People's refs that moved while agents and gates ran. A person may have moved them, or hostile code. Pure.
import { shellWord } from '../../system/shell-word.ts'

/** Where a ref pointed before and points now: an object id, `ref: <name>` for a symbolic one, null where it does not exist. */
export type MovedRef = { ref: string; from: string | null; to: string | null }

/** All moves together: each ref from its first place to its last, without those that are back where they were. */
export function mergeMoves(before: readonly MovedRef[], fresh: readonly MovedRef[]): MovedRef[] {
  const all = new Map(before.map((moved) => [moved.ref, moved]))
  for (const moved of fresh) all.set(moved.ref, { ...moved, from: (all.get(moved.ref) ?? moved).from })
  return [...all.values()].filter(({ from, to }) => from !== to)
}

/** Refs that existed before come first: a flood of new refs must not hide a branch that moved. */
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

/** The git command that puts the ref back, and fails where it has moved again. */
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
