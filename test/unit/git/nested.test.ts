// With real git: repositories inside the work tree, links in the place of folders, submodules that are not checked out.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkDirt } from '../../../src/app/dirt.ts'
import { moveClone } from '../../../src/git/clone.ts'
import { openClone } from '../../../src/git/git.ts'
import { UserError } from '../../../src/system/errors.ts'
import { openWorked } from './worked.ts'

/** Where `$ran` is written, a program of the repository `x` was run by somebody who was not asked to. */
const EVIL = `
evil() { git config core.fsmonitor "$fire"; git config core.sshCommand "$fire"; git config filter.x.clean "$fire"; mkdir -p .git/info; echo '* filter=x' >.git/info/attributes; }
nested() { mkdir -p "$1"; ( cd "$1"; git init -q .; echo x >x.sh; git add -A; git commit -q -m x; evil ); }
`
/** A submodule in lib/vendor: checked out where there is a library, else an entry alone. */
const ENTRY = `printf '[submodule "v"]\\n\\tpath = lib/vendor\\n\\turl = https://example.invalid/v\\n' >.gitmodules; mkdir -p lib/vendor; git update-index --add --cacheinfo 160000,${'1'.repeat(40)},lib/vendor`
const LIBRARY = `git init -q -b main ../library; (cd ../library; mkdir deep; echo a >a.txt; git update-index --add --cacheinfo 160000,${'1'.repeat(40)},deep; git add a.txt; git commit -q -m a); git -c protocol.file.allow=always submodule --quiet add ../library lib/vendor`

type Odd = { base?: string; late?: string; whole?: boolean; start?: boolean }

