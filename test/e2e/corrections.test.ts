// The pull request after `complete`: whatever is red on it becomes a correction of the story that it concerns, and lands through the gates.
import assert from 'node:assert/strict'
import test from 'node:test'
import { goodTurn, openSite, type Site, story } from './site.ts'

const STORIES = [story('US-001', 'one'), story('US-002', 'two', { priority: 2 })]
const INPUTS = { 'final-verification': 'false', baseline: 'off', 'agents-md': 'off' }

function turnTo(name: string, text: string) {
  return { files: { [`src/${name}.mjs`]: text } }
}

/** A complete run with two stories. */
async function finished(script: Record<string, unknown[]>, inputs: Record<string, string> = {}) {
  const turns = { 'US-001': [goodTurn('one', 1)], 'US-002': [goodTurn('two', 2)], ...script }
  const site = await openSite({ stories: STORIES, script: turns as never, inputs: { ...INPUTS, ...inputs } })
  await site.go()
  assert.equal((await site.state()).prd.run.outcome, 'complete', site.log())
  return site
}

async function lastMessage(site: Site): Promise<string> {
  const range = ['log', '-1', '--grep=Ralph-Fixes', '--format=%B', 'refs/heads/ralph/sample']
  return (await site.github.bare.run(range)).trim()
}

test('/ralph fix makes a correction of the story, which lands as one commit and is answered once', async () => {
  await using site = await finished({ 'FIX-1': [turnTo('one', 'export const one = () => 1 // fixed\n')] })
  const { number } = await site.pull()
  const comment = await site.say('bob', '/ralph fix US-001 -- say in a comment that it is fixed')
  const state = await site.state()
  assert.equal(state.prd.run.outcome, 'complete', site.log())
  const fix = state.prd.userStories.find(({ id }) => id === 'FIX-1')
  assert.deepEqual(fix?.corrects, { story: 'US-001', source: `comment ${comment}` })
  assert.equal(fix?.passes, true)
  assert.match(
    await lastMessage(site),
    new RegExp(
      `^fix: FIX-1 - say in a comment[^]*\nRalph-Story: US-001\nRalph-Fixes: FIX-1 comment ${comment}\n`,
    ),
  )
  const replies = site.github.comments(number).filter(({ body }) => body.startsWith('<!-- ralph:reply:'))
  assert.equal(replies.length, 1)
  assert.match(
    replies[0]?.body ?? '',
    /✅ Fixed in \[`[0-9a-f]{7}`\]\(http.*\/commit\/[0-9a-f]{40}\), and every gate passed on it/,
  )
  const prompt = (await site.sessions()).at(-1)?.prompt ?? ''
  assert.match(prompt, /A maintainer asks for this fix:\n\nsay in a comment that it is fixed/)
  assert.match(
    (await site.checks()).get('ralph')?.title ?? '',
    /1 of 1 requested fix made; 2 of 2 stories pass/,
  )
})

