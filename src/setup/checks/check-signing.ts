// Signed commits: the key that a workflow has to give, and the rule of the repository that asks for them.
import { type GitHub, httpStatusOf, isForbidden } from '../../github/client.ts'
import { type CheckResult, faultResult, okResult, type Subject } from './subject.ts'

const DOCS = 'docs/how-to/signed-commits.md'

export async function checkSigning({ checkout, settings, github }: Subject): Promise<CheckResult[]> {
  const ci = 'workspace' in checkout ? checkout.ci : null
  const { signCommits, signingKey, branchPrefix } = ci?.settings ?? settings
  if (signCommits === 'false') {
    const isRequired = github !== null && (await requiresSignatures(github, `${branchPrefix}feature`))
    if (!isRequired) return []
    const found = `a rule requires signed commits on ${branchPrefix}*, and sign-commits is false`
    return [
      faultResult(found, '', `set sign-commits: true (${DOCS}), or exempt ${branchPrefix}* from the rule`),
    ]
  }
  const hasKey = signingKey !== null || ci === null || ci.job.unread.includes('signing-key')
  if (signCommits === 'true') return [okResult('by GitHub')]
  if (signCommits === 'gpg' || hasKey) return [okResult(`by ${signCommits}`)]
  const fix = `run \`gh secret set RALPH_SIGNING_KEY < key\`, and pass this secret to the step as signing-key (${DOCS})`
  return [faultResult('sign-commits is ssh, but the workflow passes no signing-key', '', fix)]
}

/** Whether a ruleset requires signatures on branches of this name; false if this token may not see it. */
async function requiresSignatures({ api, repo }: GitHub, branch: string): Promise<boolean> {
  try {
    const { data } = await api.rest.repos.getBranchRules({ ...repo, branch, per_page: 100 })
    return data.some(({ type }) => type === 'required_signatures')
  } catch (error) {
    if (isForbidden(error) || httpStatusOf(error) === 404) return false
    throw error
  }
}
