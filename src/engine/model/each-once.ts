// Memoization for lists, because an iteration changes one of possibly thousands of stories. Also `groupBy`.

/** Maps a list. Items that are the same object at the same index as in the last call are not mapped again. */
export function memoizeEach<T extends object, R>(map: (item: T) => R): (items: readonly T[]) => R[] {
  let lastItems: readonly T[] = []
  let lastResults: R[] = []
  return (items) => {
    const results = items.map((item, index) =>
      lastItems[index] === item ? (lastResults[index] as R) : map(item),
    )
    lastItems = items
    lastResults = results
    return results
  }
}

/** Like `memoizeEach`, for chunks of `size` items. */
export function memoizeChunks<T extends object, R>(size: number, map: (chunk: readonly T[]) => R) {
  let lastChunks: readonly (readonly T[])[] = []
  let lastResults: R[] = []
  return (items: readonly T[]): R[] => {
    const count = Math.ceil(items.length / size)
    const chunks = Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size))
    const results = chunks.map((chunk, index) =>
      isSameList(chunk, lastChunks[index] ?? []) ? (lastResults[index] as R) : map(chunk),
    )
    lastChunks = chunks
    lastResults = results
    return results
  }
}

function isSameList<T>(left: readonly T[], right: readonly T[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index])
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
