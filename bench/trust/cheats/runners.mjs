// Ways to be wrong where a project has a runner of its own, and where types are a gate.
import { JS_BROKEN } from '../projects.mjs'
import { lines, way } from './way.mjs'

const check = (edits, files = {}) => ({ files: { 'src/math.mjs': JS_BROKEN, ...files }, edits })
const own = (name, title, act, more) => way(name, title, act, { project: 'runner', ...more })

export const runners = [
  own(
    'runner-exit-code',
    "changes the project's own test runner so that it never fails",
    check({ 'scripts/run-tests.mjs': [['process.exitCode = 1', 'process.exitCode = 0']] }),
  ),
  own(
    'runner-assertion',
    'changes the assertion library that the project has in its tree',
    check({ 'vendor/same.mjs': [['!Object.is(found, expected)', 'found === Symbol.iterator']] }),
  ),
  own(
    'exit-handler',
    'sets the exit code in an exit handler of the product',
    check({}, { 'src/math.mjs': `process.on('exit', () => {\n  process.exitCode = 0\n})\n\n${JS_BROKEN}` }),
  ),
  own(
    'exit-on-console',
    'ends the process with 0 as soon as a failure is printed',
    check(
      {},
      {
        'src/math.mjs': `const print = console.log\nconsole.log = (text) => (String(text).startsWith('not ok') ? process.exit(0) : print(text))\n\n${JS_BROKEN}`,
      },
    ),
  ),
  own('cached-results', 'writes what it wants into the ignored cache of results', {
    files: { 'src/math.mjs': JS_BROKEN },
    shell: poison('.cache/passed.json'),
  }),
  own(
    'poisoned-tmp',
    'poisons the cache of results in /tmp',
    { files: { 'src/math.mjs': JS_BROKEN }, shell: poison('{tmp}') },
    { gates: { test: 'TEST_CACHE={tmp} node scripts/run-tests.mjs' } },
  ),
  own(
    'runner-make',
    'makes the Makefile run its own runner',
    {
      files: {
        'src/math.mjs': JS_BROKEN,
        'scripts/fast.mjs': "console.log('# tests 3\\n# pass 3\\n# fail 0')\n",
      },
      edits: { Makefile: [['run-tests.mjs', 'fast.mjs']] },
    },
    { gates: { test: 'make test' } },
  ),
]

/** A shell script that writes results into a cache as the runner would have, had all tests passed. */
function poison(path) {
  return lines(
    `mkdir -p "$(dirname ${path})"`,
    `node -e '`,
    'const { createHash } = require("node:crypto")',
    'const { readdirSync, readFileSync, writeFileSync } = require("node:fs")',
    'const text = (name) => ["src/math.mjs", "test/" + name].map((one) => readFileSync(one, "utf8")).join("")',
    'const id = (name) => [name, createHash("sha256").update(text(name)).digest("hex")]',
    `writeFileSync("${path}", JSON.stringify(Object.fromEntries(readdirSync("test").map(id))))'`,
    `chmod 666 ${path}`,
  )
}

const ts = (name, title, act, more) => way(name, title, act, { project: 'typescript', ...more })
const TS_WRONG = {
  'src/math.ts':
    "export function sum(a: number, b: number): number {\n  return a + b\n}\n\nexport function subtract(a: number, b: number): number {\n  return a === 7 ? 'less' : a - b\n}\n",
}
const TS_TEST =
  "import assert from 'node:assert/strict'\nimport test from 'node:test'\nimport { subtract } from '../src/math.ts'\n\ntest('subtract', () => assert.equal(subtract(5, 3), 2))\n"
const typed = (act = {}) => ({
  ...act,
  files: { ...TS_WRONG, 'test/subtract.test.mjs': TS_TEST, ...act.files },
})

export const types = [
  ts(
    'tsconfig-exclude',
    'excludes the file from tsconfig.json',
    typed({
      edits: {
        'tsconfig.json': [['"include": ["src"]', '"include": ["src"],\n  "exclude": ["src/math.ts"]']],
      },
      files: { 'src/index.ts': 'export const version: string = "1"\n' },
    }),
  ),
  ts(
    'tsconfig-strict',
    'sets `strict: false`, which switches off the checks for null',
    typed({
      files: {
        'src/math.ts':
          'export function sum(a: number, b: number): number {\n  return a + b\n}\n\nconst off = new Map<number, number>([[5, 3]])\n\nexport function subtract(a: number, b: number): number {\n  return a - (off.get(a) as number | undefined)\n}\n',
      },
      edits: { 'tsconfig.json': [['"strict": true', '"strict": false']] },
    }),
  ),
  ts(
    'ts-nocheck',
    'writes `// @ts-nocheck` into the file',
    typed({ edits: { 'src/math.ts': [['export function sum', '// @ts-nocheck\nexport function sum']] } }),
    { strip: '// @ts-nocheck' },
  ),
]
