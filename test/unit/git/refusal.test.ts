// What people read of a push that the remote refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeRefusal } from '../../../src/git/remote.ts'

const protectedBranch = (address: string) =>
  [
    'remote: error: GH006: Protected branch update failed for refs/heads/ralph/shop.',
    `To ${address}`,
    ' ! [remote rejected] ralph/shop -> ralph/shop (protected branch hook declined)',
    `error: failed to push some refs to '${address}'`,
  ].join('\n')

test("the reason of a refused push is found, whatever the remote's address contains", () => {
  for (const address of ['http://127.0.0.1:44013/acme/shop.git', 'https://github.com/denied/error403.git']) {
    const answer = protectedBranch(address)
    // Standard output comes first in what git answered, with the address and without the reason.
    const porcelain = `To ${address}\n!\tHEAD:refs/heads/ralph/shop\t[remote rejected] (protected branch hook declined)\nDone\n`
    for (const told of [answer, porcelain + answer]) {
      const reason = describeRefusal(told, 'ralph/shop')
      assert.match(reason, /^the remote refused ralph\/shop: /)
      assert.match(reason, /protected branch/i)
      assert.doesNotMatch(reason, /To http/)
    }
  }
})

test("a hook's message is kept, however it begins", () => {
  const said = 'remote: To push here, ask for permission.\nTo https://github.com/acme/shop.git\n'
  const reason = 'the remote refused ralph/shop: To push here, ask for permission'
  assert.equal(describeRefusal(said, 'ralph/shop'), reason, 'without a full stop, which the caller writes')
})

test('a refused push without a reason says so', () => {
  assert.equal(
    describeRefusal('To https://github.com/acme/shop.git\n', 'ralph/shop'),
    'the remote refused ralph/shop: the remote gave no reason',
  )
})

const ruleset = (...reasons: string[]) =>
  [
    'To https://github.com/acme/shop.git',
    '!\tabc:refs/heads/ralph/lab\t[remote rejected] (push declined due to repository rule violations)',
    '!\tdef:refs/ralph/2026-01-31-lab\t[remote rejected] (atomic push failure)',
    'Done',
    'remote: error: GH013: Repository rule violations found for refs/heads/ralph/lab.        ',
    'remote: Review all repository rules at https://github.com/acme/shop/rules?ref=refs%2Fheads%2Fralph%2Flab        ',
    'remote: ',
    ...reasons.map((reason) => `remote: ${reason}`),
    "error: failed to push some refs to 'https://github.com/acme/shop.git'",
  ].join('\n')

for (const [name, reasons, told] of [
  [
    'signatures',
    ['- Commits must have verified signatures.', '  Found 1 violation:', '', `  ${'a'.repeat(40)}`],
    'Commits must have verified signatures.',
  ],
  [
    'messages',
    ['- Commit message must match a given regex pattern: ^[A-Z]+-\\d+', '  Found 2 violations:'],
    'Commit message must match a given regex pattern: ^[A-Z]+-\\d+',
  ],
  [
    'push protection',
    [
      '- GITHUB PUSH PROTECTION',
      `  ${'\u2014'.repeat(40)}`,
      '    Resolve the following violations before pushing again',
      '    - Push cannot contain secrets',
      '     (?) Learn how to resolve a blocked push',
      '     https://docs.github.com/code-security/secret-scanning',
      `      ${'\u2014'.repeat(2)} Amazon AWS Access Key ID ${'\u2014'.repeat(20)}`,
      '       locations:',
      '         - commit: abc',
      '           path: .env:1',
    ],
    'GITHUB PUSH PROTECTION Resolve the following violations before pushing again Push cannot contain secrets Amazon AWS Access Key ID locations: commit: abc path: .env:1',
  ],
] as const) {
  test(`a ruleset's reason is told in full, with the refused ref: ${name}`, () => {
    assert.equal(
      describeRefusal(ruleset(...reasons), 'refs/ralph/2026-01-31-lab'),
      `the remote refused ralph/lab: ${told} (GH013: Repository rule violations found for refs/heads/ralph/lab)`,
    )
  })
}

test('a long answer of a hook is bounded, without what a terminal would obey', () => {
  const reason = describeRefusal(
    `remote: no \u001b[31mred\u0007\n${'remote: x y z\n'.repeat(9999)}`,
    'ralph/lab',
  )
  assert.match(reason, /^the remote refused ralph\/lab: no red x y z/)
  assert.ok(reason.length <= 1000 && reason.length > 990, String(reason.length))
})
