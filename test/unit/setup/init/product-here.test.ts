// The line of `init` about the product: what a person has to know before a run, by the layout of small projects.
import assert from 'node:assert/strict'
import test from 'node:test'
import { describeProduct, productHere } from '../../../../src/setup/init/product-here.ts'

const lineOf = async (...paths: string[]) => describeProduct(await productHere({ paths, text: () => '' }))

test('init names the folders of the product, the largest first, and not the tests', async () => {
  assert.equal(
    await lineOf('src/a.ts', 'src/b.ts', 'lib/c.ts', 'test/a.test.ts', 'README.md'),
    'src/, lib/ (3 of 4 files with code)',
  )
  assert.equal(await lineOf('main.go', 'main_test.go'), 'main.go (1 of 2 files with code)')
  const many = Array.from({ length: 8 }, (_, at) => `tool${at}.py`)
  assert.match(await lineOf(...many), /, 3 more \(8 of 8 files with code\)$/)
})

test('init says if no file with code is product, and nothing about a project without code', async () => {
  assert.equal(
    await lineOf('checks/a.py', 'README.md'),
    'init cannot tell which code is the product (1 file with code): set product: [FOLDER/**] in ralph.config.yml',
  )
  assert.equal(await lineOf('README.md'), '')
})
