// The stand-in's runner: events, jobs, the action's environment, files and tokens.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { client, clone, everything } from './client.ts'
import { says, startSample } from './sample.ts'

const job = (steps: string, more = ''): string =>
  `on: { workflow_dispatch: { inputs: { feature: {}, n: { type: number, default: 3 } } } }\njobs:\n  work:\n    runs-on: ubuntu-latest\n${more}    steps:\n${steps}`
const environment = `import { readFileSync } from 'node:fs'\nconsole.log('ENV ' + JSON.stringify(process.env))\nconsole.log('EVENT ' + JSON.stringify(JSON.parse(readFileSync(process.env.GITHUB_EVENT_PATH))))\n`

describe('a job of the stand-in runner', () => {
  it('gives the action its inputs and GitHub variables, and not the token', async () => {
    await using sample = await startSample({
      main: environment,
      inputs: `inputs:\n  token: { default: '\${{ github.token }}' }\n  max-iterations: {}\n  run id: { default: '\${{ github.run_id }}' }\n  unset: {}`,
      workflows: {
        'ralph.yml': job(`
      - uses: ralph/action@v1
        with: { max-iterations: '\${{ inputs.n }}', unknown: x }
        env: { MINE: '\${{ inputs.feature }}', GITHUB_SHA: forged }
      - run: env
`),
      },
      runner: { env: { ANOTHER: '1' }, path: ['/opt/first'] },
    })
    const { runner, github } = sample
    const run = await runner.dispatch('ralph.yml', { feature: 'auth' }, { actor: 'alice' })
    await runner.settled()
    const [action, script] = run.jobs[0]?.steps ?? []
    const line = (word: string) =>
      JSON.parse(
        action?.log
          .split('\n')
          .find((one) => one.startsWith(word))
          ?.slice(word.length) ?? '{}',
      )
    const env = line('ENV ')
    assert.equal(env['INPUT_MAX-ITERATIONS'], '3')
    assert.equal(env.INPUT_RUN_ID, String(run.id))
    assert.deepEqual([env.INPUT_UNSET, env.INPUT_TOKEN, env.MINE, env.ANOTHER], ['', '***', 'auth', '1'])
    assert.equal(env.GITHUB_SHA, await github.head('main'))
    assert.deepEqual(
      [env.GITHUB_EVENT_NAME, env.GITHUB_REF, env.GITHUB_ACTOR, env.GITHUB_REPOSITORY],
      ['workflow_dispatch', 'refs/heads/main', 'alice', 'acme/shop'],
    )
    assert.deepEqual(
      [env.GITHUB_API_URL, env.GITHUB_SERVER_URL, env.CI, env.GITHUB_ACTIONS],
      [github.url, github.url, 'true', 'true'],
    )
    assert.equal(env.GITHUB_TOKEN, undefined)
    assert.ok(env.PATH.startsWith('/opt/first:') && env.ACTIONS_RUNTIME_TOKEN === '***')
    assert.equal(env.NODE_TEST_CONTEXT, undefined)
    const event = line('EVENT ')
    assert.deepEqual(
      [event.inputs, event.repository.full_name, event.sender.login],
      [{ feature: 'auth', n: '3' }, 'acme/shop', 'alice'],
    )
    assert.match(action?.annotations[0]?.message ?? '', /Unexpected input\(s\) 'unknown'/)
    assert.doesNotMatch(script?.log ?? '', /ACTIONS_RUNTIME_TOKEN|INPUT_/)
    assert.equal(run.conclusion, 'success')
    assert.deepEqual(github.violations, [])
  })

  it('carries outputs, environment, path, state and summary; post runs last first', async () => {
    await using sample = await startSample({
      main: `import { appendFileSync } from 'node:fs'
        const write = (name, text) => appendFileSync(process.env[name], text)
        write('GITHUB_OUTPUT', 'list<<E\\na\\nb\\nE\\n'); write('GITHUB_ENV', 'LATER=yes\\nGITHUB_SHA=forged\\n')
        write('GITHUB_PATH', '/opt/added\\n'); write('GITHUB_STATE', 'n=' + process.env.INPUT_N + '\\n'); write('GITHUB_STEP_SUMMARY', '# Done\\n')
        console.log('::add-mask::hush-hush'); console.log('I say hush-hush')`,
      post: "console.log('post of', process.env.STATE_n, process.env.INPUT_N)",
      inputs: 'inputs: { n: {} }',
      workflows: {
        'ralph.yml': job(
          `
      - { id: one, uses: ralph/action@v1, with: { n: 1 } }
      - { uses: ralph/action@v1, with: { n: 2 } }
      - run: echo "$LATER $GITHUB_SHA \${PATH%%:*} \${{ steps.one.outputs.list }} hush-hush"
`,
          `    outputs: { list: '\${{ steps.one.outputs.list }}', secret: 'with hush-hush' }\n`,
        ),
      },
    })
    const run = await sample.runner.dispatch('ralph.yml')
    await sample.runner.settled()
    const work = run.jobs[0]
    const [one, , echo, ...posts] = work?.steps ?? []
    assert.deepEqual(
      [one?.outputs.list, one?.summary, one?.masks, one?.log],
      ['a\nb', '# Done\n', ['hush-hush'], 'I say ***\n'],
    )
    assert.equal(echo?.log, `yes ${run.sha} /opt/added a\nb ***\n`)
    assert.deepEqual(
      posts.map((post) => post.log),
      ['post of 2 2\n', 'post of 1 1\n'],
    )
    assert.deepEqual(work?.outputs, { list: 'a\nb' })
    assert.match(work?.notes.join() ?? '', /Skip output 'secret' since it may contain secret/)
  })

  it('fails for a wrong file command or a forbidden workflow command, although the process exited with 0', async () => {
    await using sample = await startSample({
      workflows: {
        'ralph.yml': job(`
      - { run: 'echo nonsense >> "$GITHUB_OUTPUT"', continue-on-error: true, id: a }
      - { run: 'echo "::set-env name=A::b"', continue-on-error: true, id: b }
      - run: echo "\${{ steps.a.outcome }} \${{ steps.a.conclusion }} \${{ steps.b.outcome }}"
`),
      },
    })
    const run = await sample.runner.dispatch('ralph.yml')
    await sample.runner.settled()
    assert.equal(run.jobs[0]?.steps[2]?.log, 'failure success failure\n')
    assert.equal(run.conclusion, 'success')
  })

  it('goes on after a failure only when the condition says so', async () => {
    await using sample = await startSample({
      main: 'process.exit(3)',
      post: "console.log('post')",
      workflows: {
        'ralph.yml': job(`
      - uses: ralph/action@v1
      - run: echo never
      - { run: echo failed, if: failure() }
      - { run: echo always, if: always() }
`),
      },
    })
    const run = await sample.runner.dispatch('ralph.yml')
    await sample.runner.settled()
    const steps = run.jobs[0]?.steps ?? []
    assert.deepEqual(
      steps.map((step) => step.conclusion),
      ['failure', 'skipped', 'success', 'success', 'success'],
    )
    assert.match(steps[0]?.log ?? '', /Process completed with exit code 3/)
    assert.equal(run.conclusion, 'failure')
  })

  it('has a token with exactly its permissions, which ends with it', async () => {
    await using sample = await startSample({
      main: "process.on('SIGINT', () => process.exit(0)); setInterval(() => {}, 1000); console.log('ready')",
      workflows: {
        'ralph.yml': `on: workflow_dispatch\npermissions: write-all\njobs:\n  a: { runs-on: x, permissions: { contents: write, pull-requests: write }, steps: [{ uses: ralph/action@v1 }] }\n  b: { runs-on: x, steps: [{ run: 'true' }] }\n`,
      },
    })
    const { runner, github } = sample
    const dispatched = await runner.dispatch('ralph.yml')
    const run = await says(runner, 'ready')
    const ask = client(github, run.jobs.find((each) => each.key === 'a')?.token ?? '')
    assert.equal((await ask('GET ~/pulls')).status, 200)
    assert.equal((await ask('GET ~/actions/workflows')).status, 403)
    runner.cancel(run.id)
    await runner.settled()
    assert.equal((await ask('GET ~/pulls')).status, 401)
    assert.deepEqual(
      dispatched.jobs.map((each) => each.permissions.actions),
      ['none', 'write'],
    )
    assert.equal(github.requests[0]?.job?.name, 'a')
  })

  it('checks out with real git, and keeps or removes the credentials', async () => {
    await using sample = await startSample({
      workflows: {
        'ralph.yml': job(
          `
      - uses: actions/checkout@v7
      - { run: 'git status --short --branch; git rev-list --count HEAD; cat README.md; git push origin HEAD:refs/heads/kept; grep -c extraheader .git/config || true' }
      - { uses: actions/checkout@v7, with: { path: bare, persist-credentials: false, fetch-depth: 0 } }
      - { run: 'cd bare; git rev-list --count HEAD; GIT_TERMINAL_PROMPT=0 git fetch', id: bare, continue-on-error: true }
      - { uses: actions/checkout@v4, with: { path: old, ref: other } }
      - { run: 'cd old; git branch --show-current; grep -c extraheader .git/config' }
`,
          '    permissions: { contents: write }\n',
        ),
      },
    })
    const { runner, github } = sample
    await github.commit('main', { 'more.txt': '1' })
    await github.commit('other', { 'other.txt': '1' })
    const run = await runner.dispatch('ralph.yml')
    await runner.settled()
    const logs = (run.jobs[0]?.steps ?? []).map((step) => step.log)
    assert.match(logs[1] ?? '', /^## main\.\.\.origin\/main\n1\nHello\n/)
    assert.match(logs[1] ?? '', /\[new branch\].*\n0\n$/s)
    assert.equal(await github.head('kept'), await github.head('main'))
    assert.match(logs[3] ?? '', /^2\nfatal: could not read Username/)
    assert.equal(logs[5], 'other\n1\n')
    assert.equal(run.conclusion, 'success', runner.log(run))
  })
})

describe('a run of the stand-in runner', () => {
  it('starts for comments, labels and schedules that a workflow of the default branch listens to', async () => {
    const on =
      'on: { issue_comment: { types: [created] }, issues: { types: [labeled] }, schedule: [{ cron: "0 * * * *" }] }'
    await using sample = await startSample({
      workflows: {
        'ralph.yml': `${on}\njobs:\n  go:\n    if: github.event_name != 'issue_comment' || startsWith(github.event.comment.body, '/ralph')\n    runs-on: x\n    steps: [{ run: 'echo \${{ github.event_name }} \${{ github.actor }}' }]\n`,
        'broken.yml': 'on: issue_comment\njobs: nonsense\n',
      },
    })
    const { runner, github } = sample
    const { number } = github.openIssue('bob', 'A wish')
    const comment = github.comment('bob', number, '/ralph run')
    github.editComment('bob', comment.id, '/ralph stop')
    github.comment('alice', number, 'fine')
    github.label('alice', number, 'ralph')
    await runner.trigger('schedule', { schedule: '0 * * * *' })
    const token = github.mintJobToken({ issues: 'write' })
    await client(github, token)(`POST ~/issues/${number}/comments`, { body: '/ralph run' })
    await runner.settled()
    assert.deepEqual(
      runner.runs.map(
        (run) => `${run.event} ${run.actor} ${run.conclusion} ${run.jobs[0]?.steps[0]?.log ?? '-'}`,
      ),
      [
        'issue_comment bob success issue_comment bob\n',
        'issue_comment alice skipped -',
        'issues alice success issues alice\n',
        'schedule alice success schedule alice\n',
      ],
    )
    assert.deepEqual(github.violations, [])
  })

  it('dispatches the next one, which waits in the group until this one is over', async () => {
    const main = `const headers = { authorization: 'Bearer ' + process.env.INPUT_TOKEN }
      const api = process.env.GITHUB_API_URL + '/repos/' + process.env.GITHUB_REPOSITORY
      const left = Number(process.env.INPUT_LEFT)
      if (left > 0) {
        const url = api + '/actions/workflows/ralph.yml/dispatches'
        const body = JSON.stringify({ ref: 'main', inputs: { n: String(left - 1) }, return_run_details: true })
        const next = await (await fetch(url, { method: 'POST', headers, body })).json()
        let status = 'queued'
        while (status === 'queued') ({ status } = await (await fetch(next.run_url, { headers })).json())
        console.log('next is', status)
      }`
    await using sample = await startSample({
      main,
      inputs: `inputs: { left: {}, token: { default: '\${{ github.token }}' } }`,
      workflows: {
        'ralph.yml': job(
          `\n      - { uses: ralph/action@v1, with: { left: '\${{ inputs.n }}' } }\n`,
          '    permissions: { actions: write }\n',
        ).replace(
          'jobs:',
          `concurrency: { group: 'ralph-\${{ inputs.feature }}', queue: max }\nrun-name: 'Ralph \${{ inputs.n }}'\njobs:`,
        ),
      },
    })
    const { runner, github } = sample
    const states: string[] = []
    const second = runner
      .when((run) => run.inputs.n === '1' && run.status === 'pending')
      .then((run) => states.push(run.status))
    await runner.dispatch('ralph.yml', { n: 2 })
    await second
    await runner.settled()
    assert.deepEqual(
      runner.runs.map((run) => `${run.title} ${run.actor} ${run.conclusion}`),
      ['Ralph 2 alice success', 'Ralph 1 github-actions[bot] success', 'Ralph 0 github-actions[bot] success'],
    )
    assert.deepEqual(
      runner.runs.map((run) => run.jobs[0]?.steps[0]?.log),
      ['next is pending\n', 'next is pending\n', ''],
    )
    assert.deepEqual(states, ['pending'])
    assert.deepEqual(github.violations, [])
  })

  it('orders its jobs by needs, with results, outputs and conditions', async () => {
    await using sample = await startSample({
      workflows: {
        'ralph.yml': `on: workflow_dispatch
jobs:
  plan: { runs-on: x, outputs: { list: '\${{ steps.p.outputs.list }}' }, steps: [{ id: p, run: 'echo ''list=["a","b"]'' >> "$GITHUB_OUTPUT"' }] }
  good: { needs: plan, runs-on: x, steps: [{ run: 'test \${{ fromJSON(needs.plan.outputs.list)[0] }} = a' }] }
  bad: { needs: plan, runs-on: x, steps: [{ run: 'test \${{ fromJSON(needs.plan.outputs.list)[1] }} = a' }] }
  after: { needs: [good, bad], runs-on: x, steps: [{ run: 'true' }] }
  rescue: { needs: [bad, after], if: always(), runs-on: x, steps: [{ run: 'echo \${{ needs.bad.result }} \${{ needs.after.result }}' }] }
`,
      },
    })
    const run = await sample.runner.dispatch('ralph.yml')
    await sample.runner.settled()
    assert.deepEqual(run.jobs.map((each) => `${each.name} ${each.conclusion}`).sort(), [
      'after skipped',
      'bad failure',
      'good success',
      'plan success',
      'rescue success',
    ])
    assert.equal(run.jobs.find((each) => each.key === 'rescue')?.steps[0]?.log, 'failure skipped\n')
    assert.equal(run.conclusion, 'failure')
    assert.equal(sample.github.world.checks.get(run.jobs[0]?.id ?? 0)?.conclusion, 'success')
    assert.deepEqual(sample.github.checksOf(run.sha), [])
    assert.deepEqual(sample.github.violations, [])
  })

  it("of the repository's CI starts for pushes and pull requests, but not by itself for a job's push", async () => {
    const ci = `on: { push: { branches: ['ralph/**', main] }, pull_request: {} }
jobs: { test: { runs-on: x, steps: [{ uses: actions/checkout@v7 }, { run: 'cat a.txt; echo "$GITHUB_REF $GITHUB_HEAD_REF"' }] } }`
    await using sample = await startSample({ workflows: { 'ci.yml': ci } })
    const { runner, github } = sample
    github.addToken('app', { login: 'ci[bot]', type: 'Bot', permissions: everything })
    const push = async (token: string, text: string, ref: string): Promise<void> => {
      await using work = await clone(github, token)
      await work.commit({ 'a.txt': text })
      await work.git('push', '--quiet', '--force', 'origin', `HEAD:${ref}`)
    }
    const token = github.mintJobToken(everything)
    await push(token, 'by job\n', 'refs/heads/ralph/a')
    await client(github, token)('POST ~/pulls', { title: 'T', head: 'ralph/a', base: 'main' })
    await push('app', 'by app\n', 'refs/heads/ralph/a')
    await push('app', 'state\n', 'refs/ralph/a')
    await push('app', 'other\n', 'refs/heads/other')
    await github.mergePull('alice', 1)
    await runner.settled()
    assert.deepEqual(
      runner.runs.map((run) =>
        `${run.event} ${run.actor} ${run.conclusion} ${run.jobs[0]?.steps[1]?.log ?? ''}`.trim(),
      ),
      [
        'pull_request github-actions[bot] action_required',
        'push ci[bot] success by app\nrefs/heads/ralph/a',
        'pull_request ci[bot] success by app\nrefs/pull/1/merge ralph/a',
        'push alice success by app\nrefs/heads/main',
      ],
    )
    assert.deepEqual(github.violations, [])
  })

  it('passes artifacts from job to job, and skips what it does not know', async () => {
    await using sample = await startSample({
      workflows: {
        'ralph.yml': `on: workflow_dispatch
jobs:
  make:
    runs-on: x
    steps:
      - { uses: actions/setup-node@v6 }
      - { run: 'mkdir -p out/deep .hidden; echo 1 > out/a.txt; echo 2 > out/deep/b.txt; echo 3 > "$RUNNER_TEMP/c.txt"' }
      - { uses: actions/upload-artifact@v7, with: { name: files, path: out } }
      - { uses: actions/upload-artifact@v7, with: { name: temp, path: '\${{ runner.temp }}/*.txt' } }
      - { uses: actions/upload-artifact@v7, with: { name: files, path: out }, continue-on-error: true, id: again }
      - { run: 'echo \${{ steps.again.outcome }}' }
  use:
    needs: make
    runs-on: x
    steps:
      - { uses: actions/download-artifact@v7, with: { name: files, path: in } }
      - { uses: actions/download-artifact@v7, with: { pattern: 't*' } }
      - { run: 'find . -type f | sort' }
`,
      },
    })
    const run = await sample.runner.dispatch('ralph.yml')
    await sample.runner.settled()
    assert.match(run.jobs[0]?.steps[0]?.log ?? '', /actions\/setup-node@v6 is not simulated/)
    assert.equal(run.jobs[0]?.steps[5]?.log, 'failure\n', sample.runner.log(run))
    assert.equal(run.jobs[1]?.steps[2]?.log, './in/a.txt\n./in/deep/b.txt\n./temp/c.txt\n')
  })

  it('can be run again: the same id, the next attempt', async () => {
    await using sample = await startSample({
      workflows: { 'ralph.yml': job('\n      - run: echo $GITHUB_RUN_ATTEMPT\n') },
    })
    const run = await sample.runner.dispatch('ralph.yml')
    await sample.runner.settled()
    sample.runner.rerun(run.id)
    await sample.runner.settled()
    assert.deepEqual(
      [run.attempt, run.jobs[0]?.steps[0]?.log, run.earlier[0]?.steps[0]?.log],
      [2, '2\n', '1\n'],
    )
  })
})
