// Arguments for a diff for people. No attribute or configuration that an agent wrote affects it.

const CODE_PATHS = ['.', ':(exclude,top).ralph']

/**
 * The diff of the code without Ralph's own files, or of these paths alone. Control characters are not removed: the caller has to do
 * it.
 */
export function patchArguments(range: readonly string[], paths: readonly string[] = CODE_PATHS): string[] {
  const plain = ['--no-color', '--no-ext-diff', '--no-textconv', '--no-relative', '--ignore-submodules=none']
  // Of a file that is too large to read, only the name is shown.
  return [
    ...['-c', 'core.attributesFile=/dev/null', '-c', 'core.bigFileThreshold=1m', '-c', 'core.quotePath=true'],
    ...['diff', ...plain, ...(paths === CODE_PATHS ? ['--stat'] : []), '--patch', ...range, '--', ...paths],
  ]
}

/** With it, the paths of `patchArguments` are patterns. */
export const PATCH_ENV = { GIT_LITERAL_PATHSPECS: '0' }
