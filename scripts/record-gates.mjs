// `node scripts/record-gates.mjs [name...]`: runs real test runners, compilers and linters on small broken projects and keeps
// what they print in test/fixtures/gates, and what places and tests alone are read from in test/fixtures/places. Needs npm,
// python3, go, cargo and mvn, and their registries; everything is installed and run in RECORD_DIR (a folder of the temporary folder unless it is set).
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const ROOT = process.env.RECORD_DIR ?? join(tmpdir(), 'ralph-record-gates')
const FIXTURES = new URL('../test/fixtures/gates/', import.meta.url).pathname
/** Outputs and files that only places and numbers of tests are read from. */
const PLACES = new URL('../test/fixtures/places/', import.meta.url).pathname
const MAX_BYTES = 60_000
/** Where the samples seem to have run. */
const HOME = '/home/runner'
const SHOP = `${HOME}/work/shop/shop`

const times = (count, text) => Array.from({ length: count }, (_, at) => text(at + 1)).join('\n')
const npm = (...packages) => ({
  kept: 'node_modules',
  install: ['npm', 'install', '--no-fund', '--no-audit', ...packages],
})
const pip = (...packages) => ({
  kept: 'venv',
  install: ['bash', '-c', `python3 -m venv venv && venv/bin/pip install -q ${packages.join(' ')}`],
})
const none = { kept: null, install: null }

/** What is installed once, and shared by the samples that name it; `kept` stays while the files of a sample go. */
const TOOLS = {
  node: none,
  jest: npm('jest@30'),
  vitest: npm('vitest@3', '@vitest/coverage-v8@3'),
  mocha: npm('mocha@11', 'nyc@17'),
  tap: npm('tap@16', 'nyc@15'),
  tsc: npm('typescript@5.9', '@types/node@24'),
  eslint: npm('eslint@9', '@microsoft/eslint-formatter-sarif@3'),
  biome: npm('@biomejs/biome@2'),
  c8: npm('c8@10'),
  pytest: pip('pytest==8.4.*', 'pytest-cov', 'tqdm'),
  lint: pip('ruff', 'mypy'),
  go: none,
  cargo: { kept: 'target', install: null },
  maven: none,
}

// ---------------------------------------------------------------- what the samples are made of

/** Modules that a test loads and hardly uses, for a long table of coverage. */
const modules = (count, esm) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `src/part-${String(at + 1).padStart(2, '0')}.js`,
      `${esm ? 'export ' : ''}function part(a) {\n  if (a > ${at}) return a\n  if (a < 0) return -a\n  return 0\n}\n${esm ? '' : 'module.exports = { part }\n'}`,
    ]),
  )
const loadAll = (count, esm) =>
  times(count, (at) => {
    const name = `part-${String(at).padStart(2, '0')}`
    return esm
      ? `import * as m${at} from '../src/${name}.js'\nm${at}.part(${at * 3})`
      : `require('../src/${name}.js').part(${at * 3})`
  })
const cart = (esm) => `${esm ? '' : "'use strict'\n"}const rates = { standard: 0.2, reduced: 0.05 }

${esm ? 'export ' : ''}function total(items) {
  return items.reduce((sum, item) => sum + item.price * item.quantity, 0)
}

${esm ? 'export ' : ''}function withTax(items, kind) {
  const rate = rates[kind]
  return total(items) * (1 + rate.value)
}

${esm ? 'export ' : ''}function shipping(order) {
  return order.address.country === 'NL' ? 0 : 9.5
}
${esm ? '' : 'module.exports = { total, withTax, shipping }\n'}`
const GREETING = `${'x'.repeat(9000)}<b>hello</b>${'y'.repeat(11_000)}`
const DOM = "import assert from 'node:assert/strict'\nimport test, { describe } from 'node:test'\n"
const PYTEST_CART = `import logging

log = logging.getLogger("shop.cart")


def total(items):
    for at in range(60):
        log.info("request id=%s looked at shelf %s, error budget is fine", 1000 + at, at)
        log.error("retrying shelf %s: connection was reset (this is expected in tests)", at)
    return sum(price * quantity for price, quantity in items)


def with_tax(items, rate):
    return round(total(items) * (1 + rate["value"]), 2)
`
const RUFF_CART =
  'import os\nimport sys\n\n\ndef total(items):\n    unused = 1\n    if items == None:\n        return 0\n    return sum(item for item in itms)\n'
