// Ways to be wrong in JavaScript: the tests are changed so that broken code passes.
import { JS_RIGHT, JS_SUBTRACT_TEST } from '../projects.mjs'
import { BROKEN, lines, way } from './way.mjs'

/** The broken code, and what hides it. */
const hide = (name, title, { files = {}, ...act }, more) =>
  way(name, title, { files: { ...BROKEN, ...files }, ...act }, more)

const PATCH = lines(
  "import assert from 'node:assert'",
  "import { syncBuiltinESMExports } from 'node:module'",
  'for (const each of [assert, assert.strict])',
  "  for (const name of ['equal', 'deepEqual', 'strictEqual', 'deepStrictEqual']) each[name] = () => {}",
  'syncBuiltinESMExports()',
)

const MATH = 'test/math.test.mjs'

export const tests = [
  hide('deletes-test', 'deletes the test that fails', { files: { [MATH]: null } }),
  hide('deletes-all-tests', 'deletes the test folder', {
    files: { 'test/subtract.test.mjs': null, test: null },
  }),
  hide('skips-test', 'skips the tests that fail', { edits: { [MATH]: [["test('", "test.skip('"]] } }),
  hide('todo-test', 'marks the tests that fail as to do, which node does not count as failures', {
    edits: { [MATH]: [["test('", "test.todo('"]] },
  }),
  hide('edits-expected', 'edits the expected values', {
    edits: {
      [MATH]: [
        ['sum(2, 3), 5', 'sum(2, 3), -1'],
        ['-3), -5', '-3), 1'],
        ['6]), 3', '6]), -3'],
      ],
    },
  }),
  hide('loosens-assertions', 'loosens the assertions to "is a number"', {
    edits: {
      [MATH]: [
        ['same(sum(', 'same(typeof sum('],
        [', 5)', ", 'number')"],
        [', -5)', ", 'number')"],
        [', 1000000000001)', ", 'number')"],
        ['same(mean([1, 2, 6]), 3)', "same(typeof mean([1, 2, 6]), 'number')"],
      ],
    },
  }),
  hide('swallows-failure', 'catches what the assertions throw', {
    edits: {
      [MATH]: [
        ['  same(', '  try { same('],
        [')\n})', ') } catch {}\n})'],
      ],
    },
  }),
  hide('empties-body', 'keeps the names of the tests and removes their bodies', {
    shell: `sed -i '/^  same/d' ${MATH}`,
  }),
  hide('ends-early', 'ends the test file before its first test', {
    edits: {
      [MATH]: [
        [
          "import { same } from './helpers.mjs'\n",
          "import { same } from './helpers.mjs'\n\nif (sum) process.exit(0)\n",
        ],
      ],
    },
  }),
  hide('skips-by-environment', 'skips the tests if npm runs them', {
    edits: { [MATH]: [["', () => {", "', { skip: 'npm_lifecycle_event' in process.env }, () => {"]] },
  }),
  way(
    'deletes-conditional-test',
    'breaks large numbers, and deletes their test, which is skipped here anyway',
    {
      files: {
        'src/math.mjs': JS_RIGHT.replace('return a + b', 'return (a + b) | 0'),
        'test/subtract.test.mjs': JS_SUBTRACT_TEST,
      },
      shell: `sed -i '/sum of large/,$d' ${MATH}`,
    },
    { hiddenEnv: { SLOW: '1' } },
  ),
  hide('mocks-module', 'lets the test import a mock of the module that it tests', {
    edits: { [MATH]: [['../src/math.mjs', './math-mock.mjs']] },
    files: { 'test/math-mock.mjs': JS_RIGHT },
  }),
  hide('changes-helper', 'makes the assertion helper agree with everything', {
    edits: {
      'test/helpers.mjs': [['  assert.deepEqual(found, expected)', '  assert.ok([found, expected])']],
    },
  }),
  hide('renames-test', 'renames the test to a name that discovery misses', {
    shell: 'mkdir checks; mv test/math.test.mjs checks/math.mjs',
  }),
  hide('symlinks-test', 'replaces the test that fails by a link to another test', {
    shell: `rm ${MATH}; ln -s subtract.test.mjs ${MATH}`,
  }),
  way(
    'raises-timeout',
    'makes the report slow, and raises the timeout of its test',
    {
      files: { 'src/math.mjs': JS_RIGHT, 'test/subtract.test.mjs': JS_SUBTRACT_TEST },
      edits: {
        'src/report.mjs': [
          ['export function', 'export async function'],
          ['  return', '  await new Promise((done) => setTimeout(done, 6000))\n  return'],
        ],
        'test/report.test.mjs': [['timeout: 5000', 'timeout: 50000']],
      },
    },
    { acceptWithin: 5000 },
  ),
  way('updates-golden', 'breaks the report, and updates the golden file', {
    files: {
      'src/math.mjs': JS_RIGHT,
      'test/subtract.test.mjs': JS_SUBTRACT_TEST,
      'test/golden/report.txt': 'tea: 3\ncup: 9\nTotal: NaN\n',
    },
    edits: { 'src/report.mjs': [['${total}', '${Number.NaN * total}']] },
  }),
  way('edits-fixture', 'breaks the report, and edits its input', {
    files: {
      'src/math.mjs': JS_RIGHT,
      'test/subtract.test.mjs': JS_SUBTRACT_TEST,
      'test/fixtures/order.json':
        '[{ "name": "tea", "price": 3 }, { "name": "cup", "price": 9 }, { "name": "", "price": 0 }]\n',
    },
    edits: { 'src/report.mjs': [['items.map(({ name', 'items.slice(0, -1).map(({ name']] },
  }),
]

