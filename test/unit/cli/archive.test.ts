// `ralph archive` and `ralph run --force` on a laptop: what moves, what is refused, and that nothing is lost.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { FOLDER, GATE, openPlace, type Place } from './place.ts'

const ARCHIVED = FOLDER.replace('.ralph/', '.ralph/archive/')
const one = (id: string, more: object = {}) => ({ id, title: id, acceptanceCriteria: ['it works'], ...more })
const writes = (id: string) => [
  { files: { [`src/${id}.txt`]: id } },
  { files: { [`src/${id}.txt`]: 'again' } },
]
const read = (place: Place, path: string) =>
  readFile(join(place.repository, path), 'utf8').then((text) => JSON.parse(text))
const isThere = (place: Place, path: string) =>
  stat(join(place.repository, path)).then(
    () => true,
    () => false,
  )

test('archive moves a finished run as a whole, and refuses before its merge', async () => {
  await using place = await openPlace([one('US-001')])
  await place.setScript({ 'US-001': writes('US-001') })
  await place.ralph('run', ...place.agent, ...GATE, '--no-final-verification')
  const early = await place.ralph('archive')
  assert.equal(early.code, 64)
  assert.match(
    early.err,
    /HEAD: ralph\/sample is checked out\. .*\n {2}fix: merge ralph\/sample, then type git switch main and ralph archive sample/,
  )

  place.git('switch', '-q', 'main')
  place.git('merge', '-q', '--squash', 'ralph/sample')
  place.git('commit', '-qm', 'merged')
  const next = async () =>
    /Next: (.*)/.exec((await place.ralph('status', '--no-final-verification', 'sample')).out)?.[1]
  assert.equal(await next(), 'It is merged: ralph archive sample moves it to the archive.')
  const plain = await place.json('status', 'sample')
  assert.deepEqual([plain.outcome, plain.next], ['complete', undefined], 'nobody asked for a verification')
  const merged = await place.ralph('run', ...place.agent, ...GATE, '--no-final-verification')
  assert.match(merged.out, /Next: It is merged: /)
  assert.equal(place.git('branch', '--show-current').trim(), 'main', 'nothing to do: nothing is checked out')
  place.git('switch', '-q', 'ralph/sample')
  assert.equal(
    await next(),
    'It is merged: ralph archive sample moves it to the archive.',
    'on its own branch, too',
  )
  place.git('switch', '-q', 'main')
  const { out, code } = await place.ralph('archive')
  assert.equal(code, 0)
  assert.match(out, /archived: \.ralph\/archive\/2026-01-31-sample\n.*Commit this: git add -A \.ralph/)
  assert.equal(await isThere(place, FOLDER), false)
  assert.equal((await read(place, `${ARCHIVED}/prd.json`)).userStories[0].passes, true)
  place.git('add', '-A')
  place.git('commit', '-qm', 'archive')
  const again = await place.ralph('archive', 'sample')
  assert.equal(again.code, 64)
  assert.match(
    again.err,
    /sample is finished, but ralph\/sample is not merged into this checkout\.\n {2}fix: merge ralph\/sample, .*If sample is in \.ralph\/archive already/,
  )
  // Its branch still stands: nobody means it who does not name it.
  const run = await place.ralph('run', ...place.agent, ...GATE)
  assert.match(
    run.err,
    /^error: feature: there are no stories here yet: no prd\.json exists\.\n {2}fix: plan a feature \(ralph plan/m,
  )
  assert.equal(await next(), 'Nothing to do: it is merged, and in the archive.')
  assert.equal((await place.ralph('monitor')).code, 64, 'what is put away is shown to who names it')
  assert.match((await place.ralph('monitor', 'sample')).out, /Next: Nothing to do/)
})

test("a feature begun on another feature's branch is based on it, with a notice", async () => {
  await using place = await openPlace([one('US-001')])
  await place.setScript({ 'US-001': writes('US-001') })
  const flags = [...place.agent, ...GATE, '--no-final-verification']
  assert.doesNotMatch((await place.ralph('run', ...flags)).out, /is based on/)
  await mkdir(join(place.repository, '.ralph/2026-02-01-other'), { recursive: true })
  const prd = JSON.stringify({ userStories: [one('US-001')] })
  await writeFile(join(place.repository, '.ralph/2026-02-01-other/prd.json'), prd)
  await place.setScript({ 'US-001': writes('US-001').slice(1) })
  const { out, err } = await place.ralph('run', 'other', ...flags)
  assert.match(out + err, /other is based on ralph\/sample.*--base-branch main/)
})

test('archive does not follow an archive folder that is a link', async () => {
  await using place = await openPlace([one('US-001', { passes: true })])
  const elsewhere = await mkdtemp(join(tmpdir(), 'ralph-elsewhere-'))
  await symlink(elsewhere, join(place.repository, '.ralph/archive'))
  const { code, err } = await place.ralph('archive')
  assert.equal(code, 64)
  assert.match(err, /\.ralph\/archive: found a link, expected a folder of this repository/)
  assert.equal(await isThere(place, `${FOLDER}/prd.json`), true)
  assert.deepEqual(await readdir(elsewhere), [])
})

test('archive of an unfinished list removes passed stories from prd.json', async () => {
  const stories = [one('US-001', { passes: true }), one('US-002', { dependsOn: ['US-001'] })]
  await using place = await openPlace(stories)
  const { archived } = await place.json('archive')
  assert.deepEqual(archived, [`${FOLDER}/done.json`])
  const left = await read(place, `${FOLDER}/prd.json`)
  assert.deepEqual(
    left.userStories.map((story: { id: string; dependsOn: string[] }) => [story.id, story.dependsOn]),
    [['US-002', []]],
  )
  assert.equal((await read(place, `${FOLDER}/done.json`)).userStories[0].id, 'US-001')
  const loose = await place.ralph('archive')
  assert.match(
    loose.err,
    /prd\.json: this file has uncommitted changes, .*\n {2}fix: git add -A .* && git commit/,
  )
  place.git('add', '-A')
  place.git('commit', '-qm', 'archive')
  assert.match((await place.ralph('archive')).err, /no story has passed or been skipped/)
})

test('archive --force archives the last run, and works on every story again on its branch', async () => {
  await using place = await openPlace([one('US-001')])
  await place.setScript({ 'US-001': writes('US-001') })
  const flags = [...place.agent, ...GATE, '--no-final-verification']
  await place.ralph('run', ...flags)
  const dry = await place.json('run', ...flags, '--force', '--dry-run')
  assert.deepEqual(dry.next, { step: 'work', storyId: 'US-001' })
  await place.setScript({ 'US-001': writes('US-001').slice(1) })
  const ran = await place.json('run', ...flags, '--force')
  assert.deepEqual([ran.outcome, ran.iterations], ['complete', 1])
  assert.equal((await read(place, `${ARCHIVED}/prd.json`)).run.outcome, 'complete')
  assert.equal(place.git('show', 'HEAD:src/US-001.txt'), 'again')
  assert.equal((await place.ralph('monitor')).code, 0, 'what is in the archive is another run')
})

test('a run killed after writing AGENTS.md and before its commit: the next run writes the learnings once', async () => {
  await using place = await openPlace([one('US-001'), one('US-002')], { 'AGENTS.md': 'Be kind.\n' })
  const learned = '<ralph>LEARNING:The mailer lies in src/mail.</ralph>\n<ralph>DONE</ralph>'
  await place.setScript({ 'US-001': [{ ...writes('US-001')[0], say: learned }], 'US-002': writes('US-002') })
  const flags = [...place.agent, ...GATE, '--no-final-verification']
  await place.ralph('run', ...flags)
  const ended = place.git('rev-parse', 'HEAD')
  const text = place.git('show', 'HEAD:AGENTS.md')
  assert.match(text, /The mailer lies/)
  // As the kill leaves it: the work tree is ahead of the branch and of the state.
  const state = place.refs().match(/refs\/ralph\/\S+/)?.[0] ?? ''
  place.git('update-ref', state, `${state}~1`)
  place.git('update-ref', 'refs/heads/ralph/sample', `${ended}~1`)
  const again = await place.ralph('run', ...flags)
  assert.equal(again.code, 0, again.err + again.out)
  assert.equal(place.git('show', 'HEAD:AGENTS.md'), text)

  place.git('update-ref', 'refs/heads/ralph/sample', `${place.git('rev-parse', 'HEAD')}~1`)
  place.git('update-ref', state, `${state}~1`)
  await place.write({ 'AGENTS.md': 'Mine alone.\n' })
  const refused = await place.ralph('run', ...flags)
  assert.match(refused.err, /uncommitted changes: AGENTS\.md/)
})
