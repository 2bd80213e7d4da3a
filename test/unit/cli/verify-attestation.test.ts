// `ralph verify --attestation`: the file is compared with the checked-out commit, and nothing runs.
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { attestationOf } from '../../../src/report/attestation.ts'
import { complete } from '../report/samples.ts'
import { openPlace } from './place.ts'

test('an attestation is for this commit, for another one, or no attestation', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  const head = place.git('rev-parse', 'HEAD').trim()
  const tree = place.git('rev-parse', 'HEAD^{tree}').trim()
  const write = (name: string, commit: string) => {
    const attested = attestationOf({ ...complete(), green: commit }, { tree, gates: [], digest: () => '' })
    return writeFile(join(place.repository, name), JSON.stringify(attested))
  }
  await write('same.json', head)
  await write('other.json', 'f'.repeat(40))
  const same = await place.ralph('verify', '--attestation', 'same.json')
  assert.equal(same.code, 0, same.err)
  assert.match(same.out, /^The attestation is for the checked-out commit: /m)
  const other = await place.ralph('verify', '--attestation', 'other.json')
  assert.equal(other.code, 1)
  assert.match(
    other.out,
    new RegExp(
      `^Not verified: the attestation is for commit ffffffffffff, and ${head.slice(0, 12)} is checked out\\.`,
      'm',
    ),
  )
  const none = await place.ralph('verify', '--attestation', 'none.json')
  assert.equal(none.code, 64)
  assert.match(none.err, /--attestation: found no such file/)
})
