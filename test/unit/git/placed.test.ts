// What somebody who may write into .git puts where objects, refs and the state are to come.
import assert from 'node:assert/strict'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { createStore } from '../../../src/branch/store.ts'
import { takeSnapshot } from '../../../src/git/clone.ts'
import { objectId } from '../../../src/git/objects.ts'
import { stateOf, stories } from '../engine/samples.ts'
import { place } from './place.ts'

type Place = Awaited<ReturnType<typeof place>>

const TEXT = Buffer.from('the text that is to come\n')
const BLOB = objectId('blob', TEXT, 40)
const FILE = `.git/objects/${BLOB.slice(0, 2)}/${BLOB.slice(2)}`
const FORGED = deflateSync(Buffer.from('blob 5\0evil\n')).toString('base64')
const ABOVE = `.git/objects/${BLOB.slice(0, 2)}`

async function write({ git, base }: Place): Promise<void> {
  const writer = git.writer(base)
  assert.equal(writer.add('blob', TEXT), BLOB)
  await writer.flush()
}

const PLACED: [string, string][] = [
  ['nothing', ':'],
  ['other bytes', `mkdir -p ${ABOVE}; echo ${FORGED} | base64 -d >${FILE}; chmod 444 ${FILE}`],
  ['bytes that are none of git', `mkdir -p ${ABOVE}; echo x >${FILE}`],
  ['a link', `mkdir -p ${ABOVE}; echo keep >../outside; ln -s ../../../../outside ${FILE}`],
  ['a link that leads nowhere', `mkdir -p ${ABOVE}; ln -s /none/at/all ${FILE}`],
  ['a pipe', `mkdir -p ${ABOVE}; mkfifo ${FILE}`],
]

for (const [what, script] of PLACED) {
  test(`an object is written whole, when its path was replaced by ${what}`, { timeout: 30_000 }, async () => {
    using at = await place('sha1', script)
    await write(at)
    assert.equal(at.shell(`git cat-file blob ${BLOB}`), TEXT.toString())
    assert.equal(lstatSync(join(at.top, FILE)).isFile(), true)
    assert.equal(at.shell('cat ../outside 2>/dev/null || echo keep'), 'keep\n')
    assert.equal(at.shell('git fsck --strict 2>&1 | grep -v -e dangling -e notice || true'), '')
  })
}

test('an object folder that is a link is followed, as by git, and its objects are kept', async () => {
  using at = await place()
  at.shell(`git hash-object -w --stdin >/dev/null`, {}, TEXT.toString())
  at.shell(`mv ${ABOVE} ../elsewhere; ln -s ../../../elsewhere ${ABOVE}; echo x >../elsewhere/x`)
  await write(at)
  assert.deepEqual(readdirSync(join(at.folder, 'elsewhere')).sort(), [BLOB.slice(2), 'x'])
  assert.equal(at.shell(`git cat-file blob ${BLOB}`), TEXT.toString())
})

test('two runs that write the same objects at the same time lose none', async () => {
  using at = await place()
  const all = Array.from({ length: 150 }, (_, one) => Buffer.from(`object ${one}`))
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      const writer = at.git.writer(at.base)
      for (const bytes of all) writer.add('blob', bytes)
      return writer.flush()
    }),
  )
  for (const bytes of all) assert.ok((await at.objects.contents(objectId('blob', bytes, 40)))?.equals(bytes))
  assert.deepEqual(
    readdirSync(join(at.top, '.git/objects')).filter((name) => name.startsWith('tmp_')),
    [],
  )
})

test('a failed write leaves no file, and removes none (skipped as root, who can write everywhere)', async (t) => {
  if (process.getuid?.() === 0) return t.skip('root writes everywhere')
  using at = await place()
  await write(at)
  at.shell(`chmod a-w ${ABOVE}`)
  await assert.rejects(write(at), { code: 'EACCES' })
  at.shell(`chmod u+w ${ABOVE}`)
  assert.equal(at.shell(`git cat-file blob ${BLOB}`), TEXT.toString())
  assert.deepEqual(
    readdirSync(join(at.top, '.git/objects')).filter((name) => name.startsWith('tmp_')),
    [],
  )
})

