// The row `product`: what may differ between two gate runs, and whether that is anything.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkProduct } from '../../../../src/setup/checks/check-product.ts'
import type { Checkout } from '../../../../src/setup/checks/subject.ts'
import { settings } from './rows-settings.ts'
import { subjectOf } from './subject.ts'

async function row(paths: readonly string[], product = ''): Promise<string> {
  const repository = { files: async () => [...paths], read: async () => null }
  const checkout = { workspace: { repository }, commit: 'c', ci: null } as unknown as Checkout
  const inputs: Record<string, string> = product === '' ? {} : { product }
  const { state, found, fix } = await checkProduct(subjectOf({ checkout, settings: settings(inputs) }))
  return `${state}: ${found}${fix === '' ? '' : ` -> ${fix}`}`
}

test('the product of a usual layout is recognized, and its tests are not product', async () => {
  assert.equal(
    await row(['src/a.ts', 'src/b.ts', 'test/a.test.ts', 'README.md']),
    'ok: 2 of 3 files with code are the product (src/a.ts, src/b.ts), according to the layout of the project',
  )
})

test('code of which nothing is product is a warning: the further gate runs check nothing then', async () => {
  const found = await row(['code/a.ts', 'code/b.ts'])
  assert.match(found, /^warning: none of 2 files with code counts as the product\. .* -> set `product: /)
})

test('patterns that match no file, or every file with code, are a warning', async () => {
  assert.match(await row(['src/a.ts'], 'lib/**'), /^warning: none of 1 file with code .* -> set `product: /)
  assert.match(
    await row(['src/a.ts', 'test/a.test.ts'], '**'),
    /^warning: every file with code counts as the product/,
  )
})

test('a project without code is fine', async () => {
  assert.match(await row(['README.md']), /^ok: there is no code yet/)
})
