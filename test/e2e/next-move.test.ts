// What `ralph status` says is so, and what it tells people to do next works: in a real repository, state by state.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { bad, type Ended, FOLDER, GATE, good, openPlace, type Place, type Turn } from '../unit/cli/place.ts'

const TWO = [{ id: 'US-001' }, { id: 'US-002', dependsOn: ['US-001'] }]
const run = (place: Place, ...flags: string[]) => place.ralph('run', ...place.agent, ...GATE, ...flags)

/** The last two lines of `ralph status`: how it stands, and what to do next. */
async function stands(place: Place, ...flags: string[]): Promise<string[]> {
  const { out, err } = await place.ralph('status', ...flags)
  assert.equal(err, '')
  return out.trimEnd().split('\n').slice(-2)
}

/** Runs the commands that a `Next:` names, one after the other; of alternatives the first. */
async function follow(place: Place, next: string, ...flags: string[]): Promise<Ended[]> {
  const named = [...next.matchAll(/ralph (run|retry US-\d+|limit \w+ \+\d+)\b( -- <hint>)?/g)]
  assert.ok(named.length > 0, next)
  const ended: Ended[] = []
  for (const [, line = '', hint] of named) {
    const words = line.split(' ')
    const text = hint === undefined ? [] : ['--', 'write', 'good']
    ended.push(words[0] === 'run' ? await run(place, ...flags) : await place.ralph(...words, ...text))
  }
  return ended
}

const assertDone = (ended: readonly Ended[]) => {
  assert.deepEqual(
    ended.map(({ code }) => code),
    ended.map(() => 0),
    ended.map(({ err }) => err).join(),
  )
}

test('next: before the first run and after completion, and following it completes the run', async () => {
  await using place = await openPlace(TWO)
  await place.setScript({ 'US-001': [good('US-001')], 'US-002': [good('US-002')] })
  const [stood, next = ''] = await stands(place)
  assert.deepEqual(
    [stood, next],
    ['0 of 2 stories pass · not started · US-001 is next', 'Next: Start with ralph run: US-001 is next.'],
  )
  assertDone(await follow(place, next))
  assert.deepEqual(await stands(place), [
    'Complete: 2 of 2 stories pass',
    'Next: Review it with git diff main...ralph/sample, then merge the branch.',
  ])
  assert.match((await place.ralph('status')).out, /\n! the judge approved without citing evidence/)
  assert.match(place.git('diff', '--stat', 'main...ralph/sample'), /US-002\.txt/)
})

test('status, next and the dry run agree after stuck, retry, skip and redo', async () => {
  await using place = await openPlace(TWO)
  await place.setScript({ 'US-001': [bad('US-001')], 'US-002': [good('US-002')] })
  assert.equal((await run(place, '--max-attempts', '1')).code, 1)
  const [stood, next = ''] = await stands(place)
  assert.equal(stood, 'Stuck: US-001 is blocked · 0 of 2 stories pass')
  assert.equal(
    next,
    'Next: Run ralph why US-001 to see what failed. Give a hint with ralph retry US-001 -- <hint>, or leave the story out with ralph skip US-001. Then continue with ralph run.',
  )
  assert.match((await place.ralph('status')).out, /ralph retry US-001 -- <hint>/)
  assert.doesNotMatch((await place.ralph('status')).out, /\/ralph/)
  const dry = async () => (await run(place, '--dry-run')).out
  assert.ok((await dry()).endsWith(`${stood}\n${next}\n`))
  const asked = await place.ralph('next', ...place.agent, ...GATE)
  assert.deepEqual(asked, { code: 1, out: `${stood}\n${next}\n`, err: '' })
  assert.equal((await place.json('status')).outcome, 'stuck')
  const retried = await place.ralph('retry', 'US-001', '--', 'write good')
  assert.match(retried.out, /^noted: retry US-001\nNext: Continue with ralph run: US-001 is next\.$/m)
  const status = await place.json('status')
  assert.deepEqual([status.outcome, status.next], [null, { step: 'work', storyId: 'US-001' }])
  assert.match(await dry(), /^Next: work on US-001 /m)
  await place.ralph('skip', 'US-001')
  assert.equal((await stands(place))[0], '0 of 2 stories pass, 1 skipped · US-002 is next')
  assert.match(await dry(), /^Next: work on US-002 /m)
  assert.equal((await run(place)).code, 0)
  await place.ralph('redo', 'US-002')
  const again = await place.json('status')
  assert.deepEqual([again.outcome, again.next], [null, { step: 'work', storyId: 'US-002' }])
  assert.match(await dry(), /^Next: work on US-002 /m)
})

