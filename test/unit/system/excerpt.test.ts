// The telling part of a gate's output, judged on what real tools print (test/fixtures/gates, scripts/record-gates.mjs).
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import test from 'node:test'
import fc from 'fast-check'
import {
  excerpt,
  importantLines,
  selectLines,
  terminalLines,
  withoutPassed,
} from '../../../src/system/excerpt.ts'
import { assertGrowth } from '../growth.ts'
import { anyText } from '../runs.ts'

/** What the next prompt has room for (src/engine/prompts/build-prompt.ts). */
const BOUND = 1500
const FIXTURES = new URL('../../fixtures/gates/', import.meta.url)

type Sample = { shows: readonly string[]; leavesOut?: readonly string[] }

/** By recording: what an agent needs to see of it, and what would only take its place. */
const SAMPLES: Record<string, Sample> = {
  'node-coverage': {
    shows: [
      'test at test/cart.test.js:205:3',
      'NaN !== 12',
      'actual: NaN',
      'expected: 12',
      "TypeError: Cannot read properties of undefined (reading 'country')",
      'src/cart.js:13:24',
      'ℹ fail 2',
    ],
    leavesOut: ['part-20.js', '✔ adds 60 items', 'node:internal'],
  },
  'node-tap': {
    shows: [
      'not ok 81 - lists what was ordered',
      'test/cart.test.js:84:1',
      '+     h: 20',
      '-     h: 25',
      "-     'large'",
      '# fail 1',
    ],
    leavesOut: ['# Subtest: fails to add 40 bad items', 'ok 100 -', 'ok 40 -'],
  },
  'node-missing-module': {
    shows: [
      "Cannot find module '/home/runner/work/shop/shop/src/money.js' imported from /home/runner/work/shop/shop/src/cart.js",
      '✖ test/cart.test.js',
    ],
    leavesOut: ['✔ a1 number 20'],
  },
  'node-syntax': {
    shows: ["SyntaxError: Identifier 'sub' has already been declared", 'src/math.js:3', 'test/sub.test.js'],
    leavesOut: ['loader:506'],
  },
  'node-timeout': {
    shows: ['test at test/checkout.test.js:94:3', '✖ waits for the payment', 'test timed out after 200ms'],
    leavesOut: ['✔ step 40', 'ℹ fail 0'],
  },
  'lint-then-test': {
    shows: [
      '✖ adds the tax',
      "TypeError: Cannot read properties of undefined (reading 'value')",
      'src/cart.js:9:35',
      'test/cart.test.js:85:1',
    ],
    leavesOut: ['53 problems', 'abcdefghij', 'part-20.js'],
  },
  'jest-coverage': {
    shows: [
      'FAIL test/cart.test.js',
      '● cart › adds the tax',
      "TypeError: Cannot read properties of undefined (reading 'value')",
      'at value (src/cart.js:10:35)',
      'Expected: 7',
      'Received: 6',
      'Tests:       2 failed, 86 passed',
    ],
    leavesOut: ['✓ adds 40', 'part-20.js', 'jest-circus', '\u001b'],
  },
  'jest-snapshot': {
    shows: [
      '● keeps its look',
      '-       "title": "Check out"',
      '+       "title": "Checkout"',
      'test/page.test.js:83:55',
      '1 snapshot failed',
    ],
    leavesOut: ['✓ renders page 25'],
  },
  'jest-long-line-colours': {
    shows: [
      '● greets by name',
      'Expected: "xxx',
      'Received: "xxx',
      'test/mail.test.js:42:50',
      "TypeError: Cannot read properties of undefined (reading 'address')",
      'Tests:       2 failed, 40 passed',
    ],
    leavesOut: ['✓ greets 20', '\u001b', 'x'.repeat(300)],
  },
  'vitest-coverage': {
    shows: [
      'FAIL  test/cart.test.js > cart > adds the tax',
      "TypeError: Cannot read properties of undefined (reading 'value')",
      'src/cart.js:9:35',
      '-     "green"',
      '+     "blue"',
      'test/cart.test.js:165:84',
      '2 failed | 80 passed',
    ],
    leavesOut: ['✓ test/cart.test.js > cart > adds 40', 'part-20.js', '\u001b'],
  },
  'vitest-syntax': {
    shows: [
      'FAIL  test/cart.test.js',
      'Error: Failed to parse source for import analysis because the content contains invalid JS syntax',
      'src/cart.js:1:0',
      'item => sum + item.price',
      '1 failed | 5 passed',
    ],
    leavesOut: ['looked at 15'],
  },
  'mocha-diff': {
    shows: [
      'lists the order',
      'AssertionError [ERR_ASSERTION]: Expected values to be strictly deep-equal',
      '+     3',
      '-     4',
      'test/cart.js:124:38',
      "TypeError: Cannot read properties of undefined (reading 'country')",
      'src/cart.js:14:24',
      '2 failing',
    ],
    leavesOut: ['✔ adds 60', 'node:internal'],
  },
  'mocha-timeout': {
    shows: [
      'waits for the payment',
      'Error: Timeout of 100ms exceeded',
      '"before all" hook for "gives it back"',
      "TypeError: Cannot read properties of undefined (reading 'connect')",
      'test/checkout.js:64:26',
    ],
    leavesOut: ['✔ step 30'],
  },
  'nyc-threshold': {
    shows: ['ERROR: Coverage for lines (50%) does not meet global threshold (95%)'],
    leavesOut: ['part-20.js', '✔ works 20'],
  },
  'tap-nyc': {
    shows: [
      'not ok 1 - is what was ordered',
      '-    3,',
      '+    2,',
      'test/cart.js:134:5',
      "not ok 1 - Cannot read properties of undefined (reading 'value')",
      'src/cart.js:10:35',
      '# failed 2 of 92 tests',
    ],
    leavesOut: ['ok 45 - adds 45', 'part-20.js'],
  },
  'tsc-60-errors': {
    shows: [
      "src/orders.ts(2,32): error TS2322: Type 'number' is not assignable to type 'string'.",
      'src/orders.ts(5,32)',
      'src/orders.ts(61,33)',
      '[...]',
    ],
  },
  'tsc-pretty': {
    shows: [
      "src/cart.ts:3:10 - error TS18048: 'cart.owner' is possibly 'undefined'.",
      'src/cart.ts:6:40 - error TS2551',
      'Found 2 errors in the same file',
    ],
    leavesOut: ['\u001b'],
  },
  'eslint-one-error': {
    shows: [
      '/home/runner/work/shop/shop/src/cart.js',
      "4:10  error    'summ' is not defined",
      '✖ 54 problems (1 error, 53 warnings)',
    ],
  },
  'pytest-captured-logs': {
    shows: [
      'E       assert 16 == 15',
      'tests/test_cart.py:8: AssertionError',
      "E       KeyError: 'value'",
      'shop/cart.py:14: KeyError',
      'FAILED tests/test_cart.py::test_total[4-4-15] - assert 16 == 15',
      '2 failed, 84 passed',
    ],
    leavesOut: ['shelf 30'],
  },
  'pytest-verbose-coverage': {
    shows: [
      '>       assert {"name": "lamp"',
      "E         {'sizes': [1, 2, 3]} != {'sizes': [1, 2, 4]}",
      'E         -         4,',
      'E         +         3,',
      'tests/test_order.py:50: AssertionError',
      'FAILED tests/test_order.py::test_order',
      '1 failed, 90 passed',
    ],
    leavesOut: ['test_error_is_reported[45]', 'part_20.py'],
  },
  'pytest-import-error': {
    shows: [
      "E   ModuleNotFoundError: No module named 'shop.money'",
      'shop/cart.py:1: in <module>',
      'ERROR tests/test_cart.py',
    ],
  },
  'python-progress-bar': {
    shows: [
      'Traceback (most recent call last):',
      '/home/runner/work/shop/shop/shop/load.py", line 13, in price',
      "KeyError: 'lamp'",
    ],
    leavesOut: ['50%', '\r'],
  },
  'python-unittest': {
    shows: [
      'FAIL: test_total',
      'test_cart.py", line 186, in test_total',
      "AssertionError: {'a': [1, 2]",
      "- {'a': [1, 2],",
      "+ {'a': [1, 3],",
      'FAILED (failures=1)',
    ],
    leavesOut: ['test_adds_30'],
  },
  'go-subtests': {
    shows: [
      'cart_test.go:16: Total(50) = 50, want 51',
      '--- FAIL: TestTotal/no_error_for_50',
      'FAIL\texample.com/shop',
    ],
    leavesOut: ['no_error_for_20'],
  },
  'go-build-error': {
    shows: [
      './cart.go:3:8: "fmt" imported and not used',
      './cart.go:10:9: cannot use sum',
      'FAIL\texample.com/shop [build failed]',
    ],
    leavesOut: ['part20'],
  },
  'go-panic': {
    shows: [
      '--- FAIL: TestCountry',
      'panic: runtime error: invalid memory address or nil pointer dereference',
      '/home/runner/work/shop/shop/cart.go:6',
      '/home/runner/work/shop/shop/cart_test.go:12',
    ],
    leavesOut: ['=== RUN', '--- PASS'],
  },
  'go-timeout': {
    shows: [
      'panic: test timed out after 1s',
      'TestPay (1s)',
      '/home/runner/work/shop/shop/pay_test.go:13',
      'FAIL\texample.com/shop',
    ],
  },
  'cargo-test': {
    shows: [
      'panicked at src/lib.rs:6:19',
      'called `Option::unwrap()` on a `None` value',
      'panicked at src/lib.rs:416:9',
      'assertion `left == right` failed: the discount is not counted',
      'left: 7',
      'right: 8',
      'test result: FAILED. 100 passed; 2 failed',
    ],
    leavesOut: ['no_error_50', '/rustc/'],
  },
  'cargo-compile': {
    shows: [
      'error[E0308]: mismatched types',
      '--> src/lib.rs:78:5',
      'expected `String`, found `i64`',
      'error: could not compile `shop`',
    ],
  },
  'maven-surefire': {
    shows: [
      'com.shop.CartTest.addsAll',
      'AssertionFailedError: the total ==> expected: <31> but was: <30>',
      'CartTest.java:9',
      'NullPointerException: Cannot invoke "com.shop.Cart$Address.country()"',
      'Cart.java:13',
      'Tests run: 34, Failures: 1, Errors: 1',
    ],
    leavesOut: ['Failures: 0, Errors: 0', 'java.base', '[Help 1]'],
  },
  'maven-compile': {
    shows: [
      'src/main/java/com/shop/Cart.java:[9,84] incompatible types: possible lossy conversion from long to int',
    ],
    leavesOut: ['[Help 1]'],
  },
}

