// The branches of a stack in real git: which commits a layer has, and how the base is merged into a layer after a squash or a rebase.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it, test } from 'node:test'
import { mergeFrom, sameCommit } from '../../../src/branch/branch-edits.ts'
import { Commits } from '../../../src/branch/commits.ts'
import { createStackBranches, ownCommits } from '../../../src/branch/stack-branches.ts'
import { createStore } from '../../../src/branch/store.ts'
import { takeSnapshot } from '../../../src/git/clone.ts'
import { GitError } from '../../../src/git/git-process.ts'
import { stateOf, stories } from '../engine/samples.ts'
import { place } from '../git/place.ts'
import { openWorked } from '../git/worked.ts'

const NONCE = 'n'

/** A commit's message with trailers, as Ralph writes it. */
function messageOf(subject: string, story: string | null, nonce = NONCE): string {
  return `${subject}\n\n${story === null ? '' : `Ralph-Story: ${story}\n`}Ralph-Run: ${nonce}\n`
}

describe('ownCommits', () => {
  const commit = (id: string, parents: string[], message: string) => ({ commit: id, parents, message })

  it('gives the first parents from the oldest on, each with the stories of what it merged', () => {
    const history = [
      commit('a', ['base'], messageOf('feat: one', 'US-001')),
      commit('x', ['base'], messageOf('feat: two', 'US-002')),
      commit('y', ['x'], messageOf('feat: three', 'US-003')),
      commit('m', ['a', 'y'], messageOf('merge', null)),
      commit('z', ['y'], messageOf('feat: four', 'US-004')),
      commit('n', ['m', 'z'], messageOf('merge: again', 'US-005')),
    ]
    assert.deepEqual(ownCommits(history, 'n', NONCE), [
      { commit: 'a', stories: ['US-001'], isRevert: false },
      { commit: 'm', stories: ['US-003', 'US-002'], isRevert: false },
      { commit: 'n', stories: ['US-004', 'US-005'], isRevert: false },
    ])
  })

  it('ends at the base, and at a head that is not in the history', () => {
    const history = [commit('a', ['base'], 'people'), commit('b', ['a'], 'people')]
    assert.deepEqual(
      ownCommits(history, 'a', NONCE).map(({ commit: id }) => id),
      ['a'],
    )
    assert.deepEqual(ownCommits(history, 'base', NONCE), [])
    assert.deepEqual(ownCommits([], 'a', NONCE), [])
  })

  it('counts only stories and reverts of this run', () => {
    const history = [
      commit('a', ['base'], messageOf('feat: one', 'US-001', 'other')),
      commit('b', ['a'], messageOf('revert: drop US-001', null)),
      commit('c', ['b'], messageOf('revert: drop US-001', null, 'other')),
      commit(
        'd',
        ['c'],
        messageOf('fix: FIX-1', 'US-001').replace('\nRalph-Run', '\nRalph-Fixes: FIX-1 review r1\nRalph-Run'),
      ),
    ]
    assert.deepEqual(ownCommits(history, 'd', NONCE), [
      { commit: 'a', stories: [], isRevert: false },
      { commit: 'b', stories: [], isRevert: true },
      { commit: 'c', stories: [], isRevert: false },
      { commit: 'd', stories: ['US-001', 'FIX-1'], isRevert: false },
    ])
  })
})

/**
 * A clone and its remote. On `main` is one commit of the feature for each of `a`, `b` and `c`, tagged `one`, `two` and `three`. `base` is
 * the commit before them, and `ralph/auth+E1`, `+E2` and `+E3` are the layers on the remote.
 */
