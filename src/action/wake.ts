// Jobs that an event of the pull request started: a review, or checks that are done. They only look whether a run is waiting for it, and
// start a job if none works. What was said or checked is read by that job through the API, never from the event.
import * as core from '@actions/core'
import { featureOfFolder } from '../branch/find-features.ts'
import type { State } from '../engine/model/state.ts'
import { type ActionContext, readNamesByApi } from './action-context.ts'
import {
  type AnswerContext,
  answerContextOf,
  dispatchJob,
  findNextJob,
  HANDLED_BY_JOB,
  isHolderAlive,
} from './comment.ts'
import type { RunEvent } from './github-event.ts'
import { peekStates } from './peek.ts'

type Wake = Extract<RunEvent, { kind: 'wake' }>

/** Handles the event. Returns what was done, in one line for the log. */
export async function answerWake(context: ActionContext, event: Wake): Promise<string> {
  const answerContext = answerContextOf(context)
  const { github, conversation } = answerContext
  const { login, type } = event.sender
  const isReview = event.about === 'review'
  // The cheapest look comes first: a stranger's review costs one request.
  if (isReview && type === 'User' && !(await conversation.mayWrite(login)))
    return `${login} has no write permission`
  const settings = await readNamesByApi(context, github)
  if (isReview && settings.reviews === 'off' && !event.approves) return 'reviews: off'
  if (isReview && type !== 'User' && !isListed(settings.reviewsFrom, login))
    return `reviews of ${login} start nothing: it is not in reviews-from`
  const states = [...(await peekStates(context, settings.stateNamespace))]
  const [, state = null] =
    states.findLast(
      ([folder, one]) => event.branches.includes(one.branch) && featureOfFolder(folder) !== null,
    ) ?? []
  if (state === null || state.github.pull === null)
    return 'there is no run with a pull request for this branch'
  const reason = reasonToWait(state, event)
  if (reason !== null) return reason
  return start(answerContext, state)
}

function isListed(bots: readonly string[], login: string): boolean {
  const bare = (name: string) => name.replace(/\[bot\]$/, '').toLowerCase()
  return bots.some((bot) => bare(bot) === bare(login))
}

/** Why the event starts nothing, or null. */
function reasonToWait({ holds, published }: State, { about, approves, head }: Wake): string | null {
  if (about === 'review') {
    const isHeld = (holds?.changesRequestedBy.length ?? 0) > 0
    const isAwaited = (holds?.awaitsApprovals ?? 0) > 0
    return approves && !isHeld && !isAwaited ? 'an approval starts nothing' : null
  }
  if (holds?.awaitsChecks !== true) return 'checks are only waited for with checks: wait'
  return head === published ? null : 'the checks are those of an earlier head'
}

async function start(answerContext: AnswerContext, state: State): Promise<string> {
  if (await isHolderAlive(answerContext.github, state)) return HANDLED_BY_JOB
  const next = await findNextJob(answerContext, state)
  if (next !== null) return `run ${next.id} has been started already and reads it first`
  const { feature, generation } = state
  const { line, until } = await dispatchJob(answerContext, { feature, generation })
  if (until !== null) core.warning(`${line}: comment /ralph run then`)
  return line
}
