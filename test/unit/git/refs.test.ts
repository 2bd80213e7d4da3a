// Refs read and moved in process, held against real git.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { moveClone, restoreClone, takeSnapshot } from '../../../src/git/clone.ts'
import { Git, openClone } from '../../../src/git/git.ts'
import { moveRef, readRef, readRefs } from '../../../src/git/refs.ts'
import { runs } from '../runs.ts'
import { place } from './place.ts'

type Place = Awaited<ReturnType<typeof place>>

/** What git says of every ref; broken ones are named on its standard error alone. */
function listed({ shell }: Place): Map<string, string> {
  const lines = shell(`git for-each-ref --format='%(refname) %(objectname) %(symref)' 2>/dev/null`)
  return new Map(
    lines
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        const [ref = '', oid = '', target = ''] = line.split(' ')
        return [ref, target === '' ? oid : `ref: ${target}`]
      }),
  )
}

const sorted = (refs: ReadonlyMap<string, string>) => [...refs].sort()
const folder = ({ top }: Place) => join(top, '.git')

const STATES: [string, string][] = [
  ['loose', 'git branch a; git tag t; git branch deep/er/b'],
  ['packed', 'git branch a; git tag -a -m t t; git pack-refs --all'],
  [
    'packed, and newer loose',
    'git branch a; git pack-refs --all; c=$(git commit-tree -m x HEAD^{tree}); git update-ref refs/heads/a $c; git branch z',
  ],
  ['packed, and removed', 'git branch a; git branch b; git pack-refs --all; git branch -D a'],
  [
    'symbolic',
    'git symbolic-ref refs/remotes/origin/HEAD refs/heads/main; git symbolic-ref refs/heads/s refs/tags/none',
  ],
  [
    'symbolic, round in a circle',
    'echo ref: refs/heads/p >.git/refs/heads/q; echo ref: refs/heads/q >.git/refs/heads/p',
  ],
  [
    'symbolic, of a packed one, spelled oddly',
    'git branch a; git pack-refs --all; printf "ref:\\t refs/heads/a \\n\\n" >.git/refs/heads/s',
  ],
  [
    'broken',
    'echo x >.git/refs/heads/x; : >.git/refs/heads/y; echo 1234 >.git/refs/heads/z; mkdir .git/refs/heads/d; head -c 100 /dev/zero >.git/refs/heads/n',
  ],
  [
    'with something behind the id, or capitals',
    `h=$(git rev-parse HEAD); echo "$h x" >.git/refs/heads/x; echo "\${h^^}" >.git/refs/heads/y; printf '%s' $h >.git/refs/heads/z; echo "\${h}0" >.git/refs/heads/v; echo "ref: refs/heads/main x" >.git/refs/heads/w`,
  ],
  [
    'with names that are none',
    `h=$(git rev-parse HEAD); cd .git/refs/heads; for n in a.lock .b 'c d' e..f 'g~' 'h^' 'i:' 'j?' 'k*' 'l[' 'm\\' 'n@{0' 'o.' $'p\\n' é 😀 @ -x; do echo $h >"$n"; done`,
  ],
  ['with lock files', 'git branch a; echo x >.git/refs/heads/a.lock; echo y >.git/packed-refs.lock'],
]

for (const [how, script] of STATES) {
  test(`refs are read as git reads them: ${how}`, async () => {
    using at = await place('sha1', script)
    assert.deepEqual(sorted(readRefs(folder(at))), sorted(listed(at)))
    for (const ref of [...listed(at).keys(), 'refs/heads/none', 'refs/heads/d']) {
      const oid = at.shell(`git rev-parse -q --verify "$ref" || true`, { ref }).trim()
      assert.equal(readRef(folder(at), ref) ?? '', oid, ref)
    }
  })
}

const names = fc
  .array(fc.constantFrom('a', 'b', 'a.b', 'é'), { minLength: 1, maxLength: 3 })
  .map((parts) => `refs/heads/${parts.join('/')}`)
const acts = fc.array(
  fc.record({
    ref: names,
    what: fc.constantFrom('move', 'move', 'create', 'swap', 'stale', 'pack', 'delete'),
    to: fc.boolean(),
  }),
  { maxLength: 12 },
)

