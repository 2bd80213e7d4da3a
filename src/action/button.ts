// The run that a button of a story's check started: it says on the pull request who pressed what, and that is a command of theirs.
import * as core from '@actions/core'
import { featureOfFolder } from '../git/features.ts'
import { connect } from '../github/client.ts'
import { Conversation, pressedComment } from '../github/conversation.ts'
import { dispatchRun } from '../github/dispatch.ts'
import { checkOf } from '../report/checks.ts'
import { type ActionContext, namesByApi, settleWorkflow, tokenOf } from './context.ts'
import { holderLives, working } from './holder.ts'
import { peekStates } from './peek.ts'

/** What was done, in one line for the log. Never throws for what the event says. */
export async function answerButton(context: ActionContext): Promise<string> {
  const { event, place } = context
  if (event.kind !== 'button') return 'no button'
  const { identifier, externalId, sender } = event
  const asked = checkOf(externalId)
  if (asked === null || (identifier !== 'retry' && identifier !== 'skip'))
    return "the button is none of Ralph's"
  if (sender.type !== 'User') return 'buttons count from people only'
  const github = connect(place, tokenOf(context), core.warning)
  const conversation = new Conversation(github)
  if (!(await conversation.mayWrite(sender.login))) return `${sender.login} has no write permission`
  const { stateNamespace } = await namesByApi(context, github)
  const states = await peekStates(context, stateNamespace)
  const state = [...states].filter(([folder]) => featureOfFolder(folder) === asked.feature).at(-1)?.[1]
  const pull = state?.github.pull ?? null
  const story = state?.prd.userStories.find(({ id }) => id === asked.storyId)
  if (state === undefined || pull === null || story === undefined)
    return 'there is no such story in a run with a pull request'
  await conversation.say(pull, pressedComment(sender.login, identifier, story.id))
  if (working(state) && (await holderLives(github, state)))
    return 'the working job hears it before its next iteration'
  await settleWorkflow(context, github)
  const { feature, generation } = state
  const next = await dispatchRun(github, context.workflow, { feature, generation })
  if (next.kind === 'limited')
    return `GitHub's rate limit refuses a job until ${new Date(next.until).toISOString()}: whichever comes next hears it`
  return `dispatched${next.runId === null ? '' : ` run ${next.runId}`}`
}
