// The work tree as it is looked at in process, held against `git add`: the same tree, or git is asked.
import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { shareIndex } from '../../../src/git/clone.ts'
import { indexEntry } from '../../../src/git/index-file.ts'
import { OwnIndex } from '../../../src/git/own-index.ts'
import { NO_SUBMODULES } from '../../../src/git/submodules.ts'
import { WorkTree } from '../../../src/git/work-tree.ts'
import { runs } from '../runs.ts'
import { place } from './place.ts'

type Place = Awaited<ReturnType<typeof place>>

const FILES =
  'mkdir -p src/deep build; for f in a.js src/b.js src/deep/c.js build/out run.sh; do echo $f >$f; done; '
const COMMIT = 'git add -Af; git commit -q -m files'

/** What `git add -A` makes of the work tree, in an index that is nobody's. */
function byGit(at: Place): string {
  const index = { GIT_INDEX_FILE: join(at.folder, 'other-index') }
  return at.shell('rm -f $GIT_INDEX_FILE; git read-tree HEAD; git add -A; git write-tree', index).trim()
}

/** The tree that ours holds then, or null where only git can tell. */
async function inProcess(at: Place, index: OwnIndex, now = Date.now()): Promise<string | null> {
  return index.during(at.shell('git rev-parse HEAD').trim(), async () => {
    const seen = await index.differences(now)
    return seen === null ? null : index.add(seen, 'HEAD')
  })
}

const NAMES = [
  'a.js',
  'b.js',
  'c',
  'src',
  'deep',
  'build',
  'x.log',
  'dist',
  '-f',
  'a b',
  '.env',
  'node_modules',
]
const path = fc
  .array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join('/'))
const change = fc.record({
  path,
  what: fc.constantFrom('write', 'write', 'write', 'remove', 'link', 'mode', 'touch', 'folder'),
  text: fc.constantFrom('', 'x\n', 'y\n', 'long '.repeat(50), '\0\r\n'),
})
const RULES = [
  '*.log',
  'build/',
  '/dist',
  'node_modules',
  '!a.js',
  'src/*',
  'deep/c',
  '[bc].js',
  '# no',
  '*',
  '',
]
const rules = fc.array(fc.constantFrom(...RULES), { maxLength: 3 })

function apply(top: string, changes: readonly { path: string; what: string; text: string }[]): void {
  for (const { path: name, what, text } of changes) {
    const file = join(top, name)
    const above = dirname(file)
    if (existsSync(above) && !lstatSync(above).isDirectory()) continue
    if (above.split('/').some((_, count, parts) => isOther(parts.slice(0, count + 1).join('/') || '/')))
      continue
    mkdirSync(above, { recursive: true })
    if (what === 'mode' && existsSync(file)) chmodSync(file, 0o755)
    else if (what === 'touch' && existsSync(file)) utimesSync(file, 1, 1)
    else if (what === 'mode' || what === 'touch') continue
    else {
      rmSync(file, { recursive: true, force: true })
      if (what === 'write') writeFileSync(file, text)
      if (what === 'link') symlinkSync('a.js', file)
      if (what === 'folder') mkdirSync(file)
    }
  }
}

function isOther(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false })?.isDirectory() === false
}

/** As if nothing that is there were young any more: folders that did not change are not listed again. */
const later = () => Date.now() + 10_000

for (const [when, clock] of [
  ['', Date.now],
  [', a while later', later],
] as const)
  test(`random changes under random rules, again and again${when}`, { timeout: 280_000 }, () => random(clock))

async function random(clock: () => number): Promise<void> {
  let certain = 0
  let all = 0
  await fc.assert(
    fc.asyncProperty(
      rules,
      fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 4 }),
      async (some, rounds) => {
        using at = await place('sha1', `${FILES} printf '${some.join('\\n')}\\n' >.gitignore; ${COMMIT}`)
        const index = new OwnIndex(at.git, at.objects)
        for (const changes of [[], ...rounds]) {
          apply(at.top, changes)
          const tree = await inProcess(at, index, clock())
          all += 1
          if (tree === null) return
          certain += 1
          assert.equal(tree, byGit(at))
          assert.equal(at.shell('git fsck --no-dangling 2>&1 | grep -v notice: || true'), '')
          // git reads the file that we wrote, and calls everything clean.
          assert.equal(await at.our(['ls-files', '-m', '-d', '-o', '--exclude-standard']), '')
          assert.equal(await at.our(['diff-index', '--cached', tree]), '')
        }
      },
    ),
    runs(8),
  )
  assert.ok(certain > all / 2, `${certain} of ${all} were certain`)
}

