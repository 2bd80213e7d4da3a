// The run that a comment started: acknowledges, answers what needs no work, and dispatches if nobody works.
import * as core from '@actions/core'
import { redactorFor } from '../app/redactor.ts'
import { featureOfFolder } from '../git/features.ts'
import { connect, type GitHub, saidByGitHub } from '../github/client.ts'
import { Conversation, isPerson } from '../github/conversation.ts'
import { dispatchRun } from '../github/dispatch.ts'
import { repositoryUrl } from '../github/place.ts'
import { parseSlash } from '../loop/slash-commands.ts'
import type { State } from '../model/state.ts'
import { mapTexts } from '../model/text.ts'
import { marker } from '../report/parts.ts'
import {
  elsewhereReply,
  helpReply,
  limitedReply,
  mistakeReply,
  noRunReply,
  statusReply,
} from '../report/replies.ts'
import { secretsIn } from '../system/untrusted-env.ts'
import { told } from './about.ts'
import { type ActionContext, namesByApi, settleWorkflow, tokenOf } from './context.ts'
import { holderLives, working } from './holder.ts'
import { planIssue } from './label.ts'
import { peekStates } from './peek.ts'

/** What was done, in one line for the log. Never throws for what the comment says. */
export async function answerComment(context: ActionContext): Promise<string> {
  const { event, place } = context
  if (event.kind !== 'comment') return 'no comment'
  const { comment, issue } = event
  if (parseSlash(comment.body, []).kind === 'none') return 'the comment is not for Ralph'
  if (!isPerson(comment)) return 'commands count from people only'
  const github = connect(place, tokenOf(context), core.warning)
  const conversation = new Conversation(github)
  // First of all: a stranger's comment costs this request, and on a pull request of ours the reaction.
  if (!(await conversation.mayWrite(comment.login))) {
    if (event.marked) await conversation.react(comment.id, 'confused')
    return `${comment.login} has no write permission`
  }
  if (!event.onPull) return onIssue(context, github, conversation, event)
  const { api, at } = github
  const { data: pull } = await api.rest.pulls.get({ ...at, pull_number: issue })
  const ours = pull.head.repo?.full_name === `${at.owner}/${at.repo}`
  const { branchPrefix: prefix, stateNamespace } = await namesByApi(context, github)
  const states = ours ? await peekStates(context, stateNamespace) : new Map<string, State>()
  const state =
    [...states]
      .filter(([folder, one]) => one.branch === pull.head.ref && featureOfFolder(folder) !== null)
      .at(-1)?.[1] ?? null
  if (!ours || (state === null && !pull.head.ref.startsWith(prefix)))
    return "the pull request is none of Ralph's"
  const own = state?.github.pull ?? issue
  if (own !== issue) {
    await conversation.react(comment.id, 'confused')
    await conversation.reply(issue, comment.id, elsewhereReply(own))
    return `the commands of this run are read in #${own}`
  }
  const ids = state?.prd.userStories.map((story) => story.id) ?? []
  const parsed = parseSlash(comment.body, ids)
  switch (parsed.kind) {
    case 'none':
      return 'the comment is not for Ralph'
    case 'help':
      await conversation.reply(issue, comment.id, helpReply())
      await conversation.react(comment.id, 'rocket')
      return 'answered with the list of commands'
    case 'mistake':
      if (working(state)) return 'the working job answers'
      await conversation.react(comment.id, 'confused')
      await conversation.reply(issue, comment.id, mistakeReply(parsed.problem, parsed.fix))
      return parsed.problem
    case 'status': {
      if (state === null) await conversation.reply(issue, comment.id, noRunReply())
      else await tellStatus(state)
      await conversation.react(comment.id, 'rocket')
      return 'answered with how it stands'
    }
    case 'why':
    case 'diff': {
      const body = state === null ? noRunReply() : await told(context, github, state, parsed)
      await conversation.reply(issue, comment.id, body)
      await conversation.react(comment.id, 'rocket')
      return `answered with the ${parsed.kind} of ${parsed.story ?? 'the run'}`
    }
    case 'command': {
      await conversation.react(comment.id, 'eyes')
      if (state === null) return 'there is no run of this feature yet: start it with Run workflow'
      const lives = working(state) && (await holderLives(github, state))
      if (lives && parsed.command.kind !== 'stop') return 'the working job hears it before its next iteration'
      if (lives && state.lease?.runId != null) {
        await api.rest.actions
          .cancelWorkflowRun({ ...at, run_id: state.lease.runId })
          .catch((error: unknown) => core.warning(saidByGitHub(error)))
      }
      await settleWorkflow(context, github)
      // A job that is being stopped moves the generation on, or is killed before: only a kick-off fits both.
      const generation = lives ? null : state.generation
      const next = await dispatchRun(github, context.workflow, { feature: state.feature, generation })
      if (next.kind === 'limited') {
        await conversation.reply(
          issue,
          comment.id,
          limitedReply(next.until, ['pause', 'stop'].includes(parsed.command.kind)),
        )
        return `GitHub's rate limit refuses a job until ${new Date(next.until).toISOString()}`
      }
      return `dispatched${next.runId === null ? '' : ` run ${next.runId}`}`
    }
  }

  /** In one reply, which is edited the next time. */
  async function tellStatus(known: State): Promise<void> {
    const lives = working(known) && (await holderLives(github, known))
    const { redact } = redactorFor(secretsIn(context.env))
    const facts = {
      repositoryUrl: repositoryUrl(place),
      runUrl: null,
      limits: null,
      notes: [],
      now: Date.now(),
    }
    const holder = lives ? (known.lease?.url ?? true) : null
    const body = statusReply(mapTexts(known, redact), facts, holder)
    await conversation.stickAlone(issue, marker('status', known.feature), redact(body))
  }
}

/** An issue becomes a plan; everything else is heard on the pull request. */
async function onIssue(
  context: ActionContext,
  github: GitHub,
  conversation: Conversation,
  { comment, issue }: Extract<ActionContext['event'], { kind: 'comment' }>,
): Promise<string> {
  const parsed = parseSlash(comment.body, [])
  if (parsed.kind === 'command' && parsed.command.kind === 'plan') {
    await conversation.react(comment.id, 'eyes')
    return planIssue(context, github, issue)
  }
  await conversation.react(comment.id, parsed.kind === 'help' ? 'rocket' : 'confused')
  const problem = 'an issue can only be planned; everything else is heard on the pull request of the run'
  const body = parsed.kind === 'help' ? helpReply() : mistakeReply(problem, '/ralph plan')
  await conversation.reply(issue, comment.id, body)
  return parsed.kind === 'help' ? 'answered with the list of commands' : problem
}