test('next says in a sentence what happens when no story is next', async () => {
  await using place = await openPlace(TWO)
  const flags = [...place.agent, ...GATE]
  const next = async (...more: string[]) => (await place.ralph('next', ...flags, ...more)).out
  await place.setScript({ 'US-001': [bad('US-001')], 'US-002': [good('US-002')] })
  await run(place, '--max-attempts', '1')
  await place.ralph('split', 'US-001')
  assert.equal(await next(), 'Next: a session splits US-001 into smaller stories\n')
  await place.ralph('skip', 'US-001')
  await run(place, '--final-verification', 'false')
  assert.match(await next(), /^Next: the final verification\n$/)
  assert.match(
    await next('--final-verification', 'false'),
    /^Next: nothing is left to do: every story passed its gates; 1 skipped by a person\n$/,
  )
})

test('the next step that a stuck run prints completes the run', async () => {
  await using place = await openPlace(TWO)
  await place.setScript({ 'US-001': [bad('US-001')], 'US-002': [good('US-002')] })
  const ended = await run(place, '--max-attempts', '1')
  const next = /^Next: .*$/m.exec(ended.out)?.[0] ?? ''
  await place.setScript({ 'US-001': [good('US-001')], 'US-002': [good('US-002')] })
  assertDone(await follow(place, next))
})

test('status while another process works names it and its host, and the commands that reach it', async () => {
  await using place = await openPlace(TWO)
  await place.setScript({ 'US-001': [{ hang: true }] })
  const working = place.start(['run', ...place.agent, ...GATE])
  await said(working, 'hanging')
  const [stood, next = ''] = await stands(place)
  assert.equal(stood, '0 of 2 stories pass · US-001 is in progress')
  const who = `process ${working.pid} on `
  assert.ok(next.startsWith(`Next: Nothing to do: Ralph is at work (${who}`), next)
  assert.ok(String((await place.json('status')).holder).startsWith(who))
  assert.match((await place.ralph('note', 'US-001', '--', 'x')).out, /the current run applies this/)
  assert.match((await place.ralph('pause')).out, /the current run applies this/)
  assert.equal((await place.ralph('stop')).code, 0)
  assert.equal((await working.ended).code, 130)
  assert.deepEqual(await stands(place), [
    'Paused: stopped by you · 0 of 2 stories pass',
    'Next: Continue with ralph run.',
  ])
  await place.setScript({ 'US-001': [good('US-001')], 'US-002': [good('US-002')] })
  assert.equal((await run(place)).code, 0, 'a pause that nobody heard ends by a later run')
})

test('status after a run was killed shows no run at work, and the next run goes on', async () => {
  await using place = await openPlace(TWO)
  await place.setScript({ 'US-001': [{ hang: true }], 'US-002': [good('US-002')] })
  const working = place.start(['run', ...place.agent, ...GATE])
  await said(working, 'hanging')
  working.kill('SIGKILL')
  await working.ended
  const [stood, next = ''] = await stands(place)
  assert.deepEqual(
    [stood, next],
    ['0 of 2 stories pass · US-001 is next', 'Next: Continue with ralph run: US-001 is next.'],
  )
  await place.setScript({ 'US-001': [good('US-001')], 'US-002': [good('US-002')] })
  assertDone(await follow(place, next))
})

test('status after a pause before the first run, and after an interrupted run', async () => {
  await using place = await openPlace(TWO)
  await place.setScript({ 'US-001': [{ hang: true }] })
  assert.match((await place.ralph('pause')).out, /^sample is paused\. To start it, type ralph run sample$/m)
  assert.deepEqual(await stands(place), [
    'Paused by you · 0 of 2 stories pass',
    'Next: Continue with ralph run.',
  ])
  const working = place.start(['run', ...place.agent, ...GATE])
  await said(working, 'hanging')
  working.kill('SIGINT')
  assert.equal((await working.ended).code, 130)
  const [stood, next = ''] = await stands(place)
  assert.deepEqual(
    [stood, next],
    ['Cancelled, nothing is lost · 0 of 2 stories pass', 'Next: Continue with ralph run.'],
  )
  await place.setScript({ 'US-001': [good('US-001')], 'US-002': [good('US-002')] })
  assertDone(await follow(place, next))
})

test('status at max-iterations and after a batch has ended', async () => {
  await using place = await openPlace(TWO)
  await place.setScript({ 'US-001': [good('US-001')], 'US-002': [good('US-002')] })
  assert.equal((await run(place, '--once')).code, 5)
  assert.deepEqual(await stands(place), [
    '1 of 2 stories pass · the batch is over',
    'Next: Continue with ralph run.',
  ])
  const limit = ['--max-iterations', '1']
  const ended = await run(place, ...limit)
  assert.equal(ended.code, 2)
  const [stood, next = ''] = await stands(place, ...limit)
  assert.deepEqual(
    [stood, next],
    [
      'Stopped: the limit of 1 iterations is reached · 1 of 2 stories pass',
      'Next: The work so far is kept. Allow more with ralph limit iterations +5. Then continue with ralph run.',
    ],
  )
  assert.ok(ended.out.includes(next))
  assertDone(await follow(place, next, ...limit))
})

