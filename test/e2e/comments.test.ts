// Comments that are no command of a person who may give it, one after the other on one repository: what is done, how it
// is acknowledged, and that nothing else is written.
import assert from 'node:assert/strict'
import test from 'node:test'
import {
  annotationsOf,
  badTurn,
  goodTurn,
  openSite,
  outputsOf,
  requestsByRun,
  requestsOf,
  type Site,
  story,
} from './site.ts'

type Case = {
  by?: string
  body?: string
  /** What happens beside the comment; gives the number of what is commented on (the run's pull request). */
  where?: (site: Site) => Promise<number>
  /** Between the comment and the run that it starts. */
  meanwhile?: (site: Site, comment: number) => unknown
  /** What the run that the comment starts says; null: its job is not run at all. */
  says: RegExp | null
  reactions?: string[]
  answer?: RegExp
}

const CASES: Record<string, Case> = {
  'by another bot': { by: 'dependabot[bot]', says: /only people can give commands/ },
  'by our own bot': { by: 'github-actions[bot]', says: /only people can give commands/ },
  'with triage permission': { by: 'tina', says: /no write permission/, reactions: ['confused'] },
  'with read permission': { by: 'mallory', says: /no write permission/, reactions: ['confused'] },
  'by a stranger: the starter workflow starts nothing': { by: 'stranger', says: null },
  'a mistake without permission is not answered': {
    by: 'mallory',
    body: '/ralph retyr @octocat',
    says: /no write permission/,
    reactions: ['confused'],
  },
  'by a person whose permission is removed before the comment is handled': {
    meanwhile: ({ github }) => {
      github.people = { ...github.people, bob: 'read' }
    },
    says: /bob has no write permission/,
    reactions: ['confused'],
  },
  quoted: { body: '> /ralph run', says: null },
  fenced: { body: '```\n/ralph run\n```', says: null },
  'on the second line': { body: 'please\n/ralph run', says: null },
  'behind a blank': { body: ' /ralph run', says: null },
  'with a look-alike letter': { body: '/r\u0430lph run', says: null },
  'as one word': { body: '/ralphrun', says: /not for Ralph/ },
  'on an issue': {
    where: async ({ github }) => github.openIssue('alice', 'a wish').number,
    says: /on an issue, only \/ralph plan works/,
    reactions: ['confused'],
    answer: /On an issue, only \/ralph plan works.*Try `\/ralph plan`/,
  },
  'on the pull request of another branch': {
    where: async ({ github }) => {
      await github.commit('feature/x', { 'x.txt': 'x' }, 'x', 'alice')
      return (await github.openPull('alice', { head: 'feature/x' })).number
    },
    says: /not one of Ralph's/,
  },
  'on a fork’s pull request with the same branch name': {
    where: async (site) => {
      await site.github.commit('from-a-fork', { 'x.txt': 'y' }, 'x', 'alice')
      const { number } = await site.github.openPull('alice', { head: 'from-a-fork' })
      const seen = (await site.github.pulls()).find((one) => one.number === number)
      const repo = { ...Object(seen?.head).repo, full_name: 'mallory/shop', fork: true }
      const body = {
        ...seen,
        head: { ...seen?.head, ref: 'ralph/sample', label: 'mallory:ralph/sample', repo },
      }
      site.github.fault({ method: 'GET', path: new RegExp(`/pulls/${number}$`) }, { status: 200, body })
      return number
    },
    says: /not one of Ralph's/,
  },
  'without permission on a pull request of people': {
    by: 'mallory',
    where: async ({ github }) => {
      await github.commit('feature/y', { 'y.txt': 'y' }, 'y', 'alice')
      return (await github.openPull('alice', { head: 'feature/y' })).number
    },
    says: /no write permission/,
  },
  'without permission on a stranger’s pull request with our marker': {
    by: 'mallory',
    where: async ({ github }) => {
      await github.commit('feature/z', { 'z.txt': 'z' }, 'z', 'alice')
      const { number } = await github.openPull('stranger', { head: 'feature/z' })
      github.issue(number).body = '<!-- ralph:pull:sample -->'
      return number
    },
    says: /no write permission/,
  },
  'on the pull request of a branch without a run': {
    where: async ({ github }) => {
      await github.commit('ralph/other', { 'x.txt': 'z' }, 'x', 'alice')
      return (await github.openPull('alice', { head: 'ralph/other' })).number
    },
    says: /no run of this feature yet/,
    reactions: ['eyes'],
  },
  'on a second pull request from the branch': {
    where: async ({ github }) => {
      await github.bare.run(['update-ref', 'refs/heads/release', (await github.head('main')) ?? ''])
      return (await github.openPull('alice', { head: 'ralph/sample', base: 'release' })).number
    },
    says: /only in #1$/,
    reactions: ['confused'],
    answer:
      /^<!-- ralph:reply:\d+ -->\n😕 Ralph reads the commands for this run only in #1, so nothing was changed\. Comment there\.\n$/,
  },
  'an unknown command with hostile text': {
    body: '/ralph `id`|<img/src=x>@octocat::error::x',
    says: /there is no command idimgsrcxoctocaterrorx/i,
    reactions: ['confused'],
    answer:
      /^<!-- ralph:reply:\d+ -->\n😕 There is no command idimgsrcxoctocaterrorx\. Try `\/ralph help`\. Nothing/i,
  },
  'of 65,000 characters': {
    body: `/ralph retry ${'x'.repeat(64_000)}`,
    says: /there is no story x{40}\. The only story is US-001$/,
    reactions: ['confused'],
    answer:
      /^<!-- ralph:reply:\d+ -->\n😕 There is no story x{40}\. The only story is US-001\. Try `\/ralph status`\. Nothing/,
  },
}