test('refs are moved where git moves them, and nowhere else', async () => {
  await fc.assert(
    fc.asyncProperty(acts, async (some) => {
      using at = await place()
      const other = at.shell('git commit-tree -m other HEAD^{tree}').trim()
      const twin = join(at.folder, 'twin')
      const done = (args: string[], cwd = twin) => {
        try {
          execFileSync('git', args, { cwd, stdio: 'ignore' })
          return true
        } catch {
          return false
        }
      }
      at.shell('cp -r . ../twin')
      for (const { ref, what, to } of some) {
        const wanted = to ? other : at.base
        if (what === 'pack' || what === 'delete') {
          const args = what === 'pack' ? ['pack-refs', '--all'] : ['update-ref', '-d', ref]
          done(args)
          done(args, at.top)
          continue
        }
        const now = readRef(folder(at), ref)
        const from = { move: undefined, create: null, swap: now, stale: to ? at.base : other }[what]
        const old = from === null ? ['0'.repeat(40)] : from === undefined ? [] : [from]
        const args = ['update-ref', '--no-deref', ref, wanted, ...old]
        // Where it throws, git is asked: an empty folder stands in the way.
        const moved = await moveRef(folder(at), ref, from, wanted).catch(() => done(args, at.top))
        assert.equal(moved, done(args), `${what} ${ref}`)
      }
      const said = execFileSync('git', ['show-ref'], { cwd: twin, encoding: 'utf8' })
      assert.equal(at.shell('git show-ref'), said)
      assert.equal(at.shell('find .git/refs -name "*.lock"'), '')
    }),
    runs(5),
  )
})

test('a symbolic ref is what it says, also where that is symbolic again', async () => {
  using at = await place(
    'sha1',
    'git symbolic-ref refs/heads/s refs/heads/main; git symbolic-ref refs/heads/t refs/heads/s',
  )
  assert.equal(readRefs(folder(at)).get('refs/heads/t'), 'ref: refs/heads/s')
  assert.equal(readRef(folder(at), 'refs/heads/t'), at.base)
})

test('a symbolic ref is moved itself, as with --no-deref', async () => {
  using at = await place('sha1', 'git symbolic-ref refs/heads/s refs/heads/main')
  const other = at.shell('git commit-tree -m other HEAD^{tree}').trim()
  assert.equal(await moveRef(folder(at), 'refs/heads/s', at.base, other), true)
  assert.equal(at.shell('git rev-parse refs/heads/s refs/heads/main'), `${other}\n${at.base}\n`)
})

test('no name leads out of the refs', async () => {
  using at = await place()
  for (const ref of [
    'refs/../config',
    'refs/heads/../../config',
    'HEAD',
    'config',
    'refs/heads/',
    'refs/a b',
  ])
    await assert.rejects(moveRef(folder(at), ref, undefined, at.base), /no name of a ref/, ref)
  assert.match(readFileSync(join(at.top, '.git/config'), 'utf8'), /\[core\]/)
})

test('a lock that another program holds is waited for, and one that a killed program left is taken', async () => {
  using at = await place()
  const lock = join(folder(at), 'refs/heads/a.lock')
  writeFileSync(lock, '')
  const moving = moveRef(folder(at), 'refs/heads/a', null, at.base)
  await delay(300)
  assert.equal(readRef(folder(at), 'refs/heads/a'), null)
  assert.equal(readFileSync(lock, 'utf8'), '', 'it is still theirs')
  rmSync(lock)
  assert.equal(await moving, true)
  writeFileSync(lock, 'torn')
  const old = new Date(Date.now() - 60_000)
  utimesSync(lock, old, old)
  assert.equal(await moveRef(folder(at), 'refs/heads/a', at.base, at.base), true)
  assert.equal(existsSync(lock), false)
})

const ONLY_LINUX = { skip: process.platform === 'linux' ? false : 'needs prlimit' }
test('a ref that cannot be written whole stays where it was, and its lock goes', ONLY_LINUX, async () => {
  using at = await place()
  // Any program of the same user may lower the limit of ours.
  const script = `import { moveRef } from '${new URL('../../../src/git/refs.ts', import.meta.url).href}'
await moveRef('${folder(at)}', 'refs/heads/main', undefined, '${'1'.repeat(40)}').then(() => 'moved', (error) => error.code).then(console.log)`
  const args = ['--fsize=10', process.execPath, '--input-type=module', '-e', script]
  assert.equal(execFileSync('prlimit', args, { encoding: 'utf8' }), 'EFBIG\n')
  assert.equal(readRef(folder(at), 'refs/heads/main'), at.base)
  assert.ok(!existsSync(join(folder(at), 'refs/heads/main.lock')))
})

