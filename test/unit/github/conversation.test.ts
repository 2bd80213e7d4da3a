// The queue of comments as a working job reads it: whose words count, which do not, and what is written for each.
import assert from 'node:assert/strict'
import test from 'node:test'
import { parseSlash } from '../../../src/engine/commands/command-table.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { Conversation } from '../../../src/github/conversation.ts'
import { unchangedReply } from '../../../src/report/replies.ts'
import { hostileStrings } from '../../fixtures/hostile-strings.ts'
import { type GitHub, type Level, startGitHub } from '../../standin/github.ts'
import { heard } from '../heard.ts'
import { midRun } from '../report/samples.ts'
import { assertHarmless } from '../report/structure.ts'
import { connected } from './connected.ts'

type Place = AsyncDisposable & {
  github: GitHub
  conversation: Conversation
  state: State
  /** The number of the pull request. */
  pull: number
  warnings: string[]
}

const PEOPLE: Record<string, Level> = {
  alice: 'admin',
  bob: 'write',
  mia: 'maintain',
  tina: 'triage',
  mallory: 'read',
}

async function place(): Promise<Place> {
  const github = await startGitHub({ people: { ...PEOPLE } })
  await github.commit('ralph/auth', { 'a.txt': 'a' }, 'start', 'alice')
  const { number } = await github.openPull('alice', { head: 'ralph/auth' })
  const token = github.mintJobToken({ contents: 'read', pull_requests: 'write' })
  const warnings: string[] = []
  const warn = (message: string) => warnings.push(message)
  const state = midRun()
  return {
    github,
    conversation: new Conversation(connected(github, token, warn)),
    state: { ...state, github: { ...state.github, pull: number } },
    pull: number,
    warnings,
    async [Symbol.asyncDispose]() {
      await github[Symbol.asyncDispose]()
    },
  }
}

const reactionsOf = (github: GitHub, comment: number) =>
  github.reactions(comment).map(({ content }) => content)

type Case = {
  by: string
  body: string
  /** What the loop is told: the kind of the command, or nothing. */
  told: string | null
  reaction: 'rocket' | 'confused' | null
  edited?: boolean
}

const CASES: Record<string, Case> = {
  'with write permission': { by: 'bob', body: '/ralph pause', told: 'pause', reaction: 'rocket' },
  'as a maintainer': { by: 'mia', body: '/ralph pause', told: 'pause', reaction: 'rocket' },
  'with CR LF': {
    by: 'bob',
    body: '/ralph note US-003 -- use it\r\nthanks',
    told: 'note',
    reaction: 'rocket',
  },
  'in capitals': { by: 'bob', body: '/ralph PAUSE', told: 'pause', reaction: 'rocket' },
  'with 65,000 characters': {
    by: 'bob',
    body: `/ralph note US-003 -- ${'x '.repeat(32_000)}`,
    told: 'note',
    reaction: 'rocket',
  },
  'help, which another run answers': { by: 'bob', body: '/ralph help', told: 'refused', reaction: null },
  'without a command': { by: 'bob', body: '/ralph retry', told: 'refused', reaction: 'confused' },
  'with triage permission': { by: 'tina', body: '/ralph pause', told: 'refused', reaction: 'confused' },
  'with read permission': { by: 'mallory', body: '/ralph pause', told: 'refused', reaction: 'confused' },
  'by a stranger': { by: 'stranger', body: '/ralph pause', told: 'refused', reaction: 'confused' },
  'a stranger’s mistake': {
    by: 'stranger',
    body: '/ralph retry US-9',
    told: 'refused',
    reaction: 'confused',
  },
  'by another bot': { by: 'dependabot[bot]', body: '/ralph pause', told: null, reaction: null },
  'by our own bot': { by: 'github-actions[bot]', body: '/ralph pause', told: null, reaction: null },
  'by an organization': { by: 'acme', body: '/ralph pause', told: null, reaction: null },
  'by a deleted user': { by: 'ghost', body: '/ralph pause', told: null, reaction: null },
  edited: { by: 'bob', body: '/ralph pause', told: 'refused', reaction: 'confused', edited: true },
  quoted: { by: 'bob', body: '> /ralph pause', told: null, reaction: null },
  'quoted, with an answer': { by: 'bob', body: '> /ralph pause\n\n/ralph pause', told: null, reaction: null },
  fenced: { by: 'bob', body: '```\n/ralph pause\n```', told: null, reaction: null },
  'in code': { by: 'bob', body: '`/ralph pause`', told: null, reaction: null },
  'in a comment of HTML': { by: 'bob', body: '<!--\n/ralph pause\n-->', told: null, reaction: null },
  'on the second line': { by: 'bob', body: 'please\n/ralph pause', told: null, reaction: null },
  'after a blank': { by: 'bob', body: ' /ralph pause', told: null, reaction: null },
  'after an empty line': { by: 'bob', body: '\n/ralph pause', told: null, reaction: null },
  'after a byte order mark': { by: 'bob', body: '\ufeff/ralph pause', told: null, reaction: null },
  'after a zero-width character': { by: 'bob', body: '\u200b/ralph pause', told: null, reaction: null },
  'as one word': { by: 'bob', body: '/ralphpause', told: null, reaction: null },
  'as another word': { by: 'bob', body: '/ralph-pause', told: null, reaction: null },
  'with a look-alike letter': { by: 'bob', body: '/r\u0430lph pause', told: null, reaction: null },
  'in fullwidth': {
    by: 'bob',
    body: '\uff0f\uff52\uff41\uff4c\uff50\uff48 pause',
    told: null,
    reaction: null,
  },
  'with a look-alike command': {
    by: 'bob',
    body: '/ralph p\u0430use',
    told: 'refused',
    reaction: 'confused',
  },
  'with a look-alike id': {
    by: 'bob',
    body: '/ralph skip U\u0405-003',
    told: 'refused',
    reaction: 'confused',
  },
  'in the middle of a sentence': { by: 'bob', body: 'shall we /ralph pause?', told: null, reaction: null },
  'after a mention of another user': { by: 'bob', body: '@octocat /ralph pause', told: null, reaction: null },
}

