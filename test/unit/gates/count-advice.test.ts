// Which gates are expected to name a number of tests.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missingCount } from '../../../src/gates/count-advice.ts'

test('a test run without a number of tests gets advice, and the `test` of the shell is not one', () => {
  for (const run of ['npm test', 'go test -v ./...', 'make test -j2', 'cd app && npm test', 'tox -e unit'])
    assert.notEqual(missingCount({ name: 'ci', run }), null, run)
  for (const run of [
    'test -f src/base.txt',
    'test -z "$(gofmt -l .)"',
    'npm run build && test -d dist',
    'if test ! -e out; then exit 1; fi',
    'npm run lint',
  ])
    assert.equal(missingCount({ name: 'ci', run }), null, run)
  assert.notEqual(missingCount({ name: 'test', run: 'test -f src/base.txt' }), null, 'by its name')
  for (const name of ['lint-test-data', 'format-tests', 'test-data-build'])
    assert.equal(missingCount({ name, run: 'cargo clippy' }), null, name)
  assert.notEqual(missingCount({ name: 'test-lint-rules', run: 'make all' }), null)
})