const recorded = (name: string) => readFileSync(new URL(`${name}.txt`, FIXTURES), 'utf8')

test('every recorded gate output is part of a test', () => {
  const names = readdirSync(FIXTURES).map((file) => file.replace('.txt', ''))
  assert.deepEqual(names.sort(), Object.keys(SAMPLES).sort())
})

for (const [name, { shows, leavesOut = [] }] of Object.entries(SAMPLES)) {
  test(`the excerpt of ${name} has what an agent needs`, () => {
    const output = recorded(name)
    const printed = [output, ...terminalLines(output)]
    const shown = excerpt(output, BOUND)
    assert.ok(Buffer.byteLength(shown) <= BOUND)
    for (const text of shows) assert.ok(shown.includes(text), `${text} is missing in:\n${shown}`)
    for (const text of leavesOut) {
      assert.ok(
        printed.some((line) => line.includes(text)),
        `${text} is not in the recording`,
      )
      assert.ok(!shown.includes(text), `${text} takes room in:\n${shown}`)
    }
  })

  test(`the excerpt of ${name} is the same from output that was already cut for the state`, () => {
    const shown = excerpt(excerpt(recorded(name), 16 * 1024), BOUND)
    for (const text of shows) assert.ok(shown.includes(text), `${text} is missing in:\n${shown}`)
  })
}