const PUT_BACK = 'touch -r src ../time; '
const IN_FOLDER: Record<string, string> = {
  'a new file': `${PUT_BACK} echo x >src/new.js; touch -r ../time src`,
  'a file in the place of another': `${PUT_BACK} mv src/b.js ../b; cp -p ../b src/b.js; echo c.js >src/b.js; touch -r ../b src/b.js; touch -r ../time src`,
  'a file that is gone': `${PUT_BACK} rm src/b.js; touch -r ../time src`,
  'a folder in the place of a file': `${PUT_BACK} rm src/b.js; mkdir src/b.js; echo x >src/b.js/x; touch -r ../time src`,
  'a folder that was moved away, and its like': `cp -a src ../src; mv src ../old; echo evil >../src/deep/c.js; touch -r ../old/deep/c.js ../src/deep/c.js; mv ../src src`,
  'what stands in a folder that is old': 'echo evil >src/deep/c.js',
}

for (const [what, script] of Object.entries(IN_FOLDER))
  test(`${what}, the times of its folder put back: seen where folders are not listed again`, async () => {
    using at = await place('sha1', `${FILES} ${COMMIT}`)
    const index = new OwnIndex(at.git, at.objects)
    for (let look = 0; look < 2; look += 1) assert.equal(await inProcess(at, index, later()), byGit(at))
    at.shell(script)
    const tree = await inProcess(at, index, later())
    assert.equal(tree, byGit(at))
    assert.notEqual(tree, at.shell('git rev-parse HEAD^{tree}').trim())
  })

test('a link in the place of a folder that was looked at: git is asked, or it is seen', async () => {
  using at = await place('sha1', `${FILES} ${COMMIT}`)
  const index = new OwnIndex(at.git, at.objects)
  for (let look = 0; look < 2; look += 1) assert.equal(await inProcess(at, index, later()), byGit(at))
  at.shell('mv src ../elsewhere; ln -s ../elsewhere src')
  assert.equal(await inProcess(at, index, later()), byGit(at))
})

test('a rule that was added hides nothing in folders that are not listed again', async () => {
  using at = await place('sha1', `${FILES} echo '*.log' >.gitignore; echo x >src/a.log; ${COMMIT}`)
  const index = new OwnIndex(at.git, at.objects)
  at.shell('echo x >src/deep/b.log')
  for (let look = 0; look < 2; look += 1) assert.equal(await inProcess(at, index, later()), byGit(at))
  at.shell("printf '' >.git/info/exclude; echo x >.gitignore; git add -A; git commit -q -m rules")
  assert.equal(await inProcess(at, index, later()), null)
  await index.during(at.base, () => index.fill(at.shell('git rev-parse HEAD').trim()))
  assert.equal(await inProcess(at, index, later()), byGit(at))
})

const FORGED: Record<string, (at: Place, file: string) => void> = {
  'is gone': (_, file) => rmSync(file),
  'is a folder': (_, file) => {
    rmSync(file)
    mkdirSync(join(file, 'x'), { recursive: true })
  },
  'is cut off, as by a crash': (_, file) => writeFileSync(file, readFileSync(file).subarray(0, 100)),
  'is a link': (at, file) => {
    rmSync(file)
    symlinkSync(join(at.top, 'a.js'), file)
  },
  'says that a file is as it was': (at) => {
    const own = { GIT_INDEX_FILE: join(at.git.own, 'index') }
    at.shell('echo evil >src/b.js; git update-index --assume-unchanged src/b.js', own)
  },
  'was written in a time to come': (at, file) => {
    at.shell('echo evil >a.js')
    utimesSync(file, later() / 1000, later() / 1000)
  },
}

for (const [what, forge] of Object.entries(FORGED))
  test(`the file of our index ${what}: what git is shown is what we hold`, async () => {
    using at = await place('sha1', `${FILES} ${COMMIT}`)
    const index = new OwnIndex(at.git, at.objects)
    const tree = (await inProcess(at, index)) ?? ''
    assert.equal(await at.our(['ls-files', '-m', '-d', '-o', '--exclude-standard']), '')
    forge(at, join(at.git.own, 'index'))
    const modified = at.shell('git ls-files -m -d -o --exclude-standard').trim()
    assert.equal(await at.our(['ls-files', '-m', '-d', '-o', '--exclude-standard']), modified)
    assert.equal(await at.our(['diff-index', '--cached', tree]), '')
    assert.equal(readFileSync(join(at.top, 'build/out'), 'utf8'), 'build/out\n')
  })

test("the clone's index is ours again, whatever was written to it", async () => {
  using at = await place('sha1', `${FILES} ${COMMIT}`)
  const index = new OwnIndex(at.git, at.objects)
  const file = join(at.top, '.git/index')
  await inProcess(at, index)
  for (const script of [
    ':',
    'git rm -q --cached a.js',
    ': >.git/index',
    'rm .git/index',
    'touch .git/index',
  ]) {
    at.shell(script)
    shareIndex(at.git)
    assert.ok(readFileSync(file).equals(index.table.bytes))
    assert.equal(at.shell('git status --porcelain'), '')
  }
})