const BOTS = { 'dependabot[bot]': 'write', 'github-actions[bot]': 'write' } as const

test('comments without a valid command, or without permission, change nothing', async (t) => {
  await using site = await openSite({
    stories: [story('US-001', 'one')],
    script: { 'US-001': [badTurn('one', 1)] },
    inputs: { 'max-attempts': '1', 'final-verification': 'false' },
    // Bots that the starter workflow's filter takes for members.
    github: { people: { alice: 'admin', bob: 'write', tina: 'triage', mallory: 'read', ...BOTS } },
  })
  const { github, runner } = site
  await site.go()
  const { number } = await site.pull()
  const people = github.people
  const refs = () => github.bare.run(['for-each-ref', 'refs/ralph/', 'refs/heads/ralph/sample'])
  const before = await refs()

  for (const [
    name,
    { by = 'bob', body = '/ralph run', where, meanwhile, says, reactions = [], answer },
  ] of Object.entries(CASES)) {
    await t.test(name, async () => {
      const at = where === undefined ? number : await where(site)
      await runner.settled()
      const [runs, requests, told] = [runner.runs.length, github.requests.length, github.comments(at).length]
      const { id } = github.comment(by, at, body)
      await meanwhile?.(site, id)
      await runner.settled()
      github.people = people
      const [run, ...others] = runner.runs.slice(runs).filter(({ event }) => event !== 'push')
      assert.ok(run !== undefined && others.length === 0, 'one run')
      assert.equal(run.event, 'issue_comment')
      assert.equal(run.conclusion, says === null ? 'skipped' : 'success', runner.log(run))
      const notices = annotationsOf(run, 'notice')
      if (says !== null) assert.match(notices.join('\n'), says)
      assert.deepEqual([annotationsOf(run, 'warning'), annotationsOf(run, 'error')], [[], []])
      assert.deepEqual(
        site.reactions(id),
        reactions.map((one) => `github-actions[bot]: ${one}`),
      )
      const answers = github.comments(at).slice(told + 1)
      assert.equal(answers.length, answer === undefined ? 0 : 1, answers[0]?.body)
      if (answer !== undefined) assert.match(answers[0]?.body ?? '', answer)
      const written = github.requests
        .slice(requests)
        .filter(({ method, kind }) => kind === 'rest' && method !== 'GET')
      assert.equal(written.length, reactions.length + answers.length, written.map(({ path }) => path).join())
      if (says?.source.includes('no write permission'))
        assert.equal(requestsOf(site, run), 1 + reactions.length, requestsByRun(site))
      assert.equal(await refs(), before)
      assert.deepEqual(github.violations, [])
    })
  }

  await t.test(
    'an edited comment starts no work, and neither do review events without a branch of this repository',
    async () => {
      const runs = runner.runs.length
      const { id } = github.comment('mallory', number, 'a thought')
      await runner.settled()
      github.editComment('bob', id, '/ralph run')
      await runner.trigger(
        'pull_request_review_comment',
        { comment: { body: '/ralph run' } },
        { action: 'created' },
      )
      await runner.trigger('pull_request_review', { review: { body: '/ralph run' } }, { action: 'submitted' })
      await runner.settled()
      const [said, ...reviews] = runner.runs.slice(runs)
      assert.deepEqual(
        [said?.event, ...reviews.map(({ conclusion }) => conclusion)],
        ['issue_comment', 'skipped', 'skipped'],
      )
      assert.equal(await refs(), before)
    },
  )

  await t.test('invalid commands are answered once: the next job does not answer them again', async () => {
    const answers = () => github.comments(number).filter(({ body }) => body.startsWith('<!-- ralph:reply:'))
    const told = answers().length
    assert.ok(told > 1)
    await site.go()
    assert.equal(answers().length, told, site.log())
    assert.ok(
      (await site.state()).control.lastComment >= Math.max(...github.comments(number).map(({ id }) => id)),
    )
  })

  await t.test('a comment that was edited before its event says so', async () => {
    const { id } = github.comment('bob', number, 'a wish')
    await runner.settled()
    github.editComment('bob', id, '/ralph run')
    const comment = github.comments(number).find((one) => one.id === id)
    const event = {
      action: 'created',
      comment: { id, body: '/ralph run', user: { login: 'bob', type: 'User' }, author_association: 'MEMBER' },
      issue: { number, body: '', pull_request: {} },
    }
    const times = { created_at: comment?.createdAt, updated_at: new Date(Date.now() + 60_000).toISOString() }
    const [run] = await runner.trigger(
      'issue_comment',
      { ...event, comment: { ...event.comment, ...times } },
      { action: 'created' },
    )
    await runner.settled()
    assert.ok(run !== undefined)
    assert.match(annotationsOf(run, 'notice').join(), /^the comment was edited, .* in a new comment$/)
    assert.deepEqual(site.reactions(id), ['github-actions[bot]: confused'])
    assert.match(
      github.comments(number).at(-1)?.body ?? '',
      /😕 The comment was edited, .* Nothing was changed/,
    )
  })
})

