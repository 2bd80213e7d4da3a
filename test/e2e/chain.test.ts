// The main job: from prd.json to a pull request that is ready for review, over several jobs, on real parts.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { unzipSync } from 'fflate'
import { Loopback } from '../unit/notify/loopback.ts'
import { badTurn, goodTurn, openSite, outputsOf, RUN_TESTS, type Site, story } from './site.ts'

const STORIES = [
  story('US-001', 'one'),
  story('US-002', 'two', { dependsOn: ['US-001'] }),
  story('US-003', 'three', { dependsOn: ['US-001'] }),
  story('US-004', 'four', { dependsOn: ['US-002', 'US-003'] }),
  story('US-005', 'five', { priority: 2 }),
  story('US-006', 'six', { priority: 3 }),
]

const SCRIPT = {
  'US-001': [goodTurn('one', 1)],
  'US-002': [badTurn('two', 2), goodTurn('two', 2)],
  'US-003': [goodTurn('three', 3)],
  'US-004': [goodTurn('four', 4)],
  'US-005': [goodTurn('five', 5)],
  'US-006': [goodTurn('six', 6)],
}

test('a chain of three jobs completes six stories, one of which fails its gate once', async (t) => {
  await using server = await Loopback.open()
  const inputs = { notify: `webhook: ${server.url()}` }
  await using site = await openSite({ stories: STORIES, script: SCRIPT, inputs })
  const { github, runner } = site
  await runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await runner.settled()
  const log = site.log()

  await t.test("every request matches GitHub's OpenAPI description", () =>
    assert.deepEqual(github.violations, [], log),
  )

  await t.test('three jobs succeed, each dispatched by the one before, with its run id as an output', () => {
    const results = runner.runs.map((run) => [run.conclusion, outputsOf(run).outcome])
    assert.deepEqual(results, [
      ['success', 'continued'],
      ['success', 'continued'],
      ['success', 'complete'],
    ])
    const told = runner.runs.slice(0, -1).map((run) => Number(outputsOf(run)['next-run-id']))
    assert.deepEqual(
      told,
      runner.runs.slice(1).map((run) => run.id),
    )
  })

  await t.test(
    'the log of a job has its progress before the first step, and says "opened" only where it opens the pull request',
    () => {
      for (const [at, run] of runner.runs.entries()) {
        const said = runner.log(run)
        for (const what of ['reading the checkout and the settings', 'taking the lease'])
          assert.match(
            said,
            new RegExp(`\\[ralph\\] ${what} \\.\\.\\.\\n(?:.*\\n)*?\\[ralph\\] ${what}: done \\([\\d.]+s\\)`),
          )
        const opened =
          at === 0
            ? /\[git\] opened ralph\/sample, pull request/
            : /\[git\] continues with ralph\/sample, pull request/
        assert.match(said, opened)
      }
    },
  )

  await t.test(
    'the gates of the last story ran in a clean clone, and count for the final verification',
    () => {
      const words = runner.log(site.last())
      for (const name of ['syntax', 'test'])
        assert.match(
          words,
          new RegExp(`gate ${name} is not run again, because it passed on this code \\(US-006, just now\\)`),
        )
    },
  )

  await t.test('the outputs have the outcome and the figures of the run', async () => {
    const [pull] = await github.pulls()
    const {
      'report-path': report,
      'attestation-path': attestation,
      'attestation-subject': subject,
      ...outputs
    } = outputsOf(site.last())
    assert.match(report ?? '', /\.git\/ralph\/report\/sample\.html$/)
    assert.match(attestation ?? '', /\.git\/ralph\/report\/sample\.attestation\.json$/)
    assert.match(subject ?? '', /\.git\/ralph\/report\/sample\.commit$/)
    assert.deepEqual(outputs, {
      outcome: 'complete',
      feature: 'sample',
      branch: 'ralph/sample',
      'pull-request-number': String(pull?.number),
      'pull-request-url': `${github.url}/acme/shop/pull/${pull?.number}`,
      iterations: '7',
      'stories-total': '6',
      'stories-passed': '6',
      'stories-blocked': '0',
      'cost-usd': '0.08',
      'next-run-id': '',
    })
  })

  await t.test('notifications are sent at the start, after five iterations and at the end', async () => {
    const [pull] = await github.pulls()
    assert.deepEqual(
      server.heard.map(({ body }) => [body.event, body.iterations, body.pullRequestUrl]),
      [
        ['start', 0, `${github.url}/acme/shop/pull/${pull?.number}`],
        ['progress', 5, `${github.url}/acme/shop/pull/${pull?.number}`],
        ['outcome', 7, `${github.url}/acme/shop/pull/${pull?.number}`],
      ],
    )
  })

  await t.test('every job uploads its report, transcripts and gate logs as an artifact', async () => {
    const kept = [...github.world.results.artifacts].map(([name, zip]) => [name, unzipSync(zip)] as const)
    const names = runner.runs.map(({ id }) => `${id}/ralph-sample-${id}-1`)
    assert.deepEqual(
      kept.map(([name]) => name),
      names,
      site.log(),
    )
    for (const [, files] of kept) {
      const page = Buffer.from(files['report/sample.html'] ?? []).toString()
      assert.match(page, /^<!doctype html>/)
      assert.ok(Object.keys(files).some((file) => /^transcripts\/US-\d+-\d+\.log$/.test(file)))
      assert.ok(Object.keys(files).some((file) => /^logs\/US-\d+-\d+-test\.log$/.test(file)))
    }
    assert.match(
      Buffer.from(kept.at(-1)?.[1]['report/sample.html'] ?? []).toString(),
      /<bdi>Complete: 6 of 6 stories pass/,
    )
  })

  await t.test(
    'the last job attests the newest commit of the branch, which is its signed subject',
    async () => {
      const uploads = [...github.world.results.artifacts.values()]
      const files = unzipSync(uploads.at(-1) ?? new Uint8Array())
      const { commit, outcome } = JSON.parse(
        Buffer.from(files['report/sample.attestation.json'] ?? []).toString(),
      )
      assert.deepEqual(
        [commit.gitCommit, outcome],
        [await github.bare.run(['rev-parse', 'ralph/sample']), 'complete'],
      )
      const subject = Buffer.from(files['report/sample.commit'] ?? []).toString()
      assert.equal(subject.trimEnd(), await github.bare.run(['cat-file', 'commit', 'ralph/sample']))
    },
  )

  await t.test(
    'each story is one commit with its trailers, state commits change no code, and gates are green at each commit',
    async () => {
      await checkCommits(site)
    },
  )

  await t.test('prd.json on the branch has every story as passed', async () => {
    const prd = JSON.parse((await github.read('ralph/sample', '.ralph/2026-01-31-sample/prd.json')) ?? '')
    assert.equal(prd.run.outcome, 'complete')
    assert.equal(prd.run.iterations, 7)
    assert.equal(prd.run.jobs, 3)
    for (const one of prd.userStories) {
      assert.equal(one.passes, true, one.id)
      assert.match(one.lastResult.commit, /^[0-9a-f]{40}$/)
    }
    assert.equal(prd.userStories[1].retries, 1)
    const progress = (await github.read('ralph/sample', '.ralph/2026-01-31-sample/progress.txt')) ?? ''
    assert.equal(progress.match(/^## Iteration /gm)?.length, 7)
    assert.equal(progress.match(/^\*\*Status:\*\* FAILED/gm)?.length, 1)
  })

  await t.test(
    'every check on the head is a success and is there once, and no check is left in progress',
    async () => {
      const head = (await github.head('ralph/sample')) ?? ''
      const checks = github.checksOf(head).map((check) => [check.name, check.conclusion])
      const expected = ['ralph', ...STORIES.map((one) => `ralph / ${String(one.id)}`)].map((name) => [
        name,
        'success',
      ])
      assert.deepEqual(checks.sort(), expected.sort())
      const all = [...github.world.checks.values()].filter((check) => check.name.startsWith('ralph'))
      assert.deepEqual(
        all.filter((check) => check.status !== 'completed').map((check) => check.name),
        [],
      )
    },
  )

  await t.test('there is one pull request, ready for review, with one comment', async () => {
    const pulls = await github.pulls()
    assert.equal(pulls.length, 1)
    assert.equal(pulls[0]?.draft, false)
    assert.equal(pulls[0]?.head.sha, await github.head('ralph/sample'))
    const comments = github.comments(pulls[0]?.number ?? 0)
    assert.equal(comments.length, 1)
    assert.match(comments[0]?.body ?? '', /^<!-- ralph:sticky:sample -->/)
    assert.match(comments[0]?.body ?? '', /6 of 6/)
  })

  await t.test('the base is unchanged, and the state has no lease', async () => {
    assert.equal(await github.read('main', 'src/one.mjs'), null)
    const state = JSON.parse(
      (await github.read('refs/ralph/2026-01-31-sample', '.ralph-state/state.json')) ?? '',
    )
    assert.equal(state.lease, null)
    assert.deepEqual(state.attempts, {})
  })

  await t.test('the prompt of the second attempt has the output of the failed gate', async () => {
    const again = (await site.sessions()).find((one) => one.story === 'US-002' && one.attempt === 2)
    assert.match(again?.prompt ?? '', /gate test failed/)
    assert.match(again?.prompt ?? '', /3 !== 2/)
  })

  await t.test('each job stays within its budget of API requests', (report) => {
    const byJob = new Map<string, number>()
    for (const request of github.requests) {
      if (request.path.includes('.git/')) continue
      byJob.set(request.token ?? '', (byJob.get(request.token ?? '') ?? 0) + 1)
    }
    const counts = [...byJob.values()]
    report.diagnostic(
      `API requests by job: ${counts.join(', ')} (3 iterations each, the last 1 and the verification)`,
    )
    for (const count of counts) assert.ok(count <= 15 + 4 * 3 + 7, String(count))
  })
})

test('prd.json and progress.txt are committed at the start and the end of a chain, not at the end of every job', async () => {
  await using site = await openSite({
    stories: STORIES.slice(0, 2),
    script: {
      'US-001': [badTurn('one', 1), goodTurn('one', 1)],
      'US-002': [badTurn('two', 2), badTurn('two', 2)],
    },
    inputs: {
      gates: `test: ${RUN_TESTS}`,
      'final-verification': 'false',
      'iterations-per-job': '1',
      'max-attempts': '2',
    },
  })
  const subjects = async () =>
    (await site.github.bare.run(['log', '--reverse', '--format=%s', 'main..ralph/sample'])).split('\n')
  const told = async () => {
    const text = (await site.github.read('ralph/sample', '.ralph/2026-01-31-sample/progress.txt')) ?? ''
    return text.match(/^\*\*Status:\*\* \w+/gm)?.map((line) => line.slice('**Status:** '.length))
  }
  await site.go()
  assert.equal(site.runner.runs.length, 4, site.log())
  assert.deepEqual(await subjects(), [
    'chore(ralph): start sample',
    'feat: US-001 - one',
    'chore(ralph): sample stuck',
  ])
  // What no commit held yet came with the next story, and with the end of the chain.
  assert.deepEqual(await told(), ['FAILED', 'PASSED', 'FAILED', 'FAILED'])
  const [, blocked] = (await site.prd()).userStories
  assert.deepEqual([blocked?.retries, blocked?.blocked], [2, true])
  await site.setScript({ 'US-002': [goodTurn('two', 2)] })
  await site.say('alice', '/ralph retry US-002')
  assert.equal(outputsOf(site.last()).outcome, 'complete', site.log())
  assert.deepEqual((await subjects()).slice(3), ['feat: US-002 - two', 'chore(ralph): sample complete'])
})

async function checkCommits(site: Site): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-clone-'))
  try {
    const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' })
    execFileSync('git', ['clone', '-q', '-b', 'ralph/sample', site.github.bare.path, folder])
    const commits = git('log', '--reverse', '--first-parent', '--format=%H', 'origin/main..HEAD')
      .trim()
      .split('\n')
    const stories: string[] = []
    for (const commit of commits) {
      const message = git('log', '-1', '--format=%B', commit)
      const id = /^Ralph-Story: (.+)$/m.exec(message)?.[1]
      const code = git('diff-tree', '-r', '--no-commit-id', '--name-only', commit)
        .split('\n')
        .filter((path) => path !== '' && !path.startsWith('.ralph/'))
      assert.match(message, /^Ralph-Run: /m)
      if (id === undefined) assert.deepEqual(code, [], message)
      else {
        stories.push(id)
        assert.match(message, /^Ralph-Iteration: \d+$/m)
        assert.ok(code.length > 0, message)
      }
      git('checkout', '-q', commit)
      execFileSync('bash', ['-c', RUN_TESTS], {
        cwd: folder,
        stdio: 'ignore',
        env: { PATH: process.env.PATH },
      })
    }
    assert.deepEqual(
      stories,
      STORIES.map((one) => String(one.id)),
    )
    assert.equal(git('fsck', '--no-dangling').trim(), '')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
