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
/** From its opening to the end of the line or of the comment. */
const COMMENT = new RegExp(`(?:/\\*+|//+|#+|<!--|--)[ \\t]*(?:${WORDS})(?:.*?\\*/|.*?-->|.*)`, 'g')
/** Rust; Java and Kotlin; C#. */
const ATTRIBUTE =
  /#!?\[(?:allow|expect)\([^)\n]*\)\]|@(?:SuppressWarnings|Suppress|SuppressFBWarnings)\([^)\n]*\)|^[ \t]*#pragma warning disable.*$/g
/** Longer lines are generated, and not searched. */
const LONGEST_LINE = 2000

/** The text without the suppressions that `before` does not have, as a formatter would leave it; null where it adds none. */
export function withoutNewSuppressions(before: string, after: string): string | null {
  const known = new Set(before.split('\n'))
  let isOther = false
  const lines = after.split('\n').flatMap((line) => {
    if (line.length > LONGEST_LINE || known.has(line)) return [line]
    const without = line.replace(COMMENT, '').replace(ATTRIBUTE, '')
    if (without === line) return [line]
    isOther = true
    return without.trim() === '' ? [] : [without.trimEnd()]
  })
  return isOther ? lines.join('\n') : null
}