const NODE_CART = `import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { total, withTax } from '../src/cart.js'
describe('cart', () => {
  test('adds', () => assert.equal(total([{ price: 2, quantity: 3 }]), 6))
  test('adds the tax', () => assert.equal(withTax([{ price: 10, quantity: 1 }], 'none'), 12))
  test('ships', { skip: 'later' }, () => {})
  test('compares', () => {
    assert.deepEqual({ a: [1, 2], b: '<&>' }, { a: [1, 3], b: '<&>' })
  })
})
`
const VITEST_CART = NODE_CART.replace(
  /import assert.*\n.*\n/,
  "import { describe, expect, test } from 'vitest'\n",
)
  .replaceAll(/assert\.equal\((.*?), (\d+)\)\)/g, 'expect($1).toBe($2))')
  .replace("{ skip: 'later' }, ", '')
  .replace("test('ships'", "test.skip('ships'")
  .replace(/assert\.deepEqual\((.*), (\{ a: \[1, 3\].*\})\)/, 'expect($1).toEqual($2)')
const MOCHA_CART = `const assert = require('node:assert/strict')
const { total, withTax } = require('../src/cart.js')
describe('cart', () => {
  it('adds', () => assert.equal(total([{ price: 2, quantity: 3 }]), 6))
  it('adds the tax', () => assert.equal(withTax([{ price: 10, quantity: 1 }], 'none'), 12))
  it('ships')
})
`
const GO_MOD = 'module example.com/shop\n\ngo 1.24\n'
const CARGO = '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n'
const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.shop</groupId><artifactId>shop</artifactId><version>1.0</version>
  <properties>
    <maven.compiler.release>17</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>5.11.4</version><scope>test</scope></dependency>
  </dependencies>
  <build><plugins>
    <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin>
    <plugin><artifactId>maven-surefire-plugin</artifactId><version>3.5.2</version></plugin>
  </plugins></build>
</project>
`
const KOTLIN_POM = POM.replace(
  /<plugin><artifactId>maven-compiler[\s\S]*<\/plugin>\n {2}<\/plugins>/,
  `<plugin><groupId>org.jetbrains.kotlin</groupId><artifactId>kotlin-maven-plugin</artifactId><version>2.1.0</version>
      <executions><execution><id>compile</id><phase>compile</phase><goals><goal>compile</goal></goals></execution></executions>
      <configuration><sourceDirs><dir>src/main/kotlin</dir></sourceDirs></configuration>
    </plugin>
  </plugins>`,
)
const JAVA_CART = `package com.shop;

import java.util.List;

public class Cart {
    public record Item(String name, int price, int quantity) {}

    public static int total(List<Item> items) {
        return items.stream().mapToInt(item -> item.price() * item.quantity()).sum();
    }

    public static String country(Order order) {
        return order.address().country().toUpperCase();
    }

    public record Address(String country) {}
    public record Order(Address address) {}
}
`
const javaTests = (kind, count) => `package com.shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import java.util.List;
import org.junit.jupiter.api.Test;

class ${kind}Test {
${times(count, (at) => `    @Test void adds${at}() { assertEquals(${at}, Cart.total(List.of(new Cart.Item("a", ${at}, 1)))); }`)}
}
`
const ESLINT = `export default [{
  languageOptions: { globals: { console: 'readonly' } },
  rules: { 'no-console': 'warn', 'no-undef': 'error', 'prefer-const': 'warn', 'no-unused-vars': 'warn' },
}]
`
const warned = (files, rows) =>
  Object.fromEntries(
    Array.from({ length: files }, (_, at) => [
      `src/view-${at + 1}.js`,
      `${times(rows, (row) => `console.log('row ${row}')`)}\n`,
    ]),
  )

// ---------------------------------------------------------------- the samples

const SAMPLES = {
  'node-coverage': {
    tool: 'node',
    files: {
      'package.json': '{ "type": "module" }',
      ...modules(40, true),
      'src/cart.js': cart(true),
      'test/cart.test.js': `${DOM}import { shipping, total, withTax } from '../src/cart.js'
${loadAll(40, true)}
describe('cart', () => {
${times(120, (at) => `  test('adds ${at} items without an error', () => assert.equal(total([{ price: 1, quantity: ${at} }]), ${at}))`)}
  test('adds the tax', () => assert.equal(withTax([{ price: 10, quantity: 1 }], 'standard'), 12))
  test('ships abroad', () => assert.equal(shipping({}), 9.5))
})
`,
    },
    run: 'node --test --experimental-test-coverage',
  },
  'node-tap': {
    tool: 'node',
    files: {
      'package.json': '{ "type": "module" }',
      'src/cart.js': cart(true),
      'test/cart.test.js': `${DOM}import { total } from '../src/cart.js'
