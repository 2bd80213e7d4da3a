// Finds the file of the repository that a tool means by a name. Pure.

/** The path in the repository that a name means, or null. */
export type ResolvePath = (name: string) => string | null

/**
 * Resolves a name to a known file: as a path from the gates' folder (`folder`: empty, or ending in `/`), as a path from the root of
 * the repository, as an absolute path that ends in a known path, or as the end of exactly one known path.
 */
export function createResolver(known: ReadonlySet<string>, folder = ''): ResolvePath {
  const byBase = new Map<string, string[]>()
  for (const path of known) {
    const same = byBase.get(basename(path))
    if (same === undefined) byBase.set(basename(path), [path])
    else same.push(path)
  }
  const findBySuffix = (name: string): string | null => {
    const fits = byBase.get(basename(name))?.filter((path) => path.endsWith(`/${name}`)) ?? []
    return fits.length === 1 ? (fits[0] ?? null) : null
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
    for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
      if (known.has(path.slice(at + 1))) return path.slice(at + 1)
    }
    return null
  }
}

function basename(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
