// Of thousands of stories an iteration changes one: what was made of the others is made once.

/** Maps a list whose entries mostly are the very objects of the list before, at the same place. */
export function eachOnce<T extends object, R>(make: (part: T) => R): (parts: readonly T[]) => R[] {
  let before: readonly T[] = []
  let made: R[] = []
  return (parts) => {
    const old = made
    made = parts.map((part, at) => (before[at] === part ? (old[at] as R) : make(part)))
    before = parts
    return made
  }
}
