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
      assert.match(reason, /^ralph\/shop was not accepted: /)
      assert.match(reason, /protected branch/i)
      assert.doesNotMatch(reason, /To http/)
    }
  }
})

test("a hook's message is kept, however it begins", () => {
  const said = 'remote: To push here, ask for permission.\nTo https://github.com/acme/shop.git\n'
  assert.match(describeRefusal(said, 'ralph/shop'), /To push here, ask for permission/)
})

test('a refused push without a reason says so', () => {
  assert.equal(
    describeRefusal('To https://github.com/acme/shop.git\n', 'ralph/shop'),
    'ralph/shop was not accepted: no reason was given',
  )
})
