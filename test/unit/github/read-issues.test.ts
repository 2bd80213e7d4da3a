// The issues of a milestone, with what they wait for: asked by their numbers, and only where GitHub says that there is something.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../../../src/github/client.ts'
import { issueQuery, readIssues } from '../../../src/github/read-issues.ts'
import { UserError } from '../../../src/system/errors.ts'

const PLACE = {
  owner: 'o',
  repo: 'r',
  server: 'https://github.test',
  api: 'https://api.test',
  defaultBranch: 'main',
}

/** A repository that answers these paths, and the paths that were asked. */
function answering(answers: Record<string, unknown>) {
  const asked: string[] = []
  const github = connect(PLACE, 't', () => {})
  github.api.hook.wrap('request', (_request, options) => {
    const { url } = github.api.request.endpoint(options)
    const path = url.replace('https://api.test/repos/o/r', '')
    asked.push(path)
    const data = Object.entries(answers).find(([start]) => path.startsWith(start))?.[1] ?? []
    return { data, status: 200, headers: {}, url }
  })
  return { github, asked }
}

test('parses issue queries, and refuses almost valid ones', () => {
  assert.deepEqual(issueQuery('issues'), { milestone: null, label: null })
  assert.deepEqual(issueQuery('issues:milestone=3'), { milestone: '3', label: null })
  assert.deepEqual(issueQuery('issues:label=needs work'), { milestone: null, label: 'needs work' })
  assert.equal(issueQuery('issues.json'), null)
  assert.throws(() => issueQuery('issues:milestone'), UserError)
  assert.throws(() => issueQuery('issues:author=me'), /issues:milestone=3/)
})

test('a milestone is found by its title, with closed issues, without pull requests, and with links only when needed', async () => {
  const issue = (number: number, more: object) => ({
    number,
    title: `Issue ${number}`,
    body: null,
    state: 'open',
    labels: [{ name: 'ui' }],
    ...more,
  })
  const { github, asked } = answering({
    '/milestones': [{ number: 3, title: 'Pay' }],
    '/issues?': [
      issue(1, { issue_dependencies_summary: { blocked_by: 1 }, sub_issues_summary: { total: 0 } }),
      issue(2, { state: 'closed', state_reason: 'not_planned', sub_issues_summary: { total: 2 } }),
      issue(4, { pull_request: {} }),
    ],
    '/issues/1/dependencies/blocked_by': [{ number: 9 }],
    '/issues/2/sub_issues': [{ number: 1 }, { number: 7 }],
  })
  const { text, title } = await readIssues(github, { milestone: 'Pay', label: null })
  assert.equal(title, 'Pay')
  assert.deepEqual(
    JSON.parse(text).map(
      ({ number, state_reason, labels, blocked_by, sub_issues }: Record<string, unknown>) => [
        number,
        state_reason,
        labels,
        blocked_by,
        sub_issues,
      ],
    ),
    [
      [1, null, ['ui'], [{ number: 9 }], []],
      [2, 'not_planned', ['ui'], [], [{ number: 1 }, { number: 7 }]],
    ],
  )
  assert.match(asked[1] ?? '', /^\/issues\?.*milestone=3/)
  assert.match(asked[1] ?? '', /state=all/)
  assert.equal(asked.length, 4)
})

test('a missing milestone is an error that lists the existing ones', async () => {
  const { github } = answering({ '/milestones': [{ number: 3, title: 'Pay' }] })
  await assert.rejects(
    readIssues(github, { milestone: '4', label: null }),
    /use one of these milestones: 3 \(Pay\)/,
  )
})
