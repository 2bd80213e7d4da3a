// The pack that carries a session's changes: real git on both sides, and a sender that is hostile.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { codeDigest, packFile, readPack, writePack } from '../../../../src/action/jobs/pack.ts'
import { CatFile } from '../../../../src/git/cat-file.ts'
import { Git, openClone } from '../../../../src/git/git.ts'

type Side = { git: Git; objects: CatFile; run(args: string[], input?: string | Buffer): string; tree: string }

async function openSide(folder: string, env: Record<string, string>): Promise<Side> {
  const git = await Git.open(await openClone(folder, env), env)
  return {
    git,
    objects: new CatFile(git),
    tree: folder,
    run: (args, input) => execFileSync('git', args, { cwd: folder, env, input, encoding: 'utf8' }).trim(),
  }
}

async function openBoth() {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-pack-'))
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b.c',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@b.c',
  }
  const git = (cwd: string, ...args: string[]) => execFileSync('git', args, { cwd, env, encoding: 'utf8' })
  const from = join(folder, 'from')
  await mkdir(from)
  git(from, 'init', '-q')
  await writeFile(join(from, 'a.txt'), 'a\n')
  git(from, 'add', '-A')
  git(from, 'commit', '-qm', 'base')
  git(folder, 'clone', '-q', '--depth=1', `file://${from}`, 'to')
  const sender = await openSide(from, env)
  const receiver = await openSide(join(folder, 'to'), env)
  const base = sender.run(['rev-parse', 'HEAD'])
  return {
    sender,
    receiver,
    base,
    /** A commit on the base of whatever tree. */
    commit: (tree: string) => sender.run(['commit-tree', tree, '-p', base, '-m', 'work']),
    async hand(commit: string): Promise<string> {
      const digest = await writePack(sender.git, commit, base)
      await mkdir(dirname(packFile(receiver.git)), { recursive: true })
      await writeFile(packFile(receiver.git), await readFile(packFile(sender.git)))
      return digest
    },
    async [Symbol.asyncDispose]() {
      sender.objects[Symbol.dispose]()
      receiver.objects[Symbol.dispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

test('a pack carries the changes, also from a shallow clone, with the same code on both sides, whatever .ralph holds', async () => {
  await using both = await openBoth()
  const { sender, receiver } = both
  const blob = sender.run(['hash-object', '-w', '--stdin'], 'new\n')
  const ralph = (text: string) => {
    const file = sender.run(['hash-object', '-w', '--stdin'], text)
    const folder = sender.run(['mktree'], `100644 blob ${file}\tprd.json\n`)
    return sender.run(['mktree'], `040000 tree ${folder}\t.ralph\n100644 blob ${blob}\tb.txt\n`)
  }
  const [one, other] = [both.commit(ralph('1')), both.commit(ralph('2'))]
  assert.equal(await readPack(receiver.git, await both.hand(one)), null)
  assert.equal(receiver.run(['show', `${one}:b.txt`]), 'new')
  const code = await codeDigest(receiver.git, receiver.objects, one)
  assert.equal(await codeDigest(sender.git, sender.objects, one), code)
  assert.equal(await codeDigest(sender.git, sender.objects, other), code)
  assert.notEqual(await codeDigest(sender.git, sender.objects, both.base), code)
})

test('a pack that differs from its announced hash, is missing or is not a file is refused', async () => {
  await using both = await openBoth()
  const { receiver } = both
  const digest = await both.hand(both.commit(both.sender.run(['rev-parse', 'HEAD^{tree}'])))
  assert.match((await readPack(receiver.git, '0'.repeat(64))) ?? '', /not the one that the work job wrote/)
  const file = packFile(receiver.git)
  await rm(file)
  assert.equal(await readPack(receiver.git, digest), 'the artifact has no pack file with the changes')
  execFileSync('mkfifo', [file])
  assert.equal(await readPack(receiver.git, digest), 'the artifact has no pack file with the changes')
})

test('a pack with objects that git would not make, and a file that is not a pack, are refused', async () => {
  await using both = await openBoth()
  const { sender, receiver } = both
  const blob = sender.run(['hash-object', '-w', '--stdin'], 'evil\n')
  const bad = (name: string, mode = '100644') => {
    const entry = Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(blob, 'hex')])
    return sender.run(['hash-object', '-t', 'tree', '--literally', '-w', '--stdin'], entry)
  }
  for (const name of ['.git', '.GIT', '..', '.', 'a/b', 'git~1', '.g\u200cit']) {
    const digest = await both.hand(both.commit(bad(name)))
    assert.match((await readPack(receiver.git, digest)) ?? '', /git refused the pack file/, name)
  }
  const junk = Buffer.from('PACK\0\0\0\u0002\0\0\u00ff\u00ffjunk', 'latin1')
  await writeFile(packFile(receiver.git), junk)
  const digest = createHash('sha256').update(junk).digest('hex')
  assert.match((await readPack(receiver.git, digest)) ?? '', /git refused the pack file/)
})
