// Starts a fresh session of one kind and reads its answer. Implements AgentPort.
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readProposal } from '../loop/plan.ts'
import { textOf } from '../loop/template.ts'
import { findTemplate, missingPrompt } from '../loop/templates.ts'
import type { Mode } from '../loop/variables.ts'
import type { Verdict } from '../model/event.ts'
import type { Story } from '../model/feature.ts'
import { attemptName } from '../model/paths.ts'
import type { SessionStep } from '../model/pipeline.ts'
import type { PlanTask, Proposal } from '../model/plan.ts'
import type { AgentPort, JudgeTask, SessionBounds } from '../model/ports.ts'
import type { Attempt, Session, State } from '../model/state.ts'
import type { Price } from '../model/usage.ts'
import { UserError } from '../system/errors.ts'
import { clearWay } from '../system/files.ts'
import { agentEnv, type Environment } from '../system/untrusted-env.ts'
import { withoutControls } from '../system/workflow-commands.ts'
import { type SessionResult, variablesOf } from './agent.ts'
import { costByPrices, settled } from './cost.ts'
import type { Homes } from './home.ts'
import { type Asked, type PromptSources, promptOf } from './prompts.ts'
import { type AgentRequest, runAgent } from './run.ts'
import { readSignals } from './signals.ts'

export type SessionsOptions = PromptSources &
  Pick<AgentRequest, 'vendor' | 'cwd' | 'idleTimeoutMs' | 'redactor' | 'mark' | 'as' | 'onEvent'> & {
    /** The command line of a custom agent. */
    commandLine: string | null
    wrapper: string | null
    args: readonly string[]
    models: Readonly<Record<Mode, string | null>>
    /** By model; for agents that do not report what they cost. */
    prices: Readonly<Record<string, Price>>
    extraEnv: readonly string[]
    env: Environment
    homes: Homes
    /** What went through our own proxy so far; null without one. */
    used?: (() => Counted) | null
    /** Transcripts and the prompt file, on this machine only. */
    directory: string
    /** The folder among the transcripts that this run's are in; left out where they are in none. */
    run?: string | null
  }

/** Requests to the model, and the tokens that the vendor says they took. */
type Counted = { requests: number; inputTokens: number; outputTokens: number }

const CAPTURE_BYTES = 64 * 1024
const MESSAGE = 400

/** What sets one kind of session apart; `Task` is what it works on. */
type Kind<Task, Output> = {
  /** The model's and the template's name, and what the agent is told in RALPH_MODE. */
  mode: Mode
  asked(task: Task): Asked
  transcript(task: Task, state: State): string
  variables(task: Task): Record<string, string>
  output(result: SessionResult, task: Task, words: Words): Output
  /** Of a pipeline. */
  step?(task: Task): SessionStep | undefined
}

/** How a session's words are read, and told to people. */
type Words = { redact(text: string): string; oneLine(text: string): string; isCustom: boolean }

type Work = { attempt: Attempt; story: Story; conflict: string | null; step?: SessionStep }

const work: Kind<Work, Omit<Session, 'usage'>> = {
  mode: 'run',
  asked: ({ story, conflict, step }) => ({
    mode: 'run',
    story,
    conflict,
    ...(step === undefined ? {} : { step }),
  }),
  transcript: ({ attempt, step }, state) => `${attemptName(state, attempt.storyId)}${step?.log ?? ''}`,
  variables: ({ attempt, step }) => ({
    RALPH_STORY_ID: attempt.storyId,
    RALPH_ATTEMPT: String(attempt.number),
    ...(step === undefined ? {} : { RALPH_STEP: step.name }),
  }),
  step: ({ step }) => step,
  output: (result, _task, said) => sessionOf(result, said),
}

function sessionOf(result: SessionResult, { redact, oneLine }: Words): Omit<Session, 'usage'> {
  const { done, notDone, stuck, learnings } = readSignals(redact(result.finalText))
  return {
    status: STATUSES.get(result.status) ?? 'failed',
    message: oneLine(result.message),
    resetsAt: result.resetsAt,
    hints: { done, notDone, stuck: stuck === null ? null : oneLine(stuck) },
    learnings: learnings.map(oneLine),
  }
}

/** Of those that are not charged as a failure. */
const STATUSES: ReadonlyMap<SessionResult['status'], Session['status']> = new Map([
  ['finished', 'finished'],
  ['limit', 'limit'],
  ['overloaded', 'overloaded'],
  ['auth', 'auth'],
  ['not-started', 'not-started'],
  ['aborted', 'interrupted'],
])

const setUp: Kind<{ attempt: Attempt }, Omit<Session, 'usage'>> = {
  mode: 'setup',
  asked: () => ({ mode: 'setup' }),
  transcript: ({ attempt }, state) => `${attemptName(state, attempt.storyId)}-setup`,
  variables: () => ({}),
  output: (result, _task, said) => sessionOf(result, said),
}

