// What a job asks of GitHub before its first session: each request is a wait, on every job of a chain.
import assert from 'node:assert/strict'
import test from 'node:test'
import { goodTurn, openSite, RUN_TESTS, type Site, story } from './site.ts'

/** Requests of the newest run until now, such as `GET pulls`. */
function asked({ github, runner }: Site): string[] {
  const id = runner.runs.at(-1)?.id
  return github.requests
    .filter(({ job }) => job?.runId === id)
    .map(({ method, path, query }) => {
      const what = path.replace(/^(?:\/repos)?\/[^/]+\/[^/]+\//, '').replace(/[0-9a-f]{40}|\d+/g, '#')
      const service = /service=git-(\S+)/.exec(query)?.[1]
      return `${method} ${what}${service === undefined ? '' : ` ${service}`}`
    })
}

const fetched = ['GET info/refs upload-pack', 'POST git-upload-pack']
const pushed = ['GET info/refs receive-pack', 'POST git-receive-pack']
const checkout = fetched
const firstLook = ['GET info/refs upload-pack']

test('a job starts its first session after few API requests, and needs each of them', async () => {
  await using site = await openSite({
    stories: [story('US-001', 'one'), story('US-002', 'two', { priority: 2 })],
    script: {},
    inputs: { gates: `test: ${RUN_TESTS}`, 'final-verification': 'false', 'iterations-per-job': '1' },
  })
  const { github, runner } = site
  const [first, second] = [site.hold('first'), site.hold('second')]
  await site.setScript({
    'US-001': [{ ...goodTurn('one', 1), shell: first.shell }],
    'US-002': [{ ...goodTurn('two', 2), shell: second.shell }],
  })
  await runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })

  // What is posted beside the session is held up at its first request, the last one here.
  let beside = github.fault({ path: /\/check-runs$/ }, 'hang')
  await first.reached()
  await beside.hit
  const [lease, branchAndState, reservation] = [pushed, pushed, pushed]
  const opened = ['POST pulls']
  assert.deepEqual(asked(site), [
    ...checkout,
    ...firstLook,
    ...lease,
    ...branchAndState,
    ...opened,
    ...reservation,
    'GET commits/#/check-runs',
  ])
  beside.release()
  await first.release()

  const isSecond = () => runner.runs.length > 1
  beside = github.fault(
    { path: /\/pulls$/, where: ({ job }) => isSecond() && job?.runId === runner.runs[1]?.id },
    'hang',
  )
  await second.reached()
  await beside.hit
  // Comments, and the threads of reviews.
  const [stateAndGreen, heard] = [fetched, ['GET issues/#/comments', 'POST /graphql']]
  assert.deepEqual(asked(site), [
    ...checkout,
    ...firstLook,
    ...stateAndGreen,
    ...lease,
    ...heard,
    ...reservation,
    'GET pulls',
  ])
  beside.release()
  await second.release()
  await runner.settled()
  assert.deepEqual(github.violations, [], site.log())
  const [pull] = await github.pulls()
  assert.equal(pull?.draft, false, site.log())
  assert.equal(github.comments(pull?.number ?? 0).length, 1)
})

test('an iteration makes one push, one look for comments and one comment update, beside its checks', async () => {
  const names = ['one', 'two', 'three', 'four']
  const idOf = (at: number) => `US-00${at + 1}`
  await using site = await openSite({
    stories: names.map((name, at) => story(idOf(at), name, { priority: at + 1 })),
    script: Object.fromEntries(names.map((name, at) => [idOf(at), [goodTurn(name, at)]])),
    inputs: { gates: `test: ${RUN_TESTS}`, 'final-verification': 'false', 'iterations-per-job': '5' },
  })
  await site.go()
  const requests = asked(site).filter((line) => !line.includes('check-runs'))
  // The comment is written when an iteration begins, and is waited for before that one is saved.
  const isWritten = (line: string) => /^(?:POST issues\/#|PATCH issues)\/comments/.test(line)
  const written = requests.flatMap((line, at) => (isWritten(line) ? [at] : []))
  const between = names
    .slice(1)
    .map((_, at) => requests.slice((written[at] ?? 0) + 1, (written[at + 1] ?? 0) + 1))
  const each = [...pushed, 'GET issues/#/comments', 'PATCH issues/comments/#']
  assert.deepEqual(between, [each, each, each], site.log())
  assert.deepEqual(site.github.violations, [], site.log())
})
