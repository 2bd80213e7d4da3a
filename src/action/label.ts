// The run that a label started: an issue is to become a plan. It dispatches where a person with write access has set the label.
import * as core from '@actions/core'
import { connect } from '../github/client.ts'
import { Conversation } from '../github/conversation.ts'
import { dispatchRun } from '../github/dispatch.ts'
import { type ActionContext, settleWorkflow, tokenOf } from './context.ts'

/** What was done, in one line for the log. */
export async function answerLabel(context: ActionContext): Promise<string> {
  const { event, place } = context
  if (event.kind !== 'label') return 'no label'
  if (event.sender.type !== 'User') return 'labels count from people only'
  const github = connect(place, tokenOf(context), core.warning)
  // An issue form sets the label for whoever fills it in.
  if (!(await new Conversation(github).mayWrite(event.sender.login)))
    return `${event.sender.login} has no write permission: a maintainer's comment /ralph plan begins it`
  return planIssue(context, github, event.issue)
}

/** Starts the job that plans an issue. */
export async function planIssue(
  context: ActionContext,
  github: ReturnType<typeof connect>,
  issue: number,
): Promise<string> {
  await settleWorkflow(context, github)
  const next = await dispatchRun(github, context.workflow, { feature: `#${issue}`, generation: null })
  if (next.kind === 'limited')
    return `GitHub's rate limit refuses a job until ${new Date(next.until).toISOString()}: comment /ralph plan then`
  return `dispatched${next.runId === null ? '' : ` run ${next.runId}`} for issue #${issue}`
}