${times(80, (at) => `test('fails to add ${at} bad items: throws an Error', () => assert.equal(total([{ price: 1, quantity: ${at} }]), ${at}))`)}
test('lists what was ordered', () => assert.deepEqual(
  { name: 'lamp', tags: ['red', 'small'], sizes: { w: 10, h: 20 } },
  { name: 'lamp', tags: ['red', 'large'], sizes: { w: 10, h: 25 } },
))
${times(80, (at) => `test('adds ${at} more', () => assert.equal(total([{ price: 2, quantity: ${at} }]), ${2 * at}))`)}
`,
    },
    run: 'node --test --test-reporter=tap',
  },
  'node-missing-module': {
    tool: 'node',
    files: {
      'package.json': '{ "type": "module" }',
      'src/cart.js': `import { money } from './money.js'\n${cart(true)}`,
      ...Object.fromEntries(
        Array.from({ length: 4 }, (_, file) => [
          `test/a${file}.test.js`,
          `${DOM}${times(40, (at) => `test('a${file} number ${at}', () => assert.ok(true))`)}\n`,
        ]),
      ),
      'test/cart.test.js': `${DOM}import { total } from '../src/cart.js'\ntest('adds', () => assert.equal(total([]), 0))\n`,
    },
    run: 'node --test',
  },
  'node-syntax': {
    tool: 'node',
    files: {
      'package.json': '{ "name": "shop", "version": "1.0.0", "type": "module" }',
      'src/math.js': 'export const sub = (a, b) => a + b\n\nexport const sub = (a, b) => a - b\n',
      ...Object.fromEntries(
        ['math', 'sub'].map((name) => [
          `test/${name}.test.js`,
          `${DOM}import { sub } from '../src/math.js'\ntest('${name}', () => assert.equal(sub(3, 1), 2))\n`,
        ]),
      ),
    },
    run: 'node --test',
  },
  'node-timeout': {
    tool: 'node',
    files: {
      'package.json': '{ "type": "module" }',
      'test/checkout.test.js': `${DOM}describe('checkout', () => {
${times(90, (at) => `  test('step ${at}', () => assert.ok(true))`)}
  test('waits for the payment', { timeout: 200 }, () => new Promise((done) => setTimeout(done, 900)))
})
`,
    },
    run: 'node --test',
  },
  'lint-then-test': {
    tool: 'eslint',
    files: {
      'package.json': '{ "type": "module" }',
      'eslint.config.js': ESLINT,
      ...warned(1, 53),
      ...modules(40, true),
      'src/cart.js': cart(true),
      'test/cart.test.js': `${DOM}import { total, withTax } from '../src/cart.js'
${loadAll(40, true)}
test('adds', () => assert.equal(total([]), 0))
test('adds the tax', () => assert.equal(withTax([{ price: 10, quantity: 1 }], 'none'), 12))
`,
      'build.js': `console.log('bundle: ' + 'abcdefghij'.repeat(2000))\n`,
    },
    run: 'eslint src && node build.js && node --test --experimental-test-coverage',
  },
  'jest-coverage': {
    tool: 'jest',
    files: {
      ...modules(40, false),
      'src/cart.js': cart(false),
      'test/noise.test.js': `describe('retries', () => {
${times(6, (at) => `  test('gives up after an error ${at}', () => { console.error(new Error('simulated ${at}')); expect(1).toBe(1) })`)}
})
`,
      'test/cart.test.js': `const { total, withTax } = require('../src/cart.js')
${loadAll(40, false)}
describe('cart', () => {
${times(80, (at) => `  test('adds ${at}', () => expect(total([{ price: 1, quantity: ${at} }])).toBe(${at}))`)}
  test('adds the tax', () => expect(withTax([{ price: 10, quantity: 1 }], 'none')).toBe(12))
  test('counts pairs', () => expect(total([{ price: 3, quantity: 2 }])).toBe(7))
})
`,
    },
    run: 'jest --verbose --coverage',
  },
  'jest-snapshot': {
    tool: 'jest',
    files: {
      'test/page.test.js': `const page = (title) => ({ html: { head: { title }, body: [
${times(30, (at) => `  { row: ${at}, text: 'line ${at}' },`)}
] } })
${times(50, (at) => `test('renders page ${at}', () => expect(page('p${at}').html.head.title).toBe('p${at}'))`)}
test('keeps its look', () => expect(page('Checkout')).toMatchSnapshot())
`,
      'test/__snapshots__/page.test.js.snap': `// Jest Snapshot v1, https://jestjs.io/docs/snapshot-testing