test('the excerpt has the heading of an error, however many warnings are in between', () => {
  const warnings = Array.from(
    { length: 80 },
    (_, at) => `  ${at + 1}:5  warning  Unexpected console statement`,
  )
  const quiet = ['a', 'b', 'c'].flatMap((name) => [`/work/shop/src/${name}.js`, ...warnings, ''])
  const broken = ['/work/shop/src/broken.js', ...warnings, "  900:7  error  'total' is not defined", '']
  const shown = excerpt([...quiet, ...broken, ...quiet].join('\n'), 2048)
  assert.match(shown, /broken\.js\n[\s\S]*900:7 {2}error/)
})

test('the excerpt of a short output is the whole, without colours', () => {
  assert.equal(excerpt('\n\u001b[31mred\u001b[0m  \n\nend\n', 100), '\nred\n\nend\n')
})

test('the excerpt of output without a failure is its end', () => {
  const lines = Array.from({ length: 200 }, (_, at) => `step ${at}`)
  assert.match(excerpt(lines.join('\n'), 100), /^\[\.\.\.\]\n(?:step \d+\n){8,}step 199$/)
  const passed = Array.from({ length: 200 }, (_, at) => `ok ${at} - fine`)
  assert.match(excerpt(passed.join('\n'), 100), /^\[\.\.\.\]\n(?:ok \d+ - fine\n){3,}ok 199 - fine$/)
})

