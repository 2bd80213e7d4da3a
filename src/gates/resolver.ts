// Which file of the repository a tool means by a name. Pure.

/** The path in the repository that a name means, or null. */
export type Resolve = (name: string) => string | null

/**
 * Which known file a name means: itself, from the gates' folder (``, or with a `/` at its end) or from the top, the known end
 * of an absolute path, or the only one that ends so.
 */
export function resolver(known: ReadonlySet<string>, folder = ''): Resolve {
  const byBase = new Map<string, string[]>()
  for (const path of known) {
    const same = byBase.get(basename(path))
    if (same === undefined) byBase.set(basename(path), [path])
    else same.push(path)
  }
  const endsWith = (name: string): string | null => {
    const fits = byBase.get(basename(name))?.filter((path) => path.endsWith(`/${name}`)) ?? []
    return fits.length === 1 ? (fits[0] ?? null) : null
  }
  return (name) => {
    const plain = name
      .trim()
      .replace(/^file:\/\//, '')
      .replaceAll('\\', '/')
      .replace(/^(?:\.\/)+/, '')
    if (folder !== '' && known.has(folder + plain)) return folder + plain
    if (known.has(plain)) return plain
    if (!/[./]/.test(plain) || plain.length > 500) return null
    if (!/^(?:\/|[A-Za-z]:\/)/.test(plain)) return endsWith(plain.replace(/^(?:\.\.\/)+/, ''))
    for (let at = plain.indexOf('/'); at !== -1; at = plain.indexOf('/', at + 1)) {
      if (known.has(plain.slice(at + 1))) return plain.slice(at + 1)
    }
    return null
  }
}

function basename(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
