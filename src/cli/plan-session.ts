// Plan sessions on this machine. Each looks at the work tree as it is, and what it changes there is undone.

import { freshState } from '../app/claim-feature.ts'
import { limitsOf } from '../app/loop-limits.ts'
import { budgetLeft, estimateSession, sessionMs } from '../engine/limits.ts'
import type { Prd } from '../engine/model/feature.ts'
import type { PlanTask, Proposal, Question } from '../engine/model/plan-state.ts'
import type { Ports } from '../engine/model/ports.ts'
import type { SessionEntry } from '../engine/model/usage.ts'
import { runUsage } from '../engine/model/usage-totals.ts'
import { recordSession } from '../engine/record-session.ts'
import { terminalText } from '../report/escape.ts'
import { costLabel, describeTokens, formatDuration, formatUtc } from '../report/figures.ts'
import { Live } from '../report/terminal/live-lines.ts'
import { refuseBlocked } from '../setup/checks/check-table.ts'
import { UserError } from '../system/errors.ts'
import { newMark } from '../system/process.ts'
import { checkoutOf, startOf } from './before-run.ts'
import { type Context, type Flags, settingsOf } from './command-context.ts'
import type { LocalRun } from './local-feature.ts'
import { liveOf, withPorts } from './run.ts'
import { Cancelled } from './terminal-questions.ts'

export type Proposed = Extract<Proposal, { kind: 'proposed' }>

/** The feature that a session plans for, with its existing stories. */
export type Subject = { feature: string; folder: string; prd: Prd }

export function createPlanner(context: Context, opened: LocalRun | null) {
  let answeredFlags: Flags = {}
  let sessions: SessionEntry[] = []

  async function runSession(local: LocalRun, subject: Subject, task: PlanTask): Promise<Proposal> {
    const { settings } = local
    const limits = limitsOf(settings)
    const live = liveOf(context, settings, limits, [])
    const { feature: name, folder, prd } = subject
    // A state as before the first run: the prompt of a plan session needs no more.
    const file = { name, folder, path: `${folder}/prd.json`, prd, digest: '', notes: [] }
    const state = freshState(file, settings, local.base)
    await refuseBlocked(startOf(context, settings, checkoutOf(local, state)), ['prompts'])
    const began = Date.now()
    const answer = await withPorts(context, local, live, { mark: newMark() }, (ports) => {
      live.say(`\nA session of ${settings.agent} reads the project; files that it writes are undone.`)
      const timeoutMs = sessionMs(state, limits, began)
      const budget = budgetLeft({ ...state, sessions }, limits)
      const sessionLimits = { timeoutMs, budget, reserved: estimateSession(state, limits) }
      return onCurrentTree(local, ports, live.warn, (green) =>
        ports.agent.plan({ ...state, green }, task, sessionLimits, ports.signal),
      )
    })
    if (answer === null) throw new Cancelled()
    const { usage, proposal } = answer
    const spending = { at: Date.now(), kind: 'plan', storyId: null, usage } as const
    sessions = recordSession({ ...state, sessions }, spending, limits).sessions
    const figures = [
      formatDuration(Date.now() - began),
      describeTokens(usage, ' tokens'),
      `cost ${costLabel(usage)}`,
    ]
    live.say(`Session: ${figures.join(', ')}`)
    return proposal
  }

  /** Throws UserError if no session can begin. */
  async function localWithAnswers(): Promise<LocalRun> {
    if (opened === null) throw noCommitError(context.directory)
    return { ...opened, settings: (await settingsOf(context, answeredFlags)).settings }
  }

  return {
    /** Sets the person's answers, as flags, for the next sessions. */
    setAnswers(flags: Flags): void {
      answeredFlags = flags
    },
    /** The usage of all sessions until now. */
    usage: () => runUsage({ sessions }),
    /** Throws UserError if no session could begin, so that a person does not answer questions in vain. */
    async checkReady(): Promise<void> {
      if (opened === null) throw noCommitError(context.directory)
      const { settings } = opened
      const facts = { limits: limitsOf(settings), agent: settings.agent, surface: 'cli' as const }
      const silent = new Live({ write: () => {} }, facts, true)
      const options = { mark: newMark() }
      if ((await withPorts(context, opened, silent, options, async () => true)) === null)
        throw new Cancelled()
    },
    /** Runs a session that asks questions before a plan is made. Empty if its answer has no question. */
    async askQuestions(subject: Subject, brief: string): Promise<readonly Question[]> {
      const local = await localWithAnswers()
      const task = { brief, stories: subject.prd.userStories, split: null, message: '', asks: true as const }
      const proposal = await runSession(local, subject, task)
      if (proposal.kind === 'asked') return proposal.questions
      if (proposal.kind !== 'none' && proposal.kind !== 'proposed')
        throw noPlanError(local.settings.agent, proposal)
      context.print('The session asked no clear question, so it plans without answers.')
      return []
    },
    /** Runs at most two sessions, and returns the plan. Throws Cancelled, or UserError if neither makes a plan. */
    async propose(subject: Subject, brief: string): Promise<Proposed> {
      const local = await localWithAnswers()
      const task = { brief, stories: subject.prd.userStories, split: null }
      // The second session gets the mistakes in the answer of the first.
      const first = await runSession(local, subject, { ...task, message: '' })
      if (first.kind === 'proposed') return first
      if (first.kind !== 'none') throw noPlanError(local.settings.agent, first)
      context.print(
        `The answer has no plan (${terminalText(first.message)}). A second session gets this message and tries again.`,
      )
      const second = await runSession(local, subject, { ...task, message: first.message })
      if (second.kind === 'proposed') return second
      throw noPlanError(local.settings.agent, second)
    },
  }
}

/**
 * Runs a session on the work tree with people's uncommitted changes. `green`: a commit of that tree. Afterwards the work tree is as
 * before.
 */
async function onCurrentTree<T>(
  { workspace, base }: LocalRun,
  { signal }: Ports,
  warn: (message: string) => void,
  act: (green: string) => Promise<T>,
): Promise<T> {
  const { repository, clone } = workspace
  const head = clone.head ?? base.sha
  const dirt = (await repository.uncommitted(head)).map(({ path }) => path)
  const green = dirt.length === 0 ? head : await repository.adopt(head, dirt, 'before ralph plan')
  try {
    const answer = await act(green)
    if (signal.aborted) throw new Cancelled()
    return answer
  } finally {
    if (await repository.restore(green)) warn('undone: the session had changed files')
  }
}

function noPlanError(agent: string, proposal: Exclude<Proposal, Proposed>): UserError {
  const message = proposal.kind === 'asked' ? 'it only asked' : terminalText(proposal.message)
  if (proposal.kind === 'none' || proposal.kind === 'asked') {
    const found = `the answer of ${agent} has no plan: ${message}`
    const fix =
      'say in more detail what you want, or write a check list and name it with --from; ralph log plan shows the answer'
    return new UserError({ path: 'ralph plan', found, expected: '', fix })
  }
  const isLimit = proposal.kind === 'limit'
  const until = isLimit && proposal.notBefore !== null ? `after ${formatUtc(proposal.notBefore)}` : 'later'
  const again = isLimit ? `run again ${until}` : 'see ralph doctor'
  const found = `${agent}: ${message}`
  const fix = `${again}, or name another --agent`
  return new UserError({ path: 'agent', found, expected: '', fix })
}

function noCommitError(directory: string): UserError {
  const found = 'this is a repository without a commit.'
  const fix = 'commit something first: a session works on a commit'
  return new UserError({ path: directory, found, expected: '', fix })
}
