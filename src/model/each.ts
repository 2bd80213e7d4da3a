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

/** The items by what they have in common, in the order in which each group first comes (`Map.groupBy` for Node 20). */
export function grouped<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