test('of two that move a ref from the same place one does', async () => {
  using at = await place()
  const others = Array.from({ length: 8 }, (_, one) =>
    at.shell(`git commit-tree -m ${one} HEAD^{tree}`).trim(),
  )
  const moved = await Promise.all(others.map((oid) => moveRef(folder(at), 'refs/heads/a', null, oid)))
  assert.equal(moved.filter(Boolean).length, 1)
  assert.equal(readRef(folder(at), 'refs/heads/a'), others[moved.indexOf(true)])
})

const HOSTILE: [string, string][] = [
  ['a folder', 'mkdir -p .git/refs/heads/ralph/x'],
  ['a folder with refs of people', 'git branch ralph/x/y'],
  ['a ref above it', 'git branch ralph'],
  ['a packed ref above it', 'git branch ralph; git pack-refs --all'],
  [
    'a link',
    'mkdir .git/refs/heads/ralph; echo keep >../outside; ln -s ../../../../../outside .git/refs/heads/ralph/x',
  ],
  ['a link above it', 'mkdir ../out; echo keep >../out/x; ln -s ../../../../out .git/refs/heads/ralph'],
  ['a pipe', 'mkdir .git/refs/heads/ralph; mkfifo .git/refs/heads/ralph/x'],
  ['a lock that is a folder', 'mkdir -p .git/refs/heads/ralph/x.lock'],
]

for (const [what, script] of HOSTILE) {
  test(`what an agent put in the place of the branch: ${what}`, async () => {
    using at = await place()
    const snapshot = await takeSnapshot(at.git, true)
    at.shell(script)
    await restoreClone(at.git, snapshot)
    await moveClone(at.git, snapshot, 'ralph/x', at.base, [])
    assert.equal(at.shell('git rev-parse refs/heads/ralph/x').trim(), at.base)
    assert.equal(at.shell('cat ../outside ../out/x 2>/dev/null || true').replace('keep\n', ''), '')
    await restoreClone(at.git, snapshot)
    assert.equal(at.shell('git rev-parse refs/heads/ralph/x').trim(), at.base)
    assert.equal(lstatSync(join(at.top, '.git/refs/heads/ralph')).isDirectory(), true)
  })
}

for (const whole of [true, false]) {
  test(`a link that takes the place of the branch's folder later is not written through (${whole ? 'job' : 'laptop'})`, async () => {
    using at = await place('sha1', 'git branch other/one')
    const snapshot = await takeSnapshot(at.git, whole)
    await moveClone(at.git, snapshot, 'ralph/x', at.base, [])
    at.shell(
      'mkdir ../out; echo keep >../out/x; rm -r .git/refs/heads/ralph; ln -s ../../../../out .git/refs/heads/ralph',
    )
    at.shell(
      'mkdir ../out/refs; mv .git/refs/heads/other ../out/refs; ln -s ../../../../out/refs/other .git/refs/heads/other',
    )
    await restoreClone(at.git, snapshot)
    assert.equal(at.shell('cat ../out/x'), 'keep\n')
    assert.equal(at.shell('git rev-parse refs/heads/ralph/x other/one'), `${at.base}\n${at.base}\n`)
    assert.equal(lstatSync(join(at.top, '.git/refs/heads/other')).isSymbolicLink(), !whole)
  })
}

test('refs of a linked work tree are those of its clone', async () => {
  using at = await place('sha1', 'git branch a; git worktree add -q ../linked a')
  const linked = await openClone(join(at.folder, 'linked'), process.env)
  const git = await Git.open(linked, process.env)
  const snapshot = await takeSnapshot(git, false)
  assert.deepEqual(sorted(snapshot.others), sorted(listed(at)))
  await moveClone(git, snapshot, 'ralph/x', at.base, [])
  assert.equal(at.shell('git rev-parse refs/heads/ralph/x').trim(), at.base)
  assert.equal(existsSync(join(linked.gitDir, 'refs/heads/ralph/x')), false)
})
