// `pull-request: stacked`: a pull request for each epic or story, each on top of the one before, kept in order while people merge.
import assert from 'node:assert/strict'
import test from 'node:test'
import type { PullView } from '../standin/github.ts'
import { goodTurn, openSite, type Site, type SiteOptions, story } from './site.ts'

const INPUTS = {
  'final-verification': 'false',
  baseline: 'off',
  'agents-md': 'off',
  'pull-request': 'stacked',
}
const NAMES = ['one', 'two', 'three', 'four'] as const
const IDS = ['US-001', 'US-002', 'US-003', 'US-004'] as const
const SCRIPT = Object.fromEntries(IDS.map((id, index) => [id, [goodTurn(NAMES[index] ?? '', index + 1)]]))

function openStack(options: Partial<SiteOptions> = {}): Promise<Site> {
  return openSite({
    stories: IDS.map((id, index) => story(id, NAMES[index] ?? '', { priority: index + 1 })),
    script: SCRIPT,
    ...options,
    inputs: { ...INPUTS, ...options.inputs },
  })
}

/** The open pull requests from the bottom: `head -> base`. */
async function stackOf(site: Site): Promise<string[]> {
  const open = (await site.github.pulls()).filter(({ state }) => state === 'open')
  const above = (base: string): PullView[] =>
    open.filter((pull) => pull.base.ref === base).flatMap((pull) => [pull, ...above(pull.head.ref)])
  return above('main').map(({ head, base }) => `${head.ref} -> ${base.ref}`)
}

test('a stack of four: one pull request for each story, the last one is the own pull request of the feature', async () => {
  await using site = await openStack()
  await site.go()
  assert.equal((await site.state()).prd.run.outcome, 'complete', site.log())
  assert.deepEqual(
    await stackOf(site),
    [
      'ralph/sample+US-001 -> main',
      'ralph/sample+US-002 -> ralph/sample+US-001',
      'ralph/sample+US-003 -> ralph/sample+US-002',
      'ralph/sample -> ralph/sample+US-003',
    ],
    site.log(),
  )
  assert.deepEqual(site.github.violations, [])
})
