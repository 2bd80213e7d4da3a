// A prd.json behind a link is refused. What an earlier Ralph learned comes in with its prd.json: from a work tree and from a commit, bounded, behind no link.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findFeatures } from '../../../src/app/resolve-feature.ts'
import { place } from '../git/place.ts'

const PRD = '{"project":"Rest","tasks":[{"id":1,"title":"Store a place","status":"todo"}]}'
const places = (clone: Awaited<ReturnType<typeof place>>) => [
  { commit: clone.base, workTree: clone.top },
  { commit: clone.base, workTree: null },
]

async function learned(script: string) {
  using clone = await place('sha1', `${script}\ngit add -A -f && git commit -qm base`)
  return await Promise.all(
    places(clone).map(async (where) => {
      const { features, mistakes } = await findFeatures(clone.objects, where, 'ralph/')
      assert.deepEqual(mistakes, [])
      return features.map(({ name, prd, notes }) => {
        return { name, learnings: prd.run.learnings, notes: notes.filter((one) => /learn/.test(one)).join() }
      })
    }),
  )
}

test('learnings of an earlier Ralph are read from learnings.md and progress.txt beside its prd.json only', async () => {
  const found = await learned(`mkdir -p .ralph/2026-01-31-auth docs
    printf '%s' '${PRD}' > .ralph/prd.json
    printf '# Learnings\\n\\n- PostGIS needs an extension\\n' > .ralph/learnings.md
    printf '## Codebase Patterns\\n- Use the pool\\n\\n## 2026-01-01 - US-001\\n- done\\n' > .ralph/progress.txt
    printf '%s' '{"userStories":[{"id":"A","title":"a","acceptanceCriteria":["b"]}]}' > .ralph/2026-01-31-auth/prd.json
    printf -- '- Never read\\n' > .ralph/2026-01-31-auth/learnings.md`)
  for (const features of found) {
    const [auth, rest] = ['auth', 'rest'].map((wanted) => features.find(({ name }) => name === wanted))
    assert.deepEqual(auth?.learnings, [])
    assert.deepEqual(rest?.learnings.toSorted(), ['PostGIS needs an extension', 'Use the pool'])
    assert.match(rest?.notes ?? '', /\.ralph\/learnings\.md: 1 learning read/)
  }
})

test('learnings behind a link, or in a file of megabytes, are not read', async () => {
  const found = await learned(`mkdir -p .ralph
    printf '%s' '${PRD}' > .ralph/prd.json
    printf -- '- secret\\n' > '.ralph/- outside.md'
    # The path that the link holds reads like a learning itself.
    ln -s -- '- outside.md' .ralph/learnings.md
    head -c 1100000 /dev/zero | tr '\\0' 'x' > .ralph/progress.txt`)
  for (const features of found)
    assert.deepEqual(
      features.map(({ name, learnings }) => [name, learnings]),
      [['rest', []]],
    )
})

test('a prd.json that is a link, or behind one, is refused and not read', async () => {
  using clone = await place(
    'sha1',
    `mkdir -p .ralph .away/2026-01-31-auth .away/ralph
    printf '%s' '${PRD}' | tee .away/prd.json .away/ralph/prd.json > .away/2026-01-31-auth/prd.json
    # A loop, a link to a file, and links to folders; the last one leads to no prd.json.
    ln -s prd.json prd.json
    ln -s ../.away/prd.json .ralph/prd.json
    ln -s ../.away/2026-01-31-auth .ralph/2026-01-31-auth
    ln -s .away/ralph ralph
    ln -s .away scripts
    ln -s ../.away/nothing .ralph/2026-02-01-none
    git add -A -f && git commit -qm base`,
  )
  const found = places(clone).map((where) => findFeatures(clone.objects, where, 'ralph/'))
  const [onDisk, committed] = await Promise.all(found)
  assert.deepEqual(onDisk?.features, [])
  assert.deepEqual(onDisk?.mistakes.map(({ path, found: what }) => `${path}: ${what}`).sort(), [
    '.ralph/2026-01-31-auth: this is a symbolic link.',
    '.ralph/prd.json: this is a symbolic link.',
    'prd.json: this is a symbolic link.',
    'ralph: this is a symbolic link.',
    'scripts: this is a symbolic link.',
  ])
  assert.deepEqual(committed?.features, [])
  assert.deepEqual(committed?.mistakes.map(({ path }) => path).sort(), ['.ralph/prd.json', 'prd.json'])
})
