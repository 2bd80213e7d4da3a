// Whether the base branch requires a check of Ralph's, and whether every pull request can get it.
import { asObject, asString } from '../../engine/model/json.ts'
import { pathsIn } from '../../git/trees.ts'
import { type GitHub, httpStatusOf, isForbidden, pagesOf } from '../../github/client.ts'
import { repositoryUrl } from '../../github/repository-address.ts'
import { checkOfStatus, isCheckOfRalph } from '../../report/check-runs.ts'
import { yamlObject } from '../yaml-object.ts'
import {
  type Checkout,
  type CheckResult,
  okResult,
  requireCheckout,
  type Subject,
  unknownResult,
  warningResult,
} from './subject.ts'
import { eventsOf, isWorkflow, WORKFLOWS } from './workflow-file.ts'

const COMPANION = 'run `ralph init --required`, and merge .github/workflows/ralph-required.yml into'

export async function requiredChecks(subject: Subject): Promise<CheckResult[]> {
  const checkout = requireCheckout(subject)
  const { ci, base } = checkout
  const { github } = subject
  // No row without a workflow: then no job of Ralph's posts checks. The row `github` says what is missing without a token.
  if (ci === null || github === null) return []
  const rules = await rulesOf(github, base.branch)
  if (rules === null) {
    const page = `${repositoryUrl(github.place)}/settings/rules`
    return [
      unknownResult(
        `this token cannot see which checks ${base.branch} requires`,
        `check this yourself at ${page}`,
      ),
    ]
  }
  const ralphChecks = rules.checks.filter(({ name }) => isCheckOfRalph(name) || checkOfStatus(name) !== null)
  if (ralphChecks.length === 0) return [okResult(`${base.branch} does not require a check of Ralph`)]
  const found = [
    ...ralphChecks.filter(({ name }) => name !== 'ralph').map(({ name }) => tooNarrow(base.branch, name)),
    ...(ralphChecks.some(({ name }) => name === 'ralph') ? await answerFaults(checkout, rules) : []),
    ...postFaults(checkout, ralphChecks),
  ]
  return found.length > 0
    ? found
    : [okResult(`${base.branch} requires the check ralph, and every pull request gets it`)]
}

type Required = { name: string; app: number | null }
type Rules = { checks: Required[]; hasQueue: boolean }

/** Required checks of rulesets and branch protection; null if this token may not see them. */
async function rulesOf({ api, repo }: GitHub, branch: string): Promise<Rules | null> {
  const { getBranchRules } = api.rest.repos
  try {
    const ask = (page: number) => getBranchRules({ ...repo, branch, per_page: 100, page })
    const rules = []
    for await (const page of pagesOf(ask)) rules.push(...page)
    const { data } = await api.rest.repos.getBranch({ ...repo, branch })
    const ofRules = rules.flatMap((rule) =>
      rule.type === 'required_status_checks' ? (rule.parameters?.required_status_checks ?? []) : [],
    )
    const { contexts = [], checks = [] } = data.protection.required_status_checks ?? {}
    const ofApp = checks.map(({ context, app_id }) => ({ name: context, app: app_id }))
    const named = contexts.filter((name) => checks.every(({ context }) => context !== name))
    return {
      checks: [
        ...ofRules.map(({ context, integration_id }) => ({ name: context, app: integration_id ?? null })),
        ...ofApp,
        ...named.map((name) => ({ name, app: null })),
      ],
      hasQueue: rules.some(({ type }) => type === 'merge_queue'),
    }
  } catch (error) {
    if (isForbidden(error) || httpStatusOf(error) === 404) return null
    throw error
  }
}

function tooNarrow(branch: string, name: string): CheckResult {
  const found = `${branch} requires "${name}", a check that only some of Ralph's pull requests get`
  return warningResult(found, '', `require the check ralph instead (${DOCS})`)
}

const DOCS = 'docs/pull-request.md'

/** Whether other people's pull requests and the merge queue get the check `ralph`. */
async function answerFaults({ workspace, base }: Checkout, { hasQueue }: Rules): Promise<CheckResult[]> {
  const answers = await answeredEvents(workspace, base.sha)
  const missing = ['pull_request', ...(hasQueue ? ['merge_group'] : [])].filter((one) => !answers.has(one))
  if (missing.length === 0) return []
  const found = missing.includes('pull_request')
    ? `${base.branch} requires the check ralph, but only Ralph's own job posts it, so every other pull request waits forever`
    : `${base.branch} requires the check ralph, but no job posts it in the merge queue, so the queue removes every pull request`
  return [warningResult(found, '', `${COMPANION} ${base.branch}; or do not require ralph`)]
}

/** Whether Ralph's own pull requests get the check. */
function postFaults({ ci }: Checkout, ralphChecks: readonly Required[]): CheckResult[] {
  if (ci === null) return []
  const { job, settings, file } = ci
  const found: CheckResult[] = []
  if (settings.reportAs !== 'checks') {
    const text = `${file.path} has report-as: ${settings.reportAs}, so Ralph's own pull requests never get the check ralph`
    found.push(warningResult(text, '', `remove report-as from ${file.path}`))
  }
  const isOfApp = 'token' in job.inputs || job.unread.includes('token')
  // GitHub writes -1 for "any source".
  if (isOfApp && ralphChecks.some(({ app }) => app !== null && app !== -1)) {
    const text = `the rule accepts the check ralph from one App only, but two post it: the App of \`token:\`, and GitHub Actions on other pull requests`
    found.push(warningResult(text, '', 'choose "any source" for the check ralph in the rule'))
  }
  return found
}

/** The events on which a job called `ralph` answers, by the workflows at a commit. */
async function answeredEvents({ objects }: Checkout['workspace'], commit: string): Promise<Set<string>> {
  const paths = (await pathsIn(objects, commit, WORKFLOWS)).filter(isWorkflow)
  const texts = await Promise.all(paths.map((path) => objects.text(`${commit}:${path}`)))
  return new Set(texts.flatMap((text) => eventsOfRalphJob(text ?? '')))
}

/** The events of one workflow. The job's name may be an expression that contains `ralph`. */
export function eventsOfRalphJob(text: string): string[] {
  const workflow = yamlObject(text) ?? {}
  const jobs = Object.entries(asObject(workflow.jobs) ?? {})
  const isRalph = jobs.some(([id, job]) => {
    const name = asString(asObject(job)?.name) ?? id
    return name === 'ralph' || /^\$\{\{.*'ralph'.*\}\}$/.test(name.trim())
  })
  return isRalph ? eventsOf(workflow.on) : []
}
