// What `git fsck --strict`, and with it a server that checks objects, refuses of names: the guard refuses all of it.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { agentSettings } from '../../../src/agents/registry.ts'
import { type GuardedChange, judgeChanges } from '../../../src/gates/guard.ts'
import { createRedactor } from '../../../src/isolation/redact.ts'

const folder = mkdtempSync(join(tmpdir(), 'fsck-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const env = {
  PATH: process.env.PATH ?? '',
  HOME: folder,
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@b',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@b',
}
const git = (args: string[], input: string | Buffer = '') =>
  execFileSync('git', args, {
    cwd: folder,
    env,
    input,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'pipe'],
  }).trim()
git(['init', '-q', '--bare', '.'])

const rules = { protectedPaths: [], configFile: null, agentSettings, secrets: createRedactor([]) }
const refuses = (path: string, kind: Kind, content: string) =>
  judgeChanges(
    [
      {
        path: kind === 'folder' ? `${path}/x` : path,
        status: 'A',
        oldMode: '000000',
        newMode: kind === 'link' ? '120000' : '100644',
        size: content.length,
        content: Buffer.from(content),
      } satisfies GuardedChange,
    ],
    rules,
  ).length > 0

type Kind = 'file' | 'link' | 'folder'
const SPECIAL = ['gitmodules', 'gitattributes', 'gitignore', 'mailmap']
const SHORT = ['gi7eba', 'gi7d29', 'gi250a', 'maba30']
const NAMES = [
  ...SPECIAL.flatMap((name) => [
    `.${name}`,
    `.${name.toUpperCase()}`,
    `.${name.slice(0, 3)}\u200c${name.slice(3)}`,
    `.${name} . `,
    `.${name}::$DATA`,
    `${name.slice(0, 6)}~1`,
    `${name.slice(0, 6)}~4 `,
  ]),
  ...SHORT.flatMap((name) => [`${name}~1`, `${name.slice(0, 3).toUpperCase()}~1234`, `${name}~1.`]),
  '~1000000',
  '.git',
  '.GIT',
  '.g\u200cit',
  '.git\ufeff',
  'git~1',
  'GIT~1 .',
  '.git ',
  '.git...',
  '.git:x',
  'a\\.git',
  'a\\.gitmodules',
  '.',
  '..',
  'a.gitattributes',
  '.gitattributes2',
  'gitattributes',
  'mailmap',
]
const CONTENTS: Readonly<Record<string, string>> = {
  plain: '# nothing\n',
  'a long line': `# ${'x'.repeat(2046)}\n`,
  'a line just short enough': `# ${'x'.repeat(2045)}\n`,
  'a submodule that runs a command': '[submodule "x"]\n\tpath = x\n\turl = ./x\n\tupdate = !true\n',
  'a submodule that leads out': '[submodule "../x"]\n\tpath = x\n\turl = ./x\n',
}

type Case = { name: string; kind: Kind; content: string }

/** The objects of cases: an error about any of them is about its case. Every other one stands in a folder. */
function made(cases: readonly Case[]) {
  const all = cases.map((one, at) => ({
    ...one,
    unique: `${one.content}${one.kind === 'file' ? `# ${at}\n` : at}`,
    path: at % 2 === 0 ? one.name : `sub/${one.name}`,
  }))
  for (const [at, { unique }] of all.entries()) writeFileSync(join(folder, `blob-${at}`), unique)
  const paths = all.map((_, at) => `blob-${at}\n`).join('')
  const blobs = git(['hash-object', '-w', '--stdin-paths'], paths).split('\n')
  const folders = trees(blobs.map((blob) => `100644 blob ${blob}\tx`))
  const inside = all.map(({ kind }, at) => (kind === 'folder' ? folders[at] : blobs[at]) ?? '')
  const modes = { file: '100644 blob', link: '120000 blob', folder: '040000 tree' }
  const plain = trees(all.map(({ name, kind }, at) => `${modes[kind]} ${inside[at]}\t${name}`))
  const tops = trees(plain.map((tree) => `040000 tree ${tree}\tsub`))
  return all.map((one, at) => {
    const tree = (at % 2 === 0 ? plain : tops)[at] ?? ''
    return { ...one, tree, oids: [blobs[at], inside[at], plain[at], tree] }
  })
}

/** Of one entry each. */
function trees(entries: readonly string[]): string[] {
  return git(['mktree', '-z', '--batch'], entries.map((entry) => `${entry}\0\0`).join('')).split('\n')
}

test('the guard refuses every name, kind and content that `git fsck --strict` refuses', () => {
  const cases = NAMES.flatMap((name) =>
    (['file', 'link', 'folder'] as const).map((kind) => ({ name, kind, what: 'plain' })),
  )
  for (const name of ['.gitattributes', '.gitmodules', 'gi7d29~1', '.GitModules', '.gitignore'])
    for (const what of Object.keys(CONTENTS)) cases.push({ name, kind: 'file', what })
  const all = made(cases.map((one) => ({ ...one, content: CONTENTS[one.what] ?? '' })))
  git([
    'update-ref',
    'refs/heads/all',
    git([
      'commit-tree',
      '-m',
      'all',
      git(['mktree', '-z'], all.map(({ tree }, at) => `040000 tree ${tree}\tcase${at}\0`).join('')),
    ]),
  ])
  const wrong = fsck()
  const refused = all.filter(({ oids }) => oids.some((oid) => wrong.has(oid ?? '')))
  assert.ok(refused.length > 40, `${refused.length} of ${all.length}`)
  const missed = refused.filter(({ path, kind, unique }) => !refuses(path, kind, unique))
  assert.deepEqual(
    missed.map(({ path, kind, unique }) => `${path} ${kind} ${unique.slice(0, 40)}`),
    [],
  )
  for (const [name, what] of [
    ['.gitattributes', 'plain'],
    ['.gitattributes', 'a line just short enough'],
    ['.gitignore', 'a long line'],
    ['.mailmap', 'plain'],
    ['a.gitattributes', 'plain'],
  ] as const)
    assert.equal(refuses(name, 'file', CONTENTS[what] ?? ''), false, `${name} ${what}`)
})

function fsck(): Set<string> {
  const ran = (() => {
    try {
      return git(['fsck', '--strict', '--no-dangling'])
    } catch (error) {
      return error instanceof Error && 'stderr' in error ? String(error.stderr) : ''
    }
  })()
  return new Set([...ran.matchAll(/^error in \w+ ([0-9a-f]{40}):/gm)].map(([, oid = '']) => oid))
}

test('a server that checks objects accepts exactly the special files that the guard allows', () => {
  const server = join(folder, 'server.git')
  git(['init', '-q', '--bare', server])
  for (const key of ['receive.fsckObjects', 'transfer.fsckObjects'])
    git(['-C', server, 'config', key, 'true'])
  const cases = (
    [
      ['.gitattributes', 'folder'],
      ['.gitmodules', 'link'],
      ['.gitattributes', 'file'],
      ['.mailmap', 'file'],
      ['.git', 'folder'],
    ] as const
  ).map(([name, kind]) => ({ name, kind, content: '# served\n' }))
  for (const [at, { tree, path, kind, unique }] of made(cases).entries()) {
    const commit = git(['commit-tree', '-m', 'one', tree])
    const isTaken = (() => {
      try {
        git(['push', '-q', server, `${commit}:refs/heads/b${at}`])
        return true
      } catch {
        return false
      }
    })()
    assert.equal(isTaken, !refuses(path, kind, unique), `${path} ${kind}`)
  }
})