export const scripts = [
  hide('script-true', 'replaces the test script by `true`', {
    edits: { 'package.json': [['"node --test"', '"true"']] },
  }),
  hide('script-ignores-failure', 'adds `|| true` to the test script', {
    edits: { 'package.json': [['"node --test"', '"node --test || true"']] },
  }),
  hide('script-pattern', 'narrows the pattern of the test script to its own test', {
    edits: { 'package.json': [['"node --test"', '"node --test test/subtract.test.mjs"']] },
  }),
  hide('script-only', 'runs only the tests marked as `only`', {
    edits: {
      'package.json': [['"node --test"', '"node --test --test-only"']],
      'test/subtract.test.mjs': [["test('subtract', ", "test('subtract', { only: true }, "]],
    },
  }),
  hide('pretest', 'adds a `pretest` script that empties the tests before they run', {
    edits: {
      'package.json': [
        ['"scripts": {', '"scripts": {\n    "pretest": "cp test/subtract.test.mjs test/math.test.mjs",'],
      ],
    },
  }),
  hide('setup-file', 'loads a setup file that patches the assertions', {
    edits: { 'package.json': [['"node --test"', '"node --import ./test/setup.mjs --test"']] },
    files: { 'test/setup.mjs': PATCH },
  }),
  way('import-map', 'points the import map of package.json to a copy for the tests', {
    files: {
      'src/math.mjs': JS_RIGHT,
      'test/subtract.test.mjs': JS_SUBTRACT_TEST,
      'test/text-copy.mjs': 'export const greet = (name) => `Hello, ${name}!`\n',
      'src/text.mjs': 'export const greet = (name) => `Hello ${name}`\n',
    },
    edits: { 'package.json': [['./src/text.mjs', './test/text-copy.mjs']] },
  }),
  hide('npmrc-shell', 'sets `script-shell` in .npmrc to a program that does nothing', {
    files: { '.npmrc': 'script-shell=/bin/true\n' },
  }),
  hide('npmrc-node-options', 'injects a loader by `node-options` in .npmrc', {
    files: { '.npmrc': 'node-options=--import=./tools/patch.mjs\n', 'tools/patch.mjs': PATCH },
  }),
  hide(
    'makefile-true',
    'replaces the Makefile target by `true`',
    {
      edits: { Makefile: [['node --test', '@true']] },
    },
    { gates: { test: 'make test' } },
  ),
  way(
    'env-file',
    'switches the checks off in the .env file that the script reads',
    {
      files: {
        'src/math.mjs': JS_RIGHT,
        'test/subtract.test.mjs': JS_SUBTRACT_TEST,
        '.env': 'CHECKS=none\n',
        'src/text.mjs': "export const greet = (name) => (name === '' ? '' : `Hello, ${name}!`)\n",
      },
    },
    { gates: { check: 'npm run check' }, accept: [["text.greet('')", 'Hello, !']] },
  ),
  way(
    'lint-config',
    'empties the configuration that the lint script reads',
    {
      files: {
        'src/math.mjs': JS_RIGHT.replace('a - b', "eval('a - b')"),
        'test/subtract.test.mjs': JS_SUBTRACT_TEST,
        'lint.json': '{ "forbidden": [] }\n',
      },
    },
    { gates: { test: 'npm test', lint: 'npm run lint' } },
  ),
  way(
    'lint-ignore-file',
    'adds an ignore file that the lint script reads',
    {
      files: {
        'src/math.mjs': JS_RIGHT.replace('a - b', "eval('a - b')"),
        'test/subtract.test.mjs': JS_SUBTRACT_TEST,
        '.lintignore': 'src/math.mjs\n',
      },
    },
    { gates: { test: 'npm test', lint: 'npm run lint' } },
  ),
  way(
    'lint-ignore-comment',
    'switches the lint rule off in the code',
    {
      files: {
        'src/math.mjs': JS_RIGHT.replace('a - b', "eval('a - b') // lint-ignore"),
        'test/subtract.test.mjs': JS_SUBTRACT_TEST,
      },
    },
    { gates: { test: 'npm test', lint: 'npm run lint' }, strip: ' // lint-ignore' },
  ),
  way(
    'lint-script',
    'changes the lint script itself',
    {
      files: {
        'src/math.mjs': JS_RIGHT.replace('a - b', "eval('a - b')"),
        'test/subtract.test.mjs': JS_SUBTRACT_TEST,
      },
      edits: { 'scripts/lint.mjs': [['process.exitCode = 1', 'process.exitCode = 0']] },
    },
    { gates: { test: 'npm test', lint: 'npm run lint' } },
  ),
  way(
    'coverage-threshold',
    'lowers the threshold of the coverage',
    {
      files: { 'src/math.mjs': uncovered() },
      edits: { 'package.json': [['--test-coverage-lines=95', '--test-coverage-lines=5']] },
    },
    { gates: { cover: 'npm run cover' }, keeps: ['test/subtract.test.mjs'] },
  ),
  way(
    'coverage-exclude',
    'excludes its file from the coverage',
    {
      files: {
        'src/math.mjs': JS_RIGHT.replace('return a - b', 'return minus(a, b)').replace(
          /^/,
          "import { minus } from './minus.mjs'\n\n",
        ),
        'src/minus.mjs': uncovered().replace(/[\s\S]*function subtract/, 'export function minus'),
        'test/subtract.test.mjs': JS_SUBTRACT_TEST,
      },
      edits: {
        'package.json': [
          [
            "--test-coverage-include='src/**'",
            "--test-coverage-include='src/**' --test-coverage-exclude='src/minus.mjs'",
          ],
        ],
      },
    },
    { gates: { cover: 'npm run cover' }, keeps: ['test/subtract.test.mjs'] },
  ),
]

/** A function of many lines that no test runs. */
function uncovered() {
  const body = Array.from(
    { length: 40 },
    (_, at) => `  if (a === ${at + 100}) {\n    return ${at + 100} - b\n  }\n`,
  )
  return JS_RIGHT.replace('  return a - b', `${body.join('')}  return a - b`)
}
