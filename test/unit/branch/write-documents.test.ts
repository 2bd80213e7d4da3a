// People's documents at an outcome: where they are looked for, and what stays as it is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type DocumentEdit,
  type DocumentSetEdit,
  editDocuments,
} from '../../../src/branch/write-documents.ts'
import { type CatFile, TREE } from '../../../src/git/cat-file.ts'

type Node = { mode: string; content?: Buffer; files?: Record<string, Node> }
const file = (text: string | Buffer): Node => ({ mode: '100644', content: Buffer.from(text) })
const folder = (files: Record<string, Node>): Node => ({ mode: TREE, files })

/** A tree in memory, by what is asked of objects here. */
function objectsOf(files: Record<string, Node>): CatFile {
  const trees = new Map<string, Map<string, { mode: string; oid: string }>>()
  const blobs = new Map<string, Buffer>()
  const put = (path: string, entries: Record<string, Node>) => {
    const tree = new Map<string, { mode: string; oid: string }>()
    trees.set(path, tree)
    for (const [name, node] of Object.entries(entries)) {
      const oid = `${path}/${name}`
      tree.set(name, { mode: node.mode, oid })
      if (node.files === undefined) blobs.set(oid, node.content ?? Buffer.alloc(0))
      else put(oid, node.files)
    }
  }
  put('', files)
  /** As `git ls-tree -r -z` prints the files of a folder. */
  const listed = (folder: string) =>
    [...trees]
      .flatMap(([path, tree]) => [...tree].map(([name, entry]) => ({ ...entry, path: `${path}/${name}` })))
      .filter(({ mode, path }) => mode !== TREE && path.startsWith(folder))
      .map(({ mode, oid, path }) => `${mode} blob ${oid}\t${path.slice(1)}\0`)
      .join('')
  return {
    root: async () => '',
    folder: async (_name: string, path: string) => (trees.has(`/${path}`) ? `/${path}` : null),
    tree: async (oid: string) => trees.get(oid) ?? new Map(),
    git: {
      run: async (args: string[]) => ({
        code: 0,
        stderr: '',
        stdout: listed(args.at(-2) === '--' ? `/${args.at(-1)}` : '/'),
      }),
    },
    info: async (oid: string) => ({ oid, type: 'blob', size: blobs.get(oid)?.length ?? 0 }),
    contents: async (oid: string) => blobs.get(oid) ?? null,
  } as unknown as CatFile
}

const adding: DocumentEdit = {
  folders: /^docs$/,
  matches: (path) => path.endsWith('notes.md'),
  createAt: null,
  editText: (text) => (text === null ? 'new' : `${text}!`),
}

async function edited(files: Record<string, Node>, edit: Partial<DocumentEdit> = {}) {
  const told: string[] = []
  const warn = (text: string) => void told.push(text)
  return { changed: await editDocuments(objectsOf(files), '', [{ ...adding, ...edit }], warn), told }
}

test('documents are updated at the top and in named folders of any depth, and nowhere else', async () => {
  const { changed } = await edited({
    'notes.md': file('a'),
    docs: folder({ plan: folder({ 'notes.md': file('b') }), 'other.md': file('c') }),
    src: folder({ 'notes.md': file('d') }),
  })
  assert.deepEqual(changed, [
    ['notes.md', 'a!'],
    ['docs/plan/notes.md', 'b!'],
  ])
})

test('a document is created at its configured path, and not without text', async () => {
  assert.deepEqual((await edited({})).changed, [])
  assert.deepEqual((await edited({}, { createAt: 'notes.md' })).changed, [['notes.md', 'new']])
  assert.deepEqual((await edited({}, { createAt: 'notes.md', editText: () => null })).changed, [])
  assert.deepEqual((await edited({ 'notes.md': file('a') }, { editText: (text) => text })).changed, [])
})

