// The pull request after `complete`, with act as the runner: a red check, a review, a base that moved, and a story that is dropped.
import assert from 'node:assert/strict'
import test from 'node:test'
import { goodTurn, openSite, story } from '../e2e/site.ts'
import { startActRunner } from './act-runner.ts'

/** act does not know `queue`, as the example says. The event is one that `checks: wait` needs. */
const forAct = (text: string) =>
  text.replace(/^ *queue: max.*\n/m, '').replace('  # check_suite: {', '  check_suite: {')

const turnTo = (name: string, value: string) => ({
  files: { [`src/${name}.mjs`]: `export const ${name} = () => ${value}\n` },
})

test('on act, each of them becomes a commit by a job of its own, and one that concerns nobody ends neutral', async (t) => {
  await using site = await openSite({
    startRunner: startActRunner,
    workflow: forAct,
    stories: [story('US-001', 'one'), story('US-002', 'two', { priority: 2 })],
    script: {
      'US-001': [goodTurn('one', 1)],
      'US-002': [goodTurn('two', 2)],
      'FIX-1': [turnTo('one', '0 + 1')],
      'FIX-2': [turnTo('one', '1 + 0')],
    },
    inputs: {
      'final-verification': 'false',
      baseline: 'off',
      'agents-md': 'off',
      checks: 'wait',
      'required-checks': 'build',
    },
  })
  const { github, runner } = site
  const outcome = async () => (await site.state()).prd.run.outcome
  const check = async (conclusion: string) => {
    const head = (await github.head('ralph/sample')) ?? ''
    github.check('ralph/sample', head, {
      name: 'build',
      conclusion,
      app: { id: 15368, slug: 'github-actions' },
      annotations: [],
    })
    await runner.settled()
  }

  await t.test('a run waits for the checks of its head', async () => {
    await site.go()
    assert.equal(await outcome(), 'paused', site.log())
  })

  await t.test('a red check is corrected', async () => {
    await check('failure')
    const { corrections } = await site.state()
    assert.equal(corrections?.['FIX-1']?.source.kind, 'check', site.log())
    await check('success')
    assert.equal(await outcome(), 'complete', site.log())
  })

  await t.test('a thread of a review is corrected, answered and resolved', async () => {
    const { number } = await site.pull()
    const [thread] = github.review('bob', number, {
      threads: [{ path: 'src/one.mjs', line: 1, body: 'The other way round.' }],
    })
    await runner.settled()
    await check('success')
    assert.match(thread?.comments[1]?.body ?? '', /✅ Fixed in/, site.log())
    assert.equal(thread?.isResolved, true)
  })

  await t.test('/ralph update merges the base branch', async () => {
    await github.commit('main', { 'other.txt': 'x\n' }, 'theirs', 'alice')
    await site.say('bob', '/ralph update')
    await check('success')
    assert.equal(await github.read('ralph/sample', 'other.txt'), 'x\n', site.log())
  })

  await t.test('/ralph drop reverts a story', async () => {
    await site.say('bob', '/ralph drop US-002')
    await check('success')
    assert.equal(await github.read('ralph/sample', 'src/two.mjs'), null, site.log())
    assert.equal(await outcome(), 'complete')
  })

  await t.test('a comment of a person without write permission starts nothing', async () => {
    const before = runner.runs.length
    await site.say('mallory', '/ralph run')
    assert.equal(runner.runs.length, before, site.log())
  })
  assert.deepEqual(github.violations, [])
})
