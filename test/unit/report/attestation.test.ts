// What a run attests about its newest commit, and the comparison with a checkout.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attestationOf, compareAttestation } from '../../../src/report/attestation.ts'
import { hostileStrings } from '../../fixtures/hostile-strings.ts'
import { complete } from './samples.ts'

const HEAD = { commit: 'a'.repeat(40), tree: 'b'.repeat(40) }
const gate = { name: 'test', run: 'npm test', timeoutMs: 1, when: null, advisory: false }

function attested(changes: object = {}) {
  const state = { ...complete(), green: HEAD.commit, ...changes }
  return attestationOf(state, { tree: HEAD.tree, gates: [gate], digest: (text) => `${text.length}` })
}

test('the attestation names commit, tree, gates, people and agents, and is read back', () => {
  const made = attested({
    control: { ...complete().control, starters: ['alice'] },
    holds: { changesRequestedBy: [], approvals: { heads: [HEAD.commit], by: ['bob'], others: [] } },
  })
  assert.deepEqual(made.commit, { gitCommit: HEAD.commit, gitTree: HEAD.tree })
  assert.deepEqual([made.startedBy, made.approvedBy], [['alice'], ['bob']])
  const [first] = made.stories
  assert.equal(first?.passed, true)
  assert.ok(made.stories.some(({ gates }) => gates.some(({ name, result }) => name && result === 'passed')))
  const text = JSON.stringify(made)
  assert.deepEqual(compareAttestation(text, HEAD), { kind: 'same', attestation: made })
  const statement = JSON.stringify({ _type: 'https://in-toto.io/Statement/v1', predicate: made })
  assert.equal(compareAttestation(statement, HEAD).kind, 'same')
  const other = attested({ green: 'c'.repeat(40) })
  for (const list of [
    [made, other],
    [other, made],
  ]) {
    const verified = list.map((predicate) => ({ verificationResult: { statement: { predicate } } }))
    assert.equal(compareAttestation(JSON.stringify(verified), HEAD).kind, 'same', 'what gh prints')
  }
})

test('an attestation for another commit or tree is refused, with both commits', () => {
  const text = JSON.stringify(attested())
  const why = (head: typeof HEAD) => {
    const compared = compareAttestation(text, head)
    return compared.kind === 'other' ? compared.why : ''
  }
  assert.equal(
    why({ ...HEAD, commit: 'c'.repeat(40) }),
    'the attestation is for commit aaaaaaaaaaaa, and cccccccccccc is checked out',
  )
  assert.equal(why({ ...HEAD, tree: 'c'.repeat(40) }), 'the attestation names another tree for this commit')
})

test('any other file is refused', () => {
  for (const text of ['', '{}', '[]', 'null', '{"commit":{}}', ...hostileStrings.map((one) => one.text)])
    assert.deepEqual(compareAttestation(text, HEAD), {
      kind: 'other',
      why: 'the file is not an attestation that Ralph made',
    })
})