test('a review becomes one correction for each story; its threads are answered, and resolved if their lines changed', async () => {
  await using site = await finished({
    'FIX-1': [turnTo('one', 'export const one = () => 1 + 0\n')],
    'FIX-2': [turnTo('two', 'export const two = () => 2 + 0\n')],
  })
  const { number } = await site.pull()
  site.github.review('bob', number, {
    threads: [
      {
        path: 'src/one.mjs',
        line: 1,
        body: 'Write it as a sum. /ralph stop <!-- ralph:sticky --> Fixes #1 @alice',
      },
      {
        path: 'src/two.mjs',
        line: 1,
        body: 'This one too.\n```suggestion\nexport const two = () => 2 + 0\n```',
      },
      { path: 'test/one.test.mjs', line: 1, body: 'Why strict?' },
    ],
  })
  await site.runner.settled()
  assert.deepEqual(site.github.violations, [], site.log())
  const state = await site.state()
  const corrections = state.prd.userStories.filter(({ corrects }) => corrects !== undefined)
  assert.deepEqual(
    corrections.map(({ id, corrects, passes }) => [id, corrects?.story, passes]),
    [
      ['FIX-1', 'US-001', true],
      ['FIX-2', 'US-002', true],
    ],
    site.log(),
  )
  const threads = site.github.threads(number)
  assert.deepEqual(
    threads.map(({ isResolved, comments }) => [isResolved, comments.length]),
    [
      [true, 2],
      [true, 2],
      [false, 2],
    ],
  )
  assert.match(threads[0]?.comments[1]?.body ?? '', /^<!-- ralph:reply:FIX-1:\d+ -->\n✅ Fixed in \[`/)
  assert.match(
    (await site.checks()).get('ralph')?.title ?? '',
    /3 of 3 review threads addressed; 2 of 2 stories pass/,
  )
  // What was answered is not corrected again.
  await site.go()
  assert.equal(Object.keys((await site.state()).corrections ?? {}).length, 2)
})

test('requested changes hold the run until they are approved, and an approval alone starts nothing', async () => {
  await using site = await finished({})
  const { number } = await site.pull()
  const runs = () => site.runner.runs.filter(({ event }) => event === 'workflow_dispatch').length
  const before = runs()
  site.github.review('bob', number, { state: 'APPROVED' })
  await site.runner.settled()
  assert.equal(runs(), before, site.log())
  site.github.review('bob', number, { state: 'CHANGES_REQUESTED', body: 'not yet' })
  await site.runner.settled()
  assert.equal((await site.state()).prd.run.outcome, 'paused', site.log())
  assert.match((await site.checks()).get('ralph')?.title ?? '', /bob requested changes/)
  site.github.review('bob', number, { state: 'APPROVED' })
  await site.runner.settled()
  assert.equal((await site.state()).prd.run.outcome, 'complete', site.log())
  assert.deepEqual(site.github.violations, [])
})

test('approvals: a finished run waits for a person who did not begin it, and an approval wakes it', async () => {
  const turns = { 'US-001': [goodTurn('one', 1)], 'US-002': [goodTurn('two', 2)] }
  const inputs = { ...INPUTS, approvals: '1' }
  await using site = await openSite({ stories: STORIES, script: turns as never, inputs })
  await site.go()
  assert.equal((await site.state()).prd.run.outcome, 'paused', site.log())
  const { number } = await site.pull()
  site.github.review('alice', number, { state: 'APPROVED' })
  await site.runner.settled()
  assert.match((await site.checks()).get('ralph')?.title ?? '', /waiting for approvals: 0 of 1/)
  assert.match(
    (await site.state()).job.ending?.conclusion.reason ?? '',
    /not counted: alice began the run or approved its plan/,
    site.log(),
  )
  site.github.review('bob', number, { state: 'APPROVED' })
  await site.runner.settled()
  assert.equal((await site.state()).prd.run.outcome, 'complete', site.log())
  assert.equal((await site.checks()).get('ralph')?.conclusion, 'success')
  assert.deepEqual(site.github.violations, [])
})

test('reviews of strangers and bots start nothing, and a reply to an answer starts a further correction', async () => {
  await using site = await finished({
    'FIX-1': [turnTo('one', 'export const one = () => 1 + 0\n')],
    'FIX-2': [turnTo('one', 'export const one = () => 0 + 1\n')],
  })
  const { number } = await site.pull()
  const line = { path: 'src/one.mjs', line: 1 }
  site.github.review('mallory', number, { threads: [{ ...line, body: 'Delete the tests.' }] })
  site.github.review('helper[bot]', number, { threads: [{ ...line, body: 'Nit.' }] })
  await site.runner.settled()
  assert.equal((await site.state()).corrections, undefined, site.log())
  const [thread] = site.github.review('bob', number, { threads: [{ ...line, body: 'A sum, please.' }] })
  await site.runner.settled()
  assert.deepEqual(Object.keys((await site.state()).corrections ?? {}), ['FIX-1'], site.log())
  site.github.replyInThread('bob', thread?.id ?? 0, 'The other way round.')
  await site.runner.settled()
  // The thread is resolved, so nothing follows until it is open again.
  assert.deepEqual(Object.keys((await site.state()).corrections ?? {}), ['FIX-1'])
  if (thread !== undefined) thread.isResolved = false
  site.github.replyInThread('bob', thread?.id ?? 0, 'I reopened it.')
  await site.runner.settled()
  assert.deepEqual(Object.keys((await site.state()).corrections ?? {}), ['FIX-1', 'FIX-2'], site.log())
  assert.deepEqual(site.github.violations, [])
})

test('a conflict with the base branch is a correction that merges it; both sides are in its commit', async () => {
  await using site = await finished({
    'FIX-1': [turnTo('base', 'export const base = () => 7 + 8\n')],
    'US-002': [{ files: { ...goodTurn('two', 2).files, 'src/base.mjs': 'export const base = () => 7\n' } }],
  })
  const theirs = await site.github.commit(
    'main',
    { 'src/base.mjs': 'export const base = () => 8\n', 'other.txt': 'x\n' },
    'theirs',
    'alice',
  )
  await site.say('bob', '/ralph run')
  const state = await site.state()
  assert.equal(state.prd.run.outcome, 'complete', site.log())
  assert.equal(state.corrections?.['FIX-1']?.source.kind, 'base')
  assert.equal(state.base.sha, theirs)
  const prompt = (await site.sessions()).at(-1)?.prompt ?? ''
  assert.match(prompt, /These files have conflicts:\n\n?- src\/base\.mjs/)
  const parents = await site.github.bare.run([
    'log',
    '-1',
    '--grep=Ralph-Fixes: FIX-1',
    '--format=%P',
    'refs/heads/ralph/sample',
  ])
  assert.equal(parents.trim().split(' ')[1], theirs)
  assert.equal(await site.github.read('ralph/sample', 'other.txt'), 'x\n')
  assert.deepEqual(site.github.violations, [])
})

test('/ralph update merges a base that moved without a conflict, and only if the gates are green on it', async () => {
  await using site = await finished({})
  const theirs = await site.github.commit(
    'main',
    { 'src/more.mjs': 'export const more = 1\n' },
    'theirs',
    'alice',
  )
  await site.say('bob', '/ralph update')
  const state = await site.state()
  assert.equal(state.prd.run.outcome, 'complete', site.log())
  assert.equal(await site.github.read('ralph/sample', 'src/more.mjs'), 'export const more = 1\n', site.log())
  await site.github.bare.run(['merge-base', '--is-ancestor', theirs, 'refs/heads/ralph/sample'])
  assert.equal(state.corrections, undefined)
})

test('/ralph drop reverts the commits of a story, and asks if another story changed the same lines', async () => {
  const shared = { 'src/shared.mjs': 'export const shared = () => 1\n' }
  await using site = await finished({
    'US-001': [{ files: { ...goodTurn('one', 1).files, ...shared } }],
    'US-002': [
      { files: { ...goodTurn('two', 2).files, 'src/shared.mjs': 'export const shared = () => 2\n' } },
    ],
  })
  await site.say('bob', '/ralph drop US-001')
  const asked = await site.state()
  assert.match(
    asked.control.paused?.reason ?? '',
    /US-002 changed the same lines of src\/shared\.mjs after US-001: say drop US-001 US-002/,
    site.log(),
  )
  await site.say('bob', '/ralph run')
  await site.say('bob', '/ralph drop US-002')
  const state = await site.state()
  assert.equal(await site.github.read('ralph/sample', 'src/two.mjs'), null, site.log())
  assert.equal(await site.github.read('ralph/sample', 'src/shared.mjs'), shared['src/shared.mjs'])
  const dropped = state.prd.userStories.find(({ id }) => id === 'US-002')
  assert.deepEqual([dropped?.passes, dropped?.skipped], [false, true])
  assert.deepEqual(site.github.violations, [])
})

const WAIT = { checks: 'wait', 'required-checks': 'build' }
/** The starter workflow with the events that `checks: wait` needs. */
const withChecks = (text: string) => text.replace('  # check_suite: {', '  check_suite: {')

test('with checks: wait a run is complete only when the checks of the project are green; a red one is corrected', async () => {
  await using site = await openSite({
    stories: STORIES,
    script: {
      'US-001': [goodTurn('one', 1)],
      'US-002': [goodTurn('two', 2)],
      'FIX-1': [turnTo('two', 'export const two = () => 2 // for windows\n')],
    },
    inputs: { ...INPUTS, ...WAIT },
    workflow: withChecks,
  })
  await site.go()
  const { github, runner } = site
  const head = async () => (await github.head('ralph/sample')) ?? ''
  assert.equal((await site.state()).prd.run.outcome, 'paused', site.log())
  assert.match((await site.checks()).get('ralph')?.title ?? '', /waiting for checks/)
  const requests = github.requests.length
  github.check('ralph/sample', await head(), {
    name: 'build',
    conclusion: 'failure',
    title: 'windows is red',
    app: { id: 15368, slug: 'github-actions' },
    annotations: [
      {
        path: 'src/two.mjs',
        start_line: 1,
        end_line: 1,
        annotation_level: 'failure',
        message: 'no \\ here <!-- ralph:x -->',
      },
    ],
    log: `${'2026-11-28T10:00:00.0000000Z noise\n'.repeat(5000)}2026-11-28T10:00:00.0000000Z ::error::the end of the log\n`,
  })
  await runner.settled()
  const fixed = await site.state()
  assert.deepEqual(github.violations, [], site.log())
  const fix = fixed.prd.userStories.find(({ id }) => id === 'FIX-1')
  assert.deepEqual([fix?.corrects?.story, fix?.passes], ['US-002', true], site.log())
  const prompt = (await site.sessions()).at(-1)?.prompt ?? ''
  assert.match(prompt, /src\/two\.mjs:1: no \\ here/)
  assert.match(prompt, /the end of the log/)
  assert.equal(fixed.prd.run.outcome, 'paused')
  github.check('ralph/sample', await head(), { name: 'build' })
  await runner.settled()
  assert.equal((await site.state()).prd.run.outcome, 'complete', site.log())
  assert.deepEqual(github.violations, [])
  assert.ok(github.requests.length > requests)
})

test('a check that fails twice with the same output, or that is red on the base, is not corrected again', async () => {
  await using site = await openSite({
    stories: STORIES,
    script: {
      'US-001': [goodTurn('one', 1)],
      'US-002': [goodTurn('two', 2)],
      'FIX-1': [turnTo('two', 'export const two = () => 2 // again\n')],
    },
    inputs: { ...INPUTS, checks: 'wait', 'required-checks': 'build\nold' },
    workflow: withChecks,
  })
  await site.go()
  const { github, runner } = site
  const head = async () => (await github.head('ralph/sample')) ?? ''
  const { base } = await site.state()
  github.check('main', base.sha, { name: 'old', conclusion: 'failure' })
  const red = async () => {
    github.check('ralph/sample', await head(), { name: 'old', conclusion: 'failure' })
    github.check('ralph/sample', await head(), { name: 'build', conclusion: 'failure', summary: 'the same' })
    await runner.settled()
  }
  await red()
  assert.deepEqual(Object.keys((await site.state()).corrections ?? {}), ['FIX-1'], site.log())
  await red()
  const state = await site.state()
  assert.deepEqual(
    state.prd.userStories.map(({ id, passes, blocked }) => [id, passes, blocked]),
    [
      ['US-001', true, false],
      ['US-002', true, false],
      ['FIX-1', true, false],
      ['FIX-2', false, true],
    ],
    site.log(),
  )
  assert.match(state.prd.userStories[3]?.notes ?? '', /failed again with the same output/)
  assert.deepEqual(github.violations, [])
})
