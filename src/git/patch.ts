// Arguments for a diff for people. No attribute or configuration that an agent wrote affects it.

const CODE_PATHS = ['.', ':(exclude,top).ralph']

/**
 * Arguments for the diff of all code without Ralph's own files, or of these paths only. The caller has to remove control characters.
 */
export function patchArguments(range: readonly string[], paths: readonly string[] = CODE_PATHS): string[] {
  const fixedOptions = [
    '--no-color',
    '--no-ext-diff',
    '--no-textconv',
    '--no-relative',
    '--ignore-submodules=none',
  ]
  // For a file above the threshold git shows only the name.
  return [
    ...['-c', 'core.attributesFile=/dev/null', '-c', 'core.bigFileThreshold=1m', '-c', 'core.quotePath=true'],
    ...[
      'diff',
      ...fixedOptions,
      ...(paths === CODE_PATHS ? ['--stat'] : []),
      '--patch',
      ...range,
      '--',
      ...paths,
    ],
  ]
}

/** The environment for `patchArguments`: its paths are patterns. */
export const PATCH_ENV = { GIT_LITERAL_PATHSPECS: '0' }