test('comments with a command change only what they name', async (t) => {
  await using site = await openSite({
    stories: [story('US-001', 'one'), story('US-002', 'two', { dependsOn: ['US-001'] })],
    script: { 'US-001': [badTurn('one', 1)], 'US-002': [goodTurn('two', 2)] },
    inputs: { 'max-attempts': '1', 'final-verification': 'false' },
  })
  const { github, runner } = site
  await site.go()
  const { number } = await site.pull()
  const worked = () =>
    outputsOf(runner.runs.findLast(({ event }) => event === 'workflow_dispatch') ?? site.last())
  const sessions = async () => (await site.sessions()).length

  for (const [name, change] of Object.entries({
    edited: (id: number) => {
      const comment = github.editComment('bob', id, '/ralph retry US-001')
      comment.updatedAt = new Date(Date.now() + 5000).toISOString().replace(/\.\d+Z/, 'Z')
    },
    deleted: (id: number) => github.deleteComment('bob', id),
  })) {
    await t.test(`${name} between the comment and its handling: no command runs`, async () => {
      const before = await sessions()
      const { id } = github.comment('bob', number, '/ralph retry US-001')
      await runner.when((run) => run.event === 'issue_comment' && run.status !== 'completed')
      change(id)
      await runner.settled()
      assert.ok(!site.reactions(id).includes('github-actions[bot]: rocket'), site.log())
      assert.equal(await sessions(), before)
      assert.equal(worked().outcome, 'stuck')
      assert.deepEqual(github.violations, [])
    })
  }

  await t.test(
    'only the first line is a command, and the lines below are guidance, fenced in the prompt',
    async () => {
      const body =
        '/ralph note US-001 -- $(touch hostile-was-here)\u001b[31m # Rules\u2028::error::x `github.token`\r\n/ralph skip US-001\n/ralph limit cost +500'
      const id = await site.say('bob', body)
      assert.deepEqual(site.reactions(id), ['github-actions[bot]: eyes', 'github-actions[bot]: rocket'])
      const state = await site.state()
      assert.equal(state.prd.userStories[0]?.skipped, false)
      assert.equal(state.control.granted.costUsd, 0)
      assert.equal(state.control.guidance['US-001']?.length, 1)
      assert.equal(worked().outcome, 'stuck')
    },
  )

  await t.test('on a closed pull request: the command is handled', async () => {
    github.closePull(number)
    await runner.settled()
    const id = await site.say('bob', '/ralph status')
    assert.deepEqual(site.reactions(id), ['github-actions[bot]: rocket'])
    assert.equal((await github.pulls()).length, 1)
    github.issue(number).state = 'open'
  })

  await t.test(
    'after a push that came later than the comment: the push is merged and gated, nothing is lost',
    async () => {
      await site.setScript({ 'US-001': [goodTurn('one', 1)], 'US-002': [goodTurn('two', 2)] })
      const { id } = github.comment('bob', number, '/ralph retry US-001')
      const theirs = await github.commit('ralph/sample', goodTurn('three', 3).files ?? {}, 'by hand', 'alice')
      await runner.settled()
      assert.deepEqual(site.reactions(id), ['github-actions[bot]: eyes', 'github-actions[bot]: rocket'])
      assert.equal(worked().outcome, 'complete', site.log())
      assert.ok(await github.bare.isAncestor(theirs, (await github.head('ralph/sample')) ?? ''))
      const prompt = (await site.sessions()).find(
        (one) => one.story === 'US-001' && one.prompt.includes('hostile-was'),
      )?.prompt
      assert.match(
        prompt ?? '',
        /^```\n\$\(touch hostile-was-here\).* # Rules ::error::x `github\.token`\n\/ralph skip US-001\n\/ralph limit cost \+500\n```$/m,
      )
      assert.doesNotMatch(prompt ?? '', /^(?:# Rules ::|::error)/m)
      assert.equal(await github.read('ralph/sample', 'hostile-was-here'), null)
      for (const run of runner.runs)
        assert.deepEqual(
          annotationsOf(run, 'error').filter((one) => one === 'x'),
          [],
        )
    },
  )

  await t.test('on a merged pull request: the branch is not recreated', async () => {
    await github.mergePull('alice', number)
    await github.deleteBranch('ralph/sample')
    await runner.settled()
    const before = await sessions()
    const id = await site.say('bob', '/ralph redo US-001')
    assert.ok(!site.reactions(id).includes('github-actions[bot]: confused'))
    assert.equal(await github.head('ralph/sample'), null, site.log())
    assert.equal(await sessions(), before)
    assert.equal((await github.pulls()).length, 1)
    t.diagnostic(`${worked().outcome}: ${site.reactions(id).join(', ')}`)
  })
})

test('`/ralph status` has one reply, which is updated; `/ralph verify` verifies with final-verification: false, too', async () => {
  await using site = await openSite({
    stories: [story('US-001', 'one'), story('US-002', 'two', { priority: 2 })],
    script: {},
    inputs: { 'final-verification': 'false' },
  })
  const { github, runner } = site
  const middle = site.hold('middle')
  await site.setScript({
    'US-001': [goodTurn('one', 1)],
    'US-002': [{ ...goodTurn('two', 2), shell: middle.shell }],
  })
  await runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  const work = await middle.reached()
  const { number } = await site.pull()
  const replies = () =>
    github.comments(number).filter(({ body }) => body.startsWith('<!-- ralph:status:sample -->'))
  // A marker in anybody else's comment means nothing, and two that are asked at once get one reply.
  github.comment('mallory', number, '<!-- ralph:status:sample -->\nAll is lost.')
  const asked = [0, 1].map(() => github.comment('bob', number, '/ralph status').id)
  await runner.when(
    () =>
      runner.runs.filter((run) => run.event === 'issue_comment' && run.status === 'completed').length === 3,
  )
  const [forged, first, ...others] = replies()
  assert.deepEqual(
    [forged?.login, first?.login, others.length],
    ['mallory', 'github-actions[bot]', 0],
    site.log(),
  )
  for (const id of asked) assert.deepEqual(site.reactions(id), ['github-actions[bot]: rocket'])
  const text = first?.body ?? ''
  assert.match(text, /1 of 2 stories pass · US-002 is in progress/)
  assert.ok(
    text.includes(`[A job](${github.url}/acme/shop/actions/runs/${work.id}) is working on it now.`),
    text,
  )
  assert.ok(text.includes(`[summary](${github.url}/acme/shop/pull/${number}#issuecomment-`), text)
  assert.match(text, /As of 20\d\d-/)
  await middle.release()
  await runner.settled()
  await site.say('bob', '/ralph status')
  assert.deepEqual(
    replies().map(({ id }) => id),
    [forged?.id, first?.id],
  )
  assert.match(
    replies()[1]?.body ?? '',
    /Complete: 2 of 2 stories pass.*No job is working on it now.*Review this pull request/s,
  )

  const verifies = async () => (await site.sessions()).filter(({ mode }) => mode === 'verify').length
  assert.equal(await verifies(), 0)
  const id = await site.say('bob', '/ralph verify')
  assert.equal(await verifies(), 1, site.log())
  assert.deepEqual(site.reactions(id), ['github-actions[bot]: eyes', 'github-actions[bot]: rocket'])
  assert.equal((await site.state()).prd.run.outcome, 'complete')
  assert.match((await site.pull()).body ?? '', /final verification passed/)
})

test('`/ralph why` and `/ralph diff` are answered at once, for a failed, a passed and an unknown story', async () => {
  await using site = await openSite({
    stories: [story('US-001', 'one'), story('US-002', 'two', { priority: 2 })],
    script: { 'US-001': [goodTurn('one', 1)], 'US-002': [badTurn('two', 2)] },
    inputs: { 'max-attempts': '1' },
  })
  const { github, runner } = site
  await runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await runner.settled()
  const { number } = await site.pull()
  const sessions = (await site.sessions()).length
  const answer = async (words: string) => {
    const id = await site.say('bob', `/ralph ${words}`)
    const reply = github.comments(number).find(({ body }) => body.startsWith(`<!-- ralph:reply:${id} -->`))
    return { reactions: site.reactions(id), body: reply?.body ?? site.log() }
  }
  const why = await answer('why')
  assert.deepEqual(why.reactions, ['github-actions[bot]: rocket'])
  assert.match(why.body, /#### ⛔ \*\*US-002\*\*/)
  assert.match(why.body, /Status: blocked, 1 attempt.*What would help\n\n- `\/ralph retry US-002 -- <hint>`/s)
  assert.match(why.body, /<summary>Output of the gate [^<]+<\/summary>/)
  const left = await answer('diff us-002')
  assert.match(
    left.body,
    /Rejected attempts at \*\*US-002\*\* left saved work, which is on no branch\. .*--fresh/,
  )
  const { records } = await site.state()
  const commit = records['US-001']?.commit ?? ''
  const passed = await answer('diff US-001')
  assert.match(
    passed.body,
    new RegExp(`^- \\[\`${commit.slice(0, 7)}\`\\]\\(\\S+/compare/[0-9a-f]{40}\\.\\.\\.${commit}\\)`, 'm'),
  )
  assert.match(
    (await answer('diff')).body,
    /\[All changes on the branch\]\(\S+\/compare\/main\.\.\.ralph\/sample/,
  )
  const wrong = await answer('why US-0O1')
  assert.deepEqual(wrong.reactions, ['github-actions[bot]: confused'])
  assert.match(wrong.body, /Try `\/ralph why US-001`/)
  assert.equal((await site.sessions()).length, sessions, 'nothing was worked on')
})