async function stacked() {
  const at = await place(
    'sha1',
    `printf '1\\n2\\n3\\n4\\n5\\n' > lines; git add lines; git commit -q -m start; git tag base
    n=0; for tag in one two three; do n=$((n + 1)); echo $tag > $tag.txt; sed -i "$n s/.*/$tag/" lines
    git add -A; git commit -q -m "$tag"; git tag $tag; done
    git init -q --bare ../remote.git; git -C ../remote.git config uploadpack.allowAnySHA1InWant true
    git push -q ../remote.git base:refs/heads/main
    for layer in E1:one E2:two E3:three; do git push -q ../remote.git \${layer#*:}^{commit}:refs/heads/ralph/auth+\${layer%:*}; done`,
  )
  const worked = await openWorked(at.top, { PATH: process.env.PATH ?? '', HOME: at.folder })
  const url = join(at.folder, 'remote.git')
  const store = createStore(at.git, at.objects, {
    namespace: 'refs/ralph',
    remote: { url, env: {} },
    publishRemote: null,
    leaseMs: 1000,
    snapshot: await takeSnapshot(at.git, true),
  })
  const id = (name: string) => at.shell(`git rev-parse --verify '${name}^{commit}'`).trim()
  const commits = [id('one'), id('two'), id('three')]
  const state = stateOf(stories('US-001'), {
    base: { branch: 'main', sha: id('base') },
    green: id('three'),
    published: id('three'),
  })
  const tools = { git: at.git, store, repository: worked.repository }
  return {
    ...at,
    state,
    tools,
    id,
    commits,
    branches: createStackBranches(tools),
    /** The head of a branch on the remote. */
    head: (branch: string) =>
      at.shell(`git -C ../remote.git rev-parse --verify --quiet refs/heads/${branch}`).trim(),
    /** A person's commit on a branch of the remote. Gives it. */
    commit(branch: string, script: string) {
      const work = `work-${branch.replace(/\W/g, '-')}`
      at.shell(
        `git clone -q -b ${branch} remote.git ${work} && cd ${work} && ${script}
        git add -A && git commit -q --allow-empty -m people && git push -q origin HEAD:${branch}`,
        {},
        '',
        at.folder,
      )
      return at.shell(`git -C ../${work} rev-parse HEAD`).trim()
    },
    [Symbol.dispose]() {
      worked.objects[Symbol.dispose]()
      at[Symbol.dispose]()
    },
  }
}

describe('newestIn', () => {
  it('finds the newest commit of the feature in a branch, also if people committed on top', async () => {
    using at = await stacked()
    const { branches, commits, id } = at
    assert.equal(await branches.newestIn(commits, id('two')), id('two'))
    assert.equal(
      await branches.newestIn(commits, at.commit('ralph/auth+E2', 'echo more > more.txt')),
      id('two'),
    )
    assert.equal(await branches.newestIn(commits, at.commit('main', 'echo more > more.txt')), null)
    assert.equal(await branches.newestIn([], id('two')), null)
  })

  it('takes a commit as missing only if git says so, and reports every other failure', async () => {
    using at = await stacked()
    const { tools, commits } = at
    const missing = '1'.repeat(40)
    const once = (url: string) => ({
      ...tools,
      // The store repeats this for a minute.
      store: Object.assign(Object.create(tools.store), {
        async fetch(wanted: readonly string[]) {
          const { code, stderr } = await at.git.fetch({ url, env: {} }, wanted, [])
          if (code !== 0) throw new GitError(['fetch'], code, stderr)
        },
      }),
    })
    const remote = `file://${join(at.folder, 'remote.git')}`
    assert.equal(await createStackBranches(once(remote)).newestIn(commits, missing), null)
    await assert.rejects(
      createStackBranches(once(`${remote}-gone`)).newestIn(commits, missing),
      /does not appear to be a git repository|does not exist/,
    )
    const failing = (error: unknown) => ({
      ...tools,
      store: { ...once(remote).store, fetch: () => Promise.reject(error) },
    })
    const gone = new GitError(['fetch'], 128, "fatal: couldn't find remote ref refs/heads/x")
    assert.equal(await createStackBranches(failing(gone)).newestIn(commits, missing), null)
    await assert.rejects(
      createStackBranches(failing(new Error('not our ref'))).newestIn(commits, missing),
      /not our ref/,
      'an error that is not of git',
    )
  })
})

