// What is named is on the disk: objects, packs and refs are synced before they get their names.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createStore } from '../../../src/branch/store.ts'
import { CatFile } from '../../../src/git/cat-file.ts'
import { moveClone, takeSnapshot } from '../../../src/git/clone.ts'
import { Git, openClone } from '../../../src/git/git.ts'
import { stateOf, stories } from '../engine/samples.ts'

const folder = mkdtempSync(join(tmpdir(), 'durable-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const file = (name: string) => fileURLToPath(new URL(name, import.meta.url))

type Effect = { kind: string; what: string }

test('objects and files of the clone are synced to disk before they are renamed', () => {
  const [faults, objects] = [join(folder, 'faults'), join(folder, 'objects')]
  for (const one of [faults, objects]) mkdirSync(one)
  const args = [
    `--import=${file('../../faults/preload.mjs')}`,
    file('write-objects.ts'),
    objects,
    join(folder, 'HEAD'),
  ]
  execFileSync(process.execPath, args, { env: { ...process.env, FAULTS: faults } })
  const lines = readFileSync(join(faults, 'write-objects.ts-1.jsonl'), 'utf8').trim().split('\n')
  const effects = lines.map((line): Effect => JSON.parse(line))
  /** Files that were begun, or synced, before the first of these effects. */
  const before = (end: number, kinds: readonly string[], what: RegExp) =>
    effects.slice(0, end).filter((one) => kinds.includes(one.kind) && what.test(one.what)).length
  const named = effects.findIndex(({ kind }) => kind === 'rename')
  assert.equal(before(named, ['open'], /tmp_obj_/), 3)
  assert.equal(
    before(named, ['fsync', 'fdatasync'], /./),
    3,
    'every object is synced before the first has its name',
  )
  assert.equal(effects.filter(({ kind, what }) => kind === 'rename' && !what.endsWith('HEAD')).length, 3)
  const head = effects.findIndex(({ kind, what }) => kind === 'rename' && what.endsWith('HEAD'))
  const begun = effects.findIndex(({ kind, what }) => kind === 'open' && /HEAD\.ralph-/.test(what))
  const synced = effects.slice(begun, head).filter(({ kind }) => kind === 'fsync' || kind === 'fdatasync')
  assert.ok(begun >= 0 && head > begun && synced.length === 1)
})

type Trace = { event: string; sid: string; argv?: string[]; category?: string; key?: string; value?: string }

/** A git first on the PATH that writes down how often each of its processes synced a file to the disk. */
function tracedGit() {
  const [bin, events] = [join(folder, 'bin'), join(folder, 'events')]
  mkdirSync(bin)
  const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  writeFileSync(join(bin, 'git'), `#!/bin/sh\nGIT_TRACE2_EVENT='${events}' exec '${git}' "$@"\n`)
  chmodSync(join(bin, 'git'), 0o755)
  return {
    path: `${bin}:${process.env.PATH}`,
    /** Of the commands with that word, each: how many files it synced. */
    syncs(word: string): number[] {
      const all = readFileSync(events, 'utf8')
        .trim()
        .split('\n')
        .map((line): Trace => JSON.parse(line))
      const started = all.filter(({ event, argv }) => event === 'start' && argv?.includes(word) === true)
      return started.map(({ sid }) => {
        const data = all.filter((one) => one.sid.startsWith(sid) && one.key === 'fsync/hardware-flush')
        return data.reduce((sum, { value }) => sum + Number(value), 0)
      })
    },
  }
}

test('refs of our own directory and of the clone, and packs, are synced to disk by git', async () => {
  const traced = tracedGit()
  const top = join(folder, 'clone')
  const env = { PATH: traced.path, HOME: folder }
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@b']
  execFileSync('git', ['init', '-q', '-b', 'main', top])
  execFileSync('git', ['-C', top, ...who, 'commit', '-q', '--allow-empty', '-m', 'base'])
  const clone = await openClone(top, env)
  const git = await Git.open(clone, env)
  using objects = new CatFile(git)
  const snapshot = await takeSnapshot(git, false)
  const options = { namespace: 'refs/ralph', remote: null, publishRemote: null, snapshot, leaseMs: 1000 }
  const store = createStore(git, objects, options)
  const green = clone.head ?? ''
  await store.save(stateOf(stories('US-001'), { green, base: { branch: 'main', sha: green } }))
  await moveClone(git, snapshot, 'ralph/x', green, [])
  const moved = traced.syncs('update-ref')
  assert.equal(moved.length, 3, 'our own ref, its copy in the clone, and the branch')
  assert.ok(
    moved.every((count) => count > 0),
    moved.join(),
  )
  await git.packLoose(1)
  const packed = traced.syncs('repack')
  assert.ok(packed.length === 1 && packed.every((count) => count > 0), packed.join())
})
