// Git that fails, and repositories that are odd: nothing is lost, and what happened is said.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { openAttempt } from '../../src/engine/model/job.ts'
import {
  annotationsOf,
  goodTurn,
  openChecks,
  openSite,
  outputsOf,
  RUN_TESTS,
  type Site,
  type SiteOptions,
  story,
} from '../e2e/site.ts'
import { lacks } from '../machine/needs.ts'
import type { SeenRequest } from '../standin/github.ts'

const STORIES = [story('US-001', 'one'), story('US-002', 'two', { priority: 2 })]
const SCRIPT = { 'US-001': [goodTurn('one', 1)], 'US-002': [goodTurn('two', 2)] }
const QUICK = {
  gates: `test: ${RUN_TESTS}`,
  'final-verification': 'false',
  'iterations-per-job': '1',
}
const STATE = 'refs/ralph/2026-01-31-sample'

async function quick(options: Partial<SiteOptions> = {}): Promise<Site> {
  return openSite({ stories: STORIES, script: SCRIPT, ...options, inputs: { ...QUICK, ...options.inputs } })
}

/** Requests of git that Ralph itself makes: those of the checkout step are not ours to survive. */
function ralphs(site: Site): (request: SeenRequest) => boolean {
  return (request) => {
    const run = site.runner.runs.find((one) => one.id === request.job?.runId)
    const steps = run?.jobs.flatMap((job) => job.steps) ?? []
    return steps.some((step) => step.status === 'in_progress' && step.name.includes('ralph/action'))
  }
}

/** The chain is complete, every story was accepted once and stands on the branch, the repository is whole. */
async function whole(site: Site, expected = ['US-001', 'US-002']): Promise<void> {
  const { github } = site
  assert.deepEqual(github.violations, [], site.log())
  const state = await site.state()
  assert.equal(state.prd.run.outcome, 'complete', site.log())
  assert.equal(state.lease, null)
  assert.equal(openAttempt(state), null)
  assert.deepEqual(openChecks(site), [])
  const passed = state.timeline.filter((entry) => entry.result === 'passed').map((entry) => entry.storyId)
  assert.deepEqual(passed, expected)
  const log = await github.bare.run([
    'log',
    '--format=%(trailers:key=Ralph-Story,valueonly)',
    'main..ralph/sample',
  ])
  assert.deepEqual(log.split('\n').filter(Boolean).reverse(), expected)
  assert.equal(await github.bare.ask(['fsck', '--no-dangling']), '')
  await site.checks()
  const { number } = await site.pull()
  assert.equal(github.comments(number).filter((one) => one.login === 'github-actions[bot]').length, 1)
}

/** Paths that differ between the base and the branch, Ralph's own left out. */
async function changed(site: Site): Promise<string[]> {
  const names = await site.github.bare.run(['diff', '--name-status', '--no-renames', 'main', 'ralph/sample'])
  return names.split('\n').filter((line) => !line.includes('.ralph/'))
}

const ADDED = ['one', 'two'].flatMap((name) => [`A\tsrc/${name}.mjs`, `A\ttest/${name}.test.mjs`]).sort()

test('every third push gets no answer: each commit, comment and dispatch still happens once', async () => {
  await using site = await quick()
  let pushes = 0
  const fault = site.github.fault(
    { method: 'POST', path: /git-receive-pack$/, where: () => ++pushes % 3 === 0 },
    'drop',
    { afterwards: true, times: 1000 },
  )
  await site.go()
  assert.ok(fault.hits >= 4, `${fault.hits} of ${pushes}`)
  await whole(site)
})

