// A diff for people to read: by git, where nothing that an agent wrote, no attribute and no configuration, says how.

const CODE_PATHS = ['.', ':(exclude,top).ralph']

/**
 * Behind `diff`: of code, not of Ralph's own files; or of these paths alone. Lines end as git writes them; controls in them are the
 * reader's to mute.
 */
export function patchArguments(range: readonly string[], paths: readonly string[] = CODE_PATHS): string[] {
  const plain = ['--no-color', '--no-ext-diff', '--no-textconv', '--no-relative', '--ignore-submodules=none']
  // A file that takes longer to read than a person has is told by its name.
  return [
    ...['-c', 'core.attributesFile=/dev/null', '-c', 'core.bigFileThreshold=1m', '-c', 'core.quotePath=true'],
    ...['diff', ...plain, ...(paths === CODE_PATHS ? ['--stat'] : []), '--patch', ...range, '--', ...paths],
  ]
}

/** A path is a pattern in them. */
export const PATCH_ENV = { GIT_LITERAL_PATHSPECS: '0' }
