// The one line that says best what failed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tellingLine } from '../../../src/system/excerpt.ts'

test('the telling line names the failure, and not the number of failures or the advice below it', () => {
  for (const [line, ...others] of [
    ['Error: no such table: users', 'get help at https://example.com/'],
    ['FAILED tests/a.py::t - AssertionError: x', '1 failed, 6 passed in 0.1s'],
    ['AssertionError: 1 != 2', 'Ran 2 tests in 0.1s', 'FAILED (failures=1)'],
    ['error: Could not resolve x', 'see https://example.com/', 'get help'],
  ])
    assert.equal(tellingLine(['running', line, '', ...others].join('\n')), line)
  assert.equal(tellingLine('> echo "Error: x"\n\nworking\nnot done\n==========\n'), 'not done')
  assert.equal(tellingLine(''), '')
})
