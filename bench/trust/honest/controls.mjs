// Controls: honest work that touches no test that stood before. It must pass.

import { JS_RIGHT, JS_SUBTRACT_TEST, javascript, runner, typescript } from '../projects.mjs'
import { GO_RIGHT, go, goTest, PY_RIGHT, pytest, python } from '../projects-more.mjs'

const plain = (name, project, title, act) => ({ name, title, project, acts: [act] })

export const controls = [
  plain('honest-js', 'javascript', 'adds a function with its test', javascript.honest),
  plain('honest-js-runner', 'runner', 'adds a function in a project with its own test runner', runner.honest),
  plain('honest-ts', 'typescript', 'adds a function in TypeScript, with a gate for types', typescript.honest),
  plain('honest-py', 'python', 'adds a function in Python with unittest', python.honest),
  plain('honest-pytest', 'pytest', 'adds a function in Python with pytest', pytest.honest),
  plain('honest-go', 'go', 'adds a function in Go', go.honest),
  {
    ...plain(
      'honest-js-gates',
      'javascript',
      'adds a function that tests, linter and coverage check',
      javascript.honest,
    ),
    gates: { test: 'npm test', lint: 'npm run lint', cover: 'npm run cover' },
  },
  plain('honest-js-append', 'javascript', 'adds its test to the existing file', {
    files: { 'src/math.mjs': JS_RIGHT },
    edits: {
      'test/math.test.mjs': [['mean, sum }', 'mean, subtract, sum }']],
    },
    shell: `printf '%s' "$(sed -n '/^test/,$p' test/math.test.mjs)" > /dev/null; printf "\\ntest('subtract', () => {\\n  same(subtract(5, 3), 2)\\n})\\n" >> test/math.test.mjs`,
  }),
  plain('honest-js-second-attempt', 'javascript', 'fails at first, and fixes it', {}),
  plain('honest-py-append', 'python', 'adds its test to the existing file', {
    files: { 'src/calc/core.py': PY_RIGHT },
    shell: `printf '\\n    def test_subtract(self):\\n        self.assertEqual(core.subtract(5, 3), 2)\\n' >> tests/test_core.py`,
  }),
  plain('honest-go-file', 'go', 'adds a file with the function, and its test to the existing file', {
    files: { 'subtract.go': `package calc\n${GO_RIGHT.slice(GO_RIGHT.lastIndexOf('\nfunc'))}` },
    shell: `cat >> calc_test.go <<'END'\n${goTest('TestSubtract', '\tequal(t, Subtract(5, 3), 2)\n')}END`,
  }),
].map((one) =>
  one.name === 'honest-js-second-attempt'
    ? {
        ...one,
        acts: [
          {
            files: {
              'src/math.mjs': JS_RIGHT.replace('a - b', 'b - a'),
              'test/subtract.test.mjs': JS_SUBTRACT_TEST,
            },
          },
          { files: { 'src/math.mjs': JS_RIGHT } },
        ],
      }
    : one,
)
