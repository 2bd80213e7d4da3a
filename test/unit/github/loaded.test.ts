// The client is loaded by programs that are no job of an action: nothing there may read a job's event.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const CLIENT = new URL('../../../src/github/client.ts', import.meta.url).href

test('a broken GITHUB_EVENT_PATH does not end a program that loads the client', () => {
  const folder = mkdtempSync(join(tmpdir(), 'event-'))
  try {
    const event = join(folder, 'event.json')
    writeFileSync(event, '{"repository":')
    const env = { ...process.env, GITHUB_EVENT_PATH: event }
    const script = `await import(${JSON.stringify(CLIENT)}); console.log('loaded')`
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      env,
      encoding: 'utf8',
    })
    assert.equal(output, 'loaded\n')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
