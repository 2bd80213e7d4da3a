// `ralph log --follow`: a session in work as it goes on, until the run has ended.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { GATE, good, made, openPlace } from './place.ts'

test('log --follow prints lines as they come, goes on to the next story, and ends with the run', async () => {
  await using place = await openPlace([{ id: 'US-001' }, { id: 'US-002' }])
  const [said, go] = [join(place.folder, 'said'), join(place.folder, 'go')]
  await place.setScript({
    'US-001': [
      {
        ...good('US-001'),
        shell: `echo first words; touch ${said}; until [ -e ${go} ]; do sleep 0.1; done; echo later words`,
      },
    ],
    'US-002': [{ ...good('US-002'), say: 'second story' }],
  })
  const run = place.start(['run', ...place.agent, ...GATE, '--no-final-verification'])
  await made(said)
  const [following, second] = [[], ['us-002']].map((words) => place.start(['log', ...words, '--follow']))
  let out = ''
  following?.stdout?.on('data', (text) => {
    out += text
    if (out.includes('first words')) writeFileSync(go, '')
  })
  const [followed, story, ended] = await Promise.all([following?.ended, second?.ended, run.ended])
  assert.equal(ended.code, 0, ended.err)
  assert.equal(followed?.code, 0)
  assert.match(story?.out ?? '', /== .*US-002-1\.log\nsecond story\n/)
  assert.doesNotMatch(story?.out ?? '', /first words/)
  assert.match(
    followed?.out ?? '',
    /== .*1-sample\/US-001-1\.log\nfirst words\nlater words\n[\s\S]*-- 1k tokens, \$0\.01\n== .*US-002-1\.log\nsecond story\n-- 1k tokens/,
  )
  const late = await place.ralph('log', '--follow')
  assert.equal(late.code, 0)
  assert.match(late.out, /^no run is working on sample on this machine\n== .*US-002-1\.log\nsecond story\n/)
})

test('log --follow ends when the run is killed', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  const pid = join(place.folder, 'pid')
  await place.setScript({ 'US-001': [{ shell: `echo words; echo $$ >${pid}; exec sleep 60` }] })
  const run = place.start(['run', ...place.agent, ...GATE])
  await made(pid)
  const following = place.start(['log', 'US-001', '--follow'])
  following.stdout?.once('data', () => run.kill('SIGKILL'))
  const { code, out } = await following.ended
  process.kill(Number(readFileSync(pid, 'utf8')))
  assert.equal(code, 0)
  assert.match(out, /words\n/)
})