test("comments count as commands by their author's permission", async (t) => {
  await using there = await place()
  const { github, conversation, pull } = there
  for (const [name, { by, body, told, reaction, edited }] of Object.entries(CASES)) {
    await t.test(name, async () => {
      const before = github.comments(pull).length
      const comment = github.comment(by, pull, body)
      if (edited === true) comment.createdAt = '2026-01-01T00:00:00Z'
      const state = { ...there.state, control: { ...there.state.control, lastComment: comment.id - 1 } }
      const commands = await conversation.read(state)
      assert.deepEqual(
        commands.map(({ kind, id, by: who }) => [kind, id, who]),
        told === null ? [] : [[told, comment.id, by]],
      )
      assert.deepEqual(reactionsOf(github, comment.id), reaction === null ? [] : [reaction])
      // Only a mistake of somebody who may write is answered.
      const answers = github.comments(pull).slice(before + 1)
      const isMistake = told === 'refused' && reaction === 'confused' && PEOPLE[by] === 'write'
      assert.equal(answers.length, isMistake ? 1 : 0, answers[0]?.body)
      for (const { body: text } of answers) {
        assertHarmless(text, `<!-- ralph:reply:${comment.id} -->`, [], name)
        assert.match(text, /Nothing was changed\.\n$/)
      }
      for (const command of commands) {
        if (command.kind === 'note')
          assert.ok(command.guidance.length <= 2000 && !command.guidance.includes('\r'))
      }
    })
  }
  assert.deepEqual(github.violations, [])
  assert.deepEqual(there.warnings, [])
})

test('a command after more than one page of comments is read', async () => {
  await using there = await place()
  const { github, conversation, pull } = there
  for (let at = 0; at < 130; at += 1) github.comment('mallory', pull, `comment ${at}`)
  assert.deepEqual(await conversation.read(there.state), [])
  const comment = github.comment('bob', pull, '/ralph pause')
  assert.deepEqual(
    (await conversation.read(there.state)).map(({ kind, id }) => [kind, id]),
    [['pause', comment.id]],
  )
})

test('without a new comment, reading again costs one conditional request', async () => {
  await using there = await place()
  const { github, conversation, pull } = there
  github.comment('mallory', pull, 'hello')
  await conversation.read(there.state)
  const before = github.requests.length
  await conversation.read(there.state)
  assert.deepEqual(
    github.requests.slice(before).map(({ status }) => status),
    [304],
  )
})

