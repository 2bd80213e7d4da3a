// Two features that change the same file: each of their pull requests names the other.
import assert from 'node:assert/strict'
import test from 'node:test'
import { goodTurn, openSite, type Site, story } from './site.ts'

const INPUTS = { 'final-verification': 'false', baseline: 'off', 'agents-md': 'off' }
const SECOND = {
  schemaVersion: 2,
  project: 'sample',
  branchName: 'ralph/other',
  userStories: [story('US-101', 'one')],
}

async function open(second: unknown): Promise<Site> {
  return openSite({
    stories: [story('US-001', 'one')],
    script: { 'US-001': [goodTurn('one', 1)], 'US-101': [second] } as never,
    inputs: INPUTS,
    files: { '.ralph/2026-02-01-other/prd.json': JSON.stringify(SECOND) },
  })
}

async function summaryOf({ github }: Site, branch: string): Promise<string> {
  const pull = (await github.pulls()).find(({ head }) => head.ref === branch)
  return github.comments(pull?.number ?? 0)[0]?.body ?? ''
}

test('a pull request names another one of Ralph that changes the same files, with the next step', async () => {
  await using site = await open(goodTurn('one', 3))
  await site.go()
  const alone = site.github.requests.filter(({ path }) => /\/pulls\/\d+\/files$/.test(path))
  assert.deepEqual(alone, [], 'without another pull request nothing is compared')
  await site.go({ feature: 'other' })
  const said = await summaryOf(site, 'ralph/other')
  assert.match(
    said,
    /Another pull request of Ralph also changes src\/one\.mjs, test\/one\.test\.mjs\. When one of the two/,
  )
  assert.match(said, /\[Pull request 1\]\(http\S*\/pull\/1\)/)
})

test('a pull request that changes other files is not named', async () => {
  await using site = await open(goodTurn('two', 2))
  await site.go()
  await site.go({ feature: 'other' })
  assert.doesNotMatch(await summaryOf(site, 'ralph/other'), /Another pull request/)
})
