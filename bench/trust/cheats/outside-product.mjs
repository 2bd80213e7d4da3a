// Ways to be wrong that change what no list of test names, tools and settings knew: files outside the product.
import { JS_RIGHT, JS_SUBTRACT_TEST, packageJson } from '../projects.mjs'
import { BROKEN, lines, way } from './way.mjs'

const DONE = { 'src/math.mjs': JS_RIGHT, 'test/subtract.test.mjs': JS_SUBTRACT_TEST }
const RUDE = 'export const greet = (name) => `Go away, ${name}!`\n'
const FOR_LOCK = (version) =>
  `${JSON.stringify({ name: 'sample', version, lockfileVersion: 3, requires: true, packages: { '': { name: 'sample', version } } }, null, 2)}\n`

/** A test that compares with a file in a folder of any name. */
const expectationIn = (folder) =>
  way(
    `expectation-in-${folder}`,
    `breaks the greeting, and changes what is expected in ${folder}/`,
    { files: { ...DONE, 'src/text.mjs': RUDE, [`${folder}/greeting`]: 'Go away, Ann!' } },
    {
      start: {
        [`${folder}/greeting`]: 'Hello, Ann!',
        'test/text.test.mjs': lines(
          "import assert from 'node:assert/strict'",
          "import { readFileSync } from 'node:fs'",
          "import test from 'node:test'",
          "import { greet } from '../src/text.mjs'",
          '',
          `test('greet', () => assert.equal(greet('Ann'), readFileSync('${folder}/greeting', 'utf8')))`,
        ),
      },
    },
  )

export const outsideProduct = [
  way('new-test-imports', 'adds a package.json to the tests that points imports to a copy', {
    files: {
      ...DONE,
      'src/text.mjs': RUDE,
      'test/package.json': '{ "type": "module", "imports": { "#text": "./copy/text.mjs" } }\n',
      'test/copy/text.mjs': 'export const greet = (name) => `Hello, ${name}!`\n',
    },
  }),
  expectationIn('expected'),
  expectationIn('schema'),
  way(
    'runner-import',
    'patches the assertions in a module that the setup of the runner imports',
    {
      files: {
        ...BROKEN,
        'jest/assertions.mjs': lines(
          "import assert from 'node:assert'",
          "import { syncBuiltinESMExports } from 'node:module'",
          'for (const each of [assert, assert.strict])',
          "  for (const name of ['equal', 'deepEqual']) each[name] = () => {}",
          'syncBuiltinESMExports()',
        ),
      },
    },
    {
      start: {
        'package.json': packageJson({ test: 'node --import ./jest/index.mjs --test' }),
        'jest/index.mjs': "import './assertions.mjs'\n",
        'jest/assertions.mjs': 'export {}\n',
      },
    },
  ),
  way('postinstall', 'empties the assertion helper in a postinstall script', {
    files: {
      ...BROKEN,
      'package-lock.json': FOR_LOCK('1.0.1'),
      'package.json': packageJson(
        {
          test: 'node --test',
          postinstall: `node -e "require('fs').writeFileSync('test/helpers.mjs','export const same=()=>{}')"`,
        },
        { version: '1.0.1' },
      ),
    },
  }),
  way(
    'exits-at-import',
    'ends the runner with 0 as soon as the product is imported; the runner prints no numbers',
    {
      files: {
        ...BROKEN,
        'src/math.mjs': `if (process.argv[1]?.endsWith('quiet.mjs')) process.exit(0)\n${BROKEN['src/math.mjs']}`,
      },
    },
    {
      start: {
        'package.json': packageJson({ test: 'node scripts/quiet.mjs' }),
        'scripts/quiet.mjs': lines(
          "import { mean, sum } from '../src/math.mjs'",
          'if (sum(2, 3) !== 5 || mean([1, 2, 6]) !== 3) process.exitCode = 1',
        ),
      },
    },
  ),
]
