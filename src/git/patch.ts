// Arguments of git for a diff that people read. No attribute or configuration that an agent wrote affects it.

const CODE_PATHS = ['.', ':(exclude,top).ralph']

// Of a file above the threshold git shows only the name.
const SETTINGS = ['core.attributesFile=/dev/null', 'core.bigFileThreshold=1m', 'core.quotePath=true'].flatMap(
  (setting) => ['-c', setting],
)
const FIXED_OPTIONS = [
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--no-relative',
  '--ignore-submodules=none',
]

/** The diff of these paths; by default of everything but Ralph's own files. The caller has to remove control characters. */
export function patchArguments(range: readonly string[], paths: readonly string[] = CODE_PATHS): string[] {
  const stat = paths === CODE_PATHS ? ['--stat'] : []
  return [...SETTINGS, 'diff', ...FIXED_OPTIONS, ...stat, '--patch', ...range, '--', ...paths]
}

/** `added` and `removed` count lines; both are 0 for a binary file. */
export type FileSize = { path: string; added: number; removed: number }

/** The number of added and removed lines in each file of each commit. */
export function sizeArguments(range: string): string[] {
  const options = [...FIXED_OPTIONS, '--no-renames', '--numstat', '-z', '--format=%x00%H']
  return [...SETTINGS, 'log', ...options, range, '--', ...CODE_PATHS]
}

/** What git prints for `sizeArguments`: an empty field before each commit's id. */
export function parseSizes(output: string): Map<string, FileSize[]> {
  const sizes = new Map<string, FileSize[]>()
  let files: FileSize[] = []
  for (const field of output.split('\0').map((text) => text.replace(/^\n/, ''))) {
    const [, added, removed, path] = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(field) ?? []
    if (path !== undefined) files.push({ path, added: Number(added) || 0, removed: Number(removed) || 0 })
    else if (/^[0-9a-f]{40,64}$/.test(field)) {
      files = []
      sizes.set(field, files)
    }
  }
  return sizes
}

/** The environment for `patchArguments` and `sizeArguments`, whose paths are patterns of git. */
export const PATCH_ENV = { GIT_LITERAL_PATHSPECS: '0' }