const REF = '.git/ralph/git/refs/ralph/2026-01-10-auth'
const IN_THE_WAY: [string, string][] = [
  ['a folder', `rm -f ${REF}; mkdir -p ${REF}/x; echo x >${REF}/x/y`],
  ['a link', `rm -f ${REF}; echo keep >../outside; ln -s "$PWD/../outside" ${REF}`],
  ['a file in the place of its folder', `rm -r ${REF.slice(0, -16)}; echo x >${REF.slice(0, -16)}`],
  [
    'a link in the place of its folder',
    `rm -r ${REF.slice(0, -16)}; mkdir ../out; echo keep >../out/2026-01-10-auth; ln -s "$PWD/../out" ${REF.slice(0, -16)}`,
  ],
  ['a pipe', `rm -f ${REF}; mkfifo ${REF}`],
  ['nothing', `rm -rf .git/ralph/git/refs`],
  ['another id', `git rev-parse HEAD >${REF}`],
  ['no id', `echo x >${REF}`],
]

for (const [what, script] of IN_THE_WAY) {
  test(`the state is saved, when its ref was replaced by ${what}`, { timeout: 30_000 }, async () => {
    using at = await place()
    const snapshot = await takeSnapshot(at.git, false)
    // With a remote whose push says yes: the local ref is a copy then, and whoever moved it has won nothing.
    const remote = { url: join(at.folder, 'remote.git'), env: {} }
    at.shell('git init -q --bare ../remote.git')
    const options = { namespace: 'refs/ralph', remote, publishRemote: null, snapshot, leaseMs: 1000 }
    const store = createStore(at.git, at.objects, options)
    const state = stateOf(stories('US-001'), { green: at.base })
    await store.save(state)
    at.shell(script)
    await store.save({ ...state, generation: 7 })
    const found = await createStore(at.git, at.objects, options).load(state.folder)
    assert.equal(found?.state.generation, 7)
    assert.equal(readFileSync(join(at.top, REF), 'utf8').trim(), found?.commit)
    assert.equal(at.shell('cat ../outside ../out/* 2>/dev/null || true').replaceAll('keep\n', ''), '')
    assert.equal(
      at.shell(`git fsck --strict ${found?.commit} 2>&1 | grep -v -e dangling -e notice || true`),
      '',
    )
  })
}

test('the commit of a state passes git fsck, with saved work of rejected attempts', async () => {
  for (const format of ['sha1', 'sha256'] as const) {
    using at = await place(
      format,
      'mkdir -p .ralph-state a; echo x >.ralph-state/x; echo y >a/y; git add -A; git commit -qm 2',
    )
    const options = { namespace: 'refs/ralph', remote: null, publishRemote: null, leaseMs: 1000 }
    const store = createStore(at.git, at.objects, { ...options, snapshot: await takeSnapshot(at.git, false) })
    const tree = at.shell('git rev-parse HEAD^{tree}').trim()
    const kept = { base: tree, tree, dropped: [] }
    const state = stateOf(stories('US-001'), { green: at.base, kept: { 'US-001': kept, 'US-002': kept } })
    await store.save(state)
    await store.save({ ...state, generation: 1 })
    const names = await at.our(['ls-tree', '-r', '--name-only', 'refs/ralph/2026-01-10-auth'])
    const both = ['US-001', 'US-002'].flatMap((id) => ['base', 'work'].map((side) => `kept/${id}/${side}`))
    const inside = both.flatMap((path) => [`${path}/.ralph-state/x`, `${path}/a/y`]).sort()
    assert.deepEqual(names.split('\n'), [
      ...inside.map((path) => `.ralph-state/${path}`),
      '.ralph-state/state.json',
      'a/y',
    ])
    assert.equal(await at.our(['rev-list', '--count', 'refs/ralph/2026-01-10-auth']), '4')
    const made = await at.our(['rev-parse', 'refs/ralph/2026-01-10-auth'])
    assert.equal(at.shell(`git fsck --strict ${made} 2>&1 | grep -v -e dangling -e notice || true`), '')
  }
})