test('status at max-cost-usd', async () => {
  await using place = await openPlace(TWO)
  await place.setScript({ 'US-001': [good('US-001')], 'US-002': [good('US-002')] })
  const limit = ['--max-cost-usd', '0.01']
  assert.equal((await run(place, ...limit)).code, 3)
  const [, next = ''] = await stands(place, ...limit)
  assert.equal(
    next,
    'Next: The work so far is kept. Allow more with ralph limit cost +1. Then continue with ralph run.',
  )
  assertDone(await follow(place, next, ...limit))
})

test('status when the final verification gave no verdict', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  const mute: Turn = { say: 'hm' }
  await place.setScript({ 'US-001': [good('US-001')], verify: [mute, mute, mute] })
  assert.equal((await run(place, '--max-attempts', '1')).code, 1)
  const [, next = ''] = await stands(place, '--max-attempts', '1')
  assert.equal(next, 'Next: Ask the judge again with ralph run.')
  await place.setScript({ 'US-001': [good('US-001')] })
  assertDone(await follow(place, next))
})

test('status after a red base, and after a gate whose program is missing', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  await place.setScript({ 'US-001': [good('US-001')] })
  const red = await place.ralph('run', ...place.agent, '--gate', 'red=test -e src/mended.txt')
  assert.equal(red.code, 64)
  const [stood, next = ''] = await stands(place)
  assert.deepEqual(
    [stood, next],
    [
      'Error: gate red fails on the base, before Ralph has changed anything (exit 1)',
      'Next: Fix main first, or set baseline: off for a project that does not exist yet; then continue with ralph run.',
    ],
  )
  assert.ok(red.out.includes(next), red.out)
  const missing = await place.ralph('run', ...place.agent, '--gate', 'lint=eslimt .')
  assert.equal(missing.code, 64)
  assert.deepEqual(await stands(place), [
    'Error: gate lint cannot run (exit 127), because a program that it calls is missing',
    'Next: Install the program that gate lint calls, or fix its command; then continue with ralph run.',
  ])
  assert.equal((await run(place)).code, 0)
})

async function said(child: ReturnType<Place['start']>, word: string): Promise<void> {
  await new Promise<void>((resolve) => {
    child.stdout?.on('data', (text: string) => text.includes(word) && resolve())
  })
}

test('status shows commands that were typed between two runs at once: add, skip, retry', async () => {
  await using place = await openPlace([{ id: 'US-001' }, { id: 'US-002' }])
  await place.setScript({ 'US-001': [bad('US-001')], 'US-002': [bad('US-002')], 'US-003': [good('US-003')] })
  assert.equal((await run(place, '--max-attempts', '1')).code, 1)
  const shown = async () => (await place.ralph('status')).out
  assert.match(await shown(), /\[!\] US-001 .*\(blocked after 1 failed .* ralph retry US-001 -- <hint>/)
  for (const words of [
    ['retry', 'US-001'],
    ['skip', 'US-002', '--', 'later'],
    ['add', '--', 'part three'],
  ])
    assert.equal((await place.ralph(...words)).code, 0, words.join(' '))
  assert.match(
    await shown(),
    /^ralph\/sample: 0\/3 .*\n {2}\[ \] US-001 {2}part US-001 {2}\(gate good failed.*\n {2}\[-\] US-002 {2}part US-002 {2}\(skipped: later\)\n {2}\[ \] US-003 {2}part three$/m,
  )
  assert.equal((await place.ralph('note', 'US-003', '--', 'see src')).code, 0)
  place.git('switch', '-q', 'main')
  assert.match(await shown(), /US-003 {2}part three/)
  place.git('switch', '-q', 'ralph/sample')
  // A person takes one story out, and knows nothing of the new one.
  const path = `${place.repository}/${FOLDER}/prd.json`
  const prd = JSON.parse(readFileSync(path, 'utf8'))
  prd.userStories = prd.userStories.filter(({ id }: { id: string }) => id !== 'US-001')
  await place.write({ [`${FOLDER}/prd.json`]: JSON.stringify(prd) })
  assert.doesNotMatch(await shown(), /US-001/)
  assert.equal((await run(place)).code, 0)
  assert.match(await shown(), /\[-\] US-002 .*\n {2}\[x\] US-003 {2}part three/)
})

test('retry --fresh after a killed run leaves no file of its session in the tree', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  await place.setScript({ 'US-001': [{ ...bad('US-001'), hang: true }] })
  const first = place.start(['run', ...place.agent, ...GATE])
  while (!existsSync(`${place.repository}/src/US-001.txt`)) await new Promise(setImmediate)
  first.kill('SIGKILL')
  await first.ended
  const killed = await place.ralph('status')
  assert.doesNotMatch(killed.out, /working on/, 'nobody is')
  const retried = await place.ralph('retry', 'US-001', '--fresh')
  assert.equal(retried.code, 0, retried.err)
  await place.setScript({ 'US-001': [{ files: { 'src/other.txt': 'good\n' } }] })
  const { code, out, err } = await run(place)
  assert.equal(code, 0, out + err)
  assert.equal(existsSync(`${place.repository}/src/US-001.txt`), false)
})