test('every fourth git request fails by 500, 503 or a connection reset: the chain completes as without faults', async (t) => {
  await using site = await quick()
  const isRalphPath = ralphs(site)
  let seen = 0
  const faults = ([{ status: 500 }, { status: 503 }, 'drop'] as const).map((answer, index) =>
    site.github.fault(
      {
        kind: 'git',
        where: (request) =>
          isRalphPath(request) && (index > 0 || ++seen > 0) && seen % 12 === (4 * (index + 1)) % 12,
      },
      answer,
      { times: 1000 },
    ),
  )
  await site.go()
  t.diagnostic(`${faults.map((fault) => fault.hits).join(' + ')} faults in ${seen} requests`)
  for (const fault of faults) assert.ok(fault.hits > 0)
  await whole(site)
})

test('a remote that is unreachable for a while after a story passed is retried until it answers', async () => {
  await using site = await quick({ inputs: { 'iterations-per-job': '2' } })
  const middle = site.hold('middle')
  await site.setScript({ ...SCRIPT, 'US-001': [{ ...goodTurn('one', 1), shell: middle.shell }] })
  await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await middle.reached()
  const away = site.github.fault({ kind: 'git' }, 'drop', { times: 4 })
  await middle.release()
  await site.runner.settled()
  assert.equal(away.hits, 4)
  await whole(site)
  assert.equal((await site.sessions()).length, 2)
})

test('a git request that hangs is ended and repeated, and nothing is lost', {
  skip: process.env.RALPH_SOAK === undefined && 'a minute and more: RALPH_SOAK=1',
}, async () => {
  await using site = await quick()
  const isRalphPath = ralphs(site)
  const hanging = site.github.fault({ kind: 'git', where: isRalphPath }, 'hang', { skip: 6 })
  await site.go()
  assert.equal(hanging.hits, 1)
  await whole(site)
})

test('the branch becomes protected during a run: only the state is pushed, and the run pauses with the reason', async () => {
  await using site = await quick()
  const middle = site.hold('middle')
  await site.setScript({ ...SCRIPT, 'US-001': [{ ...goodTurn('one', 1), shell: middle.shell }] })
  await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await middle.reached()
  const before = await site.github.head('ralph/sample')
  site.github.settings.protectedBranches.push('ralph/sample')
  await middle.release()
  await site.runner.settled()
  assert.equal(outputsOf(site.last()).outcome, 'paused', site.log())
  assert.equal(await site.github.head('ralph/sample'), before)
  const state = await site.state()
  assert.equal(state.prd.userStories[0]?.passes, true, 'the work is in the state')
  assert.equal(state.lease, null)
  assert.match(site.github.comments((await site.pull()).number)[0]?.body ?? '', /[Pp]rotected branch/)
  assert.deepEqual(openChecks(site), [])

  site.github.settings.protectedBranches.length = 0
  await site.go()
  await whole(site)
  assert.equal((await site.sessions()).length, 2, 'nothing was worked twice')
})

test('the branch is protected from the start: the run is refused with the reason, before any charge', async () => {
  await using site = await quick({ github: { protectedBranches: ['ralph/sample'] } })
  const run = await site.go()
  assert.equal(run.conclusion, 'failure')
  assert.equal(outputsOf(run).outcome, 'error')
  assert.match(annotationsOf(run, 'error').join('\n'), /[Pp]rotected branch/)
  assert.equal((await site.sessions()).length, 0)
  site.github.settings.protectedBranches.length = 0
  await site.go()
  await whole(site)
})

test('a token that may no longer push (403) during a run: the error names the permission, and the next job goes on', async () => {
  await using site = await quick()
  const middle = site.hold('middle')
  await site.setScript({ ...SCRIPT, 'US-001': [{ ...goodTurn('one', 1), shell: middle.shell }] })
  const run = await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await middle.reached()
  const body = 'Write access to repository not granted.\n'
  const headers = { 'content-type': 'text/plain' }
  const refusing = site.github.fault({ kind: 'git' }, { status: 403, headers, body }, { times: 1000 })
  await middle.release()
  await site.runner.settled()
  assert.ok(refusing.hits > 0 && refusing.hits < 10, `${refusing.hits} tries for a no`)
  assert.equal(run.conclusion, 'failure')
  assert.match(annotationsOf(run, 'error').join('\n'), /contents: write/)
})

