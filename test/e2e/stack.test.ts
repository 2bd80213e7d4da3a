// `pull-request: stacked`: a pull request for each epic or story, each on top of the one before, kept in order while people merge.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import type { PullView } from '../standin/github.ts'
import { goodTurn, openSite, ROOT, type Site, type SiteOptions, story } from './site.ts'

const INPUTS = {
  'final-verification': 'false',
  baseline: 'off',
  'agents-md': 'off',
  'pull-request': 'stacked',
}
const NAMES = ['one', 'two', 'three', 'four'] as const
const IDS = ['US-001', 'US-002', 'US-003', 'US-004'] as const
const SCRIPT = Object.fromEntries(IDS.map((id, index) => [id, [goodTurn(NAMES[index] ?? '', index + 1)]]))

async function openStack(options: Partial<SiteOptions> = {}): Promise<Site> {
  const resume = await readFile(join(ROOT, 'examples', 'ralph-resume.yml'), 'utf8')
  return openSite({
    stories: IDS.map((id, index) => story(id, NAMES[index] ?? '', { priority: index + 1 })),
    script: SCRIPT,
    ...options,
    files: { '.github/workflows/ralph-resume.yml': resume, ...options.files },
    inputs: { ...INPUTS, ...options.inputs },
  })
}

/** The open pull requests from the bottom, without those of forks: `head -> base`. */
async function stackOf({ github }: Site): Promise<string[]> {
  const isOwn = ({ number }: PullView) => github.issue(number).pull?.fork === null
  const open = (await github.pulls()).filter((pull) => pull.state === 'open' && isOwn(pull))
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

const MODES: Readonly<Record<string, Partial<SiteOptions>>> = {
  'separate jobs': { separate: true },
  'a wave of three workers': { parallel: true, inputs: { 'max-parallel': '3' } },
  'a wave of separate jobs': { separate: true, parallel: true, inputs: { 'max-parallel': '3' } },
}

for (const [mode, options] of Object.entries(MODES))
  test(`${mode}: the stack has a pull request for each story, in the order in which they landed`, async () => {
    await using site = await openStack(options)
    await site.go()
    assert.equal((await site.state()).prd.run.outcome, 'complete', site.log())
    const { timeline } = await site.state()
    const landed = timeline.filter(({ result }) => result === 'passed').map(({ storyId }) => storyId)
    const heads = landed.map((id, at) => (at < 3 ? `ralph/sample+${id}` : 'ralph/sample'))
    const expected = heads.map((head, at) => `${head} -> ${heads[at - 1] ?? 'main'}`)
    assert.deepEqual(await stackOf(site), expected, site.log())
    for (const [at, head] of heads.entries()) {
      const name = NAMES[IDS.map(String).indexOf(landed[at] ?? '')]
      assert.deepEqual(await filesOf(site, head), [`src/${name}.mjs`], head)
    }
    assert.deepEqual(site.github.violations, [])
  })

/** A merge or a close by alice; ends when the jobs that it started have ended. */
async function people(site: Site, act: () => unknown): Promise<void> {
  await act()
  await site.runner.settled()
  assert.deepEqual(site.github.violations, [], site.log())
}

async function pullFrom(site: Site, branch: string): Promise<PullView> {
  const found = (await site.github.pulls()).find(({ head }) => head.ref === branch)
  assert.ok(found !== undefined, `no pull request from ${branch}`)
  return found
}

/** The source files that the pull request shows as changed. */
async function filesOf(site: Site, branch: string): Promise<string[]> {
  const { base, head } = await pullFrom(site, branch)
  const range = [`refs/heads/${base.ref}...${head.sha}`, '--', 'src']
  return (await site.github.bare.run(['diff', '--name-only', ...range])).split('\n').filter(Boolean)
}

test('merged from the bottom by squash, rebase and merge commit: the others move down, and show only their own changes', async () => {
  await using site = await openStack()
  await site.go()
  const { github } = site
  const merge = async (branch: string, how: 'merge' | 'squash' | 'rebase') =>
    people(site, async () => github.mergePull('alice', (await pullFrom(site, branch)).number, how))

  await github.commit('main', { 'src/people.mjs': 'export const people = 1\n' })
  await merge('ralph/sample+US-001', 'rebase')
  assert.deepEqual(await stackOf(site), [
    'ralph/sample+US-002 -> main',
    'ralph/sample+US-003 -> ralph/sample+US-002',
    'ralph/sample -> ralph/sample+US-003',
  ])
  assert.deepEqual(await filesOf(site, 'ralph/sample+US-002'), ['src/two.mjs'])
  assert.deepEqual(await filesOf(site, 'ralph/sample+US-003'), ['src/three.mjs'])

  await merge('ralph/sample+US-002', 'squash')
  await people(site, () => github.deleteBranch('ralph/sample+US-002'))
  assert.deepEqual(await stackOf(site), [
    'ralph/sample+US-003 -> main',
    'ralph/sample -> ralph/sample+US-003',
  ])
  assert.deepEqual(await filesOf(site, 'ralph/sample+US-003'), ['src/three.mjs'])

  await merge('ralph/sample+US-003', 'merge')
  assert.deepEqual(await stackOf(site), ['ralph/sample -> main'])
  const written = writes(site)
  await site.go()
  const kinds = new Set(written().map((write) => write.replace(/\/\d+$/, '')))
  assert.deepEqual(
    [...kinds].sort(),
    [
      'PATCH /repos/acme/shop/check-runs',
      'PATCH /repos/acme/shop/issues/comments',
      'push refs/ralph/2026-01-31-sample',
    ],
    'the job reports and saves; nothing of the stack is left to change',
  )
  await merge('ralph/sample', 'merge')
  for (const name of [...NAMES, 'people']) assert.ok(await github.read('main', `src/${name}.mjs`), name)
  assert.equal((await github.pulls()).length, 4)
})

/** What is written from now on: by the API, by mutations and by pushes. */
function writes({ github }: Site): () => string[] {
  const [requests, pushes] = [github.requests.length, github.pushes.length]
  return () => [
    ...github.requests.slice(requests).flatMap(({ kind, method, path, mutation }) => {
      if (kind === 'graphql') return mutation === null ? [] : [`mutation ${mutation}`]
      return kind === 'rest' && method !== 'GET' ? [`${method} ${path}`] : []
    }),
    ...github.pushes.slice(pushes).map(({ ref }) => `push ${ref}`),
  ]
}

test('merged in the middle, then closed: the summary says what happened and what to do', async () => {
  await using site = await openStack()
  await site.go()
  const { github } = site
  const summary = async () => github.comments((await pullFrom(site, 'ralph/sample')).number)[0]?.body ?? ''
  const [first, second] = [
    await pullFrom(site, 'ralph/sample+US-001'),
    await pullFrom(site, 'ralph/sample+US-002'),
  ]
  await people(site, () => github.mergePull('alice', second.number, 'squash'))
  assert.deepEqual(await stackOf(site), [
    'ralph/sample+US-001 -> main',
    'ralph/sample+US-003 -> ralph/sample+US-001',
    'ralph/sample -> ralph/sample+US-003',
  ])
  const [number, reached] = [second.number, first.number]
  assert.match(
    await summary(),
    new RegExp(
      `Pull request ${number} \\(US-002\\) was merged into ralph/sample\\+US-001\\. It reaches the base branch together with pull request ${reached}`,
    ),
  )
  assert.deepEqual(await filesOf(site, 'ralph/sample+US-003'), ['src/three.mjs'])

  await people(site, () => github.closePull(first.number))
  const before = await stackOf(site)
  assert.match(
    await summary(),
    new RegExp(`Pull request ${first.number} \\(US-001\\) was closed without a merge, so the stack waits`),
  )
  await site.go()
  assert.deepEqual(await stackOf(site), before)
  assert.equal(
    (await pullFrom(site, 'ralph/sample+US-001')).state,
    'closed',
    'what people closed stays closed',
  )
  assert.equal((await github.pulls()).length, 4)
})

test('a branch of people with the name of a layer is not touched, and the others are stacked without it', async () => {
  await using site = await openStack()
  const theirs = await site.github.commit('ralph/sample+US-002', { 'notes.txt': 'ours' })
  await site.go()
  assert.deepEqual(await stackOf(site), [
    'ralph/sample+US-001 -> main',
    'ralph/sample+US-003 -> ralph/sample+US-001',
    'ralph/sample -> ralph/sample+US-003',
  ])
  assert.equal(await site.github.head('ralph/sample+US-002'), theirs)
  assert.deepEqual(await filesOf(site, 'ralph/sample+US-003'), ['src/three.mjs', 'src/two.mjs'])
  const [comment] = site.github.comments((await pullFrom(site, 'ralph/sample')).number)
  assert.match(
    comment?.body ?? '',
    /Ralph did not create the branch ralph\/sample\+US-002, so US-002 gets no pull request/,
  )
})

test('epics with ids that git refuses in a branch: each has a pull request, also next to that of a fork', async () => {
  const epics = ['a b', '../x', 'x.lock', 'a+b']
  await using site = await openStack({
    stories: IDS.map((id, index) =>
      story(id, NAMES[index] ?? '', { priority: index + 1, epicId: epics[index] }),
    ),
  })
  // Forks may have a branch with the same name.
  await site.github.commitInFork('mallory', 'ralph/sample+a-b-US-001', { 'theirs.txt': 'theirs' })
  await site.github.openPull('mallory', { head: 'mallory:ralph/sample+a-b-US-001', title: 'Mine' })
  await site.go()
  assert.deepEqual(await stackOf(site), [
    'ralph/sample+a-b-US-001 -> main',
    'ralph/sample+x-US-002 -> ralph/sample+a-b-US-001',
    'ralph/sample+x-lock-US-003 -> ralph/sample+x-US-002',
    'ralph/sample -> ralph/sample+x-lock-US-003',
  ])
  assert.deepEqual(site.github.violations, [], site.log())
})
