// The work tree as Ralph looks at it, by an index of its own: what `git add -A` and `git write-tree` make of it.
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
import { withoutRecentStats } from '../../../src/git/stat-cache.ts'
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

const open = (at: Place) => new WorkTree(at.git, at.objects, NO_SUBMODULES)
const headOf = (at: Place) => at.shell('git rev-parse HEAD').trim()

/** The tree that ours holds then. */
async function look(at: Place, tree: WorkTree): Promise<string> {
  const head = headOf(at)
  return tree.withOpenIndex(head, async () => {
    const staged = await tree.stage(head)
    assert.ok(!('unreadable' in staged), JSON.stringify(staged))
    return tree.index.tree()
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

const UNTRACKED = ['ls-files', '-m', '-d', '-o', '--exclude-standard']

test('random changes under random ignore rules give the tree that git gives', {
  timeout: 280_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      rules,
      fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 4 }),
      async (some, rounds) => {
        using at = await place('sha1', `${FILES} printf '${some.join('\\n')}\\n' >.gitignore; ${COMMIT}`)
        const ours = open(at)
        for (const changes of [[], ...rounds]) {
          apply(at.top, changes)
          // Of what lies behind a link to itself git keeps what it knew.
          if (/^[^:]+: Too many levels/m.test(at.shell('git add -A --dry-run 2>&1 || true'))) {
            const head = headOf(at)
            assert.ok('unreadable' in (await ours.withOpenIndex(head, () => ours.stage(head))))
            return
          }
          const tree = await look(at, ours)
          assert.equal(tree, byGit(at))
          assert.equal(at.shell('git fsck --no-dangling 2>&1 | grep -v notice: || true'), '')
          assert.equal(await at.our(UNTRACKED), '')
          assert.equal(await at.our(['diff-index', '--cached', tree]), '')
          // Somebody who checks it out has the files that were looked at.
          assert.equal(
            at
              .shell(
                `rm -rf ../anew; git worktree prune; git worktree add -q --detach ../anew $(git commit-tree -m x ${tree}); cd ../anew; git -c core.excludesFile=/dev/null write-tree`,
              )
              .trim(),
            tree,
          )
        }
      },
    ),
    runs(40),
  )
})

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
  test(`${what}, with its folder's times restored, is seen as a change`, async () => {
    using at = await place('sha1', `${FILES} ${COMMIT}`)
    const ours = open(at)
    for (let count = 0; count < 2; count += 1) assert.equal(await look(at, ours), byGit(at))
    at.shell(script)
    const tree = await look(at, ours)
    assert.equal(tree, byGit(at))
    assert.notEqual(tree, at.shell('git rev-parse HEAD^{tree}').trim())
  })

test("Ralph restores the clone's index, whatever was written to it", async () => {
  using at = await place('sha1', `${FILES} ${COMMIT}`)
  const ours = open(at)
  const file = join(at.top, '.git/index')
  await look(at, ours)
  for (const script of [
    ':',
    'git rm -q --cached a.js',
    ': >.git/index',
    'rm .git/index',
    'touch .git/index',
  ]) {
    at.shell(script)
    shareIndex(at.git)
    assert.ok(readFileSync(file).equals(readFileSync(join(at.git.own, 'index'))))
    assert.equal(at.shell('git status --porcelain'), '')
  }
})

test('a change of the same size with its times restored is seen, also at once', async (t) => {
  using at = await place('sha1', `${FILES} head -c 700000 /dev/zero >large; ${COMMIT}`)
  const ours = open(at)
  await look(at, ours)
  // The clock of the file system counts, where it is behind ours, too.
  const real = Date.now
  t.mock.method(Date, 'now', () => real() + 3_600_000)
  for (const [name, texts] of [
    ['a.js', ['b.js\n', 'c.js\n', 'd.js\n']],
    ['large', ['x', 'y', '\0'].map((end) => `${'\0'.repeat(699_999)}${end}`)],
  ] as const)
    for (const text of texts) {
      const file = join(at.top, name)
      const { atime, mtime } = lstatSync(file)
      writeFileSync(file, text)
      utimesSync(file, atime, mtime)
      assert.ok(await at.git.hasChanges())
      assert.equal(await look(at, ours), byGit(at))
    }
})

const ODD: Record<string, string> = {
  'a new rule': 'echo "*.js" >>.gitignore',
  'a rule in a new folder': 'mkdir n; echo "*" >n/.gitignore; echo x >n/x',
  'new attributes': 'echo "*.js ident" >.gitattributes',
  'a name that is no ASCII': 'echo x >é',
  'a name that is no UTF-8': "echo x >$'\\xff'",
}

