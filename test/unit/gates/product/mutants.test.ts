// The mistakes that Ralph puts into new code.
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Change } from '../../../../src/engine/model/change.ts'
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
      mutantsIn(path, '', line).map(([first]) => first?.to),
      mistaken === null ? [] : [mistaken],
      line,
    )
})

test('only new lines get mistakes, and each mistake changes its own line only', () => {
  const before = 'const a = 1\nconst b = 2\n'
  const after = 'const a = 1\nconst sum = a + b\nconst b = 2\n'
  const [[mutant] = [], ...others] = mutantsIn('a.js', before, after)
  assert.deepEqual(others, [])
  assert.ok(mutant)
  assert.equal(withMutant(after, mutant), 'const a = 1\nconst sum = a - b\nconst b = 2\n')
  assert.equal(withMutant(before, mutant), null)
})

test('mistakes are spread over the product files of a change', async () => {
  const texts: Record<string, string> = {
    one: Array.from({ length: 30 }, (_, at) => `const a${at} = b + ${at}`).join('\n'),
    two: 'return a - b\n',
    three: 'assert(a - b)\n',
  }
  const change = (path: string, newOid: string): Change => ({
    path,
    newOid,
    status: 'A',
    oldOid: '',
    oldMode: '000000',
    newMode: '100644',
  })
  const objects = {
    info: async (oid: string) => (texts[oid] === undefined ? null : { size: texts[oid].length }),
    contents: async (oid: string) => (texts[oid] === undefined ? null : Buffer.from(texts[oid])),
  }
  const isProduct = (path: string) => path.startsWith('src/')
  const changes = [change('src/a.js', 'one'), change('src/b.js', 'two'), change('test/a.js', 'three')]
  const found = await mutantsOf(changes, { isProduct, objects, count: 3 })
  assert.deepEqual(
    found.map(({ path, line }) => `${path}:${line}`),
    ['src/a.js:6', 'src/a.js:16', 'src/a.js:26'],
  )
  const few = await mutantsOf(changes.slice(1), { isProduct, objects, count: 3 })
  assert.deepEqual(
    few.map(({ to }) => to),
    ['return a + b', 'return null'],
  )
})
