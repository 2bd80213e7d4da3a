// Finds the file of the repository that a tool means by a name. Pure.
import { groupBy } from '../engine/model/each-once.ts'

/** The path in the repository that a name means, or null. */
export type ResolvePath = (name: string) => string | null

/**
 * Resolves a name to a known file. `folder`: that of the gates; empty, or with `/` at its end. A name has one of these forms:
 * - A path from the gates' folder, or from the root of the repository.
 * - An absolute path that ends in a known path.
 * - The end of exactly one known path.
 */
export function createResolver(known: ReadonlySet<string>, folder = ''): ResolvePath {
  const byBasename = groupBy([...known], basename)
  const findBySuffix = (name: string): string | null => {
    const matches = byBasename.get(basename(name))?.filter((path) => path.endsWith(`/${name}`)) ?? []
    return matches.length === 1 ? (matches[0] ?? null) : null
  }
  return (name) => {
    const path = name
      .trim()
      .replace(/^file:\/\//, '')
      .replaceAll('\\', '/')
      .replace(/^(?:\.\/)+/, '')
    if (folder !== '' && known.has(folder + path)) return folder + path
    if (known.has(path)) return path
    if (!/[./]/.test(path) || path.length > 500) return null
    if (!/^(?:\/|[A-Za-z]:\/)/.test(path)) return findBySuffix(path.replace(/^(?:\.\.\/)+/, ''))
    const parts = path.split('/')
    for (let first = 1; first < parts.length; first += 1) {
      const end = parts.slice(first).join('/')
      if (known.has(end)) return end
    }
    return null
  }
}

function basename(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
