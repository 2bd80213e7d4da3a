// Documents where they stand: in a work tree and in a commit the same ones, bounded, nothing behind a link.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseStories, readDocumentFiles } from '../../../src/app/find-documents.ts'
import { UserError } from '../../../src/system/errors.ts'
import { place } from '../git/place.ts'

const script = `
mkdir -p docs/stories node_modules/x src
printf '# P\\n\\n### Story 1.1: Sign in\\n' > docs/epics.md
printf '# Story 1.1: Sign in\\n\\n## Story\\n\\nx\\n' > docs/stories/1.1.md
printf 'x' > docs/picture.png
printf 'x' > src/prd.md
printf '# x' > node_modules/x/prd.md
echo secret > ../outside.md
ln -s ../../outside.md docs/link.md
ln -s ../.. docs/up
git add -A
git commit -qm documents
`

async function refusal(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof UserError, String(error))
  return error.message
}

test('documents are found by search, by name and by folder, alike on disk and in a commit', async () => {
  using clone = await place('sha1', script)
  const places = [{ workTree: clone.top }, { objects: clone.objects, commit: clone.base }]
  for (const where of places) {
    const paths = async (wanted: readonly string[] | null) =>
      (await readDocumentFiles(where, wanted)).map(({ path }) => path)
    assert.deepEqual(await paths(null), ['docs/stories/1.1.md', 'docs/epics.md'])
    assert.deepEqual(await paths(['.']), ['docs/stories/1.1.md', 'docs/epics.md'])
    assert.deepEqual(await paths(['docs/']), ['docs/epics.md', 'docs/stories/1.1.md'])
    assert.deepEqual(await paths(['./src/prd.md', 'docs/picture.png', 'src']), [
      'src/prd.md',
      'docs/picture.png',
    ])
    const [file] = await readDocumentFiles(where, ['docs/epics.md'])
    assert.equal(file?.text, '# P\n\n### Story 1.1: Sign in\n')
  }
})

test('paths that are missing, behind a link or outside of the tree are reported all at once', async () => {
  using clone = await place('sha1', script)
  for (const where of [{ workTree: clone.top }, { objects: clone.objects, commit: clone.base }]) {
    const said = await refusal(
      readDocumentFiles(where, [
        'docs/epic.md',
        'docs/link.md',
        'docs/up',
        '../outside.md',
        '/etc',
        'docs/epics.md',
      ]),
    )
    assert.match(said, /no document "docs\/epic\.md" in .*\n {2}fix: did you mean docs\/epics\.md\?/)
    for (const path of ['docs/link.md', 'docs/up', '../outside.md', '/etc'])
      assert.match(said, new RegExp(`there is no document "${path}" in this repository\\.`))
    assert.doesNotMatch(said, /no document "docs\/epics\.md"/)
  }
})

test('files of unread kinds in a named folder are a note per kind; a folder of only such files is refused', async () => {
  using clone = await place(
    'sha1',
    `mkdir -p docs/img office
    printf '# P\\n' > docs/epics.md
    for name in docs/a.docx docs/b.DOCX docs/plan.pdf docs/img/x.png docs/NOTES office/a.docx; do printf x > "$name"; done
    git add -A && git commit -qm documents`,
  )
  for (const where of [{ workTree: clone.top }, { objects: clone.objects, commit: clone.base }]) {
    const notes: string[] = []
    const note = (text: string) => void notes.push(text)
    const read = await readDocumentFiles(where, ['docs', 'docs/plan.pdf'], new Map(), note)
    assert.deepEqual(
      read.map(({ path }) => path),
      ['docs/epics.md', 'docs/plan.pdf'],
    )
    assert.deepEqual(notes, [
      '"docs" has files that Ralph does not read: .docx (2), .pdf (1), .png (1), files without an extension (1). It reads Markdown, text, JSON, YAML and TOML',
    ])
    assert.match(
      await refusal(readDocumentFiles(where, ['office'])),
      /"office" has only \.docx \(1\), but Ralph reads Markdown[\s\S]*save them in one of these formats/,
    )
  }
})

test('5 MB of documents are refused before they are read', async () => {
  using clone = await place(
    'sha1',
    'mkdir docs; head -c 5000001 /dev/zero > docs/prd.md; git add -A; git commit -qm big',
  )
  for (const where of [{ workTree: clone.top }, { objects: clone.objects, commit: clone.base }])
    assert.match(
      await refusal(readDocumentFiles(where, null)),
      /^docs\/prd\.md: the documents up to and including this file are larger than 5 MB in total\./,
    )
})

test('prd.json is parsed as JSON or as Markdown', async () => {
  const read = await parseStories('- [x] Sign in\n', 'prd.json')
  assert.ok(read.ok)
  assert.equal(read.prd.userStories[0]?.lastResult?.imported, true)
  for (const note of read.notes) assert.match(note, /prd\.json|imported as passed|had no id/)
  const json = await parseStories('{"tasks": [{"title": "a"}]}', '.ralph/prd.json')
  assert.ok(json.ok)
  for (const note of json.notes) assert.match(note, /^\.ralph\/prd\.json: /)
  for (const text of ['just words', '{"tasks": [', ''])
    assert.equal((await parseStories(text, 'prd.json')).ok, false)
})
