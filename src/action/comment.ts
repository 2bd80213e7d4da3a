// Jobs that a comment, a label or a button started. They acknowledge the command, reply to questions, and start a job if none works.
import * as core from '@actions/core'
import { redactorFor } from '../app/redactor.ts'
import { featureOfFolder } from '../branch/find-features.ts'
import { storiesIn } from '../branch/story-commits.ts'
import { parseSlash } from '../engine/commands/command-table.ts'
import { isExpired, nextJobAmong, type UnfinishedRun } from '../engine/lease.ts'
import type { State } from '../engine/model/state.ts'
import { mapTexts } from '../engine/model/text.ts'
import { connect, type GitHub, githubMessage } from '../github/client.ts'
import { Conversation, EDITED, isPerson, pressedComment } from '../github/conversation.ts'
import { dispatchRun, findWorkflowRun, unfinishedRuns } from '../github/dispatch.ts'
import { serverFacts } from '../github/forges/forge.ts'
import { compareUrl, repositoryUrl } from '../github/repository-address.ts'
import { isLayerOf } from '../github/stack/plan-stack.ts'
import { secretsIn } from '../isolation/untrusted-env.ts'
import { parseExternalId } from '../report/check-runs.ts'
import { marker } from '../report/parts.ts'
import {
  type ChangesView,
  diffReply,
  helpReply,
  type JobNow,
  noRunReply,
  rateLimitReply,
  statusReply,
  unchangedReply,
  whyReply,
  wrongPullReply,
} from '../report/replies.ts'
import { whyOf } from '../report/why.ts'
import { type ActionContext, ensureWorkflow, readNamesByApi, tokenOf } from './action-context.ts'
import type { RunEvent } from './github-event.ts'
import { peekStates } from './peek.ts'

type EventOf<Kind> = Extract<RunEvent, { kind: Kind }>

export type AnswerContext = { context: ActionContext; github: GitHub; conversation: Conversation }

export function answerContextOf(context: ActionContext): AnswerContext {
  const connected = connect(context.place, tokenOf(context), core.warning)
  const commanders = async () => (await readNamesByApi(context, connected)).commandsFrom
  const github = { ...connected, commanders }
  return { context, github, conversation: new Conversation(github) }
}

/** Handles a comment. Returns what was done, in one line for the log. Never throws because of the comment's text. */
export async function answerComment(context: ActionContext, event: EventOf<'comment'>): Promise<string> {
  const { comment, issue } = event
  if (parseSlash(comment.body, []).kind === 'none') return 'the comment is not for Ralph'
  if (!isPerson(comment)) return 'a bot wrote the comment, and only people can give commands'
  const answerContext = answerContextOf(context)
  const { github, conversation } = answerContext
  // The permission is checked first, so that a stranger's comment costs only one request, and a reaction on Ralph's pull request.
  if (!(await conversation.mayWrite(comment.login))) {
    if (event.marked) await conversation.react(comment.id, 'confused')
    return `${comment.login} has no write permission`
  }
  if (comment.edited) {
    await conversation.react(comment.id, 'confused')
    await conversation.reply(issue, comment.id, unchangedReply(EDITED))
    return EDITED
  }
  if (!event.onPull) return answerOnIssue(answerContext, event)
  const { api, repo } = github
  const { data: pull } = await api.rest.pulls.get({ ...repo, pull_number: issue })
  const isOurs = pull.head.repo?.full_name === `${repo.owner}/${repo.repo}`
  const { branchPrefix: prefix, stateNamespace } = await readNamesByApi(context, github)
  if (!isOurs) return NOT_OURS
  const states = [...(await peekStates(context, stateNamespace))]
  const newest = states.findLast(
    ([folder, { branch }]) =>
      (branch === pull.head.ref || isLayerOf(branch, pull.head.ref)) && featureOfFolder(folder) !== null,
  )
  const state = newest?.[1] ?? null
  if (state === null && !pull.head.ref.startsWith(prefix)) return NOT_OURS
  const pullOfRun = state?.github.pull ?? issue
  if (pullOfRun !== issue) {
    await conversation.react(comment.id, 'confused')
    await conversation.reply(issue, comment.id, wrongPullReply(pullOfRun))
    return `Ralph reads the commands for this run only in #${pullOfRun}`
  }
  return answerOnPull(answerContext, event, state)
}

const NOT_OURS = "the pull request is not one of Ralph's"

