// The mistakes that Ralph puts into new code.
import assert from 'node:assert/strict'
import test from 'node:test'
import { mutantsIn, mutantsOf, withMutant } from '../../../../src/gates/product/mutants.ts'

const LINES: readonly (readonly [path: string, line: string, mistaken: string | null])[] = [
  ['a.js', '  return a - b', '  return a + b'],
  ['a.go', '\tif n <= len(items) {', '\tif n > len(items) {'],
  ['a.py', '    return price * count', '    return price / count'],
  ['a.ts', '  if (left === right) return 0', '  if (left !== right) return 0'],
  ['a.rs', '    total += price;', '    total -= price;'],
  ['a.py', '    if name and not empty:', '    if name or not empty:'],
  ['a.js', '  const strict = true', '  const strict = false'],
  ['a.js', '  if (!done) stop()', '  if (done) stop()'],
  ['a.py', '    if not done:', '    if done:'],
  ['a.go', '\tlimit := 10', '\tlimit := 11'],
  ['a.js', '  return slug(text)', '  return null'],
  ['a.py', "    return 'Hello, ' + name", "    return 'Hello, ' - name"],
  ['a.py', "    return 'a - b'", '    return None'],
  [
    'a.ts',
    'export const upper = (text: string) => text.toUpperCase();',
    'export const upper = (text: string) => null;',
  ],
  // A comment behind the code, and a text, stay as they are.
  ['a.js', '  return name // a - b', '  return null // a - b'],
  // No mistake is possible, or none that would be one in every language.
  ['a.go', '\treturn slug(text)', null],
  ['a.rs', '    println!("done");', null],
  ['a.js', '  // return a - b', null],
  ['a.py', '# a < b', null],
  ['a.java', ' * a - b', null],
  ['a.ts', 'const all: Map<string, Array<number>> = make()', null],
  ['a.js', '  return {', null],
  ['a.js', '  return slug(', null],
  ['a.js', '  return null', null],
  ['a.js', "import { a } from './v2/a.js'", null],
  ['a.js', '}', null],
]

test('each line gets the mistake that its shape allows', () => {
  for (const [path, line, mistaken] of LINES)
    assert.deepEqual(
      mutantsIn({ path, text: line, written: [1] }).map(([first]) => first?.to),
      mistaken === null ? [] : [mistaken],
      line,
    )
})

test('only written lines get mistakes, also if the file has such a line already; each mistake changes its own line only', () => {
  const text = 'return a + b\nreturn a + b\nreturn b\n'
  const [[mutant] = [], ...others] = mutantsIn({ path: 'a.js', text, written: [2] })
  assert.deepEqual(others, [])
  assert.ok(mutant)
  assert.equal(withMutant(text, mutant), 'return a + b\nreturn a - b\nreturn b\n')
  assert.equal(withMutant('return a + b\n', mutant), null)
})

test('mistakes are spread over the files; few lines get several', () => {
  const text = Array.from({ length: 30 }, (_, at) => `const a${at} = b + ${at}`).join('\n')
  const long = { path: 'a.js', text, written: Array.from({ length: 30 }, (_, at) => at + 1) }
  const short = { path: 'b.js', text: 'return a - b\n', written: [1, 2] }
  assert.deepEqual(
    mutantsOf([long, short], 3).map(({ path, line }) => `${path}:${line}`),
    ['a.js:6', 'a.js:16', 'a.js:26'],
  )
  assert.deepEqual(
    mutantsOf([short], 3).map(({ to }) => to),
    ['return a + b', 'return null'],
  )
  assert.deepEqual(mutantsOf([{ ...short, text: 'return "\ufffd" + b' }], 3), [])
})
