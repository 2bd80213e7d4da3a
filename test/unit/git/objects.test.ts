// Objects that are written in process, held against real git.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import fc from 'fast-check'
import { editTree } from '../../../src/git/edit-tree.ts'
import { commitBytes, objectId } from '../../../src/git/objects.ts'
import { runs } from '../runs.ts'
import { place } from './place.ts'

const odd = fc
  .array(fc.constantFrom('a', 'Jr', ' ', ',', '<', '>', '"', "'", '\\', 'é', '\t', '\n', ':', '\x7f', '-'), {
    maxLength: 8,
  })
  .map((parts) => parts.join(''))
const message = fc.oneof(
  fc.constantFrom('', '\n', 'one', 'one\n\ntwo\n', 'é\r\n', '# no comment\n'),
  fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', '')),
)
const ZONES = ['UTC', 'Asia/Kolkata', 'America/St_Johns', 'Pacific/Kiritimati', 'America/Los_Angeles']

function inZone<T>(zone: string, act: () => T): T {
  const before = process.env.TZ
  process.env.TZ = zone
  try {
    return act()
  } finally {
    if (before === undefined) delete process.env.TZ
    else process.env.TZ = before
  }
}

test('a commit equals that of git commit-tree', async () => {
  using at = await place()
  const tree = at.shell('git rev-parse HEAD^{tree}').trim()
  const parents = fc.constantFrom([], [at.base])
  const seconds = fc.integer({ min: 1_000_000_000, max: 4_000_000_000 })
  const commits = fc.record({
    name: odd.map((text) => `n${text}`),
    email: odd.map((text) => `${text}e`),
    message,
    parents,
    seconds,
    zone: fc.constantFrom(...ZONES),
  })
  fc.assert(
    fc.property(commits, ({ name, email, message, parents, seconds, zone }) => {
      const date = new Date(seconds * 1000 + 999)
      const ours = inZone(zone, () => commitBytes(tree, parents, { name, email }, date, message))
      const offset = execFileSync('date', ['-d', `@${seconds}`, '+%z'], {
        env: { TZ: zone },
        encoding: 'utf8',
      })
      const who = {
        GIT_AUTHOR_NAME: name,
        GIT_COMMITTER_NAME: name,
        GIT_AUTHOR_EMAIL: email,
        GIT_COMMITTER_EMAIL: email,
        GIT_AUTHOR_DATE: `${seconds} ${offset}`,
        GIT_COMMITTER_DATE: `${seconds} ${offset}`,
      }
      const above = parents.map((oid) => `-p ${oid}`).join(' ')
      const said = at.shell(`git cat-file commit $(git commit-tree ${tree} ${above})`, who, message)
      assert.equal(ours.toString('utf8'), said)
    }),
    runs(12),
  )
})

test('a large object is read back as written', async () => {
  using at = await place()
  const content = Buffer.alloc(700_000, 'a line of a large file\n')
  const writer = at.git.writer(at.base)
  const oid = writer.add('blob', content)
  await writer.flush()
  assert.ok((await at.objects.contents(oid))?.equals(content))
  assert.equal(at.shell(`git hash-object --stdin`, {}, content.toString()).trim(), oid)
  // Another kind of the same bytes is another object.
  assert.notEqual(objectId('tree', content, 40), oid)
  assert.notEqual(objectId('blob', content, 64), oid)
})

test('entries of a tree are replaced, removed and moved, and two edits at a time do not meet', async () => {
  using at = await place(
    'sha1',
    'mkdir -p a/b c; echo 1 >a/b/x; echo 2 >c/y; echo 3 >z; git add -A; git commit -qm 2',
  )
  const tree = at.shell('git rev-parse HEAD^{tree}').trim()
  const blob = at.shell('echo new | git hash-object -w --stdin').trim()
  const folder = at.shell('git rev-parse HEAD:a').trim()
  const list = (of: string) => at.shell(`git ls-tree -r --name-only ${of}`).trim().split('\n')
  const entry = { mode: '100644', oid: blob }
  const [one, two, moved] = await Promise.all([
    editTree(
      at.git,
      tree,
      new Map([
        ['a', entry],
        ['c/y', null],
      ]),
    ),
    editTree(at.git, tree, new Map([['z/deep/ü', entry]])),
    editTree(at.git, tree, new Map(), [
      { oid: folder, from: 'a', to: 'old/a' },
      { oid: folder, from: null, to: 'copy' },
    ]),
  ])
  assert.deepEqual(list(one), ['a', 'z'])
  assert.deepEqual(list(two), ['a/b/x', 'c/y', '"z/deep/\\303\\274"'])
  assert.deepEqual(list(moved), ['c/y', 'copy/b/x', 'old/a/b/x', 'z'])
  assert.equal(await editTree(at.git, tree, new Map()), tree)
})