async function answerOnPull(
  answerContext: AnswerContext,
  { comment, issue }: EventOf<'comment'>,
  state: State | null,
): Promise<string> {
  const { github, conversation } = answerContext
  const { api, repo } = github
  const replyAndReact = async (body: string, line: string) => {
    await conversation.reply(issue, comment.id, body)
    await conversation.react(comment.id, 'rocket')
    return line
  }
  const parsed = parseSlash(comment.body, state?.prd.userStories.map(({ id }) => id) ?? [])
  switch (parsed.kind) {
    case 'none':
      return 'the comment is not for Ralph'
    case 'help':
      return replyAndReact(helpReply(), 'answered with the list of commands')
    case 'mistake':
      if (state !== null && isHeld(state)) return 'the running job will answer'
      await conversation.react(comment.id, 'confused')
      await conversation.reply(issue, comment.id, unchangedReply(parsed.problem, parsed.fix))
      return parsed.problem
    case 'status':
      if (state === null) return replyAndReact(noRunReply(), 'answered with the status')
      await replyStatus(answerContext, issue, state)
      await conversation.react(comment.id, 'rocket')
      return 'answered with the status'
    case 'why':
    case 'diff': {
      const body = state === null ? noRunReply() : await explainReply(answerContext, state, parsed)
      return replyAndReact(body, `answered with the ${parsed.kind} of ${parsed.story ?? 'the run'}`)
    }
    case 'command': {
      await conversation.react(comment.id, 'eyes')
      if (state === null) return 'there is no run of this feature yet: start it with Run workflow'
      const isAlive = await isHolderAlive(github, state)
      if (isAlive && parsed.command.kind !== 'stop') return HANDLED_BY_JOB
      if (isAlive && state.lease?.runId != null) {
        await api.rest.actions
          .cancelWorkflowRun({ ...repo, run_id: state.lease.runId })
          .catch((error: unknown) => core.warning(githubMessage(error)))
      }
      const next = isAlive ? null : await findNextJob(answerContext, state)
      if (next !== null) return `run ${next.id} has already started and will handle this before any story`
      // A job that is being stopped may or may not raise the generation before it ends. A dispatch without a generation works in both cases.
      const generation = isAlive ? null : state.generation
      const { line, until } = await dispatchJob(answerContext, { feature: state.feature, generation })
      const isPause = parsed.command.kind === 'pause' || parsed.command.kind === 'stop'
      if (until !== null) await conversation.reply(issue, comment.id, rateLimitReply(until, isPause))
      return line
    }
  }
}

type ExplainCommand = { kind: 'why' | 'diff'; story: string | null }

/** The reply to `/ralph why` and `/ralph diff`. */
async function explainReply(
  { context, github }: AnswerContext,
  state: State,
  { kind, story }: ExplainCommand,
): Promise<string> {
  const { redact } = redactorFor(secretsIn(context.env))
  if (kind === 'why') return redact(whyReply(whyOf(mapTexts(state, redact), story, 'comment')))
  const { base, branch } = state
  const branchUrl = compareUrl(github.place, base.branch, branch)
  const isKept = story !== null && state.kept[story] !== undefined
  const commits = story === null || isKept ? [] : await commitsOf(github, state, story)
  return redact(diffReply({ storyId: story, commits, compareUrl: branchUrl, isKept }))
}

/** The story's commits among the branch's newest hundred, the oldest first. If GitHub cannot list them, only the last one. */
async function commitsOf(github: GitHub, state: State, story: string): Promise<ChangesView['commits']> {
  const { api, repo, place, warn } = github
  const { green, nonce, records } = state
  const url = (sha: string, parent: string) => `${repositoryUrl(place)}/compare/${parent}...${sha}`
  try {
    const { data } = await api.rest.repos.listCommits({ ...repo, sha: green, per_page: 100 })
    return data.toReversed().flatMap(({ sha, parents, commit: { message } }) => {
      const [subject = ''] = message.split('\n')
      const parent = parents[0]?.sha ?? ''
      return storiesIn(message, nonce).includes(story) ? [{ sha, subject, compareUrl: url(sha, parent) }] : []
    })
  } catch (error) {
    warn(`Ralph could not list the commits: ${githubMessage(error)}`)
    const sha = records[story]?.commit ?? null
    return sha === null ? [] : [{ sha, subject: '', compareUrl: url(sha, `${sha}^`) }]
  }
}

export const HANDLED_BY_JOB = 'the running job will handle it before its next iteration'

/** On an issue only `/ralph plan` and help are commands; all others belong on the pull request. */
async function answerOnIssue(
  answerContext: AnswerContext,
  { comment, issue }: EventOf<'comment'>,
): Promise<string> {
  const { conversation } = answerContext
  const parsed = parseSlash(comment.body, [])
  if (parsed.kind === 'command' && parsed.command.kind === 'plan') {
    await conversation.react(comment.id, 'eyes')
    return planIssue(answerContext, issue)
  }
  await conversation.react(comment.id, parsed.kind === 'help' ? 'rocket' : 'confused')
  const problem = 'on an issue, only /ralph plan works. Use the other commands on the pull request of the run'
  const body = parsed.kind === 'help' ? helpReply() : unchangedReply(problem, '/ralph plan')
  await conversation.reply(issue, comment.id, body)
  return parsed.kind === 'help' ? 'answered with the list of commands' : problem
}

