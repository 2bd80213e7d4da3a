// Arguments of git for a diff that people read. No attribute or configuration that an agent wrote affects it.

const CODE_PATHS = ['.', ':(exclude,top).ralph']

/** The diff of these paths; by default of everything but Ralph's own files. The caller has to remove control characters. */
export function patchArguments(range: readonly string[], paths: readonly string[] = CODE_PATHS): string[] {
  // Of a file above the threshold git shows only the name.
  const settings = ['core.attributesFile=/dev/null', 'core.bigFileThreshold=1m', 'core.quotePath=true']
  const fixedOptions = [
    '--no-color',
    '--no-ext-diff',
    '--no-textconv',
    '--no-relative',
    '--ignore-submodules=none',
  ]
  const stat = paths === CODE_PATHS ? ['--stat'] : []
  return [
    ...settings.flatMap((setting) => ['-c', setting]),
    'diff',
    ...fixedOptions,
    ...stat,
    '--patch',
    ...range,
    '--',
    ...paths,
  ]
}

/** The environment for `patchArguments`, whose paths are patterns of git. */
export const PATCH_ENV = { GIT_LITERAL_PATHSPECS: '0' }
