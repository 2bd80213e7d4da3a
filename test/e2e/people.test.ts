// People on the branch and on the pull request while the action works; what needs no GitHub is in test/engine/people.test.ts.

import assert from 'node:assert/strict'
import test from 'node:test'
import { openAttempt } from '../../src/engine/model/job.ts'
import {
  goodTurn,
  openChecks,
  openSite,
  outputsOf,
  RUN_TESTS,
  type Script,
  type Site,
  type SiteOptions,
  story,
} from './site.ts'

const BRANCH = 'ralph/sample'
const STORIES = [story('US-001', 'one'), story('US-002', 'two', { priority: 2 })]
const SCRIPT = { 'US-001': [goodTurn('one', 1)], 'US-002': [goodTurn('two', 2)] }
const QUICK = { gates: `test: ${RUN_TESTS}`, 'final-verification': 'false' }

/** Starts a chain and stops it in the first session of a story; `meanwhile` is what people do then. */
async function meanwhile(
  id: string,
  act: (site: Site) => Promise<unknown>,
  options: Partial<SiteOptions> = {},
): Promise<Site> {
  const script: Script = options.script ?? SCRIPT
  const site = await openSite({
    stories: STORIES,
    ...options,
    script,
    inputs: { ...QUICK, ...options.inputs },
  })
  const middle = site.hold('middle')
  const [first = {}, ...later] = script[id] ?? []
  await site.setScript({ ...script, [id]: [{ ...first, shell: middle.shell }, ...later] })
  await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await middle.reached()
  await act(site)
  await site.setScript(script)
  await middle.release()
  await site.runner.settled()
  return site
}

/** What holds whatever people did: the contract, one chain, nothing open, the published history only grows. */
async function sound(site: Site): Promise<void> {
  const { github } = site
  assert.deepEqual(github.violations, [], site.log())
  assert.deepEqual(openChecks(site), [])
  const state = await site.state()
  assert.equal(state.lease, null)
  assert.equal(openAttempt(state), null)
  assert.equal(await github.bare.ask(['fsck', '--no-dangling']), '')
  for (const push of github.pushes.filter((one) => one.ref === `refs/heads/${BRANCH}` && one.job !== null)) {
    if (/^0+$/.test(push.before)) continue
    assert.ok(await github.bare.isAncestor(push.before, push.after), 'our push was no fast-forward')
  }
  const pulls = await github.pulls()
  for (const { number } of pulls) {
    const ours = github.comments(number).filter((one) => one.login === 'github-actions[bot]')
    assert.ok(ours.length <= 1, 'a second comment')
  }
}

/** The outputs of the last run that worked. */
function outcome(site: Site): Record<string, string> {
  return outputsOf(site.runner.runs.findLast((run) => run.event !== 'issue_comment') ?? site.last())
}

async function completed(site: Site): Promise<void> {
  await sound(site)
  assert.equal(outcome(site).outcome, 'complete', site.log())
  for (const one of (await site.prd()).userStories) assert.ok(one.passes || one.skipped, one.id)
}

/** Our pushes of the branch after somebody's commit must hold it. */
async function holds(site: Site, commit: string): Promise<void> {
  const head = (await site.github.head(BRANCH)) ?? ''
  assert.ok(await site.github.bare.isAncestor(commit, head), `${commit} is no longer on the branch`)
}

test('people delete the branch: the run pauses and does not recreate it; once it is restored the chain goes on', async () => {
  let before = ''
  await using site = await meanwhile('US-001', async ({ github }) => {
    before = (await github.head(BRANCH)) ?? ''
    await github.deleteBranch(BRANCH)
  })
  await sound(site)
  assert.equal(outcome(site).outcome, 'paused', site.log())
  assert.equal(await site.github.head(BRANCH), null)
  const said = site.github.comments((await site.pull()).number)[0]?.body ?? ''
  assert.match(said, /someone deleted ralph\/\S+ \(it was at \w+\)\. To create it again, use the command run/)
  await site.go()
  assert.equal(outcome(site).outcome, 'paused', 'a second press of the button changes nothing')
  assert.equal(await site.github.head(BRANCH), null)

  await site.github.bare.run(['update-ref', `refs/heads/${BRANCH}`, before])
  await site.go()
  assert.equal(outcome(site).outcome, 'complete', site.log())
  assert.equal(outcome(site).iterations, '2', 'the story that had passed was not worked again')
})

/** A person's forced push. */
async function move(github: Site['github'], before: string, after: string): Promise<void> {
  await github.bare.run(['update-ref', `refs/heads/${BRANCH}`, after, before])
  await github.world.pushed([{ ref: `refs/heads/${BRANCH}`, before, after }], { login: 'alice' })
}

