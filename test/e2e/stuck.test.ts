// A story that fails too often is blocked, the rest goes on; a person with write permission sets it free by a comment.
import assert from 'node:assert/strict'
import test from 'node:test'
import { badTurn, goodTurn, openSite, outputsOf, requestsByRun, story } from './site.ts'

test('a chain gets stuck, and completes after `/ralph retry` with a hint', async (t) => {
  const good = {
    'US-001': [goodTurn('one', 1)],
    'US-003': [goodTurn('three', 3)],
    'US-004': [goodTurn('four', 4)],
  }
  await using site = await openSite({
    stories: [
      story('US-001', 'one'),
      story('US-002', 'two'),
      story('US-003', 'three'),
      story('US-004', 'four', { dependsOn: ['US-002'] }),
    ],
    script: { ...good, 'US-002': [badTurn('two', 42)] },
    inputs: { 'max-attempts': '2', 'iterations-per-job': '10' },
  })
  const { github, runner } = site
  await site.go()
  const { number } = await site.pull()

  await t.test('the job fails with the outcome stuck, and the other stories passed', async () => {
    const [run, ...others] = runner.runs
    assert.ok(run !== undefined && others.length === 0, site.log())
    assert.equal(run.conclusion, 'failure')
    const outputs = outputsOf(run)
    assert.equal(outputs.outcome, 'stuck')
    assert.equal(outputs['stories-passed'], '2')
    assert.equal(outputs['stories-blocked'], '1')
    assert.equal(outputs.iterations, '4')
    assert.deepEqual(
      (await site.prd()).userStories.map((one) => [one.id, one.passes, one.blocked]),
      [
        ['US-001', true, false],
        ['US-002', false, true],
        ['US-003', true, false],
        ['US-004', false, false],
      ],
    )
  })

  await t.test('the checks and the summary name the blocked story and the command to type', async () => {
    const checks = await site.checks()
    const blocked = checks.get('ralph / US-002')
    assert.equal(blocked?.conclusion, 'failure')
    assert.match(blocked?.title ?? '', /^Blocked after 2 attempts: \/ralph retry US-002/)
    assert.match(blocked?.text ?? '', /43 !== 42/)
    const [place, ...more] = blocked?.annotations ?? []
    assert.deepEqual([place?.path, place?.annotation_level], ['test/two.test.mjs', 'failure'])
    assert.match(place?.message ?? '', /two/)
    assert.ok((place?.start_line ?? 0) > 0)
    assert.equal(new Set([place, ...more].map((one) => JSON.stringify(one))).size, 1 + more.length)
    assert.equal(checks.get('ralph')?.conclusion, 'failure')
    assert.equal(checks.get('ralph / US-001')?.conclusion, 'success')
    assert.equal(checks.get('ralph / US-003')?.conclusion, 'success')
    const [summary, ...others] = github.comments(number)
    assert.deepEqual(others, [])
    assert.match(summary?.body ?? '', /\/ralph retry US-002/)
    assert.equal((await site.pull()).draft, true)
  })

  await t.test('no change of the blocked story is on the branch', async () => {
    assert.equal(await github.read('ralph/sample', 'src/two.mjs'), null)
  })

  await t.test('a person without write permission is refused with 😕, and nothing changes', async () => {
    const before = await site.state()
    const runs = runner.runs.length
    const comment = await site.say('mallory', '/ralph retry US-002')
    assert.deepEqual(site.reactions(comment), ['github-actions[bot]: confused'])
    assert.equal(runner.runs.length, runs + 1)
    assert.equal(site.last().event, 'issue_comment')
    assert.equal(site.last().conclusion, 'success')
    assert.equal(github.comments(number).length, 2)
    assert.deepEqual(await site.state(), before)
  })

  await t.test('a person with write permission retries the story with a hint, to the end', async () => {
    await site.setScript({ ...good, 'US-002': [goodTurn('two', 42)] })
    const comment = await site.say('bob', '/ralph retry US-002 -- use 42')
    assert.deepEqual(site.reactions(comment), ['github-actions[bot]: eyes', 'github-actions[bot]: rocket'])
    assert.equal(site.last().event, 'workflow_dispatch')
    assert.equal(site.last().conclusion, 'success', site.log())
    assert.equal(outputsOf(site.last()).outcome, 'complete')
    assert.equal(outputsOf(site.last())['stories-passed'], '4')
    const told = (await site.sessions()).filter((one) => one.story === 'US-002').at(-1)
    assert.equal(told?.attempt, 1)
    assert.match(told?.prompt ?? '', /Guidance from a maintainer\n- use 42\n/)
  })

  await t.test(
    'there is one summary and one pull request, ready for review, and refused comments stay refused',
    async () => {
      assert.equal((await site.pull()).draft, false)
      const comments = github.comments(number)
      assert.deepEqual(
        comments.map((comment) => comment.login),
        ['github-actions[bot]', 'mallory', 'bob'],
      )
      assert.deepEqual(site.reactions(comments[1]?.id ?? 0), ['github-actions[bot]: confused'])
      for (const check of (await site.checks()).values())
        assert.equal(check.conclusion, 'success', check.name)
    },
  )

  t.diagnostic(`API requests by run: ${requestsByRun(site)}`)
})

test('an unknown story or command gets one reply with the nearest valid one', async () => {
  await using site = await openSite({
    stories: [story('US-001', 'one')],
    script: { 'US-001': [badTurn('one', 1)] },
    inputs: { 'max-attempts': '1' },
  })
  await site.go()
  const { number } = await site.pull()
  const runs = site.runner.runs.length
  const first = await site.say('bob', '/ralph retry US-0O1')
  assert.deepEqual(site.reactions(first), ['github-actions[bot]: confused'])
  const second = await site.say('bob', '/ralph retyr US-001')
  assert.deepEqual(site.reactions(second), ['github-actions[bot]: confused'])
  const third = await site.say('bob', 'Shall we write /ralph retry US-001?')
  assert.deepEqual(site.reactions(third), [])
  const replies = site.github
    .comments(number)
    .filter((comment) => comment.login === 'github-actions[bot]')
    .slice(1)
  assert.equal(replies.length, 2)
  assert.match(
    replies[0]?.body ?? '',
    /^<!-- ralph:reply:\d+ -->\n😕 There is no story US-0O1\..*`\/ralph retry US-001`/,
  )
  assert.match(
    replies[1]?.body ?? '',
    /^<!-- ralph:reply:\d+ -->\n😕 There is no command retyr\..*`\/ralph retry`/,
  )
  for (const run of site.runner.runs.slice(runs)) assert.equal(run.event, 'issue_comment', site.log())
})