test('a disk that is full after a session is an error that leaves branch and state intact, and with room the next job goes on', {
  skip: lacks('mount'),
}, async () => {
  const disk = await mkdtemp(join(tmpdir(), 'ralph-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', disk], { stdio: 'ignore' })
  try {
    await using site = await quick({ runner: { workRoot: disk } })
    await site.setScript({
      ...SCRIPT,
      'US-001': [{ ...goodTurn('one', 1), shell: 'cat /dev/zero > ballast.bin' }],
    })
    const run = await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
    await site.runner.settled()
    const said = annotationsOf(run, 'error').join('\n')
    // Whether the system or git met it first.
    assert.ok(/^disk: the disk of \S+ is full$/m.test(said), `${said}\n${site.log()}`)
    assert.equal(await site.github.bare.ask(['fsck', '--no-dangling']), '')
    // The next job has another machine.
    execFileSync('find', [disk, '-name', 'ballast.bin', '-delete'])
    await site.setScript(SCRIPT)
    if ((await site.state()).prd.run.outcome !== 'complete') await site.go()
    await whole(site)
  } finally {
    execFileSync('umount', ['-l', disk])
    await rm(disk, { recursive: true, force: true })
  }
})

test('an agent corrupts every loose object of the clone: it is an error, none of them is pushed, and the next job goes on', async () => {
  const shell =
    'find .git/objects -type f -path ".git/objects/??/*" | while read -r f; do chmod u+w "$f"; : > "$f"; done'
  await using site = await quick({ script: { ...SCRIPT, 'US-001': [{ ...goodTurn('one', 1), shell }] } })
  const run = await site.go()
  assert.equal(await site.github.bare.ask(['fsck', '--no-dangling']), '')
  await site.setScript(SCRIPT)
  if ((await site.state()).prd.run.outcome !== 'complete') {
    assert.equal(run.conclusion, 'failure', site.log())
    const said = annotationsOf(run, 'error').join('\n')
    assert.ok(/corrupt|object file .* is empty|the clone is damaged/.test(said), `${said}\n${site.log()}`)
    await site.go()
  }
  await whole(site)
})

test('a full checkout (fetch-depth: 0) with pushes of people between the jobs works as a shallow one', async () => {
  await using site = await quick({
    workflow: (text) =>
      text.replace('persist-credentials: false', 'persist-credentials: false\n          fetch-depth: 0'),
  })
  let isPushed = false
  site.github.world.onRun((run) => {
    if (run.status === 'completed' || run.inputs.generation === undefined || isPushed) return
    isPushed = true
    void site.github.commit('ralph/sample', { 'NOTES.md': 'by hand\n' }, 'by hand', 'bob')
  })
  await site.go()
  await whole(site)
  assert.equal(await site.github.read('ralph/sample', 'NOTES.md'), 'by hand\n')
})

test('a repository with a submodule: its commit entry is not changed', async () => {
  await using site = await quick({
    files: {
      '.gitmodules': '[submodule "lib"]\n\tpath = vendor/lib\n\turl = https://example.invalid/lib.git\n',
    },
  })
  const { bare } = site.github
  const before = (await site.github.head('main')) ?? ''
  const tree = await bare.writeTree(before, [`160000 ${'1'.repeat(40)}\tvendor/lib`])
  const person = site.github.world.person('alice')
  const commit = await bare.commitTree(tree, [before], 'a submodule', { author: person, committer: person })
  await bare.run(['update-ref', 'refs/heads/main', commit])
  await site.go()
  await whole(site)
  assert.deepEqual(await changed(site), ADDED)
})