exports[\`keeps its look 1\`] = \`
{
  "html": {
    "body": [
${times(30, (at) => `      {\n        "row": ${at},\n        "text": "line ${at}",\n      },`)}
    ],
    "head": {
      "title": "Check out",
    },
  },
}
\`;
`,
    },
    run: 'jest --ci --verbose',
  },
  'jest-long-line-colours': {
    tool: 'jest',
    files: {
      'test/mail.test.js': `const mail = (name) => '${GREETING}'.replace('hello', 'hello ' + name)
${times(40, (at) => `test('greets ${at}', () => expect(mail('n${at}').length).toBeGreaterThan(20000))`)}
test('greets by name', () => expect(mail('Ann')).toBe(mail('Anne')))
test('knows the sender', () => expect(mail('Ann').sender.address).toBe('shop@example.com'))
`,
    },
    run: 'FORCE_COLOR=1 jest --verbose',
  },
  'vitest-coverage': {
    tool: 'vitest',
    files: {
      'package.json': '{ "type": "module" }',
      'vitest.config.js': `export default { test: { coverage: { provider: 'v8', reporter: ['text'], reportOnFailure: true } } }\n`,
      ...modules(40, true),
      'src/cart.js': cart(true),
      'test/cart.test.js': `import { describe, expect, test } from 'vitest'
import { total, withTax } from '../src/cart.js'
${loadAll(40, true)}
describe('cart', () => {
${times(80, (at) => `  test('adds ${at}', () => expect(total([{ price: 1, quantity: ${at} }])).toBe(${at}))`)}
  test('adds the tax', () => expect(withTax([{ price: 10, quantity: 1 }], 'none')).toBe(12))
  test('lists the order', () => expect({ name: 'lamp', colours: ['red', 'blue'] }).toEqual({ name: 'lamp', colours: ['red', 'green'] }))
})
`,
    },
    run: 'vitest run --coverage --reporter=verbose',
  },
  'vitest-syntax': {
    tool: 'vitest',
    files: {
      'package.json': '{ "type": "module" }',
      'src/cart.js':
        'export function total(items) {\n  return items.reduce((sum, item => sum + item.price, 0)\n}\n',
      ...Object.fromEntries(
        Array.from({ length: 5 }, (_, file) => [
          `test/a${file}.test.js`,
          `import { expect, test } from 'vitest'\n${times(30, (at) => `test('a${file} ${at}', () => { console.log('looked at ${at}'); expect(1).toBe(1) })`)}\n`,
        ]),
      ),
      'test/cart.test.js': `import { expect, test } from 'vitest'\nimport { total } from '../src/cart.js'\ntest('adds', () => expect(total([])).toBe(0))\n`,
    },
    run: 'vitest run',
  },
  'mocha-diff': {
    tool: 'mocha',
    files: {
      'src/cart.js': cart(false),
      'test/cart.js': `const assert = require('node:assert/strict')
const { total, shipping } = require('../src/cart.js')
describe('cart', () => {
${times(120, (at) => `  it('adds ${at} and reports no error', () => assert.equal(total([{ price: 1, quantity: ${at} }]), ${at}))`)}
  it('lists the order', () => assert.deepEqual({ name: 'lamp', lines: [1, 2, 3] }, { name: 'lamp', lines: [1, 2, 4] }))
  it('ships abroad', () => assert.equal(shipping({}), 9.5))
})
`,
    },
    run: 'mocha',
  },
  'mocha-timeout': {
    tool: 'mocha',
    files: {
      'test/checkout.js': `describe('checkout', () => {
${times(60, (at) => `  it('step ${at}', () => {})`)}
  it('waits for the payment', (done) => { setTimeout(done, 900) }).timeout(100)
  describe('refunds', () => {
    before(() => { throw new TypeError("Cannot read properties of undefined (reading 'connect')") })
    it('gives it back', () => {})
  })
})
`,
    },
    run: 'mocha',
  },
  'nyc-threshold': {
    tool: 'mocha',
    files: {
      ...modules(40, false),
      'test/all.js': `${loadAll(40, false)}
${times(40, (at) => `it('works ${at}', () => {})`)}
`,
    },
    run: 'nyc --check-coverage --lines 95 mocha',
  },
  'tap-nyc': {
    tool: 'tap',
    files: {
      ...modules(40, false),
      'src/cart.js': cart(false),
      'test/cart.js': `const t = require('tap')
const { total, withTax } = require('../src/cart.js')
${loadAll(40, false)}
${times(90, (at) => `t.equal(total([{ price: 1, quantity: ${at} }]), ${at}, 'adds ${at}, no error')`)}
t.test('lists the order', (t) => {
  t.same({ name: 'lamp', sizes: [1, 2] }, { name: 'lamp', sizes: [1, 3] }, 'is what was ordered')
  t.end()
})
t.test('tax', (t) => {
  t.equal(withTax([{ price: 10, quantity: 1 }], 'none'), 12)
  t.end()
})
`,
    },
    run: 'nyc tap --no-coverage --reporter=tap test/*.js',
  },
  'tsc-60-errors': {
    tool: 'tsc',
    files: {
      'tsconfig.json':
        '{ "compilerOptions": { "strict": true, "noEmit": true, "module": "nodenext" }, "include": ["src"] }',
      'src/order.ts': 'export type Order = { id: string; lines: number[]; total: number }\n',
      'src/orders.ts': `import type { Order } from './order.js'\n${times(60, (at) => `export const order${at}: Order = { id: ${at}, lines: [${at}], total: ${at} }`)}\n`,
    },
    run: 'tsc',
  },
  'tsc-pretty': {
    tool: 'tsc',
    files: {
      'tsconfig.json':
        '{ "compilerOptions": { "strict": true, "noEmit": true, "module": "nodenext" }, "include": ["src"] }',
      'src/cart.ts': `export type Cart = { items: { price: number }[]; owner?: { name: string } }
export function owner(cart: Cart): string {
  return cart.owner.name
}
export function sum(cart: Cart): number {
  return cart.items.map((item) => item.prise).reduce((a, b) => a + b, 0)
}
`,
    },
    run: 'tsc --pretty',
  },
  'eslint-one-error': {
    tool: 'eslint',
    files: {
      'eslint.config.js': ESLINT,
      ...warned(5, 10),
      'src/cart.js':
        'export function total(items) {\n  let sum = 0\n  console.log(items)\n  return summ(items)\n}\n',
    },
    run: 'eslint src',
  },
  'pytest-captured-logs': {
    tool: 'pytest',
    files: {
      'shop/__init__.py': '',
      'shop/cart.py': PYTEST_CART,
      'tests/test_cart.py': `import pytest

from shop.cart import total, with_tax


@pytest.mark.parametrize("price,quantity,expected", [(1, 1, 1), (2, 2, 4), (3, 3, 9), (4, 4, 15), (5, 5, 25)])
def test_total(price, quantity, expected):
    assert total([(price, quantity)]) == expected


def test_with_tax():
    assert with_tax([(10, 1)], {"val": 0.2}) == 12


@pytest.mark.parametrize("at", range(80))
def test_many(at):
    assert at == at
`,
    },
    run: 'python -m pytest --log-level=INFO',
  },
  'pytest-verbose-coverage': {
    tool: 'pytest',
    files: {
      'shop/__init__.py': '',
      ...Object.fromEntries(
        Array.from({ length: 40 }, (_, at) => [
          `shop/part_${at}.py`,
          'def part(a):\n    if a > 3:\n        return a\n    return 0\n',
        ]),
      ),
      'tests/test_order.py': `import pytest
${times(40, (at) => `from shop import part_${at - 1}`)}


@pytest.mark.parametrize("at", range(90))
def test_error_is_reported(at):
    assert part_1.part(at) in (at, 0)


def test_order():
    assert {"name": "lamp", "sizes": [1, 2, 3], "tags": {"a": 1}} == {"name": "lamp", "sizes": [1, 2, 4], "tags": {"a": 1}}
`,
    },
    run: 'python -m pytest -v --cov=shop --cov-report=term-missing',
  },
  'pytest-import-error': {
    tool: 'pytest',
    files: {
      'shop/__init__.py': '',
      'shop/cart.py': 'from shop.money import Money\n\n\ndef total(items):\n    return Money(0)\n',
      'tests/test_cart.py': 'from shop.cart import total\n\n\ndef test_total():\n    assert total([]) == 0\n',
      'tests/test_other.py': `import pytest\n\n\n@pytest.mark.parametrize("at", range(90))\ndef test_many(at):\n    assert at == at\n`,
    },
    run: 'python -m pytest -v',
  },
  'python-progress-bar': {
    tool: 'pytest',
    files: {
      'shop/__init__.py': '',
      'shop/load.py': `import sys
import time

from tqdm import tqdm

prices = {}
for at in tqdm(range(300), desc="loading prices", mininterval=0, file=sys.stderr):
    prices[at] = at * 2
    time.sleep(0.001)


def price(name):
    return prices[name]


print("lamp costs", price("lamp"))
`,
    },
    run: 'python -m shop.load',
  },
  'python-unittest': {
    tool: 'pytest',
    files: {
      'test_cart.py': `import unittest


class CartTest(unittest.TestCase):
${times(60, (at) => `    def test_adds_${at}(self):\n        self.assertEqual(${at}, ${at})\n`)}
    def test_total(self):
        self.assertEqual({"a": [1, 2], "b": "x" * 100}, {"a": [1, 3], "b": "x" * 100})


if __name__ == "__main__":
    unittest.main()
`,
    },
    run: 'python -m unittest -v',
  },
  'go-subtests': {
    tool: 'go',
    files: {
      'go.mod': GO_MOD,
      'cart.go':
        'package shop\n\nfunc Total(prices []int) int {\n\tsum := 0\n\tfor _, p := range prices {\n\t\tsum += p\n\t}\n\treturn sum\n}\n',
      'cart_test.go': `package shop

import (
\t"fmt"
\t"testing"
)

func TestTotal(t *testing.T) {
\tfor at := 0; at < 100; at++ {
\t\tt.Run(fmt.Sprintf("no error for %d", at), func(t *testing.T) {
\t\t\twant := at
\t\t\tif at == 50 {
\t\t\t\twant = 51
\t\t\t}
\t\t\tif got := Total([]int{at}); got != want {
\t\t\t\tt.Errorf("Total(%d) = %d, want %d", at, got, want)
\t\t\t}
\t\t})
\t}
}
`,
      'tax/tax.go': 'package tax\n\nfunc Tax(a int) int { return a / 5 }\n',
      'tax/tax_test.go':
        'package tax\n\nimport "testing"\n\nfunc TestTax(t *testing.T) {\n\tif Tax(10) != 2 {\n\t\tt.Fatal("wrong")\n\t}\n}\n',
    },
    run: 'go test -v -cover ./...',
  },
  'go-build-error': {
    tool: 'go',
    files: {
      'go.mod': GO_MOD,
      'cart.go':
        'package shop\n\nimport "fmt"\n\nfunc Total(prices []int) string {\n\tsum := 0\n\tfor _, p := range prices {\n\t\tsum += p\n\t}\n\treturn sum\n}\n',
      'cart_test.go':
        'package shop\n\nimport "testing"\n\nfunc TestTotal(t *testing.T) {\n\tif Total(nil) != "0" {\n\t\tt.Fatal("wrong")\n\t}\n}\n',
      ...Object.fromEntries(
        Array.from({ length: 50 }, (_, at) => [
          `part${at}/part_test.go`,
          `package part${at}\n\nimport "testing"\n\nfunc TestPart(t *testing.T) {}\n`,
        ]),
      ),
    },
    run: 'go test ./...',
  },
  'go-panic': {
    tool: 'go',
    files: {
      'go.mod': GO_MOD,
      'cart.go':
        'package shop\n\ntype Order struct{ Address *Address }\ntype Address struct{ Country string }\n\nfunc Country(o Order) string { return o.Address.Country }\n',
      'cart_test.go': `package shop

import (
\t"fmt"
\t"testing"
)

func TestCountry(t *testing.T) {
\tfor at := 0; at < 80; at++ {
\t\tt.Run(fmt.Sprint(at), func(t *testing.T) { fmt.Println("error page", at, "looked at") })
\t}
\tif Country(Order{}) != "NL" {
\t\tt.Fatal("wrong")
\t}
}
`,
    },
    run: 'go test -v ./...',
  },
  'go-timeout': {
    tool: 'go',
    files: {
      'go.mod': GO_MOD,
      'pay_test.go': `package shop

import (
\t"fmt"
\t"testing"
)

func TestPay(t *testing.T) {
\tpaid := make(chan int)
\tfor at := 0; at < 20; at++ {
\t\tgo func() { fmt.Println("worker", at); select {} }()
\t}
\t<-paid
}
`,
    },
    run: 'go test -timeout 1s ./...',
  },
  'cargo-test': {
    tool: 'cargo',
    files: {
      'Cargo.toml': CARGO,
      'src/lib.rs': `pub fn total(prices: &[i64]) -> i64 {
    prices.iter().sum()
}

pub fn first(names: &[&str]) -> String {
    names.first().unwrap().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
${times(100, (at) => `    #[test]\n    fn no_error_${at}() {\n        assert_eq!(total(&[${at}]), ${at});\n    }`)}

    #[test]
    fn adds_the_discount() {
        println!("looking for an error in {}", "the log");
        assert_eq!(total(&[10, -3]), 8, "the discount is not counted");
    }

    #[test]
    fn names_the_first() {
        assert_eq!(first(&[]), "lamp");
    }
}
`,
    },
    run: 'cargo test --offline',
  },
  'cargo-compile': {
    tool: 'cargo',
    files: {
      'Cargo.toml': CARGO,
      'src/lib.rs': `${times(25, (at) => `fn unused_${at}() {\n    let value = ${at};\n}`)}

pub fn total(prices: &[i64]) -> String {
    prices.iter().sum::<i64>()
}
`,
    },
    run: 'cargo test --offline',
  },
  'maven-surefire': {
    tool: 'maven',
    files: {
      'pom.xml': POM,
      'src/main/java/com/shop/Cart.java': JAVA_CART,
      ...Object.fromEntries(
        ['Books', 'Lamps', 'Chairs', 'Tables', 'Cups', 'Plates', 'Pens', 'Inks'].map((kind) => [
          `src/test/java/com/shop/${kind}Test.java`,
          javaTests(kind, 4),
        ]),
      ),
      'src/test/java/com/shop/CartTest.java': `package com.shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import java.util.List;
import org.junit.jupiter.api.Test;

class CartTest {
    @Test void addsAll() {
        assertEquals(31, Cart.total(List.of(new Cart.Item("lamp", 10, 3))), "the total");
    }

    @Test void knowsTheCountry() {
        assertEquals("NL", Cart.country(new Cart.Order(null)));
    }
}
`,
    },
    // Once quietly, so that nothing is fetched while it is recorded.
    run: '(mvn -B -q test || true) >/dev/null 2>&1; mvn -B -o test',
  },
  'mocha-typeerror': {
    tool: 'mocha',
    files: { 'src/cart.js': cart(false), 'test/cart.js': MOCHA_CART },
    isPlace: true,
    run: 'mocha',
  },
  'biome-lint': {
    tool: 'biome',
    files: {
      'biome.json': '{ "linter": { "enabled": true }, "formatter": { "enabled": false } }',
      'src/cart.js':
        'export function total(items) {\n  let sum = 0\n  debugger\n  return items.length == 0 ? 0 : sum\n}\n',
    },
    isPlace: true,
    run: 'biome lint src',
  },
  'ruff-check': {
    tool: 'lint',
    files: { 'shop/cart.py': RUFF_CART },
    isPlace: true,
    run: 'ruff check --no-cache .',
  },
  ruff: {
    tool: 'lint',
    files: { 'shop/cart.py': RUFF_CART },
    run: 'ruff check --no-cache --output-format sarif --output-file report.sarif .',
    keeps: { 'report.sarif': '.sarif' },
  },
  mypy: {
    tool: 'lint',
    files: {
      'shop/__init__.py': '',
      'shop/cart.py':
        'def total(items: list[int]) -> str:\n    return sum(items)\n\n\ndef shown(items: list[int]) -> str:\n    return total(items) + len(items)\n',
    },
    isPlace: true,
    run: 'mypy --no-incremental shop',
  },
  eslint: {
    tool: 'eslint',
    files: {
      'eslint.config.js': ESLINT,
      'src/cart.js':
        'export function total(items) {\n  let sum = 0\n  console.log(items)\n  return summ(items)\n}\n',
    },
    run: 'eslint -f @microsoft/eslint-formatter-sarif -o report.sarif src',
    keeps: { 'report.sarif': '.sarif' },
  },
  'go-vet': {
    tool: 'go',
    files: {
      'go.mod': GO_MOD,
      'cart.go':
        'package shop\n\nimport "fmt"\n\nfunc Total(prices []int) int {\n\tfmt.Printf("%d items, %s\\n", len(prices))\n\treturn len(prices)\n}\n',
    },
    isPlace: true,
    run: 'go vet ./...',
  },
  'go-json': {
    tool: 'go',
    files: {
      'go.mod': GO_MOD,
      'cart.go': 'package shop\n\nfunc Total(prices []int) int { return len(prices) }\n',
      'cart_test.go':
        'package shop\n\nimport "testing"\n\nfunc TestTotal(t *testing.T) {\n\tif got := Total([]int{3}); got != 3 {\n\t\tt.Errorf("got %d, want 3", got)\n\t}\n}\n\nfunc TestNone(t *testing.T) { t.Run("inside", func(t *testing.T) {}) }\n\nfunc TestLater(t *testing.T) { t.Skip("later") }\n',
    },
    isPlace: true,
    run: 'go test -json ./...',
  },
  'kotlin-maven': {
    tool: 'maven',
    files: {
      'pom.xml': KOTLIN_POM,
      'src/main/kotlin/Cart.kt':
        'package com.shop\n\nfun total(items: List<Int>): String {\n    return items.sum()\n}\n\nfun shown(): String = totl(listOf(1))\n',
    },
    isPlace: true,
    run: '(mvn -B -q compile || true) >/dev/null 2>&1; mvn -B -o compile',
  },
  'node-junit': {
    tool: 'node',
    files: {
      'src/cart.js': cart(true),
      'package.json': '{ "type": "module" }',
      'test/cart.test.js': NODE_CART,
    },
    run: 'node --test --test-reporter=junit --test-reporter-destination=report.xml',
    keeps: { 'report.xml': '.xml' },
  },
  vitest: {
    tool: 'vitest',
    files: {
      'package.json': '{ "type": "module" }',
      'src/cart.js': cart(true),
      'test/cart.test.js': VITEST_CART,
    },
    run: 'vitest run --reporter=junit --outputFile=report.xml --coverage --coverage.reporter=lcov --coverage.reporter=cobertura --coverage.reportOnFailure',
    keeps: {
      'report.xml': '-junit.xml',
      'coverage/lcov.info': '.lcov',
      'coverage/cobertura-coverage.xml': '-cobertura.xml',
    },
  },
  pytest: {
    tool: 'pytest',
    files: {
      'shop/__init__.py': '',
      'shop/cart.py': PYTEST_CART,
      'tests/test_cart.py': `import pytest

from shop.cart import total, with_tax


def test_total():
    assert total([(4, 4)]) == 15


@pytest.mark.skip(reason="later")
def test_later():
    assert with_tax([], {}) == 0
`,
    },
    run: 'python -m pytest --junitxml=report.xml --cov=shop --cov-report=xml:coverage.xml --cov-report=lcov:coverage.lcov',
    keeps: { 'report.xml': '-junit.xml', 'coverage.xml': '-cobertura.xml', 'coverage.lcov': '.lcov' },
  },
  maven: {
    tool: 'maven',
    files: {
      'pom.xml': POM,
      'src/main/java/com/shop/Cart.java': JAVA_CART,
      'src/test/java/com/shop/CartTest.java': `package com.shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import java.util.List;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;

class CartTest {
    @Test void addsAll() {
        assertEquals(31, Cart.total(List.of(new Cart.Item("lamp", 10, 3))), "the total");
    }

    @Test void addsNothing() {
        assertEquals(0, Cart.total(List.of()));
    }

    @Disabled @Test void later() {}
}
`,
    },
    run: '(mvn -B -q test || true) >/dev/null 2>&1; mvn -B -o test',
    keeps: { 'target/surefire-reports/TEST-com.shop.CartTest.xml': '-junit.xml' },
  },
  'maven-compile': {
    tool: 'maven',
    files: {
      'pom.xml': POM,
      'src/main/java/com/shop/Cart.java': JAVA_CART.replace('mapToInt', 'mapToLong'),
    },
    run: '(mvn -B -q test || true) >/dev/null 2>&1; mvn -B -o test',
  },
}

// ---------------------------------------------------------------- running them

function install(tool) {
  const folder = join(ROOT, tool, 'shop')
  const { kept, install: command } = TOOLS[tool]
  mkdirSync(folder, { recursive: true })
  if (command !== null && !existsSync(join(folder, kept))) {
    writeFileSync(join(folder, 'package.json'), '{}')
    execFileSync(command[0], command.slice(1), { cwd: folder, stdio: 'inherit' })
  }
  for (const name of readdirSync(folder)) if (name !== kept) rmSync(join(folder, name), { recursive: true })
  return folder
}

function record(name, { tool, files, run, isPlace = false, keeps = {} }) {
  const folder = install(tool)
  for (const [path, text] of Object.entries({ 'package.json': '{}', ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const { FORCE_COLOR: _, ...inherited } = process.env
  const bins = ['node_modules/.bin', 'venv/bin'].map((bin) => join(folder, bin))
  const env = { ...inherited, CI: 'true', PATH: [...bins, inherited.PATH].join(':') }
  const ran = spawnSync('bash', ['-c', `exec 2>&1; ${run}`], { cwd: folder, env, timeout: 600_000 })
  const text = neutral(ran.stdout.toString('utf8'), folder)
  if (ran.status === 0) throw new Error(`${name} has to fail`)
  if (Buffer.byteLength(text) > MAX_BYTES)
    throw new Error(`${name} is too long: ${Buffer.byteLength(text)} bytes`)
  const kept = Object.entries(keeps)
  if (kept.length === 0) writeFileSync(join(isPlace ? PLACES : FIXTURES, `${name}.txt`), text)
  for (const [file, end] of kept)
    writeFileSync(join(PLACES, `${name}${end}`), neutral(readFileSync(join(folder, file), 'utf8'), folder))
  console.log(`${name}: ${Buffer.byteLength(text)} bytes, exit ${ran.status}`)
}

/** Without the paths of this machine. */
function neutral(text, folder) {
  return text
    .replaceAll(folder, SHOP)
    .replaceAll(folder.replace(/^\//, ''), SHOP.slice(1))
    .replaceAll(/\/\S*\/\.pyenv\/versions\/[\d.]+/g, '/usr')
    .replaceAll(/\/\S*?\/go\/src\//g, '/usr/local/go/src/')
    .replaceAll(process.execPath, '/usr/local/bin/node')
    .replaceAll(homedir(), HOME)
}

mkdirSync(FIXTURES, { recursive: true })
mkdirSync(PLACES, { recursive: true })
const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(SAMPLES)
for (const name of names) record(name, SAMPLES[name])