test('what is written at once, of the same size, with its times put back, is seen', async () => {
  using at = await place('sha1', `${FILES} ${COMMIT}`)
  const index = new OwnIndex(at.git, at.objects)
  const first = await inProcess(at, index)
  const file = join(at.top, 'a.js')
  for (const text of ['b.js\n', 'c.js\n', 'd.js\n']) {
    const { atime, mtime } = lstatSync(file)
    writeFileSync(file, text)
    utimesSync(file, atime, mtime)
    assert.equal(await inProcess(at, index), byGit(at))
  }
  assert.notEqual(first, null)
})

test('so is what is written into a large file, which is compared in pieces', async () => {
  const size = 700_000
  using at = await place('sha1', `${FILES} head -c ${size} /dev/zero >large; ${COMMIT}`)
  const index = new OwnIndex(at.git, at.objects)
  const file = join(at.top, 'large')
  for (const end of ['\0', 'x', 'y', '\0', '\0\0', '']) {
    const { atime, mtime } = lstatSync(file)
    writeFileSync(file, `${'\0'.repeat(size - 1)}${end}`)
    utimesSync(file, atime, mtime)
    // Twice: the second time it is young, and as it was.
    for (let look = 0; look < 2; look += 1) assert.equal(await inProcess(at, index), byGit(at))
  }
})

const UNSURE: Record<string, string> = {
  'a new rule': 'echo "*.js" >>.gitignore',
  'a rule in a new folder': 'mkdir n; echo "*" >n/.gitignore; echo x >n/x',
  'new attributes': 'echo "*.js ident" >.gitattributes',
  'a repository': 'git init -q inner; echo x >inner/x',
  'a `.git` in another spelling': 'mkdir -p src/.GIT; echo x >src/.GIT/x',
  'a pipe in the place of a file': 'rm a.js; mkfifo a.js',
  'a folder that is closed': 'mkdir shut; echo x >shut/x; chmod 000 shut',
  'a file that its owner may not read': 'echo new >a.js; chmod 000 a.js',
  'a name that some systems take for another': "echo x >'git~1'",
  'a name that is no ASCII': 'echo x >é',
}

for (const [what, script] of Object.entries(UNSURE))
  test(`${what}: git is asked`, async () => {
    using at = await place('sha1', `${FILES} echo '*.log' >.gitignore; ${COMMIT}`)
    const index = new OwnIndex(at.git, at.objects)
    assert.equal(await inProcess(at, index), byGit(at))
    at.shell(script)
    assert.equal(await inProcess(at, index), null)
    at.shell('chmod -R u+rwx .')
  })

const ODD: Record<string, string> = {
  'attributes that change bytes': 'echo "*.js ident" >.gitattributes',
  'a macro': 'echo "[attr]x -text" >.gitattributes',
  'line ends as on Windows': 'git config core.autocrlf true',
  'modes that nobody keeps': 'git config core.filemode false',
  'a submodule': `mkdir sub; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub`,
}

for (const [what, script] of Object.entries(ODD))
  test(`${what} from the start: git is asked`, async () => {
    using at = await place('sha1', `${FILES} ${script}; ${COMMIT}`)
    assert.equal(await inProcess(at, new OwnIndex(at.git, at.objects)), null)
  })

test('attributes that say nothing of bytes, and line ends of texts without any to turn, are no reason to ask', async () => {
  const script = 'printf "* text=auto\\n*.js linguist-generated=true\\n" >.gitattributes'
  using at = await place('sha1', `${FILES} ${script}; ${COMMIT}`)
  const index = new OwnIndex(at.git, at.objects)
  writeFileSync(join(at.top, 'new.js'), 'x\n')
  assert.equal(await inProcess(at, index), byGit(at))
  writeFileSync(join(at.top, 'new.js'), 'x\r\n')
  assert.equal(await inProcess(at, index), null)
})

test('what is ignored is asked once, and left alone then', async () => {
  using at = await place('sha1', `${FILES} printf 'out/\\n*.log\\n' >.gitignore; ${COMMIT}`)
  const index = new OwnIndex(at.git, at.objects)
  let asked = 0
  const { checkIgnore } = at.git
  at.git.checkIgnore = (paths, directory) => {
    asked += 1
    return checkIgnore.call(at.git, paths, directory)
  }
  for (const text of ['1', '2', '3']) {
    at.shell(`mkdir -p out; echo ${text} | tee out/x src/y.log new.js`)
    assert.equal(await inProcess(at, index), byGit(at))
  }
  assert.equal(asked, 1)
})

