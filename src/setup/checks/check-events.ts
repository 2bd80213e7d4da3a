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
      warningResult(`reviews start nothing: ${file.path} lacks ${missing.join(' and ')}`, 'both', fix),
    )
  }
  if (settings.checks === 'wait') {
    if (settings.publishToken === null && !job.unread.includes('publish-token'))
      found.push(
        warningResult(
          'the run would wait forever with `checks: wait`, because pushes with the job token do not start CI',
          'a publish-token',
          'set `publish-token` to the token of an App or a person',
        ),
      )
    if (!CHECK_EVENTS.some(has)) {
      const fix = 'add workflow_run with the names of your CI workflows under on: (or check_suite, status)'
      found.push(
        warningResult(
          `nothing would wake a run with \`checks: wait\`: ${file.path} has none of the events`,
          'one of them',
          fix,
        ),
      )
    }
  }
  return found.length > 0 ? found : [okResult(`${file.path}: reviews and checks reach the run`)]
}