/** `base` goes into the first commit, `late` is there when the job begins. */
async function place({ base = '', late = '', whole = true, start = true }: Odd = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'nested-'))
  const top = join(folder, 'clone')
  const fire = join(folder, 'fire')
  mkdirSync(top)
  writeFileSync(fire, `#!/bin/sh\ntouch ${folder}/ran\n`, { mode: 0o755 })
  const who = {
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@b',
    GIT_AUTHOR_DATE: '1700000000 +0000',
    GIT_COMMITTER_DATE: '1700000000 +0000',
  }
  const env = { PATH: process.env.PATH ?? '', HOME: folder }
  const shell = (script: string) =>
    execFileSync('bash', ['-ec', `${EVIL}${script}`], {
      cwd: top,
      env: { ...env, ...who, fire, GIT_ALLOW_PROTOCOL: 'file' },
      encoding: 'utf8',
    })
  shell(
    `git init -q -b main .; mkdir src; echo old >src/a.js; echo d >src/d.js; git add -A; ${base}\ngit add -A -- . ':!lib' ; git commit -q -m base\n${late}`,
  )
  await rm(join(folder, 'ran'), { force: true })
  const warnings: string[] = []
  const warn = (message: string) => warnings.push(message)
  const worked = await openWorked(top, env, { whole, warn })
  const { head, git, objects, repository, snapshot, state } = worked
  if (start) await repository.checkOut(head, null)
  return {
    top,
    folder,
    head,
    shell,
    state,
    warnings,
    git,
    snapshot,
    repository,
    ran: () => existsSync(join(folder, 'ran')),
    has: (path: string) => existsSync(join(top, path)),
    gitlinks: () =>
      shell('GIT_DIR=.git GIT_INDEX_FILE=.git/ralph/git/index git ls-files -s | grep ^160000 || true'),
    look: worked.inspect,
    /** Its failure in words, or null where it became a candidate. */
    async inspect(): Promise<string | null> {
      const seen = await worked.inspect()
      return seen.kind === 'candidate' ? null : `${seen.failure?.summary}\n${seen.failure?.detail}`
    },
    async [Symbol.asyncDispose]() {
      objects[Symbol.dispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function dirtOf(at: Awaited<ReturnType<typeof place>>, commit = at.head): Promise<string[]> {
  return (await at.repository.uncommitted(commit)).map(({ path }) => path)
}

test('no program of a repository that the agent left is run by Ralph’s `git add`', async () => {
  await using at = await place()
  at.shell('nested x; nested src/deep/y; rm src/d.js; nested src/d.js; echo new >src/a.js')
  assert.match((await at.inspect()) ?? '', /x\/\.git/)
  assert.equal(at.gitlinks(), '')
  assert.ok(!at.has('x/.git') && !at.has('src/deep/y/.git') && !at.has('src/d.js/.git'))
  const kept = await at.repository.saveWork(at.state, 'US-001')
  await at.repository.checkOut(at.head, kept)
  assert.equal(await at.inspect(), null)
  assert.ok(at.has('x/x.sh'))
  await at.repository.restore(at.head)
  assert.ok(!at.ran() && !at.has('x'))
})

test('work in a folder where the agent only ran `git init` is saved for the next attempt', async () => {
  await using at = await place()
  at.shell('mkdir -p app/web; git init -q app/web; echo work >app/web/index.js; echo new >src/a.js')
  assert.match((await at.inspect()) ?? '', /app\/web\/\.git/)
  at.shell('git init -q app/web')
  const kept = await at.repository.saveWork(at.state, 'US-001')
  await at.repository.checkOut(at.head, kept)
  assert.ok(at.has('app/web/index.js') && !at.has('app/web/.git'))
  assert.equal(await at.inspect(), null)
})

test('a repository that an agent makes again at the same place is not run either', async () => {
  await using at = await place()
  for (const act of [at.inspect, () => at.repository.saveWork(at.state, 'US-001'), at.inspect]) {
    at.shell('rm -rf x; nested x')
    await act()
  }
  assert.ok(!at.ran())
})

test('a repository in the place of a submodule that is not checked out is removed, and never run', async () => {
  for (const act of ['inspect', 'keep', 'restore'] as const) {
    await using at = await place({ base: ENTRY })
    at.shell('nested lib/vendor; echo new >src/a.js')
    if (act === 'inspect') assert.match((await at.inspect()) ?? '', /lib\/vendor\/x\.sh/)
    if (act === 'keep') assert.deepEqual((await at.repository.saveWork(at.state, 'US-001'))?.dropped, [])
    if (act === 'restore') await at.repository.restore(at.head)
    assert.ok(!at.ran() && at.has('lib/vendor') && !at.has('lib/vendor/.git') && !at.has('lib/vendor/x.sh'))
    if (act === 'inspect') assert.equal(await at.inspect(), null)
  }
})

test('in a submodule, files that a build left are removed with a remark, changed files are refused', async () => {
  await using at = await place({ base: LIBRARY })
  at.shell('echo o >lib/vendor/foo.o; mkdir lib/vendor/out; echo o >lib/vendor/out/x; echo new >src/a.js')
  const seen = await at.look()
  assert.ok(seen.kind === 'candidate')
  assert.deepEqual(seen.candidate.remarks, [
    'Ralph removed build output from a submodule before the gates: lib/vendor: foo.o and 1 more',
  ])
  assert.ok(!at.has('lib/vendor/foo.o') && !at.has('lib/vendor/out') && at.has('lib/vendor/a.txt'))
  at.shell('echo o >lib/vendor/foo.o; echo b >lib/vendor/a.txt; echo new >lib/vendor/new.js')
  const refused = (await at.inspect()) ?? ''
  assert.match(
    refused,
    /the session changed files of a submodule \(2\)\n.*\nlib\/vendor: a\.txt\nlib\/vendor: new\.js$/s,
  )
})

test('ignored files in a submodule that are newer than the job are removed before the final verification', async () => {
  const late =
    'echo build/ >.git/modules/lib/vendor/info/exclude; mkdir lib/vendor/build; echo x >lib/vendor/build/before'
  await using at = await place({ base: LIBRARY, late })
  await at.repository.rememberIgnored()
  at.shell(
    'mkdir -p lib/vendor/other/build; echo x >lib/vendor/other/build/x; echo build >lib/vendor/.gitignore',
  )
  at.shell('git -C lib/vendor config core.excludesFile x; echo x >lib/vendor/build/later')
  await at.repository.renew(at.head)
  assert.ok(at.has('lib/vendor/build/before') && !at.has('lib/vendor/other/build'))
})

test('no program of a repository inside a submodule is run', async () => {
  await using at = await place({ base: LIBRARY })
  assert.ok(at.has('lib/vendor/a.txt'))
  for (const act of [at.inspect, () => at.repository.saveWork(at.state, 'US-001'), at.inspect]) {
    at.shell(
      'rm -rf lib/vendor/x lib/vendor/deep; nested lib/vendor/x; nested lib/vendor/deep; echo x >src/a.js',
    )
    await act()
  }
  await at.repository.restore(at.head)
  assert.ok(
    !at.ran() && !at.has('lib/vendor/x') && !at.has('lib/vendor/deep/x.sh') && at.has('lib/vendor/deep'),
  )
})

test("when `prepare` changes the clone's configuration, the branch is moved without running it", async () => {
  await using at = await place()
  const made = await at.repository.adopt(at.head, [], 'mine')
  at.shell(`mkdir ../evil; cp -r .git/refs .git/HEAD ../evil; mkdir ../evil/objects; echo ../../evil >.git/commondir
    printf '[core]\\n\\trepositoryformatversion = 1\\n\\tbare = false\\n[extensions]\\n\\tpartialClone = o\\n[remote "o"]\\n\\turl = ext::%s\\n\\tpromisor = true\\n[protocol "ext"]\\n\\tallow = always\\n' "$fire" >../evil/config`)
  // In that place git fetches what is missing by the program it names.
  assert.throws(() => at.shell(`env -u GIT_ALLOW_PROTOCOL git cat-file -p ${made}`))
  assert.ok(at.ran())
  await rm(join(at.folder, 'ran'))
  const reads = await at.git.runOnClone(['cat-file', '-p', made], { accept: [128] })
  assert.equal(reads.code, 128)
  await moveClone(at.git, at.snapshot, 'ralph/x', made, [])
  assert.equal(at.shell('git rev-parse ralph/x').trim(), made)
  assert.ok(!at.ran())
})

test('a partial clone is refused, and the printed commands make it whole', async () => {
  await using at = await place({ start: false })
  const env = { PATH: process.env.PATH ?? '', HOME: at.folder, GIT_ALLOW_PROTOCOL: 'file' }
  at.shell('echo newer > src/a.js; git commit -qam newer; git config uploadpack.allowFilter true')
  at.shell('git clone -q --filter=blob:none "file://$PWD" ../partial')
  const partial = join(at.folder, 'partial')
  const missing = () =>
    at.shell(
      'cd ../partial; GIT_NO_LAZY_FETCH=1 git rev-list --objects --all --missing=print | grep -c ^? || true',
    )
  assert.notEqual(missing().trim(), '0')
  const refusal = await openClone(partial, env).then(() => '', String)
  assert.match(refusal, /this is a partial clone.*leave `filter` out of actions\/checkout/s)
  at.shell('cd ../partial; git config maintenance.auto false; git config gc.auto 0')
  at.shell(`cd ../partial; ${/run `([^`]+)`/.exec(refusal)?.[1]}`)
  assert.equal(missing().trim(), '0')
  assert.equal((await openClone(partial, env)).head, at.shell('git rev-parse HEAD').trim())
})

test('trees of old git versions and importers are read as git reads them', async () => {
  const raw = (mode: string, name: string, oid: string) =>
    `printf '${mode} ${name}\\0'; printf %b "$(printf %s ${oid} | sed 's/../\\\\x&/g')"`
  const [blob, folder, empty] = [
    '$(git rev-parse HEAD:src/a.js)',
    '$(git rev-parse HEAD:src)',
    '$(git hash-object -t tree -w /dev/null)',
  ]
  for (const [first, second] of [
    [raw('100664', 'a.js', blob), raw('40000', 'src', folder)],
    [raw('100644', 'a.js', blob), raw('040000', 'src', folder)],
    [raw('40000', 'none', empty), raw('40000', 'src', folder)],
  ]) {
    const late = `git reset -q --hard $( { ${first}; ${second}; } | git hash-object -t tree --literally -w --stdin | { read tree; git commit-tree -m odd $tree; } )`
    await using at = await place({ late })
    assert.equal(at.shell('git status --porcelain'), '')
    at.shell('echo new >src/a.js')
    assert.equal(await at.inspect(), null)
    await at.repository.restore(at.head)
    await at.repository.renew(at.head)
    assert.equal(readFileSync(join(at.top, 'src/a.js'), 'utf8'), 'old\n')
  }
})

test('git is not run at the start in a submodule folder whose `.git` is not of this clone', async () => {
  const late = `rm -rf lib/vendor; nested lib/vendor; cd lib/vendor; git config extensions.partialClone origin; git config remote.origin.url ssh://example.invalid/x; git config remote.origin.promisor true; git config core.repositoryFormatVersion 1; rm -rf .git/objects/??`
  for (const whole of [true, false]) {
    await using at = await place({ base: ENTRY, late, whole, start: false })
    await assert.rejects(
      whole ? at.repository.checkOut(at.head, null) : at.repository.uncommitted(at.head),
      /lib\/vendor: these files are in the folder of a submodule, but not from its repository\./,
    )
    assert.ok(!at.ran() && at.has('lib/vendor/.git'))
  }
})

test('a link in place of a folder: nothing behind it is removed', async () => {
  const base = 'mkdir lib; echo x >lib/x.js; echo "*.js text" >lib/.gitattributes'
  await using at = await place({ base })
  at.shell(
    'mkdir -p ../other/.git ../other/build; echo theirs | tee ../other/.gitattributes ../other/.git/HEAD >../other/build/x',
  )
  await at.repository.rememberIgnored()
  for (const link of ['.', '../other']) {
    at.shell(`rm -rf src lib; ln -s ${link} src; ln -s ${link} lib; echo 'build/' >.gitignore`)
    await at.inspect()
    await at.repository.saveWork(at.state, 'US-001')
    await at.repository.renew(at.head)
    assert.equal(readFileSync(join(at.top, 'src/a.js'), 'utf8'), 'old\n')
  }
  assert.ok(at.has('.git/HEAD'))
  for (const path of ['.gitattributes', '.git/HEAD', 'build/x'])
    assert.equal(readFileSync(join(at.folder, 'other', path), 'utf8'), 'theirs\n')
})

test('a link in place of a folder with a submodule: nothing behind it is written or run', async () => {
  await using at = await place({ base: LIBRARY })
  const before = () =>
    at.shell('cd ../other && find . -path ./vendor/.git -prune -o -print | sort; cat vendor/.git/config')
  at.shell('mkdir ../other; cd ../other; nested vendor; echo mine >vendor/mine')
  const there = before()
  at.shell('rm -rf lib; ln -s ../other lib')
  assert.match((await at.inspect()) ?? '', /lib\/vendor: it was removed/)
  await at.repository.saveWork(at.state, 'US-001')
  assert.ok(at.has('lib/vendor/a.txt'))
  at.shell('rm -rf lib; ln -s ../other lib')
  await at.repository.restore(at.head)
  assert.ok(at.has('lib/vendor/a.txt') && !at.ran())
  assert.equal(before(), there)
})

test('a link above a submodule that is not checked out is removed, and nothing behind it', async () => {
  await using at = await place({ base: ENTRY })
  for (const act of [
    () => at.repository.saveWork(at.state, 'US-001'),
    () => at.repository.restore(at.head),
  ]) {
    at.shell(
      'rm -rf ../other; mkdir ../other; cd ../other; nested vendor; cd -; rm -rf lib; ln -s ../other lib',
    )
    assert.match((await at.inspect()) ?? '', /lib/)
    await act()
    await at.repository.checkOut(at.head, null)
    assert.ok(at.has('lib/vendor') && !at.has('lib/vendor/x.sh') && !at.ran())
    assert.ok(existsSync(join(at.folder, 'other/vendor/.git')))
  }
})

test('files in the folder of a submodule that is not checked out are refused and removed', async () => {
  await using at = await place({ base: ENTRY })
  const first = at.shell('git status --porcelain')
  at.shell(
    'mkdir lib/vendor/deep; echo x >lib/vendor/deep/impl.sh; echo x >lib/vendor/.hidden; echo new >src/a.js',
  )
  const refused = (await at.inspect()) ?? ''
  assert.match(refused, /the session changed files of a submodule/)
  assert.match(refused, /lib\/vendor\/\.hidden/)
  assert.ok(at.has('lib/vendor') && !at.has('lib/vendor/deep') && !at.has('lib/vendor/.hidden'))
  assert.equal(await at.inspect(), null)
  at.shell('echo x >lib/vendor/impl.sh; chmod 000 lib/vendor')
  await at.repository.restore(at.head)
  assert.ok(!at.has('lib/vendor/impl.sh'))
  assert.equal(at.shell('git status --porcelain'), first)
})

test('a submodule that is not checked out is no uncommitted change, files in its folder are one', async () => {
  await using at = await place({ base: ENTRY, whole: false, start: false })
  assert.deepEqual(await dirtOf(at), [])
  at.shell('echo x >src/new.js')
  assert.deepEqual(await dirtOf(at), ['src/new.js'])
  const adopted = await at.repository.adopt(at.head, ['src/new.js'], 'mine')
  assert.equal(at.shell(`git diff --raw --name-only ${at.head} ${adopted}`), 'src/new.js\n')
  at.shell('echo x >lib/vendor/impl.sh')
  assert.deepEqual(await dirtOf(at), ['lib/vendor/impl.sh', 'src/new.js'])
  assert.ok(at.has('lib/vendor/impl.sh'))
})

test("files that earlier steps left are named in one warning at a job's first checkout; their repositories stay", async () => {
  const late = `nested tools; nested 'a/b/d e*'; echo x >a/x; echo x >.env; for i in $(seq 12); do echo x >gha-creds-$i.json; done; mkdir -p build empty; echo x >build/x`
  await using at = await place({ base: "echo 'build/' >.gitignore", late })
  assert.equal(at.warnings.length, 1)
  assert.match(
    at.warnings[0] ?? '',
    /"\.env", "a\/", "gha-creds-1\.json".*, 4 more\. .*\.gitignore.*RUNNER_TEMP/,
  )
  assert.doesNotMatch(at.warnings[0] ?? '', /tools|build|empty/)
  assert.ok(!at.has('.env') && !at.has('a/x') && at.has('build/x'))
  await at.repository.rememberIgnored()
  at.shell('nested mine; echo "!tools" >>.gitignore; echo "!tools" >>.git/info/exclude')
  assert.match((await at.inspect()) ?? '', /mine\/\.git/)
  await at.repository.saveWork(at.state, 'US-001')
  await at.repository.restore(at.head)
  at.shell('echo new >src/a.js')
  assert.equal(await at.inspect(), null)
  await at.repository.renew(at.head)
  for (const one of ['tools', 'a/b/d e*']) assert.ok(at.has(`${one}/.git/config`) && at.has(`${one}/x.sh`))
  assert.ok(!at.has('mine') && !at.ran() && at.warnings.length === 1)
})

test('files of the checked-out branch that the feature does not have are not reported as left over', async () => {
  await using at = await place({ start: false })
  at.shell('mkdir more; echo x >more/x; git add more; git commit -q -m more')
  await at.repository.checkOut(at.head, null)
  assert.deepEqual(at.warnings, [])
  assert.ok(!at.has('more'))
})

test("files of earlier steps in a submodule's folder are named, too", async () => {
  await using at = await place({ base: ENTRY, late: 'echo x >lib/vendor/impl.sh' })
  assert.match(at.warnings.join(), /removed.*"lib\/vendor\/impl\.sh"\. To keep/)
  assert.ok(!at.has('lib/vendor/impl.sh'))
})

test('an uncommitted repository is an uncommitted change, at every check, and is not run', async () => {
  await using at = await place({ whole: false, start: false, late: 'nested x' })
  for (let times = 0; times < 3; times++) assert.deepEqual(await dirtOf(at), ['x'])
  assert.ok(!at.ran() && at.has('x/.git'))
})

test('checking for uncommitted changes writes nothing into the clone, whichever branch is compared', async () => {
  const late = `printf 'a\\r\\n' >crlf; mkdir -p web/src; echo x >web/src/b.js; git add crlf web; git commit -q -m crlf; git checkout -q -b other; echo x >there; git add there; echo other >src/a.js; git add src
git commit -q -m other; git checkout -q main; echo new >src/a.js; rm src/d.js; echo '* text=auto' >.gitattributes
mkdir -p web/node_modules/a; for i in $(seq 300); do echo $RANDOM >web/node_modules/a/$i; done`
  await using at = await place({ whole: false, start: false, late })
  const stored = () => at.shell('find .git/objects -type f | sort')
  const before = stored()
  const first = await dirtOf(at)
  assert.deepEqual(first.slice(0, 2), ['src/a.js', 'src/d.js'])
  assert.deepEqual(
    first.slice(2).filter((path) => !path.startsWith('web/node_modules/')),
    ['.gitattributes'],
  )
  assert.equal(first.length, 303)
  const other = at.shell('git rev-parse other').trim()
  assert.deepEqual((await dirtOf(at, other)).slice(0, 3), ['src/a.js', 'src/d.js', 'there'])
  assert.deepEqual(await dirtOf(at), first)
  assert.equal(stored(), before)
  await assert.rejects(
    checkDirt(at.repository, at.head, () => false),
    (error: unknown) => {
      assert.ok(error instanceof UserError)
      const [mistake] = error.mistakes
      assert.match(
        mistake?.found ?? '',
        /^there are 303 uncommitted changes\. 301 .* web\/node_modules\/ \(300\)/,
      )
      assert.match(mistake?.fix ?? '', /tools create \(such as web\/node_modules\/\) in \.gitignore/)
      return true
    },
  )
  assert.equal(stored(), before)
})