test('a look that only git can make is not certain, whatever an earlier one was', async () => {
  using at = await place('sha1', `${FILES} ${COMMIT}`)
  const index = new OwnIndex(at.git, at.objects)
  await inProcess(at, index)
  assert.equal(index.isCertain, true)
  at.shell(`git update-index --add --cacheinfo 160000,${'1'.repeat(40)},lib; git commit -q -m lib`)
  await index.fill(at.shell('git rev-parse HEAD').trim())
  assert.equal(await index.differences(), null)
  assert.equal(index.isCertain, false)
})

test('an index that somebody wrote to is not believed: every file is read again', async () => {
  using at = await place('sha1', `${FILES} ${COMMIT}`)
  const index = new OwnIndex(at.git, at.objects)
  await inProcess(at, index)
  await at.our(['update-index', '--assume-unchanged', 'a.js'])
  writeFileSync(join(at.top, 'a.js'), 'evil\n')
  assert.equal(await inProcess(at, index), byGit(at))
  assert.equal(readFileSync(join(at.top, 'a.js'), 'utf8'), 'evil\n')
})

test('what is written at the moment that git wrote our index is read again, however its time is rounded', async () => {
  using at = await place('sha1', `${FILES} ${COMMIT}`)
  const index = new OwnIndex(at.git, at.objects)
  await inProcess(at, index)
  const file = join(at.top, 'a.js')
  const own = join(at.git.own, 'index')
  for (const nanoseconds of [123_456_789, 999_999_999, 1, 15839]) {
    const time = `@1700000000.${String(nanoseconds).padStart(9, '0')}`
    // The entry, the file and the index all have one time: git reads the file where its index is not younger.
    at.shell(`echo a.js >a.js; touch -d ${time} a.js`)
    await at.our(['update-index', '-q', '--refresh'])
    at.shell(`touch -d ${time} '${own}'`)
    await index.reload()
    at.shell(`echo b.js >a.js; touch -d ${time} a.js`)
    assert.ok((await at.our(['ls-files', '-m'])).includes('a.js'))
    const [shown, written] = [own, file].map((one) => lstatSync(one, { bigint: true }).mtimeNs)
    assert.ok((shown ?? 0n) <= (written ?? 0n), `${shown} is after ${written}`)
  }
})

test('a file whose times tell nothing is seen by every later look, git among them, until it is put back', async () => {
  using at = await place('sha1', `${FILES} ${COMMIT}`)
  const head = at.shell('git rev-parse HEAD').trim()
  const tree = new WorkTree(at.git, at.objects, NO_SUBMODULES)
  await tree.during(head, async () => {
    await tree.index.differences()
    await writtenInOneTick(at, tree.index, head)
    for (let look = 0; look < 2; look += 1)
      assert.deepEqual([...((await tree.index.differences(later()))?.changed.keys() ?? [])], ['a.js'])
    assert.ok(await at.git.isTouched())
    assert.equal(await tree.settle(head), true)
  })
  assert.equal(readFileSync(join(at.top, 'a.js'), 'utf8'), 'a.js\n')
})

test('the clock of the file system counts where it is behind ours', async (t) => {
  using at = await place('sha1', `${FILES} ${COMMIT}`)
  const head = at.shell('git rev-parse HEAD').trim()
  const index = new OwnIndex(at.git, at.objects)
  const real = Date.now
  t.mock.method(Date, 'now', () => real() + 3_600_000)
  await index.during(head, async () => {
    await index.differences()
    await writtenInOneTick(at, index, head)
    assert.deepEqual([...((await index.differences())?.changed.keys() ?? [])], ['a.js'])
  })
})

/** As where somebody looked between two writes to a file, and the clock stood still (some have seconds). */
async function writtenInOneTick(at: Place, index: OwnIndex, head: string): Promise<void> {
  const file = join(at.top, 'a.js')
  const oid = at.shell('git rev-parse HEAD:a.js').trim()
  writeFileSync(file, 'evil\n')
  const entry = indexEntry('a.js', '100644', oid, lstatSync(file, { bigint: true }))
  await index.put(new Map([['a.js', entry]]), at.shell(`git rev-parse '${head}^{tree}'`).trim())
}

test('while a git of ours writes our index, another that begins takes nothing of it back', async () => {
  using at = await place('sha1', `${FILES} ${COMMIT}`)
  const index = new OwnIndex(at.git, at.objects)
  await index.during(at.shell('git rev-parse HEAD').trim(), async () => {
    await index.differences()
    const { bytes } = index.table
    writeFileSync(join(at.top, 'a.js'), 'more than before\n')
    const added = at.git.addAll()
    while (readFileSync(join(at.git.own, 'index')).equals(bytes));
    await at.git.untracked('folders')
    await added
    await index.reload()
    assert.equal(index.table.stored('a.js')?.oid, at.shell('git hash-object a.js').trim())
  })
})
