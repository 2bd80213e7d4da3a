// Gates, services and pages for stories with a tag: told where no story has it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unusedTagNotes } from '../../../src/app/tags.ts'
import { readSettings, type Settings } from '../../../src/settings/read-settings.ts'

const FILE = `
gates:
  test: npm test
  e2e: { run: npm run e2e, when: [e2e, slow] }
services:
  web: { start: npm start, ready: http://localhost:3000, when: [ui] }
browser: { baseUrl: http://localhost:3000 }
`

function settingsOf(text: string): Settings {
  const read = readSettings({ surface: 'cli', env: {}, file: { path: 'ralph.config.yml', text } })
  assert.ok(read.ok, JSON.stringify(read))
  return read.settings
}

const story = (...tags: string[]) => ({ tags, skipped: false })

test('settings for a tag that no story has are reported with the consequence', () => {
  const settings = settingsOf(FILE)
  const rest = 'but no story has this tag: it runs only in the final verification'
  assert.deepEqual(unusedTagNotes(settings, [story(), story('api')]), [
    `gate e2e is for stories with the tag e2e or slow, ${rest}`,
    `gate browser is for stories with the tag ui, ${rest}`,
    `service web is for stories with the tag ui, ${rest}`,
  ])
  assert.deepEqual(unusedTagNotes(settings, [story('slow'), story('ui')]), [])
  assert.equal(unusedTagNotes(settings, [story('slow'), { tags: ['ui'], skipped: true }]).length, 2)
  assert.deepEqual(unusedTagNotes(settings, []), [])
  const never = unusedTagNotes({ ...settings, finalVerification: false }, [story('ui')])
  assert.deepEqual(never, [
    'gate e2e is for stories with the tag e2e or slow, but no story has this tag: it never runs',
  ])
})

test('a disabled browser is not reported as unused', () => {
  const off = settingsOf('gates: { test: npm test }\nbrowser: { enabled: false }\n')
  assert.deepEqual(unusedTagNotes(off, [story()]), [])
})