/** Replies to `/ralph status`, in one comment that is edited the next time. */
async function replyStatus({ context, github, conversation }: AnswerContext, issue: number, state: State) {
  const { redact } = redactorFor(secretsIn(context.env))
  const isAlive = await isHolderAlive(github, state)
  const next = isAlive ? null : await findNextJob({ context, github }, state)
  const job: JobNow = isAlive
    ? { kind: 'working', url: state.lease?.url ?? null }
    : next === null
      ? { kind: 'none' }
      : { kind: 'starting', url: next.url }
  const facts = { ...serverFacts(context.place), runUrl: null, limits: null, notes: [], now: Date.now() }
  const body = statusReply(mapTexts(state, redact), facts, job)
  await conversation.writeUniqueSticky(issue, marker('status', state.feature), redact(body))
}

/** Handles the label that asks for a plan of an issue. Returns what was done, in one line for the log. */
export async function answerLabel(
  context: ActionContext,
  { sender, issue }: EventOf<'label'>,
): Promise<string> {
  if (sender.type !== 'User') return 'a bot set the label, and Ralph accepts this only from people'
  const answerContext = answerContextOf(context)
  // An issue form sets the label for every author, also without write permission.
  if (!(await answerContext.conversation.mayWrite(sender.login)))
    return `${sender.login} has no write permission. Someone with write permission can comment /ralph plan`
  return planIssue(answerContext, issue)
}

async function planIssue(answerContext: AnswerContext, issue: number): Promise<string> {
  const { line, until } = await dispatchJob(answerContext, { feature: `#${issue}`, generation: null })
  return until === null ? `${line} for issue #${issue}` : `${line}. After that time, comment /ralph plan`
}

/**
 * Handles a button of a story's check. It writes a comment on the pull request that names the person and the button; the next job
 * reads that comment as the person's command. Returns what was done, in one line for the log.
 */
export async function answerButton(context: ActionContext, event: EventOf<'button'>): Promise<string> {
  const { identifier, externalId, sender } = event
  const check = parseExternalId(externalId)
  if (check === null || (identifier !== 'retry' && identifier !== 'skip'))
    return "the button is not one of Ralph's"
  if (sender.type !== 'User') return 'a bot pressed the button, and Ralph accepts this only from people'
  const answerContext = answerContextOf(context)
  const { github, conversation } = answerContext
  if (!(await conversation.mayWrite(sender.login))) return `${sender.login} has no write permission`
  const { stateNamespace } = await readNamesByApi(context, github)
  const states = [...(await peekStates(context, stateNamespace))]
  const state = states.findLast(([folder]) => featureOfFolder(folder) === check.feature)?.[1]
  const pull = state?.github.pull ?? null
  const story = state?.prd.userStories.find(({ id }) => id === check.storyId)
  if (state === undefined || pull === null || story === undefined)
    return 'the story of this button is not in any run with a pull request'
  await conversation.postComment(pull, pressedComment(sender.login, identifier, story.id))
  if (await isHolderAlive(github, state)) return HANDLED_BY_JOB
  const next = await findNextJob(answerContext, state)
  if (next !== null) return `run ${next.id} has already started and will handle this before any story`
  const { feature, generation } = state
  const { line, until } = await dispatchJob(answerContext, { feature, generation })
  return until === null ? line : `${line}. The first job after that will handle this`
}

/** Starts a job. `line`: what was done. `until`: when GitHub's rate limit ends, if it refused the job (epoch ms); else null. */
export async function dispatchJob(
  { context, github }: AnswerContext,
  target: { feature: string; generation: number | null },
) {
  await ensureWorkflow(context, github)
  const result = await dispatchRun(github, context.workflow, target)
  if (result.kind === 'dispatched')
    return { line: `dispatched${result.runId === null ? '' : ` run ${result.runId}`}`, until: null }
  const until = new Date(result.until).toISOString()
  return { line: `GitHub's rate limit blocks new jobs until ${until}`, until: result.until }
}

/** The run that has been started for the feature and does not work yet; null if there is none, or if GitHub does not say. */
export async function findNextJob(
  { context, github }: Pick<AnswerContext, 'context' | 'github'>,
  state: State,
): Promise<UnfinishedRun | null> {
  if (context.workflow === '') return null
  try {
    return nextJobAmong(await unfinishedRuns(github, context.workflow), state)
  } catch (error) {
    github.warn(`Ralph could not list the queued runs: ${githubMessage(error)}`)
    return null
  }
}

/** Whether the feature has a lease that has not expired. */
function isHeld({ lease }: State): boolean {
  return lease !== null && !isExpired(lease, Date.now())
}

/** Whether the run that holds the lease is still at work. */
export async function isHolderAlive(github: GitHub, state: State): Promise<boolean> {
  if (!isHeld(state)) return false
  const id = state.lease?.runId ?? null
  // Without a run id the holder is a person's machine: only the lease's time is known.
  return id === null || (await findWorkflowRun(github, id))?.status !== 'completed'
}
