// Commands without the tests that are red on the project as it is, from what runners print.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutRedFiles, withoutRedTests, withoutVet } from '../../../../src/setup/init/without-tests.ts'

test('single tests are left out by the name that the runner prints', () => {
  const output = 'FAILED t/a.py::one - assert 1 == 2\n=== 1 failed, 8 passed in 1.00s ==='
  assert.deepEqual(withoutRedTests('uv run pytest', output), {
    run: 'uv run pytest --deselect=t/a.py::one',
    tests: ['t/a.py::one'],
    what: 'test',
  })
})

const VITEST = [
  ' RUN  v3.2.7 /shop',
  ' FAIL  test/tax.test.js [ test/tax.test.js ]',
  'Error: Cannot find module ./rates.json',
  ' FAIL   shop  lib/cart.test.ts [ packages/shop/lib/cart.test.ts ]',
  ' FAIL  test/order.test.js > order > lists what was ordered',
  ' Test Files  3 failed | 9 passed (12)',
].join('\n')

test('files that vitest cannot load are excluded, with the arguments as the package manager hands them over', () => {
  const files = ['test/tax.test.js', 'packages/shop/lib/cart.test.ts', 'test/order.test.js']
  const flags = "--exclude=test/tax.test.js '--exclude=**/lib/cart.test.ts' --exclude=test/order.test.js"
  for (const [run, reduced] of [
    ['npm run unit', `npm run unit -- ${flags}`],
    ['npm test -- --coverage', `npm test -- --coverage ${flags}`],
    ['pnpm run unit', `pnpm run unit ${flags}`],
    ['yarn test', `yarn test ${flags}`],
    ['npx vitest run', `npx vitest run ${flags}`],
    ['cd web && uv run npx vitest run', `cd web && uv run npx vitest run ${flags}`],
  ] as const)
    assert.deepEqual(withoutRedFiles(run, VITEST), { run: reduced, tests: files, what: 'test file' })
  for (const run of [
    'make test',
    'npm run unit && npm run lint',
    'vitest run && npm run lint',
    'npx vitest run | tee log',
  ])
    assert.equal(withoutRedFiles(run, VITEST), null)
})

test('jest takes one expression, which keeps its default; pytest ignores files', () => {
  const jest =
    ' FAIL test/tax.test.js (5.2 s)\n  ● Test suite failed to run\nTest Suites: 1 failed, 8 passed, 9 total'
  assert.equal(
    withoutRedFiles('npm test', jest)?.run,
    "npm test -- '--testPathIgnorePatterns=/node_modules/|/test/tax\\.test\\.js$'",
  )
  const pytest = [
    '=========================== short test summary info ============================',
    "ERROR tests/test_tax.py - ModuleNotFoundError: No module named 'rates'",
    '!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!',
  ].join('\n')
  assert.deepEqual(withoutRedFiles('.venv/bin/python -m pytest', pytest), {
    run: '.venv/bin/python -m pytest --ignore=tests/test_tax.py',
    tests: ['tests/test_tax.py'],
    what: 'test file',
  })
  assert.equal(withoutRedTests('.venv/bin/python -m pytest', pytest), null)
})

test('a name that a shell would evaluate, and more than a few files, leave the command as it is', () => {
  const failed = (file: string) => ` FAIL  ${file} [ ${file} ]`
  const of = (...files: string[]) => [' RUN  v3.2.7 /shop', ...files.map(failed)].join('\n')
  assert.equal(withoutRedFiles('npm test', of('test/$(id).test.js')), null)
  assert.equal(
    withoutRedFiles('npm test', of(...Array.from({ length: 11 }, (_, at) => `t/${at}.test.js`))),
    null,
  )
  assert.equal(withoutRedFiles('npm test', of('test/a b.test.js')), null)
})

test('go test without the checks of go vet, if they are what failed', () => {
  const vet = [
    '# example.com/shop',
    '# [example.com/shop]',
    './example_test.go:23:1: ExampleTax refers to unknown identifier: Tax',
    'FAIL\texample.com/shop [build failed]',
  ].join('\n')
  assert.equal(withoutVet('go test -v ./...', vet), 'go test -vet=off -v ./...')
  assert.equal(withoutVet('go test -vet=off ./...', vet), null)
  const compiler = '# example.com/shop\n./tax.go:3:1: syntax error\nFAIL\texample.com/shop [build failed]'
  assert.equal(withoutVet('go test -v ./...', compiler), null)
})
