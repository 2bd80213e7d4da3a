// The commits of the two further gate runs, in a real repository: never one on which the gates ran already.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { place } from '../git/place.ts'
import { openWorked } from '../git/worked.ts'

const FORK = 'mkdir src test; echo old | tee src/a.js > test/a.test.js; git add -A; git commit -q -m fork'
const commit = (edits: string) => `${edits}; git add -A; git commit -q -m next; git rev-parse HEAD`

/** Which files each further run has, after a change of the base. */
async function treesAfter(edits: string) {
  using at = await place('sha1', FORK)
  const { base, top, folder, shell } = at
  const env = { PATH: process.env.PATH ?? '', HOME: folder }
  const to = shell(commit(edits)).trim()
  const { repository, objects } = await openWorked(top, env)
  using _ = objects
  const text = (id: string, path: string) => shell(`git show ${id}:${path} 2>/dev/null || echo gone`).trim()
  const filesOf = (id: string | null | undefined) =>
    id == null ? null : Object.fromEntries(PATHS.map((path) => [path, text(id, path)]))
  const checks = await repository.asItWas(base, to, { fork: base })
  const product = await repository.withoutProduct(base, to, base)
  return {
    checks: checks?.commit === base ? 'the base' : filesOf(checks?.commit),
    product: filesOf(product.commit),
    changes: product.changesProduct,
  }
}

const PATHS = ['src/a.js', 'test/a.test.js', 'test/b.test.js']

test('a change of product and tests has both further trees', async () => {
  assert.deepEqual(
    await treesAfter('echo new > src/a.js; echo new > test/a.test.js; echo new > test/b.test.js'),
    {
      checks: { 'src/a.js': 'new', 'test/a.test.js': 'old', 'test/b.test.js': 'gone' },
      product: { 'src/a.js': 'old', 'test/a.test.js': 'new', 'test/b.test.js': 'new' },
      changes: true,
    },
  )
})

test('a change of the product only, or of anything else only, has no further tree: the gates ran on these', async () => {
  const none = { checks: null, product: null }
  assert.deepEqual(await treesAfter('echo new > src/a.js'), { ...none, changes: true })
  assert.deepEqual(await treesAfter('echo new > test/a.test.js; echo x > README.md'), {
    ...none,
    checks: 'the base',
    changes: false,
  })
})

test('a mistake changes one line of the change, and is refused if that line is not there', async () => {
  using at = await place('sha1', FORK)
  const { base, top, folder, shell } = at
  const to = shell(commit("printf 'const a = 1\\nconst b = a + 1\\n' > src/b.js; chmod +x src/b.js")).trim()
  const { repository, objects } = await openWorked(top, { PATH: process.env.PATH ?? '', HOME: folder })
  using _ = objects
  const mutants = await repository.mutants(base, to, { fork: base, count: 1 })
  assert.deepEqual(mutants, [{ path: 'src/b.js', line: 2, from: 'const b = a + 1', to: 'const b = a - 1' }])
  const [mutant] = mutants
  assert.ok(mutant)
  const mistaken = await repository.withMutant(to, mutant)
  assert.match(shell(`git diff ${to} ${mistaken}`), /^-const b = a \+ 1\n\+const b = a - 1$/m)
  assert.match(
    shell(`git diff --stat ${to} ${mistaken}`),
    /1 file changed, 1 insertion\(\+\), 1 deletion\(-\)/,
  )
  assert.doesNotMatch(shell(`git diff ${to} ${mistaken}`), /mode/)
  assert.equal(await repository.withMutant(base, mutant), null)
})
