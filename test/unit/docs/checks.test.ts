// docs/doctor.md has a row for each check, in the table's order, and says of each what the table says.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { CHECKS } from '../../../src/setup/checks/check-table.ts'

test('docs/doctor.md has every check, what it needs, and whether it stops a run', () => {
  const page = readFileSync('docs/doctor.md', 'utf8')
  const rows = page.split('\n').filter((line) => line.startsWith('| `'))
  const told = rows.map((line) => {
    const [, names = '', seen, refuses, what, mend] = line.split(/ ?(?<!\\)\| ?/)
    assert.ok(what !== '' && mend !== '', line)
    return { name: /`([^`]+)`/.exec(names)?.[1], seen, refuses: refuses === 'yes' }
  })
  const table = CHECKS.map(({ name, seen, blocks }) => ({ name, seen, refuses: blocks !== undefined }))
  assert.deepEqual(told, table)
})
