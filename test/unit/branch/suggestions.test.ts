// Suggestions of reviewers are applied only to the lines that the reviewer saw.
import assert from 'node:assert/strict'
import test from 'node:test'
import { Commits } from '../../../src/branch/commits.ts'
import { applySuggestions, withSuggestions } from '../../../src/branch/suggestions.ts'
import { place } from '../git/place.ts'

const suggest = (from: number, was: string[], now: string[]) => ({
  path: 'a',
  from,
  to: from + was.length - 1,
  was,
  now,
})

test('a suggestion replaces exactly its lines, which may become more, fewer or none', () => {
  const text = 'one\ntwo\nthree\n'
  assert.deepEqual(withSuggestions(text, [suggest(2, ['two'], ['2a', '2b'])]), {
    text: 'one\n2a\n2b\nthree\n',
    count: 1,
  })
  assert.equal(withSuggestions(text, [suggest(1, ['one', 'two'], ['1'])]).text, '1\nthree\n')
  assert.equal(withSuggestions(text, [suggest(2, ['two'], [])]).text, 'one\nthree\n')
})

test('several suggestions of a file keep their places, in whatever order they come', () => {
  const all = [suggest(1, ['one'], ['1', '1']), suggest(3, ['three'], ['3']), suggest(2, ['two'], [])]
  for (const order of [all, all.toReversed()])
    assert.deepEqual(withSuggestions('one\ntwo\nthree\n', order), { text: '1\n1\n3\n', count: 3 })
})

test('what no longer fits is left out: other lines, lines beyond the end, and a second suggestion for the same lines', () => {
  const text = 'one\ntwo\n'
  assert.deepEqual(withSuggestions(text, [suggest(2, ['zwei'], ['2'])]), { text, count: 0 })
  assert.deepEqual(withSuggestions(text, [suggest(9, ['two'], ['2'])]), { text, count: 0 })
  const twice = [suggest(1, ['one', 'two'], ['1']), suggest(2, ['two'], ['2'])]
  assert.deepEqual(withSuggestions(text, twice), { text: 'one\n2\n', count: 1 })
})

test('line ends stay as they are in the file', () => {
  assert.equal(withSuggestions('one\r\ntwo\r\n', [suggest(1, ['one'], ['1', '2'])]).text, '1\r\n2\r\ntwo\r\n')
})

test('only text files of the project are changed: no other bytes, no links, none of Ralph\u2019s own files', async () => {
  using at = await place(
    'sha1',
    [
      'echo one > run.sh; chmod +x run.sh; ln -s run.sh link; mkdir .ralph; echo one > .ralph/prd.json',
      "printf 'one\\n\\351\\n' > latin.txt; git add -A; git commit -q -m files",
    ].join('\n'),
  )
  const options = {
    redact: (text: string) => text,
    identity: { name: 'a', email: 'a@b' },
    sign: null,
    stateCommits: true,
    stateSubject: null,
    onOutcome: () => [],
    warn: assert.fail,
  }
  const commits = new Commits(at.git, at.objects, options)
  const green = at.shell('git rev-parse HEAD').trim()
  const isRalphPath = (path: string) => path.startsWith('.ralph/')
  const tools = { objects: at.objects, commits, isRalphPath }
  const all = ['run.sh', 'latin.txt', 'link', '.ralph/prd.json', 'gone.txt'].map((path) => ({
    ...suggest(1, path === 'link' ? ['run.sh'] : ['one'], ['two']),
    path,
  }))
  const applied = await applySuggestions(tools, { green }, all)
  assert.equal(applied?.count, 1)
  const changed = await at.our(['diff-tree', '-r', '--raw', applied?.base ?? '', applied?.tree ?? ''])
  assert.match(changed, /^:100755 100755 \S+ \S+ M\trun\.sh\s*$/)
  assert.equal(await applySuggestions(tools, { green }, all.slice(1)), null)
})
