// What `prepare` made in the first job of a chain serves the later ones from GitHub's cache: the folders that `prepare-paths` names.
import '../fakes/disk.ts'
import assert from 'node:assert/strict'
import test from 'node:test'
import { lacks } from '../machine/needs.ts'
import {
  goodTurn,
  openSite,
  outputsOf,
  RUN_TESTS_AS_OTHER_USER,
  type Site,
  type SiteOptions,
  story,
  type Turn,
} from './site.ts'

const LOCK = { 'package-lock.json': '{ "lockfileVersion": 3, "packages": {} }\n' }

/** A project whose `prepare` makes a package, which its gate needs. */
function openProject({ inputs, files, ...more }: Partial<SiteOptions> = {}): Promise<Site> {
  return openSite({
    stories: [story('US-001', 'one'), story('US-002', 'two', { priority: 2 })],
    script: { 'US-001': [goodTurn('one', 1)], 'US-002': [goodTurn('two', 2)] },
    files: { ...LOCK, '.gitignore': 'node_modules/\n', ...files },
    inputs: {
      prepare: 'mkdir -p node_modules/dep; cp package-lock.json node_modules/dep/',
      'prepare-paths': 'node_modules',
      gates: `dep: cmp package-lock.json node_modules/dep/package-lock.json\ntest: ${RUN_TESTS_AS_OTHER_USER}`,
      'iterations-per-job': '1',
      ...(more.separate === true ? {} : { isolation: 'other-user', network: 'open' }),
      ...inputs,
    },
    runner: { samePaths: true, env: { ImageOS: 'ubuntu24' } },
    ...more,
  })
}

/** How often `prepare` ran, and how often its folders were restored in its place. */
function preparedIn(site: Site): { ran: number; restored: number } {
  const count = (line: RegExp) => site.log().match(line)?.length ?? 0
  const restored = count(/^ *\[prepare\] note: not run: an earlier job kept in GitHub's cache/gm)
  return { ran: count(/^ *\[prepare\] PASSED/gm) - restored, restored }
}

const asOther = { skip: lacks('root', 'ip') }
const entriesOf = ({ github }: Site) => [...github.world.cache.entries.keys()]

test(
  'with `prepare-paths` the second job restores what prepare made, and the final verification prepares from nothing',
  asOther,
  async () => {
    await using site = await openProject()
    assert.equal(outputsOf(await site.go()).outcome, 'complete', site.log())
    assert.ok(site.runner.runs.length >= 2)
    // The first job's checkout, and the clean room of the last story.
    assert.deepEqual(preparedIn(site), { ran: 2, restored: site.runner.runs.length - 1 }, site.log())
    assert.match(entriesOf(site).join(), /^ralph-prepare-\w+-\w+-[0-9a-f]{16} [0-9a-f]{64}$/)
  },
)

for (const [what, more] of [
  ['with `cache: off`', { inputs: { cache: 'off' } }],
  ['without the image of the machine', { runner: { samePaths: true } }],
] as const)
  test(`\`prepare\` runs in every job ${what}`, asOther, () => preparesInEveryJob(more))

test('`prepare` runs in every job at `same-user`', () =>
  preparesInEveryJob({ inputs: { isolation: 'same-user' } }))

async function preparesInEveryJob(options: Partial<SiteOptions>) {
  await using site = await openProject(options)
  assert.equal(outputsOf(await site.go()).outcome, 'complete', site.log())
  assert.equal(preparedIn(site).restored, 0, site.log())
  assert.deepEqual(entriesOf(site), [])
}

test('where a story changed the lockfile, the next job runs prepare and saves nothing', asOther, async () => {
  const turn: Turn = { ...goodTurn('one', 1) }
  const changed = { ...turn, files: { ...turn.files, 'package-lock.json': '{ "lockfileVersion": 3 }\n' } }
  await using site = await openProject({
    script: { 'US-001': [changed], 'US-002': [goodTurn('two', 2)] },
  })
  assert.equal(outputsOf(await site.go()).outcome, 'complete', site.log())
  assert.equal(preparedIn(site).restored, 0, site.log())
  assert.equal(entriesOf(site).length, 1)
})

test('what prepare made of a base that is not the default branch is not saved', asOther, async () => {
  await using site = await openProject({ inputs: { 'base-branch': 'develop' } })
  await site.github.commit('develop', { 'src/other.mjs': '' }, 'theirs')
  assert.equal(outputsOf(await site.go()).outcome, 'complete', site.log())
  assert.equal(preparedIn(site).restored, 0, site.log())
  assert.deepEqual(entriesOf(site), [])
})

test('at `separate-job` work jobs restore what prepare made, and gate jobs, the clean rooms there, prepare from nothing', async () => {
  await using site = await openProject({ separate: true })
  assert.equal(outputsOf(await site.go()).outcome, 'complete', site.log())
  const jobsOf = (name: string) =>
    site.runner.runs
      .flatMap(({ jobs }) => jobs)
      .filter(({ key, steps }) => key === name && steps.some(({ conclusion }) => conclusion === 'success'))
      .length
  assert.deepEqual(preparedIn(site), { ran: jobsOf('gate'), restored: jobsOf('work') }, site.log())
})

test('the workers of a wave restore what prepare made', asOther, async () => {
  const four = ['one', 'two', 'three', 'four'].map((name, at) => [`US-00${at + 1}`, name, at] as const)
  await using site = await openProject({
    parallel: true,
    stories: four.map(([id, name]) => story(id, name)),
    script: Object.fromEntries(four.map(([id, name, at]) => [id, [goodTurn(name, at)]])),
    inputs: { 'max-parallel': '2' },
  })
  assert.equal(outputsOf(await site.go()).outcome, 'complete', site.log())
  assert.ok(preparedIn(site).restored >= 3, site.log())
})
