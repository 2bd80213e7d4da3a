// `auto-merge: true`: GitHub merges a complete run's pull request when the rules of its base are met; a run at work takes the wish back.
// The stand-in's auto-merge is a simulation of ours behind GitHub's schema.
import assert from 'node:assert/strict'
import test from 'node:test'
import { goodTurn, openSite, type SiteOptions, story } from './site.ts'

const INPUTS = { 'final-verification': 'false', baseline: 'off', 'agents-md': 'off', 'auto-merge': 'true' }

async function open(github: SiteOptions['github'], script: Record<string, unknown[]> = {}) {
  const turns = { 'US-001': [goodTurn('one', 1)], ...script }
  return openSite({ stories: [story('US-001', 'one')], script: turns as never, inputs: INPUTS, github })
}

type Opened = Awaited<ReturnType<typeof open>>

async function autoMergeAt(site: Opened): Promise<string | null> {
  const { number } = await site.pull()
  return site.github.world.issues.get(number)?.pull?.autoMergeAt ?? null
}

async function summaryOf(site: Opened): Promise<string> {
  const { number } = await site.pull()
  return site.github.comments(number)[0]?.body ?? ''
}

test('auto-merge is on at complete, off while a correction is at work, and on again after it', async () => {
  await using site = await open({ allowsAutoMerge: true, requiredChecks: { main: ['ralph'] } })
  await site.go()
  assert.equal((await site.state()).prd.run.outcome, 'complete', site.log())
  const first = await autoMergeAt(site)
  assert.ok(first !== null, site.log())
  assert.match(
    await summaryOf(site),
    /Review this pull request like any other\. GitHub merges it automatically/,
  )
  assert.match(
    await summaryOf(site),
    /Auto-merge is on: GitHub merges this as soon as the rules of main are met/,
  )

  const held = site.hold('fix')
  const text = 'export const one = () => 1 // fixed\n'
  await site.setScript({ 'FIX-1': [{ files: { 'src/one.mjs': text }, shell: held.shell }] } as never)
  const { number } = await site.pull()
  site.github.comment('bob', number, '/ralph fix US-001 -- say that it is fixed')
  await site.runner.when((run) => run.status !== 'completed')
  await held.reached()
  assert.equal(await autoMergeAt(site), null, 'nothing may be merged while Ralph is at work')
  await held.release()
  await site.runner.settled()
  assert.equal((await site.state()).prd.run.outcome, 'complete', site.log())
  assert.ok((await autoMergeAt(site)) !== null, site.log())
  assert.deepEqual(site.github.violations, [])
})

test('where no rule makes a pull request wait, Ralph does not merge it, and says what to require', async () => {
  await using site = await open({ allowsAutoMerge: true })
  await site.go()
  assert.equal(await autoMergeAt(site), null)
  assert.equal((await site.pull()).state, 'open')
  assert.match(
    await summaryOf(site),
    /Auto-merge is not on: no rule of main requires anything before a merge\. Require an approval or the check ralph/,
  )
})

test('a repository that does not allow auto-merge is told which box to tick', async () => {
  await using site = await open({ requiredChecks: { main: ['ralph'] } })
  await site.go()
  assert.equal((await site.state()).prd.run.outcome, 'complete', site.log())
  assert.match(
    await summaryOf(site),
    /Auto-merge is not on: this repository does not allow it\. Tick Settings &#62; General &#62; &#34;Allow auto-merge&#34;/,
  )
})

test('a run that is not complete asks for no merge', async () => {
  const red = { files: { 'test/one.test.mjs': "throw new Error('red')\n" } }
  await using site = await open(
    { allowsAutoMerge: true, requiredChecks: { main: ['ralph'] } },
    { 'US-001': [red, red, red] },
  )
  await site.go()
  assert.equal((await site.state()).prd.run.outcome, 'stuck', site.log())
  assert.equal(await autoMergeAt(site), null)
})
