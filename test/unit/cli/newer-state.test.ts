// A state that a newer Ralph has written: nothing is guessed, and nothing is written.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { GATE, good, openPlace } from './place.ts'

test('a state of a newer version is refused with what to do, and is not changed', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  await place.setScript({ 'US-001': [good('US-001')] })
  const first = await place.ralph('run', ...place.agent, ...GATE)
  assert.equal(first.code, 0, first.out + first.err)
  const ref = place.git('for-each-ref', '--format=%(refname)', 'refs/ralph')
  const git = (args: string[], input = '') =>
    execFileSync('git', args, { cwd: place.repository, env: place.env, input, encoding: 'utf8' }).trim()
  const state = JSON.parse(git(['show', `${ref}:.ralph-state/state.json`]))
  assert.equal(state.version, 1)
  const blob = git(['hash-object', '-w', '--stdin'], JSON.stringify({ ...state, version: 99 }))
  const own = git(['ls-tree', `${ref}:.ralph-state`]).replace(/[0-9a-f]{40}(?=\tstate\.json)/, blob)
  const folder = git(['mktree'], `${own}\n`)
  const top = git(['ls-tree', ref]).replace(/[0-9a-f]{40}(?=\t\.ralph-state$)/m, folder)
  const commit = git(['commit-tree', git(['mktree'], `${top}\n`), '-p', ref, '-m', 'newer'])
  git(['update-ref', ref, commit])
  // Ralph's own ref is the truth on a laptop; the clone's is its copy.
  await place.write({ [`.git/ralph/git/${ref}`]: `${commit}\n` })
  const before = place.refs()
  for (const args of [['run', ...place.agent, ...GATE], ['status'], ['report'], ['retry', 'US-001']]) {
    const { code, err } = await place.ralph(...args)
    assert.equal(code, 64, err)
    assert.match(err, /state\.json: version: found 99, expected 1 or less\n.*Update this Ralph/)
  }
  const all = await place.json('report', '--all')
  assert.match(JSON.stringify(all.unread), /expected.{3}1 or less/, 'the others are told all the same')
  assert.equal(place.refs(), before)
})
