// What a reader of a lockfile or manifest returns.

/** What a file states about one package. */
export type PackageFacts = {
  version: string | null
  license?: string
  installScript?: true
  from?: string
  /** A manifest names it. */
  direct?: true
}

/** The packages of one file by name. */
export type PackageList = ReadonlyMap<string, PackageFacts>

/** One kind of file. */
export type PackageFormat = {
  /** Matches the file's name. */
  file: RegExp
  ecosystem: Ecosystem
  /** Larger files are not read, bytes. */
  maxBytes: number
  /** Throws an error whose message completes "could not be read:". */
  read(text: string): PackageList
}

export type Ecosystem =
  | 'npm'
  | 'JSR'
  | 'PyPI'
  | 'crates.io'
  | 'Go'
  | 'RubyGems'
  | 'Packagist'
  | 'NuGet'
  | 'Maven'
  | 'Pub'

const MB = 1024 * 1024
/** JSON.parse and line readers are fast; the parsers of TOML and YAML need one or two seconds for these sizes. */
export const MAX_JSON_BYTES = 16 * MB
export const MAX_LINES_BYTES = 16 * MB
export const MAX_TOML_BYTES = 4 * MB
export const MAX_YAML_BYTES = MB / 4

export function refuseVersion(version: unknown, known: readonly unknown[]): void {
  if (!known.includes(version)) throw new Error(`its format version ${shown(version)} is unknown`)
}

function shown(version: unknown): string {
  return typeof version === 'string' || typeof version === 'number' ? String(version).slice(0, 20) : '(none)'
}

/** Collects packages. Facts that several entries of one package state are joined. */
export class PackageCollector {
  readonly packages = new Map<string, PackageFacts>()

  add(name: string, version: unknown, more: Omit<PackageFacts, 'version'> = {}): void {
    if (name === '') return
    const before = this.packages.get(name)
    const stated = typeof version === 'string' ? version : null
    this.packages.set(name, { ...before, ...more, version: before?.version ?? stated })
  }
}