describe('branches.merge', () => {
  const LAYER = 'ralph/auth+E2'
  type Place = Awaited<ReturnType<typeof stacked>>

  /** The merge of the base into E2, after E1 was merged into it as this commit. */
  const merge = ({ branches, state, id, head }: Place, mergedAs: string) =>
    branches.merge(state, { branch: LAYER, head: head(LAYER), base: 'main', merged: id('one'), mergedAs })

  it('needs nothing after a merge commit, and after it has done it', async () => {
    using at = await stacked()
    const { head, id } = at
    const merged = at.commit(
      'main',
      'git fetch -q origin ralph/auth+E1 && git merge -q --no-ff -m merge FETCH_HEAD',
    )
    assert.deepEqual(await merge(at, merged), { kind: 'needless' })
    assert.equal(head(LAYER), id('two'))
  })

  it('after a squash it takes the last commit of the merged layer as the common ancestor', async () => {
    using at = await stacked()
    const { head, id } = at
    const squashed = at.commit(
      'main',
      'git fetch -q origin ralph/auth+E1 && git merge -q --squash FETCH_HEAD && sed -i "5 s/.*/people/" lines',
    )
    assert.deepEqual(await merge(at, squashed), { kind: 'merged' })
    const made = head(LAYER)
    at.shell(`git fetch -q ../remote.git ${LAYER}`)
    assert.deepEqual(at.shell(`git log -1 --format=%P ${made}`).trim().split(' '), [id('two'), squashed])
    assert.equal(at.shell(`git show ${made}:lines`), 'one\ntwo\n3\n4\npeople\n')
    assert.equal(
      at.shell(`git log -1 --format=%B ${made}`).trim(),
      `merge: main into ${LAYER}\n\nRalph-Run: n`,
    )
    // What GitHub shows of the layer is only its own change.
    assert.equal(at.shell(`git diff --name-only ${squashed}...${made}`), 'lines\ntwo.txt\n')
    assert.deepEqual(await merge(at, squashed), { kind: 'needless' })
    assert.equal(head(LAYER), made)
  })

  it('a conflict moves nothing, and neither does a branch that people moved meanwhile', async () => {
    using at = await stacked()
    const { head, id, branches, state } = at
    const squash = (change: string) =>
      at.commit('main', `git fetch -q origin ralph/auth+E1 && git merge -q --squash FETCH_HEAD && ${change}`)
    const squashed = squash('sed -i "2 s/.*/other/" lines')
    assert.deepEqual(await merge(at, squashed), { kind: 'conflict' })
    assert.equal(head(LAYER), id('two'))
    const people = at.commit(LAYER, 'echo more > more.txt')
    const known = { branch: LAYER, head: id('one'), base: 'main', merged: id('one'), mergedAs: squashed }
    const result = await branches.merge(state, known)
    assert.equal(result.kind, 'refused')
    assert.match(result.kind === 'refused' ? result.reason : '', /stale info|refused/)
    assert.equal(head(LAYER), people)
  })
})

const COMMITS = {
  redact: (text: string) => text,
  identity: { name: 'a', email: 'a@b' },
  sign: null,
  stateCommits: true,
  stateSubject: null,
  onOutcome: () => [],
  warn: assert.fail,
}

test('mergeFrom merges two commits as if both began at the given one, whatever git knows of them', async () => {
  using at = await stacked()
  const { git, objects, id } = at
  const tools = { git, objects, commits: new Commits(git, objects, COMMITS) }
  // A squash of the first two layers, and a change of people: git itself has only `base` in common.
  const squashed = at
    .shell(
      'git checkout -q --detach base && git merge -q --squash two >&2 && sed -i "5 s/.*/people/" lines && git commit -qam squash && git rev-parse HEAD',
    )
    .trim()
  const merged = await mergeFrom(tools, id('two'), id('three'), squashed)
  assert.deepEqual(merged.conflicts, [])
  assert.equal(at.shell(`git cat-file blob ${merged.tree}:lines`), 'one\ntwo\nthree\n4\npeople\n')
  assert.deepEqual((await mergeFrom(tools, id('base'), id('three'), squashed)).conflicts, ['lines'])
  // A revert: from the commit to the one before it.
  const reverted = await mergeFrom(tools, id('three'), id('three'), id('two'))
  assert.equal(reverted.tree, at.shell('git rev-parse two^{tree}').trim())
  await assert.rejects(mergeFrom(tools, '1'.repeat(40), id('two'), id('three')), /there is no commit 1111/)
})

test('sameCommit finds the oldest commit of the branch with the prd.json of the base', async () => {
  const at = await place(
    'sha1',
    `git tag base; mkdir -p .ralph/2026-01-10-auth; cd .ralph/2026-01-10-auth
    for n in 1 2; do echo "{ \\"passed\\": $n }" > prd.json; git add -A; git commit -q -m "story $n"; git tag story$n
    echo $n > ../../people.txt; git add -A ../..; git commit -q -m "people $n"; done
    git checkout -q --detach base; git checkout -q story1 -- .; git commit -q -m squash; git tag squash
    git checkout -q main`,
  )
  using _ = at
  const id = (name: string) => at.shell(`git rev-parse ${name}^{commit}`).trim()
  const base = { branch: 'main', sha: id('base') }
  const state = stateOf(stories('US-001'), { base, green: id('main') })
  assert.equal(
    await sameCommit(at, state, id('squash')),
    id('story1'),
    'not what people committed on top of it',
  )
  assert.equal(await sameCommit(at, state, id('main')), id('story2'))
  assert.equal(await sameCommit(at, state, id('base')), null, 'the base has no such file')
  assert.equal(await sameCommit(at, { ...state, green: id('base') }, id('squash')), null, 'another feature')
})
