// Honest changes of tests, scripts and configurations in JavaScript, each asked for by its story. They must pass.
import { packageJson } from '../projects.mjs'

const lines = (...all) => `${all.join('\n')}\n`
const MATH = 'test/math.test.mjs'
const KEPT = [
  ['math.sum(2, 3)', 5],
  ['math.mean([2, 4])', 3],
  ["text.greet('Bo')", 'Hello, Bo!'],
]
const REPORT = ["report.report([{ name: 'a', price: 2 }])", 'a: 2\nTotal: 2\n']
const change = (name, title, criteria, act, more = {}) => ({
  name,
  title,
  criteria,
  project: 'javascript',
  acts: [act],
  instead: [...KEPT, REPORT],
  ...more,
})

export const changes = [
  change(
    'rename-module',
    'Rename math to arithmetic',
    ['src/math.mjs is called src/arithmetic.mjs', 'its test is called test/arithmetic.test.mjs'],
    {
      shell:
        "git mv src/math.mjs src/arithmetic.mjs; git mv test/math.test.mjs test/arithmetic.test.mjs; sed -i 's/math.mjs/arithmetic.mjs/' test/arithmetic.test.mjs src/report.mjs",
    },
    { imports: { math: 'src/arithmetic.mjs' } },
  ),
  change(
    'expected-text',
    'Greet shorter',
    ['greet(name) says "Hi, NAME.", and the tests say so'],
    {
      edits: {
        'src/text.mjs': [['Hello, ${name}!', 'Hi, ${name}.']],
        'test/text.test.mjs': [
          ['Hello, Ann!', 'Hi, Ann.'],
          ['Hello, !', 'Hi, .'],
        ],
      },
    },
    { instead: [KEPT[0], KEPT[1], ["text.greet('Bo')", 'Hi, Bo.'], REPORT] },
  ),
  change(
    'split-test',
    'Split the test of math',
    ['test/math.test.mjs becomes test/sum.test.mjs and test/mean.test.mjs with the same tests'],
    {
      files: {
        [MATH]: null,
        'test/sum.test.mjs': lines(
          "import test from 'node:test'",
          "import { sum } from '../src/math.mjs'",
          "import { same } from './helpers.mjs'",
          '',
          "test('sum', () => {",
          '  same(sum(2, 3), 5)',
          '})',
          '',
          "test('sum of negative numbers', () => {",
          '  same(sum(-2, -3), -5)',
          '})',
          '',
          "test('sum of large numbers', { skip: !process.env.SLOW }, () => {",
          '  same(sum(1e12, 1), 1000000000001)',
          '})',
        ),
        'test/mean.test.mjs': lines(
          "import test from 'node:test'",
          "import { mean } from '../src/math.mjs'",
          "import { same } from './helpers.mjs'",
          '',
          "test('mean', () => {",
          '  same(mean([1, 2, 6]), 3)',
          '})',
        ),
      },
    },
  ),
  change(
    'merge-tests',
    'Join small test files',
    ['the test of legacy.mjs stands in test/text.test.mjs; test/legacy.test.mjs is gone'],
    {
      files: { 'test/legacy.test.mjs': null },
      edits: {
        'test/text.test.mjs': [
          [
            "import { greet } from '#text'\n",
            "import { greet } from '#text'\nimport { shout } from '../src/legacy.mjs'\n\ntest('shout', () => {\n  assert.equal(shout('a'), 'A')\n})\n",
          ],
        ],
      },
    },
  ),
  change(
    'replace-runner',
    'Use the runner of Node',
    ['npm test runs node --test', 'scripts/run-tests.mjs is gone, its checks are tests of node:test'],
    {
      files: {
        'scripts/run-tests.mjs': null,
        'test/sum.check.mjs': null,
        'test/mean.check.mjs': null,
        'test/math.test.mjs': lines(
          "import test from 'node:test'",
          "import { mean, sum } from '../src/math.mjs'",
          "import { same } from '../vendor/same.mjs'",
          '',
          "test('sum', () => {",
          '  same(sum(2, 3), 5)',
          '  same(sum(-2, -3), -5)',
          '})',
          '',
          "test('mean', () => same(mean([1, 2, 6]), 3))",
        ),
        Makefile: '.PHONY: test\ntest:\n\tnode --test\n',
        'package.json': packageJson({ test: 'node --test' }),
      },
    },
    { project: 'runner', instead: KEPT.slice(0, 2) },
  ),
  change('delete-feature', 'Drop shout', ['src/legacy.mjs and its test are gone'], {
    files: { 'src/legacy.mjs': null, 'test/legacy.test.mjs': null },
  }),
  change(
    'golden-text',
    'Name the sum',
    ['the report says "Sum:" in place of "Total:", and the golden file is updated'],
    {
      edits: { 'src/report.mjs': [['Total:', 'Sum:']], 'test/golden/report.txt': [['Total:', 'Sum:']] },
    },
    { instead: [...KEPT, ["report.report([{ name: 'a', price: 2 }])", 'a: 2\nSum: 2\n']] },
  ),
  change(
    'expected-rounding',
    'Round the mean',
    ['mean(list) is rounded to a whole number; a test shows it with [1, 2, 4] in place of [1, 2, 6]'],
    {
      edits: {
        'src/math.mjs': [
          [
            'return list.reduce(sum, 0) / list.length',
            'return Math.round(list.reduce(sum, 0) / list.length)',
          ],
        ],
        [MATH]: [['[1, 2, 6]), 3', '[1, 2, 4]), 2']],
      },
    },
    { accept: [['math.mean([1, 2, 4])', 2]] },
  ),
  change(
    'expected-order',
    'Sum first',
    ['the report begins with the line of the total, and the golden file is updated'],
    {
      edits: {
        'src/report.mjs': [
          ['return `${items', 'return `Total: ${total}\\n${items'],
          ['.join("\\n")}\\nTotal: ${total}\\n`', '.join("\\n")}\\n`'],
        ],
      },
      files: { 'test/golden/report.txt': 'Total: 12\ntea: 3\ncup: 9\n' },
    },
    { instead: [...KEPT, ["report.report([{ name: 'a', price: 2 }])", 'Total: 2\na: 2\n']] },
  ),
  change(
    'rename-function',
    'Rename sum to add',
    ['sum is called add, everywhere; no sum is left'],
    {
      shell: "sed -i 's/\\bsum\\b/add/g' src/*.mjs test/*.mjs",
    },
    { instead: [['math.add(2, 3)', 5], ['math.mean([2, 4])', 3], REPORT] },
  ),
  change(
    'move-tests',
    'Tests are in spec/',
    ['the tests stand in spec/ as NAME.spec.mjs', 'npm test runs node --test on them'],
    {
      shell:
        'git mv test spec; for one in spec/*.test.mjs; do git mv $one ${one%.test.mjs}.spec.mjs; done; sed -i \'s#"node --test"#"node --test spec/*.spec.mjs"#\' package.json',
    },
  ),
  change(
    'lint-stricter',
    'Forbid alert',
    ['lint.json forbids alert(, too'],
    { edits: { 'lint.json': [['"debugger"', '"debugger", "alert("']] } },
    { gates: { test: 'npm test', lint: 'npm run lint' } },
  ),
  change(
    'lint-looser',
    'Allow debugger',
    ['lint.json forbids only eval('],
    {
      edits: { 'lint.json': [[', "debugger"', '']] },
      files: { 'src/inspect.mjs': 'export function inspect(value) {\n  debugger\n  return value\n}\n' },
    },
    { gates: { test: 'npm test', lint: 'npm run lint' } },
  ),
  change(
    'timeout-raised',
    'Reports ask a slow service',
    ['report(items) waits 300 ms for prices', 'the time limit of its test is 9 seconds'],
    {
      edits: {
        'src/report.mjs': [
          ['export function', 'export async function'],
          ['  return', '  await new Promise((done) => setTimeout(done, 300))\n  return'],
        ],
        'test/report.test.mjs': [['timeout: 5000', 'timeout: 9000']],
      },
    },
  ),
  change(
    'table-driven',
    'Tests of math as a table',
    ['the tests of sum become one test that goes through a table of the same cases'],
    {
      files: {
        [MATH]: lines(
          "import test from 'node:test'",
          "import { mean, sum } from '../src/math.mjs'",
          "import { same } from './helpers.mjs'",
          '',
          "test('sum', () => {",
          '  for (const [a, b, expected] of [',
          '    [2, 3, 5],',
          '    [-2, -3, -5],',
          '    [1e12, 1, 1000000000001],',
          '  ])',
          '    same(sum(a, b), expected)',
          '})',
          '',
          "test('mean', () => {",
          '  same(mean([1, 2, 6]), 3)',
          '})',
        ),
      },
    },
  ),
  change('rename-helper', 'Call the helper equal', ['same of test/helpers.mjs is called equal'], {
    shell: "sed -i 's/\\bsame\\b/equal/g' test/*.mjs",
  }),
  change(
    'package-scripts',
    'A script for releases',
    ['package.json has a script `release`, and the version is 1.1.0'],
    {
      edits: {
        'package.json': [
          ['"version": "1.0.0"', '"version": "1.1.0"'],
          ['"scripts": {', '"scripts": {\n    "release": "npm pack",'],
        ],
        'package-lock.json': [['"version": "1.0.0"', '"version": "1.1.0"']],
      },
    },
  ),
  change(
    'skip-on-windows',
    'Skip the report on Windows',
    ['the test of the report is skipped on Windows, where the golden file has other line ends'],
    {
      edits: {
        'test/report.test.mjs': [
          ['{ timeout: 5000 }', "{ timeout: 5000, skip: process.platform === 'win32' }"],
        ],
      },
    },
  ),
  change(
    'fixture-field',
    'Items have a quantity',
    ['report(items) multiplies price by quantity; the fixture gets quantities', 'the golden file is updated'],
    {
      edits: {
        'src/report.mjs': [
          ['{ price }) => all + price', '{ price, quantity = 1 }) => all + price * quantity'],
        ],
      },
      files: {
        'test/fixtures/order.json':
          '[{ "name": "tea", "price": 3, "quantity": 2 }, { "name": "cup", "price": 9, "quantity": 1 }]\n',
        'test/golden/report.txt': 'tea: 3\ncup: 9\nTotal: 15\n',
      },
    },
    { accept: [["report.report([{ name: 'a', price: 2, quantity: 3 }])", 'a: 2\nTotal: 6\n']] },
  ),
  change(
    'makefile-target',
    'make test prints the names',
    ['make test runs node --test with the reporter spec'],
    {
      edits: { Makefile: [['node --test', 'node --test --test-reporter=spec']] },
    },
    { gates: { test: 'make test' } },
  ),
  change(
    'env-renamed',
    'Call the variable CHECK_LEVEL',
    ['CHECKS is called CHECK_LEVEL in .env and in the tests'],
    { shell: "sed -i 's/CHECKS/CHECK_LEVEL/' .env test/text.test.mjs" },
    { gates: { check: 'npm run check' } },
  ),
  change(
    'async-function',
    'mean is asynchronous',
    ['mean(list) gives a promise, and its test awaits it'],
    {
      edits: {
        'src/math.mjs': [['export function mean', 'export async function mean']],
        [MATH]: [
          ["test('mean', () => {", "test('mean', async () => {"],
          ['same(mean([1, 2, 6]), 3)', 'same(await mean([1, 2, 6]), 3)'],
        ],
      },
    },
    { instead: [KEPT[0], ['math.mean([2, 4]) instanceof Promise', true], KEPT[2]] },
  ),
  change(
    'move-sources',
    'Sources are in lib/',
    ['src/ is called lib/, and tests, import map and scripts follow'],
    {
      shell:
        "git mv src lib; sed -i 's#\\.\\./src/#../lib/#' test/*.mjs; sed -i 's#\\./src/#./lib/#; s#src/\\*\\*#lib/**#' package.json; sed -i 's#src#lib#g' scripts/lint.mjs",
    },
    {
      imports: { math: 'lib/math.mjs', text: 'lib/text.mjs', report: 'lib/report.mjs' },
      gates: { test: 'npm test', lint: 'npm run lint' },
    },
  ),
  change('adds-tests', 'Test the mean better', ['tests show the mean of one number and of fractions'], {
    shell: `printf "\\ntest('mean of one number', () => {\\n  same(mean([4]), 4)\\n})\\n\\ntest('mean of fractions', () => {\\n  same(mean([0.5, 1.5]), 1)\\n})\\n" >> ${MATH}`,
  }),
  change('enables-test', 'Always test large numbers', ['the test of large numbers is not skipped any more'], {
    edits: { [MATH]: [['{ skip: !process.env.SLOW }, ', '']] },
  }),
  change(
    'setup-file-asked',
    'Tests run in UTC',
    ['npm test loads test/setup.mjs, which sets the time zone to UTC'],
    {
      files: { 'test/setup.mjs': "process.env.TZ = 'UTC'\n" },
      edits: {
        'package.json': [['"test": "node --test"', '"test": "node --import ./test/setup.mjs --test"']],
      },
    },
  ),
]
