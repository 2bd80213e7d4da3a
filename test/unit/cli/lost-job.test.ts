// A run whose process was killed, and the one that goes on from there.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { GATE, good, made, openPlace } from './place.ts'

test('a run after one that was killed in its first iteration reports no change of prd.json by people', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  const pid = join(place.folder, 'pid')
  await place.setScript({
    'US-001': [{ ...good('US-001'), shell: 'echo half >half.txt' }],
  })
  const slow = `slow=[ ! -e half.txt ] || [ -e ${pid} ] || { echo $$ >${pid}; exec sleep 60; }`
  const args = ['run', ...place.agent, '--gate', slow, '--no-final-verification', '--max-cost-usd', '5']
  const run = place.start(args)
  await made(pid)
  run.kill('SIGKILL')
  await run.ended
  const cost = async (...command: string[]) => Number((await place.json(...command)).costUsd)
  const told = await cost('status')
  assert.deepEqual([told > 0, await cost('report')], [true, told], 'what the next run will charge')
  assert.match((await place.ralph('monitor')).out, new RegExp(`^Cost: \\$${told.toFixed(2)}`, 'm'))
  const { code, out, err } = await place.ralph(...args)
  assert.equal(code, 0, err)
  assert.doesNotMatch(`${out}${err}`, /was changed/)
})

test("a run after one that was killed in a session names the files in the tree that it takes as that session's work", async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  await place.setScript({ 'US-001': [{ ...good('US-001'), hang: true }] })
  const run = place.start(['run', ...place.agent, ...GATE])
  await made(join(place.repository, 'src', 'US-001.txt'))
  run.kill('SIGKILL')
  await run.ended
  await place.write({ 'mine.txt': 'mine\n' })
  await place.setScript({ 'US-001': [good('US-001')] })
  const { code, out, err } = await place.ralph('run', ...place.agent, ...GATE, '--no-final-verification')
  assert.equal(code, 0, err)
  assert.match(
    out + err,
    /the lost session left changes in mine\.txt, src\/US-001\.txt\. Ralph treats them as the session's work on US-001/,
  )
})

test("a run after one that was killed while it wrote its own files does not name these as people's work", async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  await place.setScript({ 'US-001': [{ ...good('US-001'), hang: true }] })
  const run = place.start(['run', ...place.agent, ...GATE])
  await made(join(place.repository, 'src', 'US-001.txt'))
  run.kill('SIGKILL')
  await run.ended
  // As it writes them before it looks at the work.
  const ref = place.git('for-each-ref', '--format=%(refname)', 'refs/ralph')
  const folder = `.ralph/${ref.slice('refs/ralph/'.length)}`
  const prd = JSON.parse(await place.read(`${folder}/prd.json`))
  prd.userStories[0].passes = true
  await place.write({
    [`${folder}/prd.json`]: JSON.stringify(prd),
    [`${folder}/progress.txt`]: 'as it will be\n',
  })
  await place.setScript({ 'US-001': [good('US-001')] })
  const { code, out, err } = await place.ralph('run', ...place.agent, ...GATE, '--no-final-verification')
  assert.equal(code, 0, err)
  assert.match(
    out + err,
    /left changes in src\/US-001\.txt\. Ralph treats them as the session's work on US-001/,
  )
})
