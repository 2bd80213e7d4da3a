// What a reviewer is told of a diff: also by files that did not change.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentSettings, isAgentDocument } from '../../../../src/agents/registry.ts'
import { productOf } from '../../../../src/gates/product/product.ts'
import { createExamine, type ExamineOptions } from '../../../../src/gates/remarks/examine.ts'
import { createRedactor } from '../../../../src/isolation/redact.ts'

type Sides = { before: string | null; after: string | null }

/** Remarks on the change from one set of files to another; `null` for no such file. */
async function remarksOn(files: Record<string, string | Sides>): Promise<string[]> {
  return (await examined(files, {})).remarks
}

async function examined(files: Record<string, string | Sides>, options: Partial<ExamineOptions>) {
  const blobs = new Map<string, string>()
  const changes = []
  for (const [path, sides] of Object.entries(files)) {
    if (typeof sides === 'string') {
      blobs.set(`green:${path}`, sides)
      continue
    }
    const { before, after } = sides
    if (before !== null) blobs.set(`old ${path}`, before).set(`green:${path}`, before)
    if (after !== null) blobs.set(`new ${path}`, after)
    const status = before === null ? ('A' as const) : after === null ? ('D' as const) : ('M' as const)
    changes.push({
      path,
      status,
      oldMode: before === null ? '000000' : '100644',
      newMode: after === null ? '000000' : '100644',
      oldOid: `old ${path}`,
      newOid: `new ${path}`,
    })
  }
  const objects = {
    info: async (name: string) => {
      const text = blobs.get(name)
      return text === undefined ? null : { size: Buffer.byteLength(text) }
    },
    contents: async (name: string) => {
      const text = blobs.get(name)
      return text === undefined ? null : Buffer.from(text)
    },
  }
  const examine = createExamine({
    protectedPaths: [],
    configFile: null,
    agentSettings,
    isAgentDocument,
    productOf: async () => productOf(['src/']),
    redactor: createRedactor([]),
    ...options,
  })
  return await examine(changes, objects, { fork: 'fork', from: 'green' })
}

const CHANGED: Sides = { before: 'a', after: 'b' }

test('a change without a file of the product is marked as one of tests alone', async () => {
  const isTestsOnly = async (paths: string[]) =>
    (await examined(Object.fromEntries(paths.map((path) => [path, CHANGED])), {})).testsOnly
  assert.equal(await isTestsOnly(['test/a.test.js', 'README.md']), true)
  assert.equal(await isTestsOnly(['test/a.test.js', 'src/a.js']), undefined)
  assert.equal(await isTestsOnly([]), undefined)
})

test('twenty remarks of a kind are shown, and the others are counted', async () => {
  const files = Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`a${at}/AGENTS.md`, CHANGED]))
  const remarks = await remarksOn(files)
  assert.equal(remarks.length, 21)
  assert.equal(remarks.at(-1), 'and 5 more of this kind')
})

test('where the content of a file makes the guard throw, the attempt is refused and the file named', async () => {
  const plain = createRedactor([])
  const redactor = {
    ...plain,
    finds: (text: string | Uint8Array) => {
      if (Buffer.from(text).includes('crash')) throw new RangeError('Maximum call stack size exceeded')
      return plain.finds(text)
    },
  }
  const files = { 'a.txt': CHANGED, 'b.txt': { before: 'a', after: 'crash' }, 'c.txt': CHANGED }
  const { failure, dropped } = await examined(files, { redactor })
  assert.equal(failure?.kind, 'guard')
  assert.match(failure?.summary ?? '', /b\.txt: Ralph could not read it: Maximum call stack size exceeded/)
  assert.deepEqual(dropped, ['b.txt'])
})

test('a diff of too many files is refused before any of them is read', async () => {
  const many = Object.fromEntries(Array.from({ length: 100_001 }, (_, index) => [`a/${index}`, CHANGED]))
  const { failure } = await examined(many, {})
  assert.match(failure?.summary ?? '', /100001 changed files/)
})

test('changed documents that agents read are reported, in any folder', async () => {
  const files = {
    'AGENTS.md': CHANGED,
    'web/Claude.MD': { before: null, after: 'b' },
    'docs/agents.txt': CHANGED,
  }
  assert.deepEqual(await remarksOn({ ...files, '.github/copilot-instructions.md': CHANGED }), [
    'AGENTS.md: agents, including reviewers, load this file automatically',
    '.github/copilot-instructions.md: agents, including reviewers, load this file automatically',
    'web/Claude.MD: agents, including reviewers, load this file automatically',
  ])
})

test('a sensitive file is reported, whatever it contains', async () => {
  const odd = ['"scr\\u0069pt-shell"=x', '$' + '{NOPE?}script-shell=x', 'userconfig=./x', '# nothing']
  for (const after of odd) {
    const remarks = await remarksOn({ '.npmrc': { before: null, after } })
    assert.deepEqual(remarks, [
      'affects what gates run: the shell, the options and the registries that package managers use: .npmrc',
    ])
  }
  const gone = await remarksOn({ '.gitattributes': { before: '* -diff', after: null } })
  assert.match(gone.join(), /^affects how GitHub shows a diff.*: \.gitattributes$/)
})

test('a path that is too long is refused by the guard, and not examined further', async () => {
  const path = `${'a/'.repeat(100_000)}.npmrc`
  const { failure, dropped, remarks } = await examined({ [path]: { before: null, after: 'x' } }, {})
  assert.match(failure?.summary ?? '', /too long or too deeply nested/)
  assert.deepEqual([dropped, remarks], [[path], []])
})
