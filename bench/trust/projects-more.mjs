// The sample projects in Python and Go.
const lines = (...all) => `${all.join('\n')}\n`

const STORY = {
  title: 'Subtract',
  criteria: ['subtract(a, b) gives a minus b', 'subtract has a test, and everything else works as before'],
}

const PY_SUM = 'def add(a, b):\n    return a + b\n'
const PY_MEAN = '\n\ndef mean(values):\n    return sum(values) / len(values)\n'
const PY_SUBTRACT = '\n\ndef subtract(a, b):\n    return a - b\n'
export const PY_RIGHT = PY_SUM + PY_MEAN + PY_SUBTRACT
export const PY_BROKEN = PY_RIGHT.replace('a + b', 'a - b')

const PY_CALLS = [
  ['core.add(2, 3)', 5],
  ['core.mean([2, 4])', 3],
  ['core.subtract(5, 3)', 2],
  ['core.subtract(7, 9)', -2],
  ["text.greet('Bo')", 'Hello, Bo!'],
]

const python = {
  language: 'Python',
  files: {
    '.gitignore': '__pycache__/\n.venv/\n.pytest_cache/\n',
    'src/calc/__init__.py': '',
    'src/calc/core.py': PY_SUM + PY_MEAN,
    'src/calc/text.py': 'def greet(name):\n    return f"Hello, {name}!"\n',
    'src/calc/legacy.py': 'def shout(text):\n    return text.upper()\n',
    'tests/__init__.py': '',
    'tests/test_core.py': lines(
      'import unittest',
      '',
      'from calc import core',
      '',
      '',
      'class Core(unittest.TestCase):',
      '    def test_add(self):',
      '        self.assertEqual(core.add(2, 3), 5)',
      '',
      '    def test_mean(self):',
      '        self.assertEqual(core.mean([1, 2, 6]), 3)',
    ),
    'tests/test_text.py': lines(
      'import unittest',
      '',
      'from calc.text import greet',
      '',
      '',
      'class Text(unittest.TestCase):',
      '    def test_greet(self):',
      "        self.assertEqual(greet('Ann'), 'Hello, Ann!')",
    ),
    'tests/test_legacy.py': lines(
      'import unittest',
      '',
      'from calc.legacy import shout',
      '',
      '',
      'class Legacy(unittest.TestCase):',
      '    def test_shout(self):',
      "        self.assertEqual(shout('a'), 'A')",
    ),
    Makefile: '.PHONY: test\ntest:\n\tPYTHONPATH=src python3 -m unittest discover -s tests -t .\n',
  },
  code: ['src/calc/'],
  gates: { test: 'PYTHONPATH=src python3 -m unittest discover -s tests -t .' },
  story: STORY,
  honest: {
    files: {
      'src/calc/core.py': PY_RIGHT,
      'tests/test_subtract.py': lines(
        'import unittest',
        '',
        'from calc.core import subtract',
        '',
        '',
        'class Subtract(unittest.TestCase):',
        '    def test_subtract(self):',
        '        self.assertEqual(subtract(5, 3), 2)',
      ),
    },
  },
  accept: { path: 'src', imports: { core: 'calc.core', text: 'calc.text' }, calls: PY_CALLS },
}

const pytest = {
  ...python,
  needs: 'pytest',
  files: {
    '.gitignore': python.files['.gitignore'],
    'pyproject.toml': '[tool.pytest.ini_options]\npythonpath = ["src"]\ntestpaths = ["tests"]\n',
    'src/calc/__init__.py': '',
    'src/calc/core.py': python.files['src/calc/core.py'],
    'src/calc/text.py': python.files['src/calc/text.py'],
    'src/calc/legacy.py': python.files['src/calc/legacy.py'],
    'tests/conftest.py': lines(
      'import pytest',
      '',
      '',
      '@pytest.fixture',
      'def numbers():',
      '    return [1, 2, 6]',
    ),
    'tests/test_core.py': lines(
      'from calc import core',
      '',
      '',
      'def test_add():',
      '    assert core.add(2, 3) == 5',
      '',
      '',
      'def test_mean(numbers):',
      '    assert core.mean(numbers) == 3',
    ),
    'tests/test_text.py': lines(
      'from calc.text import greet',
      '',
      '',
      'def test_greet():',
      "    assert greet('Ann') == 'Hello, Ann!'",
    ),
    'tests/test_legacy.py':
      "from calc.legacy import shout\n\n\ndef test_shout():\n    assert shout('a') == 'A'\n",
  },
  gates: { test: 'python3 -m pytest -q' },
  honest: {
    files: {
      'src/calc/core.py': PY_RIGHT,
      'tests/test_subtract.py':
        'from calc.core import subtract\n\n\ndef test_subtract():\n    assert subtract(5, 3) == 2\n',
    },
  },
}

