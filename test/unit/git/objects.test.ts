// Objects that are written in process, held against real git.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { IndexFile } from '../../../src/git/index-file.ts'
import { commitBytes, objectId } from '../../../src/git/objects.ts'
import { indexMatches, treeOfIndex } from '../../../src/git/own-index.ts'
import { fromLatin1 } from '../../../src/system/path-text.ts'
import { runs } from '../runs.ts'
import { place } from './place.ts'

type Place = Awaited<ReturnType<typeof place>>
type File = { path: string; mode: string }

/** The index holds these files alone; those that cannot stand beside others of them are left out. */
async function fill({ our, base }: Place, files: readonly File[]): Promise<string[]> {
  const taken = new Map<string, string>()
  for (const { path, mode } of files) {
    const above = path.split('/').map((_, at, parts) => parts.slice(0, at).join('/'))
    const isInWay = [...taken.keys()].some((other) => other.startsWith(`${path}/`) || above.includes(other))
    if (!isInWay) taken.set(path, mode)
  }
  const blob = await our(['hash-object', '-w', '--stdin'], 'x')
  const lines = [...taken].map(([path, mode]) => `${mode} ${mode === '160000' ? base : blob}\t${path}\0`)
  await our(['read-tree', '--empty'])
  await our(['update-index', '-z', '--index-info'], lines.join(''))
  return [...taken.keys()]
}

const NAMES = [
  ...['a', 'a.b', 'a-', 'a0', 'a b', 'A', 'é', '中文', '😀', '\ufffd', '.x', '-', 'tab\t', 'line\n'],
  ...['"q"', '\\', 'z'.repeat(200)],
]
const files = fc.array(
  fc.record({
    path: fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 5 }).map((parts) => parts.join('/')),
    mode: fc.constantFrom('100644', '100755', '120000', '160000'),
  }),
  { maxLength: 25 },
)

const faults = (at: Place, oid = '') =>
  at.shell(`git fsck --strict --no-dangling ${oid} 2>&1 | grep -v notice: || true`)

for (const format of ['sha1', 'sha256'] as const) {
  test(`trees of an index equal those that git writes, and pass git fsck (${format})`, async () => {
    using at = await place(format)
    await fc.assert(
      fc.asyncProperty(files, async (some) => {
        const paths = await fill(at, some)
        const made = await treeOfIndex(at.git, at.objects, at.base)
        // Before git itself has written anything.
        const listed = await at.our(['ls-tree', '-r', '-z', '--name-only', made.oid])
        assert.deepEqual(listed.split('\0').filter(Boolean).sort(), paths.sort())
        const folders = await at.our(['ls-tree', '-r', '-t', '-z', made.oid])
        const names = folders.split('\0').filter((line) => line.startsWith('040000'))
        assert.deepEqual(
          [...IndexFile.of(readFileSync(join(at.git.own, 'index')), made.oid.length / 2).folders]
            .map(fromLatin1)
            .sort(),
          names.map((line) => line.slice(line.indexOf('\t') + 1)).sort(),
        )
        assert.equal(made.oid, await at.our(['write-tree']))
      }),
      runs(10),
    )
    assert.equal(faults(at), '')
  })
}

test('an empty index is the empty tree, and many and deep folders are written whole', async () => {
  using at = await place()
  await fill(at, [])
  const empty = await treeOfIndex(at.git, at.objects, at.base)
  assert.equal(empty.oid, '4b825dc642cb6eb9a060e54bf8d69288fbee4904')
  const many = Array.from({ length: 300 }, (_, one) => ({ path: `d${one}/e${one}/f`, mode: '100644' }))
  await fill(at, [...many, { path: `${'x/'.repeat(500)}f`, mode: '100644' }])
  const { oid } = await treeOfIndex(at.git, at.objects, at.base)
  assert.equal(await indexMatches(at.git, at.objects, oid), true)
  assert.equal(await indexMatches(at.git, at.objects, at.base), false)
  assert.equal(faults(at, oid), '')
  assert.equal(oid, await at.our(['write-tree']))
  assert.deepEqual(
    readdirSync(join(at.top, '.git/objects')).filter((name) => name.startsWith('tmp_')),
    [],
  )
})

test('a truncated index, or one with a merge, gives no tree, without a wait', async () => {
  using at = await place()
  await fill(at, [
    { path: 'a/b', mode: '100644' },
    { path: 'c', mode: '100644' },
  ])
  const bytes = readFileSync(join(at.git.own, 'index'))
  for (let end = 0; end < 12 + 2 * 72 - 8; end++)
    assert.throws(() => IndexFile.of(bytes.subarray(0, end), 20), `cut off at ${end}`)
  bytes.writeUInt32BE(0xffffffff, 8)
  assert.throws(() => IndexFile.of(bytes, 20))
  const blob = objectId('blob', Buffer.from('x'), 40)
  await at.our(['update-index', '--index-info'], `0 ${'0'.repeat(40)}\tc\n100644 ${blob} 2\tc\n`)
  await assert.rejects(treeOfIndex(at.git, at.objects, at.base), /the index of Ralph is gone/)
})

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

test('a large object is read back as written, and a replaced one is not used', async () => {
  using at = await place()
  const content = Buffer.alloc(700_000, 'a line of a large file\n')
  const writer = at.git.writer(at.base)
  const oid = writer.add('blob', content)
  await at.objects.verify(await writer.flush())
  assert.ok((await at.objects.contents(oid))?.equals(content))
  assert.equal(at.shell(`git hash-object --stdin`, {}, content.toString()).trim(), oid)
  for (const place of [0, 300_000, content.length - 1]) {
    const other = Buffer.from(content)
    other[place] = 0x58
    assert.notEqual(objectId('blob', other, 40), oid)
    assert.equal(objectId('blob', content, 40), oid)
    chmodSync(at.file(oid), 0o644)
    writeFileSync(at.file(oid), deflateSync(Buffer.concat([Buffer.from(`blob ${other.length}\0`), other])))
    await at.objects.restart()
    await assert.rejects(at.objects.contents(oid), /holds other bytes/, `byte ${place}`)
  }
  // Another kind of the same bytes is another object.
  assert.notEqual(objectId('tree', content, 40), oid)
  assert.notEqual(objectId('blob', content, 64), oid)
})
