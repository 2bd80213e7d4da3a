// Trees that are compared and edited in this process, compared with what git says.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { TreeEntry } from '../../../src/git/cat-file.ts'
import { addEdited, compareTrees } from '../../../src/git/compare-trees.ts'
import { editTree } from '../../../src/git/edit-tree.ts'
import { parseRaw } from '../../../src/git/raw-diff.ts'
import { filesOf } from '../../../src/git/trees.ts'
import { runs } from '../runs.ts'
import { place } from './place.ts'

const MODES = ['100644', '100755', '120000']
const TEXTS = ['one', 'two']
/** Names that are sorted in another way as a file than as a folder, and bytes that are not UTF-8. */
const NAMES = ['a', 'a.b', 'a0', 'a-', 'b', 'é', '\udcff']
const paths = fc
  .array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join('/'))
const files = fc.dictionary(
  paths,
  fc.option(fc.record({ mode: fc.constantFrom(...MODES), text: fc.constantFrom(...TEXTS) }), { nil: null }),
  { maxKeys: 8, noNullPrototype: true },
)

for (const format of ['sha1', 'sha256'] as const)
  test(`trees are compared and edited as by git (${format})`, async () => {
    using here = await place(format)
    const { git, objects, base } = here
    const empty = (await objects.root(base)) ?? assert.fail()
    const writer = git.writer(base)
    const blobs = new Map(TEXTS.map((text) => [text, writer.add('blob', Buffer.from(text))]))
    await writer.flush()
    const editsOf = (given: Record<string, { mode: string; text: string } | null>) => {
      // git takes edits in turn, so that a file would replace the folder of an earlier one.
      const names = Object.keys(given).sort()
      const wanted = names.filter(
        (path) => !names.some((other) => path.startsWith(`${other}/`) && given[other] !== null),
      )
      return new Map<string, TreeEntry | null>(
        wanted.map((path) => {
          const file = given[path] ?? null
          return [path, file === null ? null : { mode: file.mode, oid: blobs.get(file.text) ?? '' }]
        }),
      )
    }
    await fc.assert(
      fc.asyncProperty(files, files, async (first, second) => {
        let tree = empty
        for (const given of [first, second]) {
          const edits = editsOf(given)
          const edited = await addEdited(objects, writer, tree, edits)
          await writer.flush()
          assert.equal(edited, await editTree(git, tree, edits, []))
          const args = ['diff-tree', '-r', '--raw', '-z', '--no-renames', '--no-abbrev', tree, edited]
          assert.deepEqual(await compareTrees(objects, tree, edited), parseRaw((await git.run(args)).stdout))
          // The second list is made from the first, and the changes.
          const listed = (await git.run(['ls-tree', '-r', '-z', edited])).stdout.split('\0').filter(Boolean)
          const files = (await filesOf(objects, edited)).map(
            ({ mode, oid, path }) => `${mode} blob ${oid}\t${path}`,
          )
          assert.deepEqual(files, listed)
          tree = edited
        }
      }),
      runs(30),
    )
  })