test('people close the pull request during a run: work goes on, no second one is opened, and a notice says so', async () => {
  await using site = await meanwhile(
    'US-001',
    async ({ github, pull }) => github.closePull((await pull()).number),
    { inputs: { 'iterations-per-job': '1' } },
  )
  await completed(site)
  const pulls = await site.github.pulls()
  assert.deepEqual(
    pulls.map((one) => one.state),
    ['closed'],
  )
  assert.match(
    site.github.comments(pulls[0]?.number ?? 0)[0]?.body ?? '',
    /The pull request of this run is closed, and Ralph does not open a second one/,
  )
})

test('after completion, the pull request is merged and its branch deleted: another run changes nothing', async () => {
  await using site = await openSite({ stories: STORIES, script: SCRIPT, inputs: QUICK })
  await site.go()
  await completed(site)
  const { github } = site
  const head = await github.head(BRANCH)
  await github.mergePull('alice', (await site.pull()).number)
  await github.deleteBranch(BRANCH)
  await site.go()
  await sound(site)
  assert.equal(outcome(site).outcome, 'complete', site.log())
  assert.equal(await github.head(BRANCH), null)
  assert.equal((await github.pulls()).length, 1)
  assert.ok(await github.bare.isAncestor(head ?? '', (await github.head('main')) ?? ''))
  assert.equal((await site.sessions()).length, 2)
})

test('the pull request is merged and its branch deleted during a run: the run pauses and recreates nothing', async () => {
  await using site = await meanwhile('US-002', async ({ github, pull }) => {
    await github.mergePull('alice', (await pull()).number)
    await github.deleteBranch(BRANCH)
  })
  await sound(site)
  assert.equal(outcome(site).outcome, 'paused', site.log())
  assert.equal(await site.github.head(BRANCH), null)
  assert.equal((await site.github.pulls()).length, 1)
  assert.match(site.runner.log(site.last()), /paused: someone merged and deleted ralph\/sample/)

  // What comes after the merge is in no base: it needs a pull request of its own.
  await site.say('bob', '/ralph run')
  await completed(site)
  const [first, second, ...others] = (await site.github.pulls()).sort((a, b) => a.number - b.number)
  assert.deepEqual([first?.state, second?.state, others.length], ['closed', 'open', 0], site.log())
  const [comment] = site.github.comments(second?.number ?? 0)
  assert.match(comment?.body ?? '', /Review this pull request like any other, and merge it/)
  assert.doesNotMatch(comment?.body ?? '', /it is merged/i)
  assert.equal(outcome(site)['pull-request-number'], String(second?.number))
  await site.github.mergePull('alice', second?.number ?? 0)
  await site.go()
  assert.equal((await site.github.pulls()).length, 2)
  assert.match(site.github.comments(second?.number ?? 0)[0]?.body ?? '', /Nothing to do: it is merged\./)
})

test('the pull request is merged during a run and the branch stays: the chain goes on there, with a new pull request', async () => {
  await using site = await meanwhile('US-002', async ({ github, pull }) => {
    await github.mergePull('alice', (await pull()).number)
  })
  await completed(site)
  const pulls = (await site.github.pulls()).sort((a, b) => a.number - b.number)
  assert.deepEqual(
    pulls.map(({ state }) => state),
    ['closed', 'open'],
  )
  assert.match(site.github.comments(pulls[1]?.number ?? 0)[0]?.body ?? '', /Review this pull request/)
})

