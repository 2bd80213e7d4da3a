// Buttons of a story's check: where they are shown, whose click counts, and that nobody else's comment passes for one.
import assert from 'node:assert/strict'
import test from 'node:test'
import { readEvent } from '../../../src/action/github-event.ts'
import { Conversation, pressedComment } from '../../../src/github/conversation.ts'
import { Checks } from '../../../src/github/post-checks.ts'
import { parseExternalId } from '../../../src/report/check-runs.ts'
import { startGitHub } from '../../standin/github.ts'
import { rollupCheck, storyCheck } from '../report/rendered.ts'
import { limits, NOW, stuck } from '../report/samples.ts'
import { connected } from './connected.ts'

const permissions = { contents: 'read', checks: 'write', pull_requests: 'write' } as const
const facts = { repositoryUrl: 'https://github.com/acme/shop', runUrl: null, limits, now: NOW, notes: [] }

async function place() {
  const github = await startGitHub({ people: { alice: 'admin', bob: 'write', mallory: 'read' } })
  await github.commit('ralph/auth', { 'a.txt': 'a' }, 'start', 'alice')
  const { number: pull } = await github.openPull('alice', { head: 'ralph/auth' })
  github.addToken('own', { login: 'shop-ralph[bot]', type: 'Bot', permissions })
  return { github, pull, state: { ...stuck(), github: { ...stuck().github, pull } } }
}

test('checks of an App have buttons where a story failed; checks of GitHub Actions have none', async () => {
  const { github } = await place()
  await using _ = github
  const all = [
    rollupCheck(stuck(), facts),
    ...['US-001', 'US-003'].map((id) => storyCheck(stuck(), id, facts)),
  ]
  const shown = async (token: string) => {
    const seen = connected(github, token)
    const posted: unknown[] = []
    seen.api.hook.before('request', ({ method, url, actions }) => {
      if (method === 'POST' && url.endsWith('/check-runs')) posted.push(actions)
    })
    const sha = await github.commit('ralph/auth', { 'a.txt': token }, 'more', 'alice')
    await new Checks(seen, 'checks', 'auth').post(sha, all)
    return posted
  }
  assert.deepEqual(await shown(github.mintJobToken(permissions)), [undefined, undefined, undefined])
  const [rollup, passed, blocked] = await shown('own')
  assert.deepEqual([rollup, passed], [undefined, []])
  const buttons = Array.isArray(blocked) ? blocked : []
  assert.deepEqual(
    buttons.map(({ identifier }) => identifier),
    ['retry', 'skip'],
  )
  for (const { label, description, identifier } of buttons)
    assert.ok(label.length <= 20 && description.length <= 40 && identifier.length <= 20)
})

test("a click on a button is validated field by field, and only of Ralph's checks", () => {
  const payload = {
    action: 'requested_action',
    requested_action: { identifier: 'retry' },
    check_run: { external_id: 'ralph:auth:ralph / US-003' },
    sender: { login: 'bob', type: 'User' },
  }
  assert.deepEqual(readEvent('check_run', payload), {
    kind: 'button',
    identifier: 'retry',
    externalId: 'ralph:auth:ralph / US-003',
    sender: { login: 'bob', type: 'User' },
  })
  assert.equal(readEvent('check_run', { ...payload, action: 'rerequested' }).kind, 'foreign')
  assert.equal(Object(readEvent('check_run', { action: 'requested_action', check_run: 'x' })).externalId, '')
  assert.deepEqual(parseExternalId('ralph:auth:ralph / US-003'), { feature: 'auth', storyId: 'US-003' })
  for (const other of ['', 'ralph:auth:ralph', 'ci:auth:ralph / US-003', 'ralph::ralph / US-003'])
    assert.equal(parseExternalId(other), null, other)
})

test("a button's comment is a command of the person who clicked; another author's, or an edited one, is not", async () => {
  const { github, pull, state } = await place()
  await using _ = github
  const heard = async (by: string, body: string, token = 'own') => {
    const comment = github.comment(by, pull, body)
    const conversation = new Conversation(connected(github, token))
    const from = { ...state, control: { ...state.control, lastComment: comment.id - 1 } }
    return (await conversation.read(from)).map(({ kind, by: who }) => `${kind} by ${who}`)
  }
  const own = 'shop-ralph[bot]'
  assert.deepEqual(await heard(own, pressedComment('bob', 'retry', 'US-003')), ['retry by bob'])
  assert.deepEqual(await heard(own, pressedComment('bob', 'skip', 'US-003')), ['skip by bob'])
  assert.deepEqual(await heard(own, pressedComment('mallory', 'skip', 'US-003')), ['refused by mallory'])
  for (const by of ['mallory', 'bob', 'dependabot[bot]', 'github-actions[bot]'])
    assert.deepEqual(await heard(by, pressedComment('alice', 'skip', 'US-003')), [], by)
  // The job's own bot may speak for any workflow of the repository.
  const job = github.mintJobToken(permissions)
  assert.deepEqual(await heard('github-actions[bot]', pressedComment('bob', 'skip', 'US-003'), job), [])
  assert.deepEqual(await heard(own, pressedComment('bob', 'skip', 'US-003').replace('skip', 'stop')), [])
  assert.deepEqual(await heard(own, `> ${pressedComment('bob', 'skip', 'US-003')}`), [])
})
