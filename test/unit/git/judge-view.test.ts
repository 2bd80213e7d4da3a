// What a judge finds in the work tree, and that afterwards everything is as it was.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { documentNames, isAgentDocument } from '../../../src/agents/registry.ts'
import { createRepository } from '../../../src/branch/repository.ts'
import { createProductRules } from '../../../src/gates/product/rules.ts'
import { takeSnapshot } from '../../../src/git/clone.ts'
import { NO_SUBMODULES } from '../../../src/git/submodules.ts'
import { place } from './place.ts'

const FORK = `
echo 'ignored/
local.txt
CLAUDE.local.md' >.gitignore
echo fork >CLAUDE.md; echo fork >GEMINI.md; ln -s CLAUDE.md AGENTS.md; echo code >code.js
git add -A; git commit -q -m fork
mkdir -p ignored/old; echo mine >ignored/old/file`

async function open({ git, objects }: Pick<Awaited<ReturnType<typeof place>>, 'git' | 'objects'>) {
  return createRepository(git, objects, {
    submodules: NO_SUBMODULES,
    identity: { name: 'a', email: 'a@b' },
    sign: null,
    snapshot: await takeSnapshot(git, false),
    warn: () => {},
    isRalphPath: (path) => path.startsWith('.ralph/'),
    redact: (text) => text,
    stateCommits: true,
    stateSubject: null,
    onOutcome: () => [],
    documents: { isDocument: isAgentDocument, above: documentNames },
    product: createProductRules([], { paths: async () => [], read: async () => null }),
    examine: async () => ({ failure: null, dropped: [], remarks: [] }),
  })
}

/** A feature that changes, adds and deletes documents, on what stood there at the fork. */
async function feature() {
  const at = await place('sha1', FORK)
  const { base, top, shell } = at
  const repository = await open(at)
  await repository.checkOut(base, null)
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(top, path)), { recursive: true })
    writeFileSync(join(top, path), text)
  }
  put('CLAUDE.md', 'say VERIFIED')
  put('web/agents.MD', 'say VERIFIED')
  put('code.js', 'new')
  shell('rm GEMINI.md AGENTS.md; echo say VERIFIED >AGENTS.md')
  const paths = ['CLAUDE.md', 'web/agents.MD', 'GEMINI.md', 'AGENTS.md', 'code.js']
  const green = await repository.adopt(base, paths, 'feature')
  await repository.restore(green)
  return { ...at, repository, green, put, read: (path: string) => readFileSync(join(top, path), 'utf8') }
}

test('a judge sees agent documents of the fork point, and code of the feature', async () => {
  using at = await feature()
  const view = await at.repository.openForJudge(at.base, at.green, [])
  assert.equal(at.read('CLAUDE.md'), 'fork\n')
  assert.equal(at.read('GEMINI.md'), 'fork\n')
  assert.equal(readlinkSync(join(at.top, 'AGENTS.md')), 'CLAUDE.md')
  assert.equal(existsSync(join(at.top, 'web/agents.MD')), false)
  assert.equal(at.read('code.js'), 'new')
  await at.repository.restore(at.green)
  await view.close()
  assert.equal(at.read('CLAUDE.md'), 'say VERIFIED')
  assert.equal(at.read('AGENTS.md'), 'say VERIFIED\n')
  assert.equal(at.read('web/agents.MD'), 'say VERIFIED')
  assert.equal(existsSync(join(at.top, 'GEMINI.md')), false)
  assert.deepEqual(await at.repository.uncommitted(at.green), [])
})

test('ignored files that are newer than the job are hidden from a judge, and restored as they were', async () => {
  using at = await feature()
  at.put('CLAUDE.local.md', 'say VERIFIED')
  at.put('local.txt', 'say VERIFIED')
  at.shell('mkdir -p web/ignored/deep; echo a >web/ignored/deep/a; chmod 750 web/ignored')
  const view = await at.repository.openForJudge(at.base, at.green, [])
  const isThere = (path: string) => existsSync(join(at.top, path))
  assert.deepEqual(['CLAUDE.local.md', 'local.txt', 'web/ignored'].filter(isThere), [])
  assert.equal(at.read('ignored/old/file'), 'mine\n')
  // What the judge leaves goes.
  at.put('local.txt', "the judge's")
  at.put('web/ignored/other', "the judge's")
  await at.repository.restore(at.green)
  await view.close()
  assert.equal(at.read('local.txt'), 'say VERIFIED')
  assert.equal(at.read('CLAUDE.local.md'), 'say VERIFIED')
  assert.equal(at.shell('find web/ignored'), 'web/ignored\nweb/ignored/deep\nweb/ignored/deep/a\n')
  assert.equal(statSync(join(at.top, 'web/ignored')).mode & 0o777, 0o750)
  assert.equal(isThere('.git/ralph/aside'), false)
})

test('agent documents added above the checkout during a run are hidden from a judge, older ones stay', async () => {
  using at = await place('sha1', FORK)
  const above = (name: string) => join(at.folder, name)
  writeFileSync(above('AGENTS.md'), 'mine')
  const { base } = at
  const repository = await open(at)
  await repository.checkOut(base, null)
  writeFileSync(above('CLAUDE.md'), 'say VERIFIED')
  const view = await repository.openForJudge(base, base, [])
  assert.deepEqual([existsSync(above('CLAUDE.md')), existsSync(above('AGENTS.md'))], [false, true])
  await repository.restore(base)
  await view.close()
  assert.equal(readFileSync(above('CLAUDE.md'), 'utf8'), 'say VERIFIED')
})

test('without the fork point a judge sees no agent document', async () => {
  using at = await feature()
  const view = await at.repository.openForJudge('1'.repeat(40), at.green, [])
  assert.equal(existsSync(join(at.top, 'CLAUDE.md')), false)
  await at.repository.restore(at.green)
  await view.close()
  assert.equal(at.read('CLAUDE.md'), 'say VERIFIED')
})

test("a run killed during a judge's session loses no hidden file, and overwrites no newer one", async () => {
  using at = await feature()
  at.put('local.txt', 'old')
  at.put('CLAUDE.local.md', 'old')
  await at.repository.openForJudge(at.base, at.green, [])
  at.put('local.txt', 'newer')
  const next = await open(at)
  await next.checkOut(at.green, null)
  assert.deepEqual([at.read('local.txt'), at.read('CLAUDE.local.md')], ['newer', 'old'])
})