test('the excerpt leaves out lines that count zero failures, of any tool', () => {
  const noise = Array.from({ length: 200 }, (_, at) => `step ${at}`)
  for (const none of [
    '✖ 53 problems (0 errors, 53 warnings)',
    '0 failed',
    'failed: 0',
    'Errors: 0',
    '# fail 0',
    'no errors',
  ])
    assert.equal(excerpt([none, ...noise].join('\n'), 100).includes(none), false, none)
})

test('the excerpt has the last text of an overwritten line, and any that reports a failure', () => {
  const bar = (at: number) => `\rloading ${at}%`
  assert.deepEqual(terminalLines(`${bar(1)}${bar(2)}\rError: no answer${bar(3)}\r\nnext\r\n`), [
    'Error: no answer',
    'loading 3%',
    'next',
    '',
  ])
  assert.deepEqual(terminalLines('one\u001b[2K\u001b[1Gtwo\u001b[2K\u001b[Gthree'), ['three'])
  assert.deepEqual(terminalLines('\u001b[01m\u001b[Kcart.c:1:2:\u001b[m\u001b[K wrong'), [
    'cart.c:1:2: wrong',
  ])
})

test('the excerpt is limited in lines and bytes, and says how many were left out', () => {
  const lines = ['ok 1', 'ok 2', 'not ok 3', 'ok 4', 'ok 5', 'ok 6', '# fail 1']
  assert.deepEqual(
    selectLines(lines, 5, () => 1, 1),
    [2, 'not ok 3', 3, '# fail 1'],
  )
})

test('an excerpt of eight rows says why a test file could not be loaded', () => {
  const output = readFileSync(new URL('node-syntax.txt', FIXTURES), 'utf8')
  const lines = terminalLines(output).filter((line) => line.trim() !== '')
  const rows = selectLines(lines, 8, () => 1, 1)
  assert.ok(rows.includes("SyntaxError: Identifier 'sub' has already been declared"), rows.join('\n'))
  assert.ok(!rows.includes("  'test failed'"), rows.join('\n'))
})

test('an excerpt of eight rows says where a Python file cannot be read', () => {
  const traceback = [
    'ERROR: test_a (unittest.loader._FailedTest.test_a)',
    '-'.repeat(70),
    'ImportError: Failed to import test module: test_a',
    'Traceback (most recent call last):',
    '  File "/usr/lib/python3.11/unittest/loader.py", line 419, in _find_test_path',
    '    module = self._get_module_from_name(name)',
    '  File "/home/ann/shop/test_a.py", line 2, in <module>',
    '    import calc',
    '  File "/home/ann/shop/calc.py", line 2',
    '    return (a + b',
    '           ^',
    "SyntaxError: '(' was never closed",
    '',
    'Ran 1 test in 0.000s',
    'FAILED (errors=1)',
  ]
  const rows = selectLines(traceback, 8, () => 1, 1)
  for (const line of [traceback[8], traceback[11]]) assert.ok(rows.includes(line ?? ''), rows.join('\n'))
})

const hostile = fc.oneof(
  anyText({ maxLength: 5000 }),
  fc
    .array(
      fc.constantFrom(
        'Error: ',
        '✖ ',
        '\r',
        '\n',
        '\u001b[31m',
        '\u001b]8;;',
        '| 1 | 2 |',
        '  ',
        'at a.js:1:2',
        '0 errors',
        '🧨',
        '\ud800',
        '+ a\n',
      ),
      { maxLength: 2000 },
    )
    .map((parts) => parts.join('')),
)

test('the excerpt is limited and never throws, for any output', () => {
  fc.assert(
    fc.property(hostile, fc.integer({ min: 0, max: 2000 }), (text, bound) => {
      assert.ok(Buffer.byteLength(excerpt(text, bound)) <= bound)
    }),
  )
})

test('the excerpt has lines of the output, in order', () => {
  const line = fc.constantFrom(
    'Error: one',
    'not ok 2',
    '  at a.js:3:4',
    'ok 5',
    '- six',
    'seven',
    '8 failed',
    'eight',
  )
  fc.assert(
    fc.property(fc.array(line, { maxLength: 300 }), fc.integer({ min: 50, max: 900 }), (lines, bound) => {
      let at = 0
      for (const shown of excerpt(lines.join('\n'), bound).split('\n')) {
        if (shown === '[...]' || shown === '') continue
        const found = lines.findIndex((one, index) => index >= at && one.trim() === shown.trim())
        assert.notEqual(found, -1, shown)
        at = found + 1
      }
    }),
  )
})

