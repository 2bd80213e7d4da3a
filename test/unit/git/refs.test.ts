// Refs read in process, held against real git, and moved by it.
import assert from 'node:assert/strict'
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { moveClone, restoreClone, takeSnapshot } from '../../../src/git/clone.ts'
import { Git, openClone } from '../../../src/git/git.ts'
import { readRef, readRefs } from '../../../src/git/refs.ts'
import { moveOwnRef, updateCloneRefs } from '../../../src/git/update-refs.ts'
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
  test(`refs are read as by git: ${how}`, async () => {
    using at = await place('sha1', script)
    assert.deepEqual(sorted(readRefs(folder(at))), sorted(listed(at)))
    for (const ref of [...listed(at).keys(), 'refs/heads/none', 'refs/heads/d']) {
      const oid = at.shell(`git rev-parse -q --verify "$ref" || true`, { ref }).trim()
      assert.equal(readRef(folder(at), ref) ?? '', oid, ref)
    }
  })
}

test('a symbolic ref is resolved, also through another one', async () => {
  using at = await place(
    'sha1',
    'git symbolic-ref refs/heads/s refs/heads/main; git symbolic-ref refs/heads/t refs/heads/s',
  )
  assert.equal(readRefs(folder(at)).get('refs/heads/t'), 'ref: refs/heads/s')
  assert.equal(readRef(folder(at), 'refs/heads/t'), at.base)
})

test('a symbolic ref itself is moved, as with --no-deref', async () => {
  using at = await place('sha1', 'git symbolic-ref refs/heads/s refs/heads/main')
  const other = at.shell('git commit-tree -m other HEAD^{tree}').trim()
  await updateCloneRefs(at.git, [{ ref: 'refs/heads/s', to: other }])
  assert.equal(at.shell('git rev-parse refs/heads/s refs/heads/main'), `${other}\n${at.base}\n`)
})

test('no ref name leads out of refs/, or is read as another command', async () => {
  using at = await place()
  for (const ref of [
    'refs/../config',
    'refs/heads/../../config',
    'config',
    'refs/heads/',
    'refs/a b',
    'refs/heads/a\ndelete refs/heads/main',
  ]) {
    await assert.rejects(moveOwnRef(at.git, ref, null, at.base), { name: 'GitError' }, ref)
    await assert.rejects(updateCloneRefs(at.git, [{ ref, to: at.base }]), { name: 'GitError' }, ref)
  }
  assert.match(readFileSync(join(at.top, '.git/config'), 'utf8'), /\[core\]/)
  assert.equal(at.shell('git for-each-ref --format="%(refname)"'), 'refs/heads/main\n')
})

const OWN = 'refs/ralph/2026-01-31-sample'

test('Ralph’s own ref moves only from its expected commit', async () => {
  using at = await place()
  const other = at.shell('git commit-tree -m other HEAD^{tree}').trim()
  assert.equal(await moveOwnRef(at.git, OWN, other, at.base), false, 'it is not there yet')
  assert.equal(await moveOwnRef(at.git, OWN, null, at.base), true)
  assert.equal(await moveOwnRef(at.git, OWN, null, other), false, 'it is there already')
  assert.equal(await moveOwnRef(at.git, OWN, other, other), false, 'it is elsewhere')
  assert.equal(readRef(at.git.shared, OWN), at.base)
  assert.equal(await moveOwnRef(at.git, OWN, at.base, other), true)
  assert.equal(readRef(at.git.shared, OWN), other)
})

test('a lock that another program holds is waited for, and one that a killed program left is taken', async () => {
  using at = await place()
  const lock = join(at.git.shared, `${OWN}.lock`)
  mkdirSync(dirname(lock), { recursive: true })
  writeFileSync(lock, '')
  const moving = moveOwnRef(at.git, OWN, null, at.base)
  await delay(300)
  assert.equal(readRef(at.git.shared, OWN), null)
  assert.equal(readFileSync(lock, 'utf8'), '', 'it is still theirs')
  rmSync(lock)
  assert.equal(await moving, true)
  for (const away of [-60_000, 60_000]) {
    writeFileSync(lock, 'torn')
    const old = new Date(Date.now() + away)
    utimesSync(lock, old, old)
    assert.equal(await moveOwnRef(at.git, OWN, at.base, at.base), true)
    assert.equal(existsSync(lock), false)
  }
})