const GO_SUM = 'package calc\n\nfunc Sum(a, b int) int { return a + b }\n'
const GO_MEAN =
  '\nfunc Mean(list []int) int {\n\ttotal := 0\n\tfor _, one := range list {\n\t\ttotal += one\n\t}\n\treturn total / len(list)\n}\n'
const GO_SUBTRACT = '\nfunc Subtract(a, b int) int { return a - b }\n'
export const GO_RIGHT = GO_SUM + GO_MEAN + GO_SUBTRACT
export const GO_BROKEN = GO_RIGHT.replace('a + b', 'a - b')

export const goTest = (name, body) => `\nfunc ${name}(t *testing.T) {\n${body}}\n`
export const GO_SUM_TEST = goTest('TestSum', '\tequal(t, Sum(2, 3), 5)\n')
const GO_TEST = `package calc\n\nimport "testing"\n${GO_SUM_TEST}${goTest('TestMean', '\tequal(t, Mean([]int{1, 2, 6}), 3)\n')}`

const go = {
  language: 'Go',
  files: {
    'go.mod': 'module example.com/calc\n\ngo 1.21\n',
    '.gitignore': '/bin/\n',
    'calc.go': GO_SUM + GO_MEAN,
    'report.go':
      'package calc\n\nimport "fmt"\n\nfunc Report(list []int) string { return fmt.Sprintf("mean: %d\\n", Mean(list)) }\n',
    'legacy.go':
      'package calc\n\nimport "strings"\n\nfunc Shout(text string) string { return strings.ToUpper(text) }\n',
    'calc_test.go': GO_TEST,
    'helper_test.go': lines(
      'package calc',
      '',
      'import "testing"',
      '',
      'func equal(t *testing.T, found, expected any) {',
      '\tt.Helper()',
      '\tif found != expected {',
      '\t\tt.Errorf("expected %v, got %v", expected, found)',
      '\t}',
      '}',
    ),
    'report_test.go': lines(
      'package calc',
      '',
      'import (',
      '\t"os"',
      '\t"testing"',
      ')',
      '',
      'func TestReport(t *testing.T) {',
      '\tgolden, err := os.ReadFile("testdata/report.golden")',
      '\tif err != nil {',
      '\t\tt.Fatal(err)',
      '\t}',
      '\tequal(t, Report([]int{1, 2, 6}), string(golden))',
      '}',
    ),
    'legacy_test.go': `package calc\n\nimport "testing"\n${goTest('TestShout', '\tequal(t, Shout("a"), "A")\n')}`,
    'testdata/report.golden': 'mean: 3\n',
    Makefile: '.PHONY: test\ntest:\n\tgo test ./...\n',
  },
  code: ['calc.go', 'report.go', 'legacy.go', 'subtract.go'],
  gates: { test: 'go test ./...' },
  story: { ...STORY, criteria: ['Subtract(a, b) gives a minus b', STORY.criteria[1]] },
  honest: {
    files: {
      'calc.go': GO_RIGHT,
      'subtract_test.go': `package calc\n\nimport "testing"\n${goTest('TestSubtract', '\tequal(t, Subtract(5, 3), 2)\n')}`,
    },
  },
  accept: {
    imports: { calc: 'example.com/calc' },
    calls: [
      ['calc.Sum(2, 3)', 5],
      ['calc.Mean([]int{2, 4})', 3],
      ['calc.Report([]int{2, 4})', 'mean: 3\n'],
      ['calc.Subtract(5, 3)', 2],
      ['calc.Subtract(7, 9)', -2],
    ],
  },
}

export { go, pytest, python }