test('a pull request that people opened for the branch is used, also where Actions may open none', async () => {
  await using site = await meanwhile(
    'US-001',
    async ({ github }) => {
      assert.deepEqual(await github.pulls(), [])
      await github.openPull('alice', { head: BRANCH, title: 'Mine', body: 'Closes #7\r\n' })
    },
    { github: { actionsMayOpenPullRequests: false } },
  )
  await completed(site)
  const pull = await site.pull()
  assert.equal(site.github.issue(pull.number).login, 'alice')
  assert.match(site.github.comments(pull.number)[0]?.body ?? '', /2 of 2/)
  assert.equal(outcome(site)['pull-request-number'], String(pull.number))
  assert.equal(pull.title, 'Mine')
  assert.match(pull.body ?? '', /^Closes #7\r\n\n\n<!-- ralph:pull:sample -->\n/)
})

test('a title and a text that a person gave to the pull request are kept', async () => {
  await using site = await meanwhile('US-001', async ({ github, pull }) => {
    const { number, body } = await pull()
    Object.assign(github.issue(number), { title: 'Two modules', body: `Why: #7\r\n\r\n${body}` })
  })
  await completed(site)
  const { title, body } = await site.pull()
  assert.equal(title, 'Two modules')
  assert.match(body ?? '', /^Why: #7\r\n\r\n<!-- ralph:pull:sample -->\n/)
  assert.match(body ?? '', /- \[x\] \*\*US-002\*\*/)
})

test('people merge the base with a changed workflow into the branch: it is merged and pushed without the workflows permission', async () => {
  let theirs = ''
  await using site = await meanwhile('US-001', async ({ github }) => {
    await github.commit('main', {
      '.github/workflows/ci.yml': 'on: push\njobs: {}\n',
      'src/new.mjs': 'export {}\n',
    })
    theirs = await bringBaseIn(github)
  })
  await completed(site)
  await holds(site, theirs)
  for (const name of ['one', 'two', 'new'])
    assert.notEqual(await site.github.read(BRANCH, `src/${name}.mjs`), null)
})

/** The button "Update branch". */
async function bringBaseIn(github: Site['github']): Promise<string> {
  const [ours, base] = [(await github.head(BRANCH)) ?? '', (await github.head('main')) ?? '']
  const tree = await github.bare.run(['merge-tree', '--write-tree', ours, base])
  const person = github.world.person('alice')
  const who = { author: person, committer: person }
  const theirs = await github.bare.commitTree(tree, [ours, base], 'Merge branch main', who)
  await move(github, ours, theirs)
  return theirs
}

test('the state is deleted while a job works: the job pushes nothing more, and the next one rebuilds the state from the branch', async () => {
  await using site = await meanwhile(
    'US-002',
    async ({ github }) => void (await github.bare.run(['update-ref', '-d', 'refs/ralph/2026-01-31-sample'])),
    { inputs: { 'iterations-per-job': '1' } },
  )
  assert.equal(await site.github.head('refs/ralph/2026-01-31-sample'), null)
  const before = await site.github.head(BRANCH)
  await site.go()
  await completed(site)
  await holds(site, before ?? '')
  assert.match(site.log(), /the state of sample was lost, so the run continues from ralph\/sample/)
  assert.deepEqual(
    (await site.sessions()).map((one) => one.story),
    ['US-001', 'US-002', 'US-002'],
  )
  assert.equal((await site.github.pulls()).length, 1)
})

test('people push whenever a story is published: each of their commits is merged, and no story is lost', async () => {
  await using site = await openSite({
    stories: STORIES,
    script: SCRIPT,
    inputs: { ...QUICK, publish: 'story' },
  })
  const theirs: string[] = []
  let count = 0
  const { pushes } = site.github
  const isOurs = () => pushes.filter((one) => one.ref === `refs/heads/${BRANCH}` && one.job !== null).length
  // The push of the state that follows one of the branch: somebody is always quicker than our next look.
  site.github.fault(
    {
      kind: 'git',
      where: () => {
        if (isOurs() <= count || count >= 2) return false
        count = isOurs()
        void site.github
          .commit(BRANCH, { [`by-hand-${count}.md`]: 'x\n' }, 'by hand', 'bob')
          .then((sha) => theirs.push(sha))
        return false
      },
    },
    'drop',
  )
  await site.go()
  await completed(site)
  assert.equal(theirs.length, 2)
  for (const sha of theirs) await holds(site, sha)
})

test('people push and then comment while comments are read: the next session has their push', async () => {
  const second = { ...goodTurn('two', 2), shell: 'ls >seen.txt' }
  await using site = await openSite({
    stories: STORIES,
    script: { ...SCRIPT, 'US-002': [second] },
    inputs: QUICK,
  })
  const { github } = site
  // The comment of the first iteration is read for no more: from then on comments are read for commands.
  const fault = github.fault({ method: 'GET', path: /\/issues\/\d+\/comments/, where: isPosted }, 'hang')
  function isPosted() {
    return github.comments(1).some(({ login }) => login === 'github-actions[bot]')
  }
  await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await fault.hit
  const theirs = await github.commit(BRANCH, { 'by-hand.md': 'x\n' }, 'by hand', 'bob')
  github.comment('bob', (await site.pull()).number, '/ralph note US-002 read by-hand.md')
  fault.release()
  await site.runner.settled()
  assert.deepEqual(github.violations, [], site.log())
  assert.equal(outcome(site).outcome, 'complete', site.log())
  await holds(site, theirs)
  const seen = await github.bare.ask(['show', `${BRANCH}:seen.txt`])
  assert.match(seen ?? '', /^by-hand\.md$/m, site.log())
})
