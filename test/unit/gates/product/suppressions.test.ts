// Comments that silence a checker are found by their shape.
import assert from 'node:assert/strict'
import test from 'node:test'
import { withoutNewSuppressions } from '../../../../src/gates/product/suppressions.ts'

test('directives of any tool are removed from new lines', () => {
  const directives = [
    'a() // eslint-disable-line no-alert',
    '// @ts-ignore: why',
    '/* istanbul ignore next */',
    'x = 1  # noqa',
    'x = 1  # noqa: E501',
    'import a  # type: ignore',
    '# pylint: disable=x',
    '# pragma: no cover',
    'foo() //nolint',
    '//nolint:errcheck',
    'x // NOSONAR',
    '// NOLINTNEXTLINE',
    '# fmt: off',
    '// clang-format off',
    '# rubocop:disable Style/X',
    '// prettier-ignore',
    '// c8 ignore next',
    '{/* eslint-disable-next-line */}',
    '<!-- markdownlint-disable -->',
    '// LCOV_EXCL_LINE',
    '# nosemgrep',
    '// biome-ignore lint: x',
    '// $FlowFixMe',
    '# yapf: disable',
    '/* @phpstan-ignore-line */',
    ' * @phpstan-ignore-line',
    '#[allow(dead_code)]',
    '#pragma warning disable 123',
    '# checkov:skip=1',
    '# mypy: ignore-errors',
    '//lint:ignore SA1000 x',
    '// NOPMD',
    '// CHECKSTYLE:OFF',
    '# :nocov:',
    '# pyright: basic',
    '# nosec B1',
    '// swiftlint:disable x',
    '// @codeCoverageIgnoreStart',
    '-- luacheck: ignore',
    '# shellcheck disable=SC1',
    '# spellchecker:disable',
    '// deno-lint-ignore no-x',
    '// @ts-expect-error',
    '// @ts-nocheck',
    '# isort:skip',
    '# pyre-fixme[1]',
    '// istanbul ignore if',
    '# credo:disable-for-next-line',
    '// Stryker disable all',
    '# type: ignore[attr]',
    'x = a  # pyre-ignore',
  ]
  for (const line of directives) assert.notEqual(withoutNewSuppressions('', line), null, line)
  for (const line of directives) assert.equal(withoutNewSuppressions(line, line), null, line)
  assert.equal(withoutNewSuppressions('', 'a() /* c8 ignore next */ b()'), 'a()  b()')
})

test('prose, strings and code stay', () => {
  for (const line of [
    '// Skip blank lines.',
    'x = "https://a/skip"',
    'a: "# noqa"',
    '// the ratio',
    '# Returns nothing',
    '## Heading',
    'a --skip',
    'git --allow x',
    'url("//x-ignore")',
    '#include <x>',
    '// note that it is so',
    '#!/usr/bin/env node',
    '.a { color: #fff }',
    'const a = b -- c',
    '// normal',
    '# ignore errors',
    ' * @param skip whether',
    'x = a % skip(b)',
    'let b = [1, 2] // both of them',
  ])
    assert.equal(withoutNewSuppressions('', line), null, line)
})
