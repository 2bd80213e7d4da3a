// The sessions of `ralph plan`: one that asks questions, and those that plan. Each sees the work tree with uncommitted changes, and Ralph
// undoes what it changes there.

import { freshState } from '../app/claim-feature.ts'
import { limitsOf } from '../app/loop-limits.ts'
import type { PlanTask, Proposal, Question } from '../engine/model/plan-state.ts'
import type { Ports } from '../engine/model/ports.ts'
import { answeredQuestions, questionLines, sampleAnswer } from '../engine/planning/plan-questions.ts'
import { budgetLeft, estimateSession, sessionMs } from '../engine/state/limits.ts'
import { recordSession } from '../engine/state/record-session.ts'
import { terminalText } from '../report/escape.ts'
import { costLabel, describeTokens, formatDuration, formatUtc } from '../report/figures.ts'
import { Live } from '../report/terminal/live-lines.ts'
import { refuseBlocked } from '../setup/checks/check-table.ts'
import { UserError } from '../system/errors.ts'
import { newMark } from '../system/process.ts'
import { checkoutOf, startOf } from './before-run.ts'
import { settingsOf } from './command-context.ts'
import type { LocalRun } from './local-feature.ts'
import type { PlanDialogue, PlanPlace } from './plan-dialogue.ts'
import { wrapHanging } from './plan-view.ts'
import { liveOf, withPorts } from './run.ts'
import { Cancelled } from './terminal-questions.ts'

export type Proposed = Extract<Proposal, { kind: 'proposed' }>

/** Throws UserError if no session could begin, so that a person does not answer questions in vain. */
export async function checkReady({ context, local }: PlanPlace): Promise<void> {
  if (local === null) throw noCommitError(context.directory)
  const { settings } = local
  const facts = { limits: limitsOf(settings), agent: settings.agent, surface: 'cli' as const }
  const silent = new Live({ write: () => {} }, facts, true)
  const options = { mark: newMark() }
  if ((await withPorts(context, local, silent, options, async () => true)) === null) throw new Cancelled()
}

/**
 * The brief of the draft. With `--ask` a session asks questions before it plans, and the person's answers are at the end of the brief.
 * Throws Cancelled, or UserError if no session can begin.
 */
export async function withAnswers(dialogue: PlanDialogue): Promise<string> {
  const { ask, context, draft, say, settings, width } = dialogue
  const { brief } = draft
  if (!settings.ask) return brief
  if (ask === null) {
    context.warn('ask: the plan is made without questions, because there is no terminal or --yes was given')
    return brief
  }
  const questions = await askQuestions(dialogue)
  if (questions.length === 0) return brief
  const lines = questionLines(questions).flatMap((line) => {
    const indent = /^ */.exec(line)?.[0] ?? ''
    return wrapHanging(terminalText(line, 500).trimStart(), `  ${indent}`, width)
  })
  say(['', ...lines, ''])
  const fault = (text: string) => {
    const read = answeredQuestions(questions, text)
    return 'fault' in read ? read.fault : undefined
  }
  const answer = await ask.text('Your answers (press Enter to let the session decide)', {
    hint: `such as ${sampleAnswer(questions)}; or the number of a question, a colon and your own words`,
    fault,
  })
  const read = answeredQuestions(questions, answer)
  return 'fault' in read ? brief : `${brief}\n\n${read.text}`.trim()
}

/** The questions of a session. Empty if its answer has none. */
async function askQuestions(dialogue: PlanDialogue): Promise<readonly Question[]> {
  const proposal = await runSession(dialogue, { brief: dialogue.draft.brief, message: '', asks: true })
  if (proposal.kind === 'asked') return proposal.questions
  if (proposal.kind !== 'none' && proposal.kind !== 'proposed') throw noPlanError(dialogue, proposal)
  dialogue.say(['The session asked no clear question, so it plans without answers.'])
  return []
}

/** Runs at most two sessions, and returns the plan. Throws Cancelled, or UserError if neither makes a plan. */
export async function propose(dialogue: PlanDialogue, brief: string): Promise<Proposed> {
  // The second session gets the mistakes in the answer of the first.
  const first = await runSession(dialogue, { brief, message: '' })
  if (first.kind === 'proposed') return first
  if (first.kind !== 'none') throw noPlanError(dialogue, first)
  dialogue.say([
    `The answer has no plan (${terminalText(first.message)}). A second session gets this message and tries again.`,
  ])
  const second = await runSession(dialogue, { brief, message: first.message })
  if (second.kind === 'proposed') return second
  throw noPlanError(dialogue, second)
}

/** Runs a session on the draft, with the person's answers as settings, and adds its usage to the dialogue. */
async function runSession(
  dialogue: PlanDialogue,
  { brief, ...more }: Omit<PlanTask, 'stories' | 'split'>,
): Promise<Proposal> {
  const { answered, context, draft, existing, feature } = dialogue
  if (dialogue.local === null) throw noCommitError(context.directory)
  const { settings } = await settingsOf(context, answered.flags)
  const local = { ...dialogue.local, settings }
  const limits = limitsOf(settings)
  const live = liveOf(context, settings, limits, [])
  // A state as before the first run, since the prompt of a plan session needs nothing else.
  const { prd } = draft
  const { folder } = existing
  const file = { name: feature, folder, path: `${folder}/prd.json`, prd, digest: '', notes: [] }
  const state = freshState(file, settings, local.base)
  await refuseBlocked(startOf(context, settings, checkoutOf(local, state)), ['prompts'])
  const task = { brief, stories: prd.userStories, split: null, ...more }
  const began = Date.now()
  const answer = await withPorts(context, local, live, { mark: newMark() }, (ports) => {
    live.say(
      `\nA session of ${settings.agent} reads the project. Ralph undoes any change that it makes to files.`,
    )
    const timeoutMs = sessionMs(state, limits, began)
    const budget = budgetLeft({ ...state, sessions: dialogue.sessions }, limits)
    const sessionLimits = { timeoutMs, budget, reserved: estimateSession(state, limits) }
    return onCurrentTree(local, ports, live.warn, (green) =>
      ports.agent.plan({ ...state, green }, task, sessionLimits, ports.signal),
    )
  })
  if (answer === null) throw new Cancelled()
  const { usage, proposal } = answer
  const spending = { at: Date.now(), kind: 'plan', storyId: null, usage } as const
  dialogue.sessions = recordSession({ ...state, sessions: dialogue.sessions }, spending, limits).sessions
  const figures = [
    formatDuration(Date.now() - began),
    describeTokens(usage, ' tokens'),
    `cost ${costLabel(usage)}`,
  ]
  live.say(`Session: ${figures.join(', ')}`)
  return proposal
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
    if (await repository.restore(green)) warn('the session changed files; Ralph undid that')
  }
}

function noPlanError(
  { settings: { agent } }: PlanDialogue,
  proposal: Exclude<Proposal, Proposed>,
): UserError {
  const message = proposal.kind === 'asked' ? 'it only asks questions' : terminalText(proposal.message)
  if (proposal.kind === 'none' || proposal.kind === 'asked') {
    const found = `the answer from ${agent} contains no plan: ${message}`
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
  const found = 'this repository has no commits yet.'
  const fix = 'commit something first: a session works on a commit'
  return new UserError({ path: directory, found, expected: '', fix })
}
