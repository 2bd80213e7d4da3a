// What `prepare` made in the first job of a chain serves the later ones from GitHub's cache: the folders that `prepare-paths` names.
import assert from 'node:assert/strict'
import { chmod, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { sharedFolder } from '../fakes/shared.ts'
import {
  goodTurn,
  openSite,
  outputsOf,
  RUN_TESTS,
  type Site,
  type SiteOptions,
  story,
  type Turn,
} from './site.ts'

const LOCK = { 'package-lock.json': '{ "lockfileVersion": 3, "packages": {} }\n' }

/** A project whose `prepare` makes a package, which its gate needs, and notes each of its runs. */
async function openProject(options: Partial<SiteOptions> = {}) {
  const folder = await sharedFolder('ralph-prepare-')
  const log = join(folder, 'prepared')
  await writeFile(log, '')
  await chmod(log, 0o666)
  const { inputs, files, ...more } = options
  const site = await openSite({
    stories: [story('US-001', 'one'), story('US-002', 'two', { priority: 2 })],
    script: { 'US-001': [goodTurn('one', 1)], 'US-002': [goodTurn('two', 2)] },
    files: { ...LOCK, '.gitignore': 'node_modules/\n', ...files },
    inputs: {
      prepare: `echo "$PWD" >>'${log}'; mkdir -p node_modules/dep; cp package-lock.json node_modules/dep/`,
      'prepare-paths': 'node_modules',
      gates: `dep: cmp package-lock.json node_modules/dep/package-lock.json\ntest: ${RUN_TESTS}`,
      'iterations-per-job': '1',
      ...inputs,
    },
    runner: { samePaths: true },
    ...more,
  })
  return {
    site,
    /** The checkouts, and the rooms, in which `prepare` ran. */
    async prepared() {
      const places = (await readFile(log, 'utf8')).split('\n').filter(Boolean)
      const rooms = places.filter((place) => place.includes('/clean-'))
      return { checkouts: places.length - rooms.length, rooms: rooms.length }
    },
    [Symbol.asyncDispose]: async () => {
      await site[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const RESTORED = /prepare\] note: not run: an earlier job kept in GitHub's cache/
const entriesOf = ({ github }: Site) => [...github.world.cache.entries.keys()]

test('the second job installs nothing, and the final verification prepares from nothing', async () => {
  await using project = await openProject()
  const { site } = project
  assert.equal(outputsOf(await site.go()).outcome, 'complete', site.log())
  assert.ok(site.runner.runs.length >= 2)
  const { checkouts, rooms } = await project.prepared()
  assert.equal(checkouts, 1, site.log())
  assert.ok(rooms >= 1, site.log())
  assert.match(site.log(), RESTORED)
  assert.match(entriesOf(site).join(), /^ralph-prepare-\w+-\w+-[0-9a-f]{16} [0-9a-f]{64}$/)
})

test('`prepare` runs in every job without `prepare-paths`, and with `cache: off`', async () => {
  for (const inputs of [{ 'prepare-paths': '' }, { cache: 'off' }]) {
    await using project = await openProject({ inputs })
    const { site } = project
    assert.equal(outputsOf(await site.go()).outcome, 'complete', site.log())
    assert.equal((await project.prepared()).checkouts, site.runner.runs.length, site.log())
    assert.deepEqual(entriesOf(site), [])
  }
})

test('where a story changed the lockfile the next job prepares, and saves nothing', async () => {
  const turn: Turn = { ...goodTurn('one', 1) }
  const changed = { ...turn, files: { ...turn.files, 'package-lock.json': '{ "lockfileVersion": 3 }\n' } }
  await using project = await openProject({
    script: { 'US-001': [changed], 'US-002': [goodTurn('two', 2)] },
  })
  const { site } = project
  assert.equal(outputsOf(await site.go()).outcome, 'complete', site.log())
  // The first job prepares for the base and for the story's gates, the second for its sessions.
  assert.equal((await project.prepared()).checkouts, 3, site.log())
  assert.doesNotMatch(site.log(), RESTORED)
  assert.equal(entriesOf(site).length, 1)
})

test('the cache keeps nothing of a base that is not the default branch', async () => {
  await using project = await openProject({ inputs: { 'base-branch': 'develop' } })
  const { site } = project
  await site.github.commit('develop', { 'src/other.mjs': '' }, 'theirs')
  assert.equal(outputsOf(await site.go()).outcome, 'complete', site.log())
  assert.equal((await project.prepared()).checkouts, site.runner.runs.length, site.log())
  assert.deepEqual(entriesOf(site), [])
})

test('at `separate-job` work jobs take it, and gate jobs, which are the clean rooms there, prepare from nothing', async () => {
  await using project = await openProject({ separate: true })
  const { site } = project
  assert.equal(outputsOf(await site.go()).outcome, 'complete', site.log())
  const jobs = site.runner.runs.flatMap(({ jobs }) => jobs)
  const gateJobs = jobs.filter(({ key, steps }) => key === 'gate' && steps.length > 0).length
  assert.ok(gateJobs >= 2, site.log())
  assert.equal((await project.prepared()).checkouts, gateJobs, site.log())
  assert.match(site.log(), RESTORED)
})

test('the workers of a wave take it', async () => {
  const four = ['one', 'two', 'three', 'four'].map((name, at) => [`US-00${at + 1}`, name, at] as const)
  await using project = await openProject({
    parallel: true,
    stories: four.map(([id, name]) => story(id, name)),
    script: Object.fromEntries(four.map(([id, name, at]) => [id, [goodTurn(name, at)]])),
    inputs: { 'max-parallel': '2' },
  })
  const { site } = project
  assert.equal(outputsOf(await site.go()).outcome, 'complete', site.log())
  assert.equal((await project.prepared()).checkouts, 1, site.log())
  assert.ok(site.log().match(new RegExp(RESTORED, 'g'))?.length ?? 0 >= 3, site.log())
})
