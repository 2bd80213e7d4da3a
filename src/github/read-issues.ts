// Reads the issues of a milestone or a label for a plan, with their dependencies and sub-issues.
import { oneLine } from '../engine/model/text.ts'
import { UserError } from '../system/errors.ts'
import { type GitHub, githubMessage } from './client.ts'

/** `milestone`: its number or its title. With neither: all open issues. */
export type IssueQuery = { milestone: string | null; label: string | null }

const PAGE = 100
const MAX_ISSUES = 500

/**
 * Parses `issues`, `issues:milestone=3`, `issues:label=billing`; null for other text. `path`: the setting it comes from. Throws
 * UserError for text that is almost such a query.
 */
export function issueQuery(text: string, path = '--from'): IssueQuery | null {
  const [, rest] = /^issues(?::(.*))?$/s.exec(text) ?? []
  if (rest === undefined) return text === 'issues' ? { milestone: null, label: null } : null
  const [, name, value = ''] = /^(milestone|label)=(.*)$/s.exec(rest) ?? []
  if (name === undefined || value.trim() === '') {
    const fix = 'write issues:milestone=3, issues:label=billing, or only issues for all open issues'
    throw new UserError({
      path,
      found: oneLine(text, 80),
      expected: 'a milestone or a label',
      fix,
    })
  }
  return {
    milestone: name === 'milestone' ? value.trim() : null,
    label: name === 'label' ? value.trim() : null,
  }
}

/**
 * The issues as JSON, with the field names of the API. `title`: of the milestone. `authors`: logins, each once. Throws UserError if
 * there are no issues.
 */
export async function readIssues(
  github: GitHub,
  query: IssueQuery,
): Promise<{ text: string; title: string | null; authors: string[] }> {
  const { api, repo } = github
  const milestone = query.milestone === null ? null : await milestoneOf(github, query.milestone)
  const found: Awaited<ReturnType<typeof api.rest.issues.listForRepo>>['data'] = []
  for (let page = 1; ; page += 1) {
    const { data } = await api.rest.issues
      .listForRepo({
        ...repo,
        ...{ page, per_page: PAGE, sort: 'created' as const, direction: 'asc' as const },
        state: query.milestone === null && query.label === null ? ('open' as const) : ('all' as const),
        ...(milestone === null ? {} : { milestone: String(milestone.number) }),
        ...(query.label === null ? {} : { labels: query.label }),
      })
      .catch(throwUserError)
    found.push(...data.filter(({ pull_request: pull }) => pull === undefined))
    if (data.length < PAGE) break
    if (found.length > MAX_ISSUES) throw tooMany()
  }
  if (found.length === 0) {
    const fix = 'name a milestone or a label that has issues'
    throw new UserError({ path: '--from', found: 'no issue matches.', expected: '', fix })
  }
  const issues = []
  for (const issue of found) {
    const { number, title, body = null, state, state_reason = null, labels } = issue
    const { blocked_by: waits = 0 } = issue.issue_dependencies_summary ?? {}
    const { total: parts = 0 } = issue.sub_issues_summary ?? {}
    const params = { ...repo, issue_number: number, per_page: PAGE }
    const blockedBy =
      waits === 0 ? [] : (await api.rest.issues.listDependenciesBlockedBy(params).catch(throwUserError)).data
    const subIssues =
      parts === 0 ? [] : (await api.rest.issues.listSubIssues(params).catch(throwUserError)).data
    const numbers = (linked: readonly { number: number }[]) => linked.map((each) => ({ number: each.number }))
    const links = { blocked_by: numbers(blockedBy), sub_issues: numbers(subIssues) }
    const names = labels.map((label) => (typeof label === 'string' ? label : (label.name ?? '')))
    issues.push({ number, title, body, state, state_reason, labels: names, ...links })
  }
  const authors = [...new Set(found.map(({ user }) => user?.login ?? 'ghost'))]
  return { text: JSON.stringify(issues, null, 1), title: milestone?.title ?? null, authors }
}

async function milestoneOf({ api, repo }: GitHub, name: string): Promise<{ number: number; title: string }> {
  const { data } = await api.rest.issues
    .listMilestones({ ...repo, state: 'all', per_page: PAGE })
    .catch(throwUserError)
  const found = data.find(({ number }) => String(number) === name) ?? data.find(({ title }) => title === name)
  if (found !== undefined) return found
  const existing = data.slice(0, 10).map(({ number, title }) => `${number} (${oneLine(title, 40)})`)
  const fix =
    existing.length === 0
      ? 'create the milestone on GitHub, or name a label'
      : `use one of these milestones: ${existing.join(', ')}`
  throw new UserError({
    path: '--from',
    found: `this repository has no milestone ${oneLine(name, 60)}.`,
    expected: '',
    fix,
  })
}

function throwUserError(error: unknown): never {
  const fix = 'give the job permissions: issues: read. On your machine, run `gh auth login`'
  throw new UserError({
    path: '--from',
    found: `Ralph cannot read the issues of the repository: ${githubMessage(error)}`,
    expected: '',
    fix,
  })
}

function tooMany(): UserError {
  const fix = 'name a milestone or a label with fewer issues'
  return new UserError({
    path: '--from',
    found: `more than ${MAX_ISSUES} issues match, and Ralph reads at most ${MAX_ISSUES}.`,
    expected: '',
    fix,
  })
}
