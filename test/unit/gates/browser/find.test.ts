// Which browser is taken, and what is said where there is none.
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findChrome } from '../../../../src/gates/browser/find.ts'
import { UserError } from '../../../../src/system/errors.ts'

test('the configured browser comes first, then environment variables, then the PATH; a file that is not executable is skipped', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-find-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const program = (name: string, mode = 0o755) => {
    writeFileSync(join(folder, name), '#!/bin/sh\n')
    chmodSync(join(folder, name), mode)
    return join(folder, name)
  }
  const env = { PATH: `/nowhere:${folder}` }
  program('google-chrome', 0o644)
  const chromium = program('chromium')
  assert.equal(findChrome(null, env), chromium)
  const own = program('mine')
  assert.equal(findChrome(null, { ...env, CHROME_PATH: own }), own)
  assert.equal(findChrome(null, { ...env, CHROME_PATH: '/nowhere/chrome' }), chromium)
  assert.equal(findChrome(own, env), own)
  assert.equal(findChrome('mine', env), own)
  for (const named of [folder, join(folder, 'google-chrome'), 'nothing'])
    assert.throws(() => findChrome(named, env), UserError)
})

test('where no browser is installed, the error says how to install one', {
  skip: process.platform === 'darwin' ? 'looks in /Applications' : false,
}, () => {
  const mend = /setup-chrome.*apt-get install chromium.*browser\.executablePath/
  assert.throws(
    () => findChrome(null, { PATH: '/nowhere' }),
    (error: UserError) => mend.test(error.mistakes[0]?.fix ?? ''),
  )
})