const FLOODS: Record<string, (size: number) => string> = {
  'one line': (size) => 'a b'.repeat(size / 3),
  'one line of digits': (size) => '1'.repeat(size),
  'one line of bars': (size) => '| 1 '.repeat(size / 4),
  'lines of one letter': (size) => 'a\n'.repeat(size / 2),
  'empty lines': (size) => '\n'.repeat(size),
  'lines of errors': (size) => 'Error: a\n'.repeat(size / 9),
  'deeper and deeper lines': (size) =>
    Array.from({ length: Math.sqrt(size) }, (_, at) => ' '.repeat(at)).join('-\n'),
  colours: (size) => '\u001b[31m'.repeat(size / 5),
  'unfinished titles': (size) => '\u001b]0;'.repeat(size / 4),
  ...Object.fromEntries(
    ['|   ', '.', '=', ':1: ', 'error  ', '(node:', '1 ', 'a.b', '[==', 'E'].map((token) => [
      `long lines of ${token}`,
      (size: number) => `${token.repeat(900 / token.length)}!\n`.repeat(size / 900),
    ]),
  ),
  'carriage returns': (size) => 'Error: a\r'.repeat(size / 9),
}

for (const [name, flood] of Object.entries(FLOODS)) {
  test(`the excerpt takes linear time: ${name}`, () => {
    assertGrowth((size) => excerpt(flood(size), 16_384), 64 * 1024, '', 9)
  })
}

test('the excerpt of ten megabytes is limited', () => {
  for (const flood of Object.values(FLOODS))
    assert.ok(Buffer.byteLength(excerpt(flood(10 * 1024 * 1024), BOUND)) <= BOUND)
})

test('a short excerpt has the most telling lines, in order', () => {
  const output = '> npm test\n\n  not ok 3 - the tax\n    expected 5, got -1\nok 4 - x\n'
  assert.deepEqual(importantLines(output, 1), ['not ok 3 - the tax'])
  assert.deepEqual(importantLines(output, 2), ['not ok 3 - the tax', 'expected 5, got -1'])
  assert.deepEqual(importantLines('\n \n', 3), [])
})

test('three lines of a failed assertion show both values', () => {
  const output = `✖ ten percent off from 40 (1.2ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

  40 !== 45

      at TestContext.<anonymous> (/repo/cart.test.js:3:46) {
    generatedMessage: true,
    code: 'ERR_ASSERTION',
    actual: 40,
    expected: 45,
    operator: 'strictEqual'
  }
`
  assert.ok(importantLines(output, 3).includes('40 !== 45'))
})

test('the excerpt cuts no surrogate pair and no joined emoji', () => {
  for (const part of ['\u{1f468}\u200d', '\u2764\ufe0f', '\u{1f3f4}']) {
    for (let bound = 300; bound < 420; bound += 1) {
      const [head = '', tail = ''] = excerpt(part.repeat(400), bound).split(' [...] ')
      assert.doesNotMatch(head, /[\ud800-\udbff]$|[\u200c\u200d]$/)
      assert.doesNotMatch(tail, /^[\udc00-\udfff]|^[\u200c\u200d]|^[\ufe0e\ufe0f]/)
      assert.ok(head !== '' && tail !== '')
    }
  }
})

test('passed tests before a failure are left out for people, and both sides of a difference stay', () => {
  const ticks = Array.from({ length: 60 }, (_, at) => `✔ a test with a name ${at} (0.1ms)`)
  const failed = [
    '✖ greets (1ms)',
    '  AssertionError: values differ',
    '  + actual - expected',
    '',
    '+ "wrld"',
    '- "world"',
  ]
  const shown = withoutPassed([...ticks, ...failed, ...ticks].join('\n'))
  assert.equal(shown, ['[...]', ...failed, '[...]'].join('\n'))
  assert.equal(withoutPassed(ticks.join('\n')), ticks.join('\n'), 'without a failure nothing is left out')
  const noise = Array.from({ length: 300 }, (_, at) => `+ added line ${at}\nsome text ${at}`)
  for (const bound of [300, 600, 1500]) {
    const cut = excerpt([...noise, ...failed, ...noise].join('\n'), bound)
    assert.equal(cut.includes('+ "wrld"'), cut.includes('- "world"'), cut)
  }
})
