// Memoization for lists: an iteration changes one of possibly thousands of stories.

/** Maps a list. Entries that are the same object at the same index as in the last call are not mapped again. */
export function memoizeEach<T extends object, R>(make: (part: T) => R): (parts: readonly T[]) => R[] {
  let before: readonly T[] = []
  let made: R[] = []
  return (parts) => {
    const old = made
    made = parts.map((part, at) => (before[at] === part ? (old[at] as R) : make(part)))
    before = parts
    return made
  }
}

/** Like `memoizeEach`, for chunks of `size` entries. */
export function memoizeChunks<T extends object, R>(size: number, make: (part: readonly T[]) => R) {
  let before: readonly (readonly T[])[] = []
  let made: R[] = []
  return (all: readonly T[]): R[] => {
    const [old, known] = [made, before]
    const count = Math.ceil(all.length / size)
    before = Array.from({ length: count }, (_, at) => all.slice(at * size, (at + 1) * size))
    made = before.map((part, at) => (isSameList(part, known[at] ?? []) ? (old[at] as R) : make(part)))
    return made
  }
}

function isSameList<T>(one: readonly T[], other: readonly T[]): boolean {
  return one.length === other.length && one.every((item, at) => item === other[at])
}

/** Groups items by their key, in the order of each group's first item (`Map.groupBy`, which Node 20 lacks). */
export function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
