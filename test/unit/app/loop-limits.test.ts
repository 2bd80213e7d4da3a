// How long a lease holds: whoever takes it over while its gates still run would run them twice.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leaseMsOf, limitsOf } from '../../../src/app/loop-limits.ts'
import { readSettings } from '../../../src/settings/read-settings.ts'

const MINUTE = 60_000
function settingsOf(text: string) {
  const read = readSettings({ file: { path: 'ralph.config.yml', text }, env: {}, surface: 'cli' })
  assert.ok(read.ok, JSON.stringify(read))
  return read.settings
}

test('a lease lasts for all retries of each gate, for services and the browser', () => {
  const plain = settingsOf('gates:\n  test: { run: npm test, timeout: 10m }\n')
  const tried = settingsOf(
    'gates:\n  test: { run: npm test, timeout: 10m, retries: 3 }\n  lint: { run: npm run lint, timeout: 1m }\n',
  )
  assert.equal(limitsOf(plain).gatesMs, 10 * MINUTE)
  assert.equal(limitsOf(tried).gatesMs, 41 * MINUTE)
  assert.equal(leaseMsOf(tried) - leaseMsOf(plain), 31 * MINUTE)
  const beside = settingsOf(
    'gates:\n  test: { run: npm test, timeout: 10m }\nservices:\n  web: { start: npm start, ready: 8080, readyTimeout: 7m }\nbrowser: { urls: [/] }\n',
  )
  assert.equal(leaseMsOf(beside) - leaseMsOf(plain), 17 * MINUTE)
})
