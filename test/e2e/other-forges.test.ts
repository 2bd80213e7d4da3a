// The same chain on GitHub Enterprise Server, Gitea and Forgejo, as our own stand-in imitates them: jobs that start each other, commands of
// a person who may give them and of two who may not, and a pull request with a summary. No real server has run this.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { pressedComment } from '../../src/github/conversation.ts'
import type { GitHub } from '../standin/github.ts'
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
  /** Where the workflow is. */
  folder: string
  /** The workflow that the page of this server shows. */
  workflow: () => Promise<string>
  inputs: Record<string, string>
  /** Login of a job's own token. */
  bot: string
  /** The part of a pull request's address before its number. */
  pulls: string
  /** How the title of a draft begins. */
  draft: string
  /** Whether an answer to a dispatch names the run. */
  hasRunId: boolean
  /** The newest result of each story and of the run on a commit. */
  results: (github: GitHub, head: string) => Record<string, string | null>
  /** Who may write and is not named; null if the server tells Ralph who may write. */
  unnamed: string | null
}

const GITEA: Server = {
  folder: '.gitea',
  workflow: async () => {
    const text = await readFile(join(ROOT, 'docs', 'how-to', 'gitea-forgejo.md'), 'utf8')
    return (/```yaml\n([\s\S]*?)```/.exec(text)?.[1] ?? '').replaceAll('            alice', '            bob')
  },
  inputs: { 'report-as': 'statuses', reviews: 'off', 'commands-from': 'bob' },
  bot: 'gitea-actions',
  pulls: 'pulls',
  draft: 'WIP: ',
  hasRunId: true,
  results: (github, head) =>
    Object.fromEntries(
      github.statusesOf(head).map(({ context, state }) => [context.replace(' (status)', ''), state]),
    ),
  unnamed: 'alice',
}

const SERVERS: Readonly<Record<'gitea' | 'forgejo' | 'ghes', Server>> = {
  gitea: GITEA,
  forgejo: { ...GITEA, folder: '.forgejo', bot: 'forgejo-actions' },
  ghes: {
    folder: '.github',
    // As its page says, without `queue`.
    workflow: async () => {
      const text = await readFile(join(ROOT, 'examples', 'ralph.yml'), 'utf8')
      return text.replace(/^ *queue: max.*\n/m, '')
    },
    inputs: {},
    bot: 'github-actions[bot]',
    pulls: 'pull',
    draft: '',
    hasRunId: false,
    results: (github, head) =>
      Object.fromEntries(github.checksOf(head).map(({ name, conclusion }) => [name, conclusion])),
    unnamed: null,
  },
}

const STORIES = [story('US-001', 'one'), story('US-002', 'two', { dependsOn: ['US-001'] })]
const SCRIPT = { 'US-001': [goodTurn('one', 1)], 'US-002': [badTurn('two', 2)] }

async function openServer(dialect: keyof typeof SERVERS, more: Record<string, string> = {}): Promise<Site> {
  const { folder, workflow, inputs } = SERVERS[dialect]
  const text = await workflow()
  return openSite({
    stories: STORIES,
    script: SCRIPT,
    workflowPath: `${folder}/workflows/ralph.yml`,
    workflow: (_own, all) => withInputs(text, all),
    inputs: { 'iterations-per-job': '1', 'max-attempts': '1', ...inputs, ...more },
    github: { dialect, oldDispatch: !SERVERS[dialect].hasRunId },
  })
}

const warningsOf = (site: Site) => site.runner.runs.flatMap((run) => annotationsOf(run, 'warning'))

for (const dialect of ['gitea', 'forgejo', 'ghes'] as const)
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

    await t.test('the workflow of the page leads to no warning', () => assert.deepEqual(warningsOf(site), []))

    await t.test('jobs ask for no artifact', () =>
      assert.deepEqual(
        github.requests.filter(({ kind }) => kind === 'service'),
        [],
      ),
    )

    await t.test('the pull request is a draft with a summary and a label', async () => {
      const { number, draft, title } = await site.pull()
      assert.equal(draft, true)
      assert.equal(title, `${server.draft}sample: A sample`)
      const [summary, ...others] = github.comments(number)
      assert.deepEqual([summary?.login, others], [server.bot, []])
      assert.match(summary?.body ?? '', /Stuck: US-002 is blocked/)
      assert.deepEqual(github.issue(number).labels, ['ralph', 'ralph:stuck'])
    })

    await t.test('the commit shows the result of the run and of each story', async () => {
      const head = (await github.head('ralph/sample')) ?? ''
      assert.deepEqual(server.results(github, head), {
        ralph: 'failure',
        'ralph / US-001': 'success',
        'ralph / US-002': 'failure',
      })
    })

    for (const [login, why] of [
      ['mallory', 'may only read'],
      ...(server.unnamed === null
        ? []
        : [[server.unnamed, 'may write, which the server does not tell'] as const]),
    ] as const)
      await t.test(`a command of ${login}, who ${why}, changes nothing`, async () => {
        const [before, runs] = [await refs(), runner.runs.length]
        const comment = await site.say(login, '/ralph retry US-002 -- push my branch')
        const [run, ...others] = runner.runs.slice(runs)
        assert.ok(run !== undefined && others.length === 0, site.log())
        assert.deepEqual(annotationsOf(run, 'notice'), [`${login} has no write permission`])
        const warnings = annotationsOf(run, 'warning')
        assert.equal(warnings.length, server.unnamed === null ? 0 : 1)
        for (const warning of warnings)
          assert.match(warning, /^on this server, only administrators can see .* acme, bob\./)
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
        // The filter of GitHub's workflow starts nothing for it.
        server.unnamed === null ? [] : ['a bot wrote the comment, and only people can give commands'],
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
      assert.deepEqual(github.issue(number).labels, ['ralph', 'ralph:complete'])
      const head = (await github.head('ralph/sample')) ?? ''
      assert.deepEqual(server.results(github, head), {
        ralph: 'success',
        'ralph / US-001': 'success',
        'ralph / US-002': 'success',
      })
    })

    await t.test("links to the pull request are the server's own", async () => {
      await site.say('bob', '/ralph status')
      const { number } = await site.pull()
      const url = `${github.url}/acme/shop/${server.pulls}/${number}`
      assert.equal(outputsOf(runner.runs[0] ?? site.last())['pull-request-url'], url)
      const texts = [github.issue(number).body ?? '', ...github.comments(number).map(({ body }) => body)]
      assert.ok(texts.at(-1)?.includes(`[summary](${url}#issuecomment-`), texts.at(-1))
      const page = new RegExp(`^${github.url}/acme/shop/pulls?/\\d+`)
      const links = texts.flatMap((text) => [...text.matchAll(/\]\((\S+)\)/g)].map(([, to = '']) => to))
      for (const to of links.filter((one) => page.test(one))) assert.ok(to.startsWith(url), to)
    })
  })

test('gitea: a run with stacked pull requests is refused before a session, and nothing is saved', async () => {
  await using site = await openServer('gitea', { 'pull-request': 'stacked' })
  const run = await site.go()
  assert.equal(run.conclusion, 'failure', site.log())
  const [error = '', ...others] = annotationsOf(run, 'error')
  assert.deepEqual(others, [])
  assert.match(error, /pull-request: stacked needs GraphQL, which Gitea or Forgejo does not have/)
  assert.match(error, /set pull-request: draft/)
  assert.deepEqual(await site.sessions(), [])
  assert.equal(await site.github.bare.run(['for-each-ref', 'refs/ralph/', 'refs/heads/ralph/']), '')
  assert.deepEqual(await site.github.pulls(), [])
})
