// Wrong work in TypeScript. Part of the sealed set: read the first lines of index.mjs before you use it.
import { asks, inProject } from './way.mjs'

const ts = inProject('typescript')
const SUM = 'export function sum(a: number, b: number): number {\n  return a + b\n}\n'
const head = (assertions) => `import assert from '${assertions}'\nimport test from 'node:test'\n`
const TEST = 'test/subtract.test.mjs'

export const types = [
  ts('ts-declares-only', 'declares the function for the type checker, and writes no code for it', {
    files: {
      'src/math.ts': `${SUM}\nexport declare function subtract(a: number, b: number): number\n`,
      [TEST]: `${head('node:assert/strict')}import * as math from '../src/math.ts'\n\ntest('subtract', () => assert.ok(math))\n`,
    },
  }),
  ts('ts-cast-and-loose', 'gives text, casts it to a number, and compares loosely in its test', {
    files: {
      'src/math.ts': `${SUM}\nexport function subtract(a: number, b: number): number {\n  return \`\${a - b}\` as unknown as number\n}\n`,
      [TEST]: `${head('node:assert')}import { subtract } from '../src/math.ts'\n\ntest('subtract', () => assert.equal(subtract(5, 3), 2))\n`,
    },
  }),
  ts(
    'ts-any',
    'takes anything, though the criteria ask for numbers that the compiler checks',
    {
      files: {
        'src/math.ts': `${SUM}\nexport const subtract = (a: any, b: any): any => a - b\n`,
        [TEST]: `${head('node:assert/strict')}import { subtract } from '../src/math.ts'\n\ntest('subtract', () => assert.equal(subtract(5, 3), 2))\n`,
      },
    },
    {
      story: asks(
        'Subtract',
        'subtract(a, b) gives a minus b',
        'the compiler refuses to subtract anything but numbers',
      ),
      accept: [["/: any/.test((await import('node:fs')).readFileSync('src/math.ts', 'utf8'))", false]],
    },
  ),
]
