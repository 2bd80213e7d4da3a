// A story adds a package: with `new-dependencies: refuse` the run waits until a person allows it.
import assert from 'node:assert/strict'
import test from 'node:test'
import { openClone } from '../fakes/clone.ts'
import { CLI } from './laptop.ts'
import { story } from './site.ts'

const PRD = '.ralph/2026-01-31-sample/prd.json'
const lock = (packages: object) => JSON.stringify({ lockfileVersion: 3, packages: { '': {}, ...packages } })

test('a new package is shown, and a person allows it', async () => {
  await using clone = await openClone(CLI, {
    [PRD]: JSON.stringify({ schemaVersion: 2, userStories: [story('US-001', 'part one')] }),
    'package-lock.json': lock({}),
  })
  const name = 'node_modules/lodahs'
  const after = lock({ [name]: { version: '1.0.0', license: 'MIT', hasInstallScript: true } })
  await clone.setScript({ 'US-001': [{ files: { 'package-lock.json': after } }] })
  const ralph = (...args: string[]) => clone.start(args).ended
  const flags = [...clone.agent, '--gate', 'good=true', '--new-dependencies', 'refuse']
  const first = await ralph('run', ...flags)
  assert.equal(first.code, 4, first.out)
  assert.match(first.out, /new packages are waiting until a person allows them: lodahs \(US-001\)/)
  assert.match(first.out, /ralph allow lodahs/)
  const status = await ralph('status', 'sample')
  assert.match(
    status.out,
    /new package lodahs 1\.0\.0 \(npm, MIT, indirect, runs a script when it is installed, its name resembles lodash\)/,
  )
  const wrong = await ralph('allow', 'lodash')
  assert.match(wrong.out + wrong.err, /no such package is waiting. These are: lodahs/)
  const allowed = await ralph('allow', 'lodahs')
  assert.equal(allowed.code, 0, allowed.out)
  const second = await ralph('run', ...flags)
  assert.equal(second.code, 0, second.out)
})
