// The rows of `ralph doctor` about the agent's way to its model, the environment with its key, and the issue form's label.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestError } from '@octokit/request-error'
import { checkEnvironment, checkLabel } from '../../../../src/setup/checks/check-environment.ts'
import { checkNetwork } from '../../../../src/setup/checks/check-network.ts'
import type { CheckResult, Subject } from '../../../../src/setup/checks/subject.ts'
import { ciOf, starter, subjectOf } from './subject.ts'

const YML = await starter()

const said = (found: readonly CheckResult[]) =>
  found.map(({ state, found, fix }) => `${state}: ${found} -> ${fix}`).join('\n')

type Policy = { protected_branches: boolean; custom_branch_policies: boolean } | null

/** A GitHub with one environment `ralph`; `null`: with none. */
function asked(environment: { policy: Policy; branches?: string[] } | null | 'refused'): Subject {
  const request = { method: 'GET' as const, url: 'https://api.github.com', headers: {} }
  const refusal = new RequestError('Not Found', 404, { request })
  const rest = {
    repos: {
      async getAllEnvironments() {
        if (environment === 'refused') throw refusal
        const { policy = null } = environment ?? {}
        const all = environment === null ? [] : [{ name: 'Ralph', deployment_branch_policy: policy }]
        return { data: { environments: all } }
      },
      async listDeploymentBranchPolicies() {
        const { branches = [] } = environment === 'refused' ? {} : (environment ?? {})
        return { data: { branch_policies: branches.map((name) => ({ name })) } }
      },
    },
    issues: {
      async getLabel() {
        throw refusal
      },
    },
  }
  const place = { owner: 'acme', repo: 'shop', server: 'https://github.com', api: '', defaultBranch: 'main' }
  const github = { api: { rest }, repo: { owner: 'acme', repo: 'shop' }, place, warn() {} }
  const subject = subjectOf({ github: github as unknown as Subject['github'] }, ciOf(YML))
  Object.assign(subject.checkout, { workspace: { objects: { info: async () => ({}) } } })
  return subject
}

const CUSTOM = { protected_branches: false, custom_branch_policies: true }
const ROWS: [what: string, Parameters<typeof asked>[0], RegExp][] = [
  [
    'none',
    null,
    /^warning: ralph does not exist\. .*open to every branch -> to allow only main, run: gh api -X PUT .*environments\/ralph .*name=main$/,
  ],
  [
    'open to all',
    { policy: null },
    /^warning: every branch may use ralph, .* -> to allow only main, run: gh api -X PUT .*name=main$/,
  ],
  ['the default branch', { policy: CUSTOM, branches: ['main'] }, /^ok: only main may use ralph/],
  [
    'others as well',
    { policy: CUSTOM, branches: ['main', '*'] },
    /^warning: besides main, these branches may use ralph: \* -> /,
  ],
  [
    'others only',
    { policy: CUSTOM, branches: ['release'] },
    /^warning: main may not use ralph.* -> run: gh api -X POST/,
  ],
  ['protected ones', { policy: { ...CUSTOM, protected_branches: true } }, /^ok: only protected branches/],
  [
    'a token without rights',
    'refused',
    /^unknown: .* -> check this yourself at https:\/\/github\.com\/acme\/shop\/settings\/environments$/,
  ],
]

for (const [what, environment, expected] of ROWS)
  test(`the environment of the key: ${what}`, async () =>
    assert.match(said(await checkEnvironment(asked(environment))), expected))

test('a label that the issue form names and that does not exist is a warning with the command', async () => {
  assert.match(
    said(await checkLabel(asked(null))),
    /^warning: ralph-plan does not exist.* -> run: gh label create ralph-plan$/,
  )
})

test("an agent that cannot reach its model with the workflow's own settings is a fault", async () => {
  const key = (text: string, name: string) => text.replaceAll('ANTHROPIC_API_KEY', name)
  const look = (text: string, inputs: Record<string, string>) =>
    said(checkNetwork(subjectOf({}, ciOf(text, inputs))))
  assert.match(look(YML, {}), /^ok: closed; claude reaches its model/)
  const copilot = key(YML, 'COPILOT_GITHUB_TOKEN')
  assert.match(
    look(copilot, { agent: 'copilot' }),
    /^fault: .*`network: model` is set, but copilot.* -> name the hosts .*githubcopilot/,
  )
  assert.match(
    look(copilot, { agent: 'copilot', 'network-allow': 'api.github.com\n*.githubcopilot.com' }),
    /^ok/,
  )
  assert.equal(look(copilot, { agent: 'copilot', network: 'open' }), '')
  assert.equal(look(copilot, { agent: 'copilot', isolation: 'same-user' }), '')
})