test('LFS pointers without git-lfs, and filters in attributes: no file is rewritten, and no filter runs', async () => {
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 123456\n`
  const attributes = '*.bin filter=lfs diff=lfs merge=lfs -text\n*.mjs filter=evil ident\n'
  const shell =
    'git config filter.evil.clean "touch $HOME/ran; tr a-z A-Z"; git config filter.evil.smudge "touch $HOME/ran; cat"; git config filter.evil.required true'
  await using site = await quick({
    files: { '.gitattributes': attributes, 'model.bin': pointer, 'src/id.mjs': '// $Id$\n' },
    script: { ...SCRIPT, 'US-001': [{ ...goodTurn('one', 1), shell }] },
  })
  await site.go()
  await whole(site)
  assert.deepEqual(await changed(site), ADDED)
  assert.equal(await site.github.read('ralph/sample', 'model.bin'), pointer)
  assert.equal(await site.github.read('ralph/sample', 'src/one.mjs'), 'export const one = () => 1\n')
})

test('a rename that changes only the case of a name is committed as one', async () => {
  const shell = 'git mv src/base.mjs src/Base.mjs'
  await using site = await quick({ script: { ...SCRIPT, 'US-001': [{ ...goodTurn('one', 1), shell }] } })
  await site.go()
  await whole(site)
  assert.deepEqual(await changed(site), [...ADDED, 'A\tsrc/Base.mjs', 'D\tsrc/base.mjs'].sort(byPath))
})

function byPath(one: string, other: string): number {
  return one.slice(2) < other.slice(2) ? -1 : 1
}

test('CRLF files, with and without attributes: unchanged ones stay byte for byte, edited ones keep their line ends', async () => {
  const files = {
    '.gitattributes': '*.txt text eol=crlf\n*.auto text=auto\n',
    'raw.csv': 'a,b\r\n1,2\r\n',
    'old.txt': 'stored with crlf\r\n',
    'mixed.auto': 'one\r\ntwo\n',
    'edit.csv': 'a\r\n',
  }
  const shell = 'printf "b\\r\\n" >> edit.csv; git config core.autocrlf true'
  await using site = await quick({
    files,
    script: { ...SCRIPT, 'US-001': [{ ...goodTurn('one', 1), shell }] },
  })
  await site.go()
  await whole(site)
  assert.deepEqual(await changed(site), [...ADDED, 'M\tedit.csv'].sort(byPath))
  assert.equal(await site.github.read('ralph/sample', 'edit.csv'), 'a\r\nb\r\n')
})

test('an unchanged file that git would normalise is not a change: a session that did nothing is rejected', async () => {
  const files = { '.gitattributes': '*.bat text eol=crlf\n', 'run.bat': '@echo off\r\n' }
  await using site = await quick({ files, script: { 'US-001': [{}] }, inputs: { 'max-attempts': '1' } })
  await site.go()
  const state = await site.state()
  assert.equal(state.prd.userStories[0]?.passes, false, site.log())
  assert.match(site.log(), /the session changed nothing/)
})

test('a file of 60 MB is refused by its name, in little time, and is never pushed', async (t) => {
  const shell = 'head -c 60000000 /dev/urandom > huge.bin'
  await using site = await quick({
    script: {
      ...SCRIPT,
      'US-001': [
        { ...goodTurn('one', 1), shell },
        { shell: 'rm -f huge.bin', ...goodTurn('one', 1) },
      ],
    },
  })
  await site.go()
  await whole(site)
  const again = (await site.sessions()).find((one) => one.story === 'US-001' && one.attempt === 2)
  assert.match(again?.prompt ?? '', /huge\.bin/)
  const sizes = await site.github.bare.run(['cat-file', '--batch-all-objects', '--batch-check=%(objectsize)'])
  assert.ok(Math.max(...sizes.split('\n').map(Number)) < 1_000_000)
  const took = (await site.state()).timeline.find((entry) => entry.result === 'rejected')?.ms
  t.diagnostic(`the refused attempt took ${took} ms in all`)
  assert.equal(
    await site.github.bare.ask(['rev-parse', '--verify', '-q', `${STATE}:.ralph-state/kept`]),
    null,
  )
})
