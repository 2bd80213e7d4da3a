// Jobs that an event of the pull request started: a review, checks that are done, a removal from the merge queue, or a person's push. They
// only look whether a run is waiting for it, and start a job if none works. What was said, checked or pushed is read by that job through the
// API and git, never from the event.
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
  if (event.about !== 'checks' && type === 'User' && !(await conversation.mayWrite(login)))
    return `${login} has no write permission`
  const settings = await readNamesByApi(context, github)
  if (isReview && settings.reviews === 'off' && !event.approves) return 'reviews: off'
  if (isReview && type !== 'User' && !isListed(settings.reviewsFrom, login))
    return `reviews by ${login} start no job, because ${login} is not in reviews-from`
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
function reasonToWait({ holds, published, control }: State, { about, approves, head }: Wake): string | null {
  if (about === 'review') {
    const isHeld = (holds?.changesRequestedBy.length ?? 0) > 0
    const isAwaited = (holds?.awaitsApprovals ?? 0) > 0
    return approves && !isHeld && !isAwaited ? 'an approval starts nothing' : null
  }
  if (about === 'push') {
    if (head === published) return "the push is Ralph's own"
    return control.paused === null ? null : 'the run is paused: the next job will read the push'
  }
  if (holds?.awaitsChecks !== true)
    return 'the run is not waiting for checks (it does so only with `checks: wait`)'
  return head === published ? null : 'the checks belong to an earlier commit'
}

async function start(answerContext: AnswerContext, state: State): Promise<string> {
  if (await isHolderAlive(answerContext.github, state)) return HANDLED_BY_JOB
  const next = await findNextJob(answerContext, state)
  if (next !== null) return `run ${next.id} has already started and will handle this before any story`
  const { feature, generation } = state
  const { line, until } = await dispatchJob(answerContext, { feature, generation })
  if (until !== null) core.warning(`${line}: comment /ralph run then`)
  return line
}
