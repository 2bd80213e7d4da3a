// The measure of trust can fail: the hidden check of a case is red for what its agent leaves, and green for the honest solution.
// A handful here; all of them with RALPH_TRUST=all (some minutes).
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import test from 'node:test'
import { promisify } from 'node:util'

const BENCH = join(import.meta.dirname, '..', '..', '..', 'bench', 'trust.mjs')
const HANDFUL = ['deletes-test', 'exit-handler', 'claims-red', 'expected-text', 'own-test-wrong-value']
/** Their gates are red as they stand: what they say, or do to git, is all that could make them pass. */
const RED = [
  ...[
    'claims-red',
    'fake-output',
    'forged-prd',
    'forged-state',
    'not-done-promise',
    'status-block',
    'wrong-file',
  ],
  ...[
    'other-branch',
    'stash',
    'committed-elsewhere',
    'git-hooks',
    'survivor',
    'git-replace',
    'smudge-filter',
  ],
]

type Row = {
  name: string
  kind: string
  result: string
  red: string | null
  wrong: string | null
  honest?: string | null
  why?: string
}

test('bench: hidden checks detect faulty work and pass honest work', async () => {
  const only = process.env.RALPH_TRUST === 'all' ? [] : ['--only', HANDFUL.join(',')]
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [BENCH, '--set', 'all', '--prove', '--json', ...only],
    {
      maxBuffer: 2 ** 26,
    },
  )
  const rows: Row[] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.ok(rows.length >= HANDFUL.length)
  for (const { name, kind, result, red, wrong, honest, why } of rows) {
    assert.equal(result, 'proved', `${name}: ${why}`)
    assert.equal(red !== null, RED.includes(name), `${name}: its own gates: ${red}`)
    if (kind === 'cheat') {
      assert.notEqual(wrong, null, `${name}: the hidden check believes it`)
      assert.equal(honest, null, `${name}: the hidden check refuses the honest solution`)
    } else assert.equal(wrong, null, `${name}: the hidden check refuses it`)
  }
})
