// The refs that a job asks for at its start: one question, and none of its answers is used once the job has pushed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Git, Remote } from '../../../src/git/git.ts'
import { InitialRefs } from '../../../src/git/remote.ts'

const remote: Remote = { url: 'https://git.test/it', env: {} }
const PATTERNS = ['refs/heads/main', 'refs/ralph/*', 'refs/heads/ralph/*']

/** A git whose remote has these refs, and that notes what it was asked. */
function open(refs: Record<string, string>, now = () => 0) {
  const asked: string[][] = []
  const lsRemote = async (_: Remote, patterns: readonly string[]) => {
    asked.push([...patterns])
    const stdout = Object.entries(refs).map(([ref, at]) => `${at}\t${ref}\n`)
    return { code: 0, stdout: stdout.join(''), stderr: '' }
  }
  const look = new InitialRefs(PATTERNS, now)
  const get = async (pattern: string) =>
    Object.fromEntries(await look.refs({ lsRemote } as unknown as Git, remote, pattern))
  return { asked, look, get }
}

test('base, states and branch are fetched by one request, each with its answer', async () => {
  const { asked, get } = open({ 'refs/heads/main': '1', 'refs/heads/ralph/a': '2', 'refs/ralph/a': '3' })
  const answers = [
    get('refs/heads/main'),
    get('refs/ralph/*'),
    get('refs/ralph/b'),
    get('refs/heads/ralph/a'),
  ]
  assert.deepEqual(await Promise.all(answers), [
    { 'refs/heads/main': '1' },
    { 'refs/ralph/a': '3' },
    {},
    { 'refs/heads/ralph/a': '2' },
  ])
  assert.deepEqual(asked, [PATTERNS])
})

test('a ref that the first request lacks is requested, and later every ref is', async () => {
  const refs: Record<string, string> = { 'refs/heads/main': '1', 'refs/heads/other': '2' }
  const { asked, look, get } = open(refs)
  assert.equal((await get('refs/heads/main'))['refs/heads/main'], '1')
  assert.equal((await get('refs/heads/other'))['refs/heads/other'], '2')
  refs['refs/heads/main'] = '4'
  assert.equal((await get('refs/heads/main'))['refs/heads/main'], '1')
  look.end()
  assert.equal((await get('refs/heads/main'))['refs/heads/main'], '4')
  assert.deepEqual(asked, [PATTERNS, ['refs/heads/other'], ['refs/heads/main']])
})

test('after its end the first request still gives the branch, but nothing before it', async () => {
  const { asked, look, get } = open({ 'refs/heads/main': '1', 'refs/heads/ralph/a': '2' })
  assert.equal(await look.answer('refs/heads/ralph/a'), null, 'nothing was asked yet')
  await get('refs/heads/main')
  look.end()
  assert.deepEqual(await look.answer('refs/heads/ralph/a'), { at: '2' })
  assert.deepEqual(await look.answer('refs/heads/ralph/b'), { at: null })
  assert.equal(await look.answer('refs/heads/other'), null)
  assert.equal(asked.length, 1)
})

test('the branch of the first request is not used for longer than a minute', async () => {
  let now = 1000
  const { look, get } = open({ 'refs/heads/ralph/a': '2' }, () => now)
  await get('refs/heads/ralph/a')
  now += 60_000
  assert.deepEqual(await look.answer('refs/heads/ralph/a'), { at: '2' })
  now += 1
  assert.equal(await look.answer('refs/heads/ralph/a'), null)
})
