// Sealed examples: the key that a workflow has to give, and what they cost.
import type { Settings } from '../../settings/read-settings.ts'
import { type CheckResult, faultResult, okResult, type Subject } from './subject.ts'

const COST = 'one more session for each story, and one for each attempt with green gates'

export function checkExamples({ checkout, settings }: Subject): CheckResult[] {
  const ci = 'workspace' in checkout ? checkout.ci : null
  const isOn = (of: Settings) => of.examples === 'sealed'
  if (ci !== null && isOn(ci.settings)) {
    const { job } = ci
    if (ci.settings.examplesKey !== null || job.unread.includes('examples-key'))
      return [okResult(`sealed: ${COST}`)]
    const fix =
      'run `openssl rand -hex 32 | gh secret set RALPH_EXAMPLES_KEY`, and pass this secret to the step as examples-key'
    return [faultResult('`examples: sealed` is set, but the workflow does not pass examples-key', '', fix)]
  }
  return isOn(settings) ? [okResult(`sealed: ${COST}`)] : []
}
