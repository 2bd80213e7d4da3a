// The same chain on GitHub Enterprise Server, Gitea and Forgejo, as our own stand-in imitates them: jobs that start each other, commands of
// a person who may give them and of two who may not, and a pull request with a summary. No real server has run this.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { pressedComment } from '../../src/github/conversation.ts'
import {
  annotationsOf,
  badTurn,
  goodTurn,
  openSite,
  outputsOf,
  ROOT,
  type Site,
  story,
  withInputs,
} from './site.ts'

/** What is different on each server, a row each. */
type Server = {
  page: string
  folder: string
  /** Inputs of the page that the test keeps. */
  inputs: Record<string, string>
  /** Login of a job's own token. */
  bot: string
  /** The warnings of a chain with the workflow of the page. */
  warnings: string[]
  /** Who is refused with `no write permission`, and the warning that says why. */
  unnamed: { login: string; warning: RegExp } | null
  reportsBy: 'checks' | 'statuses'
  hasRunId: boolean
}

const GITEA: Server = {
  page: 'gitea-forgejo',
  folder: '.gitea',
  inputs: { 'report-as': 'statuses', reviews: 'off', 'commands-from': 'bob' },
  bot: 'gitea-actions',
  warnings: [],
  unnamed: {
    login: 'alice',
    warning:
      /^this server tells only administrators who may write, so commands count from acme, bob only: add/,
  },
  reportsBy: 'statuses',
  hasRunId: true,
}

const SERVERS: Readonly<Record<'gitea' | 'forgejo', Server>> = {
  gitea: GITEA,
  forgejo: { ...GITEA, folder: '.forgejo', bot: 'forgejo-actions' },
}

const STORIES = [story('US-001', 'one'), story('US-002', 'two', { dependsOn: ['US-001'] })]
const SCRIPT = { 'US-001': [goodTurn('one', 1)], 'US-002': [badTurn('two', 2)] }

async function openServer(
  dialect: keyof typeof SERVERS,
  inputs: Record<string, string> = SERVERS[dialect].inputs,
  github: object = {},
): Promise<Site> {
  const { page, folder } = SERVERS[dialect]
  const text = await readFile(join(ROOT, 'docs', 'how-to', `${page}.md`), 'utf8')
  const [, workflow = ''] = /```yaml\n([\s\S]*?)```/.exec(text) ?? []
  return openSite({
    stories: STORIES,
    script: SCRIPT,
    workflowPath: `${folder}/workflows/ralph.yml`,
    workflow: (_own, all) => withInputs(workflow, all).replace('            alice', '            bob'),
    inputs: { 'iterations-per-job': '1', 'max-attempts': '1', ...inputs },
    github: { dialect, ...github },
  })
}

const warningsOf = (site: Site) => site.runner.runs.flatMap((run) => annotationsOf(run, 'warning'))

for (const dialect of ['gitea', 'forgejo'] as const)
  test(`${dialect}: a chain, with commands of those who may give them and of those who may not`, async (t) => {
    const server = SERVERS[dialect]
    await using site = await openServer(dialect)
    const { github, runner } = site
    const refs = () => github.bare.run(['for-each-ref', 'refs/ralph/', 'refs/heads/ralph/sample'])
    await site.go()

    await t.test('two jobs worked, and the first one started the second', () => {
      assert.deepEqual(
        runner.runs.map((run) => [run.conclusion, outputsOf(run).outcome]),
        [
          ['success', 'continued'],
          ['failure', 'stuck'],
        ],
        site.log(),
      )
      const [first, second] = runner.runs
      assert.ok(first !== undefined && second !== undefined)
      assert.equal(outputsOf(first)['next-run-id'], server.hasRunId ? String(second.id) : '')
    })

    await t.test('the workflow of the page warns of nothing else', () =>
      assert.deepEqual(warningsOf(site), server.warnings),
    )

    await t.test('the pull request is a draft with a summary and a label', async () => {
      const { number, draft, title } = await site.pull()
      assert.equal(draft, true)
      assert.match(title, /^WIP: sample: A sample$/)
      const [summary, ...others] = github.comments(number)
      assert.deepEqual([summary?.login, others], [server.bot, []])
      assert.match(summary?.body ?? '', /Stuck: US-002 is blocked/)
      assert.deepEqual(github.issue(number).labels, ['ralph', 'ralph:stuck'])
    })

    await t.test('the commit has a status for the run and for each story', async () => {
      const head = (await github.head('ralph/sample')) ?? ''
      const newest = new Map(github.statusesOf(head).map(({ context, state }) => [context, state]))
      assert.deepEqual(
        [...newest],
        [
          ['ralph (status)', 'failure'],
          ['ralph / US-001 (status)', 'success'],
          ['ralph / US-002 (status)', 'failure'],
        ],
      )
    })

    for (const [login, why] of [
      ['mallory', 'may only read'],
      ['alice', 'may write, but is not named, and the server does not say that she may'],
    ] as const)
      await t.test(`a command of ${login}, who ${why}, changes nothing`, async () => {
        const [before, runs] = [await refs(), runner.runs.length]
        const comment = await site.say(login, '/ralph retry US-002 -- push my branch')
        const [run, ...others] = runner.runs.slice(runs)
        assert.ok(run !== undefined && others.length === 0, site.log())
        assert.deepEqual(annotationsOf(run, 'notice'), [`${login} has no write permission`])
        const [warning, ...more] = annotationsOf(run, 'warning')
        assert.match(warning ?? '', /^this server tells only administrators who may write, .* acme, bob only/)
        assert.deepEqual(more, [])
        assert.deepEqual(site.reactions(comment), [`${server.bot}: confused`])
        assert.equal(await refs(), before)
      })

    await t.test('a comment of another job, in the name of a person, changes nothing', async () => {
      const [before, runs] = [await refs(), runner.runs.length]
      const { number } = await site.pull()
      github.comment(server.bot, number, pressedComment('bob', 'skip', 'US-002'))
      github.comment(server.bot, number, '/ralph retry US-002')
      await runner.settled()
      assert.deepEqual(
        runner.runs.slice(runs).flatMap((run) => annotationsOf(run, 'notice')),
        ['only people can give commands, not bots'],
        site.log(),
      )
      assert.equal(await refs(), before)
    })

    await t.test('a command of bob, who is named, completes the run: the pull request is ready', async () => {
      await site.setScript({ 'US-002': [goodTurn('two', 2)] })
      const comment = await site.say('bob', '/ralph retry US-002 -- it is two')
      assert.equal(outputsOf(site.last()).outcome, 'complete', site.log())
      assert.deepEqual(site.reactions(comment), [`${server.bot}: eyes`, `${server.bot}: rocket`])
      const { number, draft, title } = await site.pull()
      assert.deepEqual([draft, title], [false, 'sample: A sample'])
      assert.match(github.comments(number)[0]?.body ?? '', /2 of 2/)
      assert.ok(!github.issue(number).labels.includes('ralph:stuck'))
      const head = (await github.head('ralph/sample')) ?? ''
      const newest = new Map(github.statusesOf(head).map(({ context, state }) => [context, state]))
      assert.deepEqual(new Set(newest.values()), new Set(['success']))
    })
  })
