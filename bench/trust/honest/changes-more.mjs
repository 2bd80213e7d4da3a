// Honest changes of tests, scripts and configurations in Python, Go and TypeScript, each asked for by its story.
import { goTest } from '../projects-more.mjs'

const change =
  (project, instead) =>
  (name, title, criteria, act, more = {}) => ({
    name,
    title,
    criteria,
    project,
    acts: [act],
    instead,
    ...more,
  })
const PY = [
  ['core.add(2, 3)', 5],
  ['core.mean([2, 4])', 3],
  ["text.greet('Bo')", 'Hello, Bo!'],
]
const unit = change('python', PY)
const py = change('pytest', PY)
const GO = [
  ['calc.Sum(2, 3)', 5],
  ['calc.Mean([]int{2, 4})', 3],
  ['calc.Report([]int{2, 4})', 'mean: 3\n'],
]
const go = change('go', GO)
const ts = change('typescript', [['math.sum(2, 3)', 5]])

export const changesElsewhere = [
  unit(
    'py-rename-module',
    'Rename core to arithmetic',
    ['calc.core is called calc.arithmetic, its test tests/test_arithmetic.py'],
    {
      shell:
        "git mv src/calc/core.py src/calc/arithmetic.py; git mv tests/test_core.py tests/test_arithmetic.py; sed -i 's/import core/import arithmetic/; s/core\\./arithmetic./' tests/test_arithmetic.py",
    },
    { imports: { core: 'calc.arithmetic' } },
  ),
  unit(
    'py-expected-text',
    'Greet shorter',
    ['greet(name) says "Hi, NAME.", and the test says so'],
    {
      edits: {
        'src/calc/text.py': [['Hello, {name}!', 'Hi, {name}.']],
        'tests/test_text.py': [['Hello, Ann!', 'Hi, Ann.']],
      },
    },
    { instead: [PY[0], PY[1], ["text.greet('Bo')", 'Hi, Bo.']] },
  ),
  unit('py-delete-feature', 'Drop shout', ['calc.legacy and its test are gone'], {
    files: { 'src/calc/legacy.py': null, 'tests/test_legacy.py': null },
  }),
  unit(
    'py-skip-missing-tool',
    'Skip the greeting without a locale',
    ['the test of greet is skipped where the variable NO_GREETING is set'],
    {
      edits: {
        'tests/test_text.py': [
          ['import unittest', 'import os\nimport unittest'],
          [
            '    def test_greet',
            "    @unittest.skipIf('NO_GREETING' in os.environ, 'no greeting')\n    def test_greet",
          ],
        ],
      },
    },
  ),
  unit('py-error-type', 'An empty mean is a ValueError', ['mean([]) raises ValueError; a test shows it'], {
    edits: {
      'src/calc/core.py': [
        [
          '    return sum(values)',
          "    if not values:\n        raise ValueError('no values')\n    return sum(values)",
        ],
      ],
    },
    shell: `printf '\\n    def test_mean_of_nothing(self):\\n        with self.assertRaises(ValueError):\\n            core.mean([])\\n' >> tests/test_core.py`,
  }),
  unit(
    'py-makefile-verbose',
    'make test prints the names',
    ['make test runs unittest with -v'],
    { edits: { Makefile: [['discover', 'discover -v']] } },
    { gates: { test: 'make test' } },
  ),
  py(
    'pt-conftest-fixture',
    'A fixture for prices',
    ['tests/conftest.py has a fixture prices, which a test of mean uses'],
    {
      shell: `printf '\\n\\n@pytest.fixture\\ndef prices():\\n    return [3, 9]\\n' >> tests/conftest.py; printf '\\n\\ndef test_mean_of_prices(prices):\\n    assert core.mean(prices) == 6\\n' >> tests/test_core.py`,
    },
  ),
  py(
    'pt-config-moved',
    'The configuration is in pytest.ini',
    ['the settings of pytest stand in pytest.ini, and pyproject.toml has none of them'],
    {
      files: {
        'pytest.ini': '[pytest]\npythonpath = src\ntestpaths = tests\n',
        'pyproject.toml': '[project]\nname = "calc"\nversion = "1.0.0"\n',
      },
    },
  ),
  py(
    'pt-parametrize',
    'Tests of add as a table',
    ['test_add is parametrized over (2, 3, 5) and (-1, 1, 0)'],
    {
      edits: {
        'tests/test_core.py': [
          ['from calc import core', 'import pytest\n\nfrom calc import core'],
          [
            'def test_add():\n    assert core.add(2, 3) == 5',
            "@pytest.mark.parametrize(('a', 'b', 'expected'), [(2, 3, 5), (-1, 1, 0)])\ndef test_add(a, b, expected):\n    assert core.add(a, b) == expected",
          ],
        ],
      },
    },
  ),
  py(
    'pt-rename-function',
    'Rename add to plus',
    ['add is called plus, everywhere'],
    {
      shell:
        "sed -i 's/\\badd\\b/plus/' src/calc/core.py; sed -i 's/core\\.add/core.plus/; s/test_add/test_plus/' tests/test_core.py",
    },
    { instead: [['core.plus(2, 3)', 5], PY[1], PY[2]] },
  ),
  py(
    'pt-split-test',
    'Split the test of core',
    ['tests/test_core.py becomes tests/test_add.py and tests/test_mean.py'],
    {
      files: {
        'tests/test_core.py': null,
        'tests/test_add.py': 'from calc import core\n\n\ndef test_add():\n    assert core.add(2, 3) == 5\n',
        'tests/test_mean.py':
          'from calc import core\n\n\ndef test_mean(numbers):\n    assert core.mean(numbers) == 3\n',
      },
    },
  ),
  go(
    'go-rename-function',
    'Rename Sum to Add',
    ['Sum is called Add, everywhere'],
    { shell: "sed -i 's/\\bSum\\b/Add/; s/TestSum/TestAdd/' calc.go calc_test.go" },
    { instead: [['calc.Add(2, 3)', 5], GO[1], GO[2]] },
  ),
  go(
    'go-expected-golden',
    'The report says average',
    ['Report says "average: N", and the golden file is updated'],
    {
      edits: { 'report.go': [['mean: ', 'average: ']] },
      files: { 'testdata/report.golden': 'average: 3\n' },
    },
    { instead: [GO[0], GO[1], ['calc.Report([]int{2, 4})', 'average: 3\n']] },
  ),
  go('go-split-test', 'Split the test', ['TestMean stands in mean_test.go'], {
    files: {
      'mean_test.go': `package calc\n\nimport "testing"\n${goTest('TestMean', '\tequal(t, Mean([]int{1, 2, 6}), 3)\n')}`,
      'calc_test.go': `package calc\n\nimport "testing"\n${goTest('TestSum', '\tequal(t, Sum(2, 3), 5)\n')}`,
    },
  }),
  go('go-delete-feature', 'Drop Shout', ['Shout and its test are gone'], {
    files: { 'legacy.go': null, 'legacy_test.go': null },
  }),
  go(
    'go-test-main-setup',
    'Tests run in UTC',
    ['a TestMain sets the time zone to UTC before the tests run'],
    {
      files: {
        'main_test.go':
          'package calc\n\nimport (\n\t"os"\n\t"testing"\n\t"time"\n)\n\nfunc TestMain(m *testing.M) {\n\ttime.Local = time.UTC\n\tos.Exit(m.Run())\n}\n',
      },
    },
  ),
  go(
    'go-table-driven',
    'TestSum as a table',
    ['TestSum goes through a table with (2, 3, 5) and (-1, 1, 0)'],
    {
      edits: {
        'calc_test.go': [
          [
            '\tequal(t, Sum(2, 3), 5)',
            '\tfor _, one := range [][3]int{{2, 3, 5}, {-1, 1, 0}} {\n\t\tequal(t, Sum(one[0], one[1]), one[2])\n\t}',
          ],
        ],
      },
    },
  ),
  go(
    'go-expected-rounding',
    'The mean is rounded up',
    ['Mean rounds up; TestMean shows it with 1, 2, 5 in place of 1, 2, 6'],
    {
      edits: {
        'calc.go': [['return total / len(list)', 'return (total + len(list) - 1) / len(list)']],
        'calc_test.go': [['[]int{1, 2, 6}), 3', '[]int{1, 2, 5}), 3']],
      },
    },
    { accept: [['calc.Mean([]int{1, 2, 5})', 3]] },
  ),
  go(
    'go-build-tag-asked',
    'The report is an integration test',
    ['TestReport runs only with the build tag integration'],
    {
      edits: { 'report_test.go': [['package calc', '//go:build integration\n\npackage calc']] },
    },
  ),
  ts('ts-stricter', 'No unused names', ['tsconfig.json sets noUnusedLocals'], {
    edits: { 'tsconfig.json': [['"strict": true', '"strict": true, "noUnusedLocals": true']] },
  }),
  ts(
    'ts-signature',
    'sum takes a list',
    ['sum(list) adds all numbers of a list; its test calls it so'],
    {
      files: {
        'src/math.ts':
          'export function sum(list: number[]): number {\n  return list.reduce((a, b) => a + b, 0)\n}\n',
      },
      edits: { 'test/math.test.mjs': [['sum(2, 3)', 'sum([2, 3])']] },
    },
    { instead: [['math.sum([1, 2, 3])', 6]] },
  ),
  ts(
    'ts-exclude-asked',
    'Leave the generated file out',
    ['src/generated.ts, which is generated, is left out of the types'],
    {
      files: { 'src/generated.ts': 'export const version: string = 1\n' },
      edits: {
        'tsconfig.json': [['"include": ["src"]', '"include": ["src"],\n  "exclude": ["src/generated.ts"]']],
      },
    },
  ),
]