const judgement: Kind<JudgeTask, Verdict> = {
  mode: 'verify',
  asked: (task) => ({ mode: 'verify', task }),
  transcript: () => `verify-${Date.now()}`,
  variables: () => ({}),
  /** A judge that errs, or says neither, has not approved. */
  output(result, { stories }, { redact, oneLine, isCustom }) {
    const message = oneLine(result.message)
    if (result.status === 'limit' || result.status === 'overloaded') {
      return { kind: 'limit', notBefore: result.resetsAt, message }
    }
    if (result.status === 'auth' || result.status === 'not-started') return { kind: 'refused', message }
    if (result.status !== 'finished') return { kind: 'none', message }
    const { verdict } = readSignals(redact(result.finalText))
    if (verdict === null) {
      const hint = isCustom ? ', which the agent must print (docs/custom-agent.md)' : ''
      const lines = '<ralph>VERIFIED</ralph> or <ralph>RESET:ids</ralph>'
      return { kind: 'none', message: `no line ${lines} in the judge's answer${hint}` }
    }
    if (verdict.kind === 'verified') {
      const { evidence } = verdict
      if (evidence === undefined) return { kind: 'verified' }
      return { kind: 'verified', evidence: evidence.map((one) => ({ ...one, shown: oneLine(one.shown) })) }
    }
    const ids = verdict.ids.filter((id) => stories.includes(id))
    if (ids.length === 0) return { kind: 'none', message: 'the judge reset stories that do not exist' }
    return { kind: 'reset', stories: ids, reason: oneLine(verdict.reason) || 'the judge gave no reason' }
  },
}

const proposal: Kind<PlanTask, Proposal> = {
  mode: 'plan',
  asked: (task) => ({ mode: 'plan', task }),
  transcript: () => `plan-${Date.now()}`,
  variables: ({ split }) => (split === null ? {} : { RALPH_STORY_ID: split }),
  output(result, task, { redact, oneLine }) {
    const message = oneLine(result.message)
    if (result.status === 'limit' || result.status === 'overloaded')
      return { kind: 'limit', notBefore: result.resetsAt, message }
    if (result.status === 'auth' || result.status === 'not-started') return { kind: 'refused', message }
    if (result.status !== 'finished') return { kind: 'none', message }
    const read = readProposal(redact(result.finalText), task)
    return read.kind === 'none' ? { ...read, message: oneLine(read.message) } : read
  },
}

export function createSessions(options: SessionsOptions): AgentPort {
  const { redact } = options.redactor
  const oneLine = (text: string) =>
    redact(withoutControls(text)).replace(/\s+/g, ' ').trim().slice(0, MESSAGE)
  const words = { redact, oneLine, isCustom: options.vendor.name === 'custom' }

  async function session<Task, Output>(
    kind: Kind<Task, Output>,
    task: Task,
    state: State,
    bounds: SessionBounds,
    signal: AbortSignal,
  ) {
    const step = kind.step?.(task)
    const told = await promptOf(options, kind.asked(task), state)
    if (told === null)
      throw new UserError(missingPrompt(step?.prompt?.kind === 'file' ? step.prompt.path : ''))
    const prompt = redact(textOf(told.parts))
    const promptFile = join(options.directory, 'prompt.md')
    const transcripts = join(options.directory, 'transcripts', options.run ?? '')
    const transcriptPath = join(transcripts, `${kind.transcript(task, state)}.log`)
    for (const path of [promptFile, transcriptPath]) await clearWay(dirname(options.directory), path)
    await writeFile(promptFile, prompt)
    const set = {
      RALPH_MODE: kind.mode,
      RALPH_FEATURE: state.feature,
      RALPH_PROMPT_FILE: promptFile,
      ...kind.variables(task),
    }
    await using home = await options.homes.open()
    const { env } = agentEnv(home.env(options.env), {
      extra: options.extraEnv,
      vendor: variablesOf(options.vendor),
      set,
    })
    const model = step?.model ?? options.models[kind.mode]
    const before = options.used?.() ?? null
    const run = await runAgent({
      ...options,
      commandLine: options.commandLine ?? undefined,
      wrapper: options.wrapper ?? undefined,
      model: model ?? undefined,
      extraArgs: [...options.args, ...(step?.args ?? [])],
      prompt,
      env,
      timeoutMs: bounds.timeoutMs,
      budget: bounds.budget,
      costOf: (usage) => usage.costUsd ?? costByPrices(usage, options.prices, model),
      signal,
      transcriptPath,
      captureBytes: CAPTURE_BYTES,
    })
    const result = { ...run, seen: countedSince(before, options.used?.() ?? null) ?? run.seen }
    const usage = settled(result, options.prices, model, bounds.reserved)
    return { output: kind.output(result, task, words), usage }
  }

  return {
    async work(state, attempt, { conflict, step, ...bounds }, signal) {
      const story = state.prd.userStories.find((one) => one.id === attempt.storyId)
      if (story === undefined) throw new Error(`${attempt.storyId} is not in prd.json`)
      const task = { attempt, story, conflict, ...(step === undefined ? {} : { step }) }
      const { output, usage } = await session(work, task, state, bounds, signal)
      return { ...output, usage }
    },
    async setUp(state, attempt, bounds, signal) {
      const found = await findTemplate('setup', (path) => options.read(state.green, path))
      if (found === null) return null
      options.onEvent?.({ kind: 'text', text: `sets the project up first, by ${found.path}` })
      const { output, usage } = await session(setUp, { attempt }, state, bounds, signal)
      return { ...output, usage }
    },
    async judge(state, task, bounds, signal) {
      const { output, usage } = await session(judgement, task, state, bounds, signal)
      return { verdict: output, usage }
    },
    async plan(state, task, bounds, signal) {
      const { output, usage } = await session(proposal, task, state, bounds, signal)
      return { proposal: output, usage }
    },
  }
}

/** What a session used by the vendor's own word, although its program died; null where no proxy saw it. */
function countedSince(before: Counted | null, after: Counted | null): SessionResult['seen'] | null {
  if (before === null || after === null || after.requests === before.requests) return null
  return {
    answers: after.requests - before.requests,
    inputTokens: after.inputTokens - before.inputTokens,
    outputTokens: after.outputTokens - before.outputTokens,
  }
}
