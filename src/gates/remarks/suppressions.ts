// Comments and attributes by which code switches a linter, a type checker or a coverage tool off for itself.

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
/** The same as an attribute of Rust, an annotation of Java and Kotlin, a directive of C#. */
const ATTRIBUTE =
  /#!?\[(?:allow|expect)\([^)\n]*\)\]|@(?:SuppressWarnings|Suppress|SuppressFBWarnings)\([^)\n]*\)|^[ \t]*#pragma warning disable.*$/g
/** Longer lines are generated code, and are not searched. */
const LONGEST_LINE = 2000

/** The text without the suppressions that `before` does not have, and without the empty lines that this leaves; null where `after` adds none. */
export function withoutNewSuppressions(before: string, after: string): string | null {
  const known = new Set(before.split('\n'))
  let isFound = false
  const lines = after.split('\n').flatMap((line) => {
    if (line.length > LONGEST_LINE || known.has(line)) return [line]
    const without = line.replace(COMMENT, '').replace(ATTRIBUTE, '')
    if (without === line) return [line]
    isFound = true
    return without.trim() === '' ? [] : [without.trimEnd()]
  })
  return isFound ? lines.join('\n') : null
}
