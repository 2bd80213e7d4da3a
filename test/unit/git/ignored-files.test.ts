// Which ignored files gates see, and which sessions, in a clone of real git.
import assert from 'node:assert/strict'
import { existsSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { IgnoredFiles } from '../../../src/git/ignored-files.ts'
import { place } from './place.ts'

/** A clone in which a person has installed something and keeps settings of their own. */
async function open() {
  const at = place(
    'sha1',
    `printf 'node_modules/\\ndist/\\n.env\\n*.cache\\n' >.gitignore; echo x >code.js; git add -A; git commit -q -m code
     mkdir -p node_modules/.bin node_modules/left; echo real >node_modules/.bin/tool; echo 1 >node_modules/left/index.js; echo mine >.env`,
  )
  const { top, git, shell } = await at
  const make = (maxPaths?: number) => new IgnoredFiles(top, git.clone.gitDir, () => git.ignored(), maxPaths)
  const ignored = make()
  await ignored.remember()
  const files = () => shell('find . -name .git -prune -o -type f -print | sort').trim().split('\n')
  const inside = () => files().filter((path) => !/^\.\/(?:\.gitignore|code\.js)$/.test(path))
  return { ...(await at), ignored, make, inside }
}

const INSTALLED = ['./.env', './node_modules/.bin/tool', './node_modules/left/index.js']

test('ignored files of sessions and of gates are kept apart, and each gets its own back', async () => {
  using at = await open()
  at.shell(
    'mkdir -p dist node_modules/.cache; echo session >dist/a.js; echo session >node_modules/.cache/b; echo 1 >x.cache',
  )
  assert.deepEqual(await at.ignored.forGates(true), {
    made: ['dist', 'node_modules/.cache', 'x.cache'],
    changed: [],
  })
  assert.deepEqual(at.inside(), INSTALLED)
  at.shell('mkdir -p dist; echo gates >dist/a.js; echo gates >node_modules/left/passed')
  await at.ignored.forSession()
  assert.equal(at.shell('cat dist/a.js'), 'session\n')
  assert.equal(at.inside().includes('./node_modules/left/passed'), false)
  assert.deepEqual((await at.ignored.forGates(true))?.made.length, 3)
  assert.equal(at.shell('cat dist/a.js node_modules/left/passed'), 'gates\ngates\n')
  await at.ignored.forGatesAgain()
  assert.deepEqual(at.inside(), INSTALLED)
  await at.ignored.forSession()
  await at.ignored.restoreAll()
  assert.equal(at.shell('cat dist/a.js node_modules/left/passed'), 'session\ngates\n')
})

test('a candidate begins without ignored files of earlier sessions, and all of them are back when the run ends', async () => {
  using at = await open()
  at.shell(
    'mkdir -p dist node_modules/.cache; echo first >dist/a.js; echo first >dist/b.js; echo 1 >node_modules/.cache/b',
  )
  await at.ignored.forCandidate()
  assert.deepEqual(at.inside(), INSTALLED)
  at.shell('mkdir -p dist; echo second >dist/a.js')
  await at.ignored.forGates(true)
  await at.ignored.forSession()
  await at.ignored.forCandidate()
  assert.deepEqual(at.inside(), INSTALLED)
  // A killed run puts nothing of earlier candidates before the next one.
  const later = at.make()
  await later.remember()
  assert.deepEqual(at.inside(), INSTALLED)
  await later.restoreAll()
  assert.equal(at.shell('cat dist/a.js dist/b.js node_modules/.cache/b'), 'second\nfirst\n1\n')
})

test('an ignored file that a session changed is removed with its folder, so that `prepare` makes it again', async () => {
  using at = await open()
  at.shell('echo fake >node_modules/.bin/tool')
  assert.deepEqual((await at.ignored.forGates(true))?.changed, ['node_modules/'])
  assert.deepEqual(at.inside(), ['./.env'])
  at.shell('mkdir -p node_modules/.bin; echo anew >node_modules/.bin/tool')
  await at.ignored.afterPrepare()
  await at.ignored.forSession()
  assert.deepEqual(at.shell('cat node_modules/.bin/tool'), 'anew\n')
  assert.deepEqual(await at.ignored.forGates(true), { made: [], changed: [] })
})

test('a change of an ignored file is seen although size and time are unchanged', async () => {
  using at = await open()
  const tool = join(at.top, 'node_modules/.bin/tool')
  at.shell('touch -d 2020-01-01 node_modules/.bin/tool')
  const ignored = at.make()
  await ignored.remember()
  at.shell('echo fake >node_modules/.bin/tool')
  utimesSync(tool, new Date('2020-01-01'), new Date('2020-01-01'))
  assert.deepEqual((await ignored.forGates(false))?.changed, ['node_modules/'])
})

test('ignored files that `prepare` does not make stay as the session left them', async () => {
  using at = await open()
  at.shell('echo other >.env; rm node_modules/left/index.js')
  assert.deepEqual((await at.ignored.forGates(true))?.changed, ['.env', 'node_modules/'])
  at.shell('mkdir -p node_modules/left; echo 1 >node_modules/left/index.js')
  await at.ignored.afterPrepare()
  assert.equal(at.shell('cat .env'), 'other\n')
  // Without a command that prepares, nothing goes.
  using plain = await open()
  plain.shell('echo other >.env')
  assert.deepEqual((await plain.ignored.forGates(false))?.changed, ['.env'])
  assert.equal(plain.shell('cat .env'), 'other\n')
})

test('ignored files that a killed run had moved away are restored by the next one, over no existing file', async () => {
  using at = await open()
  at.shell('mkdir dist; echo session >dist/a.js; echo session >dist/b.js')
  await at.ignored.forGates(true)
  at.shell('mkdir dist; echo person >dist/a.js')
  await at.make().remember()
  assert.equal(at.shell('cat dist/a.js dist/b.js'), 'person\nsession\n')
  assert.equal(existsSync(join(at.git.clone.gitDir, 'ralph', 'aside')), false)
})

test('a folder that a session changed adds nothing to what `prepare` made in its place, also after a kill', async () => {
  for (const isKilled of [false, true]) {
    using at = await open()
    at.shell('echo evil >node_modules/left/index.js')
    await at.ignored.forGates(true)
    at.shell('mkdir -p node_modules/.bin; echo anew >node_modules/.bin/tool')
    if (isKilled) await at.make().remember()
    else await at.ignored.afterPrepare()
    assert.deepEqual(at.inside(), ['./.env', './node_modules/.bin/tool'])
    assert.equal(at.shell('cat node_modules/.bin/tool'), 'anew\n')
  }
})

test('unreadable ignored paths end no run, and a folder without permissions is made accessible', async () => {
  using at = await open()
  at.shell(
    `mkdir -p node_modules/empty; cd node_modules; ln -s loop loop
     node -e "for (let i = 0; i < 700; i++) { fs.mkdirSync('deeper'); process.chdir('deeper') }"`,
  )
  const ignored = at.make()
  await ignored.remember()
  at.shell('echo evil >node_modules/empty/evil.js; chmod 0 node_modules/empty')
  assert.deepEqual((await ignored.forGates(false))?.made, ['node_modules/empty/evil.js'])
  await ignored.forSession()
  assert.equal(at.shell('cat node_modules/empty/evil.js'), 'evil\n')
})

test('too many ignored files to compare are reported, and stay', async () => {
  using at = await open()
  const ignored = at.make(10)
  await ignored.remember()
  at.shell('mkdir dist; cd dist; for i in 1 2 3 4 5; do mkdir $i; done')
  assert.equal(await ignored.forGates(true), null)
  assert.ok(existsSync(join(at.top, 'dist', '1')))
  await ignored.forSession()
  at.shell('rm -r dist/4 dist/5')
  assert.deepEqual((await ignored.forGates(true))?.made, ['dist'])
})
