// Plans that people have, through `ralph plan`, a run with a scripted agent and its outcome: stories and files as written down before.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import test from 'node:test'
import type { Prd } from '../../src/engine/model/feature.ts'
import { expectedOf, openPoints, storyDifferences } from '../samples/judge.ts'
import { fileDifferences, openMarks, outcomesOf, passedIds, textsOf } from '../samples/marks.ts'
import { place } from './laptop.ts'

/** One of each kind of file that is marked: YAML, boxes with groups and without, JSON. */
const SAMPLES = ['bmad6-epic-shards', 'snarktank', 'speckit-feature', 'kiro-nested', 'taskmaster']
const PROJECTS = join(import.meta.dirname, '..', 'samples')
const [points, marks] = [openPoints(), openMarks()]

for (const name of SAMPLES) {
  const reason = points[name] ?? marks[name]
  const { format, stories: expected = [] } = expectedOf(name)
  const title = `${format}, ${name}: what is planned, worked and written back`
  test(reason === undefined ? title : `${title} (todo: ${reason})`, { todo: reason }, async () => {
    const [outcome] = outcomesOf(name)
    assert.ok(outcome !== undefined)
    const before = textsOf(join(PROJECTS, name, 'project'))
    await using at = await place(Object.fromEntries(before))
    const planned = await at.ralph(['plan', 'sample', '--yes', '--json'])
    assert.equal(planned.code, 0, planned.err)
    const written: string[] = JSON.parse(planned.out).written
    const path = written.find((one) => one.endsWith('prd.json'))
    assert.ok(path !== undefined, planned.out)
    const { userStories, branchName }: Prd = JSON.parse(await at.read(path))
    assert.deepEqual(storyDifferences(expected, userStories), [])

    const ids = passedIds(name, outcome.passed, userStories).map((id) => id ?? '')
    const good = (id: string) => [{ files: { [`src/${id}.txt`]: 'good\n' } }]
    await at.setScript(Object.fromEntries(ids.map((id) => [id, good(id)])))
    const run = await at.ralph(['run', 'sample', '--stories', ids.join(','), '--gate', 'good=true'])
    assert.equal(run.code, 0, run.err)
    const shown = (file: string) =>
      execFileSync('git', ['show', `${branchName}:${file}`], { cwd: at.repository, encoding: 'utf8' })
    const after = new Map([...before.keys()].map((file) => [file, shown(file)]))
    assert.deepEqual(fileDifferences(before, after, outcome.marks), [])
  })
}

for (const name of ['retro-and-readiness', 'gsd-project', 'template-epics']) {
  const { from = [], why } = expectedOf(name)
  test(`${name}: refused in its own words, and no session is paid for: ${why}`, async () => {
    await using at = await place(Object.fromEntries(textsOf(join(PROJECTS, name, 'project'))))
    const named = from.flatMap((path) => ['--from', path])
    const { code, err } = await at.ralph(['plan', 'sample', ...named, '--yes'])
    assert.equal(code, 64, err)
    assert.doesNotMatch(err.split('error: ')[1] ?? '', /userStories|prd\.json/)
    assert.deepEqual(await at.prompts(), [])
  })
}
