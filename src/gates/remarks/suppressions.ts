// Comments and attributes that switch a linter, a type checker or a coverage tool off for the code alongside them.

const WORDS = [
  '(?:eslint|oxlint|stylelint|markdownlint)-disable',
  '(?:tslint|rubocop|swiftlint):disable',
  '(?:biome|deno-lint|lint|ktlint|phpstan|psalm)-(?:ignore|disable|suppress)',
  '@ts-(?:ignore|nocheck|expect-error)',
  '@flow-?nocheck|\\$FlowFixMe',
  '(?:istanbul|c8|v8) ignore|node:coverage (?:disable|ignore)',
  '(?:ruff|flake8): ?noqa|noqa',
  '(?:type|pyright|pyre): ?ignore|mypy: ?(?:ignore-errors|disable)',
  'pylint: ?(?:disable|skip)|pragma: ?no ?cover|nosec',
  'nolint|lint:ignore|#nosec',
  'NOPMD|NOSONAR|CHECKSTYLE[: ]OFF|noinspection',
  'shellcheck disable|hadolint ignore',
].join('|')
/** From the opening of the comment to its end, or to the end of the line. */
const COMMENT = new RegExp(`(?:/\\*+|//+|#+|<!--|--)[ \\t]*(?:${WORDS})(?:.*?\\*/|.*?-->|.*)`, 'g')
/** Attributes of Rust, annotations of Java and Kotlin, directives of C#. */
const ATTRIBUTE =
  /#!?\[(?:allow|expect)\([^)\n]*\)\]|@(?:SuppressWarnings|Suppress|SuppressFBWarnings)\([^)\n]*\)|^[ \t]*#pragma warning disable.*$/g
/** Longer lines are generated code, and are not searched. */
const LONGEST_LINE = 2000

/**
 * The text `after` without suppressions in lines that `before` does not have. Lines that become empty are removed. Null if there are no
 * such suppressions.
 */
export function withoutNewSuppressions(before: string, after: string): string | null {
  const linesBefore = new Set(before.split('\n'))
  let hasSuppression = false
  const lines = after.split('\n').flatMap((line) => {
    if (line.length > LONGEST_LINE || linesBefore.has(line)) return [line]
    const cleaned = line.replace(COMMENT, '').replace(ATTRIBUTE, '')
    if (cleaned === line) return [line]
    hasSuppression = true
    return cleaned.trim() === '' ? [] : [cleaned.trimEnd()]
  })
  return hasSuppression ? lines.join('\n') : null
}