test('a document is not created in place of a folder or a submodule, with a warning', async () => {
  for (const taken of [folder({ a: file('a') }), { mode: '160000' }]) {
    const { changed, told } = await edited({ 'notes.md': taken }, { createAt: 'notes.md' })
    assert.deepEqual(changed, [])
    assert.match(
      told.join(),
      /^Ralph did not update "notes\.md"(?:, because it is a folder|: it is not a plain file)$/,
    )
  }
})

test('documents that are links, not text, huge or not editable stay unchanged, with a warning', async () => {
  const cases: [Node, RegExp][] = [
    [
      { mode: '120000', content: Buffer.from('../secrets') },
      /Ralph did not update "notes\.md": it is not a plain file/,
    ],
    [file(Buffer.from([0x66, 0xff])), /Ralph did not update "notes\.md": /],
    [file('x'.repeat(1_000_001)), /it is too large/],
  ]
  for (const [node, says] of cases) {
    const { changed, told } = await edited({ 'notes.md': node, docs: folder({ 'notes.md': file('b') }) })
    assert.deepEqual(changed, [['docs/notes.md', 'b!']])
    assert.match(told.join(), says)
  }
  const fails = () => {
    throw new Error('an alias bomb')
  }
  assert.match((await edited({ 'notes.md': file('a') }, { editText: fails })).told.join(), /an alias bomb/)
})

const together = (change: Partial<DocumentSetEdit>): DocumentSetEdit => ({
  selectPaths: async (paths) => paths.filter((path) => path.endsWith('.md')),
  editTexts: async (all) => ({
    texts: new Map(all.map(({ path, text }) => [path, `${text}!`])),
    warnings: [],
  }),
  ...change,
})

async function editedTogether(files: Record<string, Node>, change: Partial<DocumentSetEdit> = {}) {
  const told: string[] = []
  const warn = (text: string) => void told.push(text)
  const unmarked: string[] = []
  const changed = await editDocuments(objectsOf(files), '', [together(change)], warn, unmarked)
  return { changed, told, unmarked }
}

test('documents read together: a link, a huge file and bytes that are not text are left out with a warning', async () => {
  const { changed, told } = await editedTogether({
    'a.md': file('a'),
    'code.ts': file('b'),
    'link.md': { mode: '120000', content: Buffer.from('../../etc/passwd') },
    // A folder that is a link has nothing in it.
    specs: { mode: '120000', content: Buffer.from('/etc') },
    'huge.md': file('x'.repeat(1_000_001)),
    'odd.md': file(Buffer.from([0xff])),
    docs: folder({ 'b.md': file('b') }),
  })
  assert.deepEqual(changed, [
    ['a.md', 'a!'],
    ['docs/b.md', 'b!'],
  ])
  assert.deepEqual(
    told.map((text) => /^Ralph did not update (".*"): /.exec(text)?.[1]),
    ['"link.md"', '"huge.md"', '"odd.md"'],
  )
})

test('documents read together: stories that could not be marked are returned', async () => {
  const editTexts = async () => ({ texts: new Map(), warnings: ['US-001 was left'], unmarked: ['US-001'] })
  const { told, unmarked } = await editedTogether({ 'a.md': file('a') }, { editTexts: editTexts })
  assert.deepEqual([told, unmarked], [['US-001 was left'], ['US-001']])
})

test('documents read together: too many, too long, or an error: none changes, with a warning', async () => {
  const many = Object.fromEntries(Array.from({ length: 2_001 }, (_, at) => [`${at}.md`, file('a')]))
  const long = Object.fromEntries(
    Array.from({ length: 6 }, (_, at) => [`${at}.md`, file('x'.repeat(1_000_000))]),
  )
  const fails = () => Promise.reject(new Error('an alias bomb'))
  for (const [files, change, says] of [
    [many, {}, /more than 2000/],
    [long, {}, /are larger than 5 MB/],
    [{ 'a.md': file('a') }, { editTexts: fails }, /an alias bomb/],
  ] as const) {
    const { changed, told } = await editedTogether(files, change)
    assert.deepEqual(changed, [])
    assert.match(told.join(), says)
  }
})