const REFUSED: Record<string, [script: string, why: RegExp]> = {
  'a `.git` in another spelling': ['mkdir -p src/.GIT; echo x >src/.GIT/x', /invalid path/],
  'a pipe in the place of a file': ['rm a.js; mkfifo a.js', /can only add regular files/],
  'a name that some systems take for another': ["echo x >'git~1'", /invalid path/],
  'a link that leads to itself, in the place of a folder, and ignored: git would keep the files of the folder':
    ["echo '*' >.gitignore; rm -r src; ln -s src src", /^src\/b.js: Too many levels of symbolic links$/],
}

for (const [what, [script, why]] of Object.entries(REFUSED))
  test(`${what}: refused with git's message`, async () => {
    using at = await place('sha1', `${FILES} ${COMMIT}`)
    const ours = open(at)
    await look(at, ours)
    at.shell(script)
    const head = headOf(at)
    const staged = await ours.withOpenIndex(head, () => ours.stage(head))
    assert.match('unreadable' in staged ? staged.unreadable : '', why)
  })

for (const [what, script] of Object.entries(ODD))
  test(`${what}: gives the tree that git gives`, async () => {
    using at = await place('sha1', `${FILES} echo '*.log' >.gitignore; ${COMMIT}`)
    const ours = open(at)
    assert.equal(await look(at, ours), byGit(at))
    at.shell(script)
    assert.equal(await look(at, ours), byGit(at))
  })

const FROM_THE_START: Record<string, string> = {
  'attributes that change bytes': 'echo "*.js ident" >.gitattributes',
  'a macro': 'echo "[attr]x -text" >.gitattributes',
  'line ends as on Windows': 'git config core.autocrlf true',
  'attributes of line ends': 'printf "* text=auto\\n" >.gitattributes',
  'modes that nobody keeps': 'git config core.filemode false',
  'a submodule': `mkdir sub; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub`,
}

for (const [what, script] of Object.entries(FROM_THE_START))
  test(`${what} from the start: gives the tree that git gives`, async () => {
    using at = await place('sha1', `${FILES} ${script}; ${COMMIT}`)
    const ours = open(at)
    at.shell('printf "x\\r\\n" >new.js; echo more >>a.js')
    assert.equal(await look(at, ours), byGit(at))
  })

test('a repository loses its `.git`, and its files are taken, whether it has a commit or not', async () => {
  for (const commit of [':', 'git -C inner commit -q --allow-empty -m x']) {
    using at = await place('sha1', `${FILES} ${COMMIT}`)
    const ours = open(at)
    await look(at, ours)
    at.shell(`git init -q inner; echo x >inner/x; ${commit}`)
    const head = headOf(at)
    const staged = await ours.withOpenIndex(head, () => ours.stage(head))
    assert.ok(!('unreadable' in staged))
    assert.deepEqual(staged.nested, ['inner/.git'])
    assert.deepEqual(
      staged.changes.map(({ path }) => path),
      ['inner/x'],
    )
  }
})

for (const [what, script] of [
  ['gone', 'rm $index'],
  ['garbage', 'echo garbage >$index'],
] as const)
  test(`Ralph's index file is ${what}: it is made again`, async () => {
    using at = await place('sha1', `${FILES} ${COMMIT}`)
    const ours = open(at)
    await look(at, ours)
    const index = { index: join(at.git.own, 'index') }
    at.shell(`${script}; echo more >>a.js`, index)
    assert.equal(await look(at, ours), byGit(at))
    at.shell(script, index)
    await ours.withOpenIndex(headOf(at), () => ours.restoreIfChanged(headOf(at)))
    assert.equal(at.shell('git status --porcelain'), '')
  })

test('git remembers nothing of files that changed lately, and the others, in a valid index', async () => {
  for (const format of ['sha1', 'sha256'] as const) {
    using at = await place(format, `${FILES} ${COMMIT}`)
    at.shell('git update-index --refresh')
    const idLength = format === 'sha1' ? 20 : 32
    const written = readFileSync(join(at.top, '.git/index'))
    const now = Math.floor(lstatSync(join(at.top, 'a.js')).ctimeMs / 1000)
    assert.equal(withoutRecentStats(written, idLength, now + 60), null)
    const forgotten = withoutRecentStats(written, idLength, now - 60)
    assert.ok(forgotten !== null)
    writeFileSync(join(at.folder, 'forgotten'), forgotten)
    const index = { GIT_INDEX_FILE: join(at.folder, 'forgotten') }
    assert.equal(at.shell('git diff-files --name-only | wc -l', index).trim(), '5')
    assert.equal(at.shell('git ls-files -m; git diff-index --cached HEAD', index), '')
    at.shell('git update-index --refresh', index)
    assert.equal(at.shell('git diff-files --name-only', index), '')
  }
})