test('permissions are looked up at each reading: one that was removed does not count', async () => {
  await using there = await place()
  const { github, conversation, pull, state } = there
  const first = github.comment('bob', pull, '/ralph note US-003 -- a')
  assert.equal((await conversation.read(state))[0]?.kind, 'note')
  github.people = { ...github.people, bob: 'read' }
  const second = github.comment('bob', pull, '/ralph pause')
  const later = { ...state, control: { ...state.control, lastComment: first.id } }
  assert.equal((await conversation.read(later))[0]?.kind, 'refused')
  assert.deepEqual(reactionsOf(github, second.id), ['confused'])
  assert.equal(await conversation.waiting(later), false)
  github.people = { ...github.people, bob: 'write' }
  assert.equal(await conversation.waiting(later), true)
})

test("no text of a comment becomes markup, a command or a mention in Ralph's answer", async () => {
  const answer = (text: string, ids = ['US-001']) => {
    const parsed = parseSlash(`/ralph retry ${text}`, ids)
    return parsed.kind === 'mistake' ? unchangedReply(parsed.problem, parsed.fix) : ''
  }
  for (const { name, text } of hostileStrings) {
    assertHarmless(answer(text), null, [], name)
    assert.deepEqual(heard(answer(text)).done, [], name)
    assert.ok(answer(text).length < 500, name)
  }
  await using there = await place()
  const { github, conversation, pull, state } = there
  const samples = [...new Map(hostileStrings.map((one) => [one.kind, one])).values()].filter(
    ({ text }) => text.length < 60_000,
  )
  const wanted = new Map(
    samples.map(({ text }) => [github.comment('bob', pull, `/ralph retry ${text}`).id, text]),
  )
  const known = state.prd.userStories.map(({ id }) => id)
  const commands = await conversation.read(state)
  assert.deepEqual(
    commands.map(({ id }) => id),
    [...wanted.keys()],
  )
  const answers = github.comments(pull).filter(({ login }) => login === 'github-actions[bot]')
  assert.deepEqual(
    answers.map(({ body }) => body),
    [...wanted].map(([id, text]) => `<!-- ralph:reply:${id} -->\n${answer(text, known)}`),
  )
  assert.ok(answers.length > 10)
  assert.deepEqual(github.violations, [])
})

test('a wrong command is answered once, however many jobs read it', async () => {
  await using there = await place()
  const { github, conversation, pull, state } = there
  const { id } = github.comment('bob', pull, '/ralph retri US-003')
  // The run that the comment itself starts.
  await conversation.reply(pull, id, 'an answer')
  // The next jobs, whose cursor is behind it: the second one lost its lease before the cursor was saved.
  for (const _job of [1, 2]) assert.equal((await conversation.read(state))[0]?.kind, 'refused')
  const answers = github.comments(pull).filter(({ login }) => login === 'github-actions[bot]')
  assert.deepEqual(
    answers.map(({ body }) => body),
    [`<!-- ralph:reply:${id} -->\nan answer`],
  )
  // A marker in anybody else's comment is no answer of ours.
  const other = github.comment('bob', pull, '/ralph retri US-003')
  github.comment('mallory', pull, `<!-- ralph:reply:${other.id} -->`)
  await conversation.reply(pull, other.id, 'another')
  assert.equal(github.comments(pull).filter(({ body }) => body.endsWith('another')).length, 1)
  assert.deepEqual([github.violations, there.warnings], [[], []])
})

test('a comment list that GitHub refuses is not an empty one: no answer and no summary is posted twice', async () => {
  await using there = await place()
  const { github, conversation, pull } = there
  const { id } = github.comment('bob', pull, '/ralph retri US-003')
  await conversation.reply(pull, id, 'an answer')
  const sticky = await conversation.writeSticky(
    pull,
    null,
    '<!-- ralph:sticky:auth -->',
    '<!-- ralph:sticky:auth -->',
  )
  const before = github.comments(pull).length
  github.fault({ method: 'GET', path: /\/comments$/ }, { status: 409 }, { times: 2 })
  await assert.rejects(conversation.reply(pull, id, 'an answer'), { status: 409 })
  const write = () =>
    conversation.writeSticky(pull, null, '<!-- ralph:sticky:auth -->', '<!-- ralph:sticky:auth -->')
  await assert.rejects(write(), { status: 409 })
  assert.equal(await write(), sticky)
  assert.equal(github.comments(pull).length, before)
})

test("Ralph's own comment is found beyond the first page of comments", async () => {
  await using there = await place()
  const { github, conversation, pull } = there
  for (let index = 0; index < 120; index++) github.comment('mallory', pull, `no ${index}`)
  await conversation.reply(pull, 1, 'an answer')
  assert.equal(await conversation.hasOwnComment(pull, '<!-- ralph:reply:1 -->'), true)
})
