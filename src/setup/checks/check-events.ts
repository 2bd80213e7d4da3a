// Whether what the settings wait for can wake the run: the workflow's events, and a token whose pushes start CI.

import { type CheckResult, okResult, requireCheckout, type Subject, warningResult } from './subject.ts'

const CHECK_EVENTS = ['workflow_run', 'check_suite', 'status']
const REVIEW_EVENTS = ['pull_request_review', 'pull_request_review_comment']

export function checkEvents(subject: Subject): CheckResult[] {
  const { ci } = requireCheckout(subject)
  if (ci === null) return []
  const { file, settings, job } = ci
  const has = (name: string) => file.events.includes(name)
  const found: CheckResult[] = []
  const missing = REVIEW_EVENTS.filter((name) => !has(name))
  if (settings.reviews !== 'off' && missing.length > 0) {
    const fix = `add ${missing.join(' and ')} under on:, as in examples/ralph.yml; or set \`reviews: off\``
    found.push(
      warningResult(
        `a review does not start Ralph, because ${file.path} has no trigger ${missing.join(' or ')}`,
        '',
        fix,
      ),
    )
  }
  if (settings.checks === 'wait') {
    if (settings.publishToken === null && !job.unread.includes('publish-token'))
      found.push(
        warningResult(
          'the run would wait forever with `checks: wait`, because pushes with the job token do not start CI',
          '',
          'set `publish-token` to the token of a GitHub App or a person',
        ),
      )
    if (!CHECK_EVENTS.some(has)) {
      const fix = 'add workflow_run with the names of your CI workflows under on: (or check_suite, status)'
      found.push(
        warningResult(
          `with \`checks: wait\`, nothing would restart the run after CI, because ${file.path} has no trigger for that`,
          '',
          fix,
        ),
      )
    }
  }
  return found.length > 0 ? found : [okResult(`${file.path}: reviews and checks reach the run`)]
}