test('of two processes that move a ref from the same commit, only one succeeds', async () => {
  using at = await place()
  const others = Array.from({ length: 8 }, (_, one) =>
    at.shell(`git commit-tree -m ${one} HEAD^{tree}`).trim(),
  )
  const moved = await Promise.all(others.map((oid) => moveOwnRef(at.git, OWN, null, oid)))
  assert.equal(moved.filter(Boolean).length, 1)
  assert.equal(readRef(at.git.shared, OWN), others[moved.indexOf(true)])
})

test("the clone's reflog has its branch and HEAD: `git checkout -` goes back", async () => {
  using at = await place()
  const snapshot = await takeSnapshot(at.git, false)
  const other = at.shell('git commit-tree -m other HEAD^{tree} -p HEAD').trim()
  await moveClone(at.git, snapshot, 'ralph/x', at.base, [])
  await moveClone(at.git, snapshot, 'ralph/x', other, [])
  assert.equal(at.shell('git symbolic-ref HEAD').trim(), 'refs/heads/ralph/x')
  assert.equal(at.shell('git rev-parse ralph/x@{0} ralph/x@{1}'), `${other}\n${at.base}\n`)
  assert.equal(at.shell('git rev-parse HEAD@{0} HEAD@{1}'), `${other}\n${at.base}\n`)
  at.shell('git checkout -q -')
  assert.equal(at.shell('git symbolic-ref HEAD').trim(), 'refs/heads/main')
})

test('`git checkout -` goes back to a commit without a branch, too', async () => {
  using at = await place('sha1', 'git commit -q --allow-empty -m two; git checkout -q --detach HEAD^')
  const snapshot = await takeSnapshot(at.git, false)
  await moveClone(at.git, snapshot, 'ralph/x', at.base, [])
  at.shell('git checkout -q -')
  assert.equal(at.shell('cat .git/HEAD').trim(), at.base)
})

for (const [what, script] of [
  ['a link', 'echo keep >../outside; ln -s ../../../../../../outside .git/logs/refs/heads/ralph/x'],
  ['a pipe', 'mkfifo .git/logs/refs/heads/ralph/x; rm -f .git/logs/HEAD; mkfifo .git/logs/HEAD'],
  ['a folder', 'mkdir -p .git/logs/refs/heads/ralph/x/y; echo x >.git/logs/refs/heads/ralph/x/y/z'],
  ['a link above it', 'mkdir ../out; rm -r .git/logs/refs; ln -s ../../out .git/logs/refs'],
  ['a file above it', 'rm -r .git/logs/refs; echo x >.git/logs/refs'],
] as const) {
  test(`an agent put ${what} in place of a reflog: the run goes on`, async () => {
    using at = await place()
    const snapshot = await takeSnapshot(at.git, false)
    at.shell(`mkdir -p .git/logs/refs/heads/ralph; ${script}`)
    await moveClone(at.git, snapshot, 'ralph/x', at.base, [])
    assert.equal(at.shell('git rev-parse ralph/x@{0}').trim(), at.base)
    assert.equal(
      at.shell('cat ../outside 2>/dev/null || true; ls ../out 2>/dev/null || true').replace('keep\n', ''),
      '',
    )
  })
}

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
  test(`an agent put ${what} in place of the branch: the run goes on`, async () => {
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
  test(`a link that later replaces the branch's folder is not written through (${whole ? 'job' : 'laptop'})`, async () => {
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
  assert.deepEqual(sorted(snapshot.people.refs), sorted(listed(at)))
  await moveClone(git, snapshot, 'ralph/x', at.base, [])
  assert.equal(at.shell('git rev-parse refs/heads/ralph/x').trim(), at.base)
  assert.equal(existsSync(join(linked.gitDir, 'refs/heads/ralph/x')), false)
})
