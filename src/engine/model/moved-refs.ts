// People's refs that moved while agents and gates ran, where nobody can tell whether a person moved them. Pure.
import { shellWord } from '../../system/shell-word.ts'

/** Where a ref pointed and points: an object id, `ref: <name>` where it is symbolic, null where it was not there. */
export type MovedRef = { ref: string; from: string | null; to: string | null }

/** What moved in all: the first place of each ref and its last, without those that are where they were. */
export function mergeMoves(before: readonly MovedRef[], fresh: readonly MovedRef[]): MovedRef[] {
  const all = new Map(before.map((moved) => [moved.ref, moved]))
  for (const moved of fresh) all.set(moved.ref, { ...moved, from: (all.get(moved.ref) ?? moved).from })
  return [...all.values()].filter(({ from, to }) => from !== to)
}

/** What was somebody's first, what is new last: a flood of new refs must not hide a branch that moved. */
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

/** The command that puts it back, as long as nobody has moved it again. */
export function undoCommand({ ref, from, to }: MovedRef): string {
  const name = shellWord(ref)
  const target = symbolic(from)
  if (target !== null) return `git symbolic-ref ${name} ${shellWord(target)}`
  // What is symbolic now is replaced itself, not what it points to.
  const seen = to === null ? "''" : symbolic(to) === null ? to : ''
  return `git update-ref --no-deref ${from === null ? '-d ' : ''}${name} ${[from, seen].filter(Boolean).join(' ')}`.trim()
}

function symbolic(at: string | null): string | null {
  return at?.startsWith('ref: ') ? at.slice(5) : null
}

function short(at: string | null): string {
  return symbolic(at) ?? (at ?? '').slice(0, 12)
}
