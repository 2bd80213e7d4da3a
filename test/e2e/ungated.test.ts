// `gates: none`: a run that checks nothing by a command works, and says so first wherever it speaks.
import assert from 'node:assert/strict'
import test from 'node:test'
import { annotationsOf, goodTurn, openSite, outputsOf, story } from './site.ts'

const FIRST = 'No gates: no command checks the work'
const CLAIMS = /passed (?:its|all|every) gates?|(?:every|all) gates? passed|when its gates pass/

test('`gates: none` is a warning on every surface, and no surface says that gates passed', async (t) => {
  await using site = await openSite({
    stories: [story('US-001', 'one')],
    script: { 'US-001': [goodTurn('one', 1)] },
    inputs: { gates: 'none', 'final-verification': 'true' },
  })
  const run = await site.go()
  assert.equal(outputsOf(run).outcome, 'complete', site.log())
  const pull = await site.pull()
  const [sticky] = site.github.comments(pull.number)
  const rollup = (await site.checks()).get('ralph')
  const own = (await site.checks()).get('ralph / US-001')
  const { summary } = run.jobs.flatMap((job) => job.steps).find((one) => one.summary !== '') ?? {
    summary: '',
  }
  const prd = await site.prd()
  const progress = await site.github.read('ralph/sample', '.ralph/2026-01-31-sample/progress.txt')
  await t.test('in log and annotation', () => {
    assert.match(
      site.log(),
      /`gates: none` means that no command checks the work: everything the agent calls done passes/,
    )
    assert.equal(annotationsOf(run, 'warning').filter((one) => one.startsWith('`gates: none`')).length, 1)
  })
  await t.test('in checks', () => {
    assert.equal(rollup?.title?.startsWith(FIRST), true, rollup?.title ?? '')
    assert.match(own?.title ?? '', /^Passed on the first attempt without a gate/)
  })
  await t.test('in comment, pull request and summary', () => {
    for (const [name, text] of Object.entries({ sticky: sticky?.body, pull: pull.body, summary })) {
      const first = (text ?? '').replace(/^<!--.*-->\s*/, '').split('\n', 1)[0] ?? ''
      assert.ok(first.includes(FIRST), `${name}: ${first}`)
    }
  })
  await t.test('and no text says that a gate passed', () => {
    const said = {
      log: site.log(),
      sticky: sticky?.body,
      pull: pull.body,
      summary,
      rollup,
      own,
      prd,
      progress,
    }
    for (const [name, text] of Object.entries(said)) assert.doesNotMatch(JSON.stringify(text), CLAIMS, name)
    assert.equal(prd.userStories[0]?.lastResult?.how, 'ungated')
  })
})
