// Starts a fresh session of one kind and reads its answer. Implements AgentPort.
import { rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Usage as AgentUsage } from '../engine/model/agent-event.ts'
import { type Attempt, type Session, slotOf } from '../engine/model/attempt.ts'
import { ANSWER, ASKS_CHANGE } from '../engine/model/correction.ts'
import type { Verdict } from '../engine/model/event.ts'
import { attemptName } from '../engine/model/paths.ts'
import type { PlanTask, Proposal } from '../engine/model/plan-state.ts'
import type { AgentPort, JudgeTask, SessionBounds, Words, WordsTask } from '../engine/model/ports.ts'
import type { State } from '../engine/model/state.ts'
import { emptyUsage, type Price, type Usage } from '../engine/model/usage.ts'
import { readProposal } from '../engine/planning/proposed-plan.ts'
import { textOf } from '../engine/prompts/template.ts'
import { findTemplate, missingPrompt } from '../engine/prompts/template-files.ts'
import type { Mode } from '../engine/prompts/variables.ts'
import { agentEnv, type Environment } from '../isolation/untrusted-env.ts'
import { UserError } from '../system/errors.ts'
import { clearPathTo } from '../system/files.ts'
import { withoutControls } from '../system/workflow-commands.ts'
import { agentVariables, noUsage, type SessionResult } from './agent.ts'
import { type AnswerKind, expectationInJson, schemaText, verdictInJson } from './answer-schemas.ts'
import { costByPrices, costOfHidden, finalUsage, hasReported, type MeasuredTokens } from './cost.ts'
import type { Homes } from './home.ts'
import { buildPrompt, type PromptSources, type SessionRequest } from './prompts.ts'
import { completionConfidence } from './response.ts'
import { type AgentRequest, runAgent } from './run-session.ts'
import { markersAtEnd, readClosing, readExpectation, readSignals } from './signals.ts'

export type SessionsOptions = PromptSources &
  Pick<AgentRequest, 'vendor' | 'cwd' | 'idleTimeoutMs' | 'redactor' | 'mark' | 'onEvent'> & {
    commandLine: string | null
    wrapper: string | null
    args: readonly string[]
    models: Readonly<Record<Mode, string | null>>
    /** Prices by model, for agents that do not report what they cost. */
    prices: Readonly<Record<string, Price>>
    extraEnv: readonly string[]
    env: Environment
    homes: Homes
    /** Counts what goes through Ralph's proxy; null without one. */
    proxy?: ProxyMeter | null
    /** Opens the way to the model, until it is disposed. */
    admit?: () => Disposable
    /** Transcripts, on this machine only. */
    directory: string
    /** Where each prompt is written: `ralph/prompt.md` in the git directory of the work tree, so that lanes do not share it. */
    promptFile: string
    /** The run's folder below the transcripts; left out if it has none. */
    run?: string | null
  }

/** Requests to the model, and the tokens that the vendor says they took. */
type ProxyUsage = MeasuredTokens & { requests: number }
type ProxyMeter = { used(): ProxyUsage; onChange(listener: () => void): Disposable }

const CAPTURE_BYTES = 64 * 1024
const MAX_MESSAGE = 400
const NO_ESTIMATE: SessionResult['estimate'] = { answers: 0, inputTokens: 0, outputTokens: 0 }

/** The environment variables of a session alongside its prompt, and the name of its transcript. */
type SessionLabels = {
  transcript: string
  variables: Record<string, string>
  /** The model, instead of the mode's. */
  model?: string | undefined
  /** What the answer is, for a program that can hold its model to a schema; left out if it is free text. */
  answer?: AnswerKind
  /** Nothing that the session reads or says is kept or shown: it knows what examples expect. */
  isSecret?: true
}

/** A session's redacted answer and its usage. */
type SessionAnswer = { result: SessionResult; message: string; finalText: string; usage: Usage }

export function createSessions(options: SessionsOptions): AgentPort {
  const { redact } = options.redactor
  const redactedLine = (text: string) =>
    redact(withoutControls(text)).replace(/\s+/g, ' ').trim().slice(0, MAX_MESSAGE)

  async function runSession(
    request: SessionRequest,
    labels: SessionLabels,
    state: State,
    bounds: SessionBounds,
    signal: AbortSignal,
  ): Promise<SessionAnswer> {
    const step = request.mode === 'run' ? request.step : undefined
    const built = await buildPrompt(options, request, state)
    if (built === null)
      throw new UserError(missingPrompt(step?.prompt?.kind === 'file' ? step.prompt.path : ''))
    const prompt = redact(textOf(built.parts))
    const { promptFile } = options
    const transcripts = join(options.directory, 'transcripts', options.run ?? '')
    const transcriptPath = join(transcripts, `${labels.transcript}.log`)
    await clearPathTo(dirname(dirname(promptFile)), promptFile)
    if (labels.isSecret !== true) await clearPathTo(dirname(options.directory), transcriptPath)
    await writeFile(promptFile, prompt)
    const schema = await writeSchema(labels.answer)
    await using _prompt = labels.isSecret === true ? removedAtEnd(promptFile) : null
    await using home = await options.homes.open()
    const model = step?.model ?? labels.model ?? options.models[request.mode]
    const { env } = agentEnv(home.env(options.env), {
      extra: options.extraEnv,
      vendor: agentVariables(options.vendor),
      set: {
        RALPH_MODE: request.mode,
        RALPH_FEATURE: state.feature,
        RALPH_PROMPT_FILE: promptFile,
        ...(model === null ? {} : { RALPH_MODEL: model }),
        ...labels.variables,
      },
    })
    const before = options.proxy?.used() ?? null
    const since = () => usageSince(before, options.proxy?.used() ?? null)
    let usage = noUsage()
    let lastNoted = ''
    /** Notes the usage so far: if the process dies before the session ends, nothing else is known of it. */
    const noteUsed = () => {
      if (bounds.onUsed === undefined) return
      const { measured = null, estimate = NO_ESTIMATE } = since() ?? {}
      if (usage.inputTokens + usage.outputTokens === 0 && usage.costUsd === null && estimate.answers === 0)
        return
      const result = { status: 'killed' as const, usage, estimate, measured }
      const used = finalUsage(result, options.prices, model, bounds.reserved)
      const text = JSON.stringify(used)
      if (text !== lastNoted) bounds.onUsed(used)
      lastNoted = text
    }
    const costOf = (reported: AgentUsage): number | null => {
      const measured = since()?.measured ?? null
      const cost = reported.costUsd ?? costByPrices(reported, options.prices, model)
      // Some agents report only at the end: until then only the user's own prices may end a session.
      const hidden = hasReported(reported)
        ? costOfHidden(reported, measured, options.prices, model)
        : measured && costByPrices({ ...reported, ...measured }, options.prices, model)
      return hidden === null ? cost : Math.max(cost ?? 0, hidden)
    }
    using _noting = options.proxy?.onChange(noteUsed)
    using _admission = options.admit?.()
    const run = await runAgent({
      ...options,
      onEvent: (event) => {
        if (labels.isSecret !== true || event.kind === 'usage') options.onEvent?.(event)
        if (event.kind === 'usage') usage = { ...event.usage, calls: 1 }
        noteUsed()
      },
      commandLine: options.commandLine ?? undefined,
      wrapper: options.wrapper ?? undefined,
      model: model ?? undefined,
      extraArgs: [...options.args, ...(step?.args ?? [])],
      prompt,
      env,
      as: home.as,
      schema,
      timeoutMs: bounds.timeoutMs,
      budget: bounds.budget,
      costOf,
      ...(options.proxy == null
        ? {}
        : { measured: { tokens: () => since()?.measured ?? null, onChange: options.proxy.onChange } }),
      signal,
      ...(labels.isSecret === true ? {} : { transcriptPath }),
      captureBytes: CAPTURE_BYTES,
    })
    const result = { ...run, ...since() }
    const used = finalUsage(result, options.prices, model, bounds.reserved)
    return {
      result,
      message: redactedLine(result.message),
      finalText: redact(result.finalText),
      usage: used,
    }
  }

  /** For programs that read the schema from a file. */
  async function writeSchema(kind: AnswerKind | undefined) {
    if (kind === undefined) return undefined
    const file = join(options.directory, `answer-schema-${kind}.json`)
    const text = schemaText(kind)
    await clearPathTo(dirname(options.directory), file)
    await writeFile(file, text)
    return { text, file }
  }

  function toWorkResult({ result, message, finalText, usage }: SessionAnswer): Session {
    const { done, notDone, stuck, learnings } = readSignals(finalText)
    const { summary, next } = readClosing(finalText)
    const confidence = completionConfidence(finalText)
    return {
      status: STATUSES.get(result.status) ?? 'failed',
      message,
      resetsAt: result.resetsAt,
      hints: {
        ...{ done, notDone, stuck: stuck === null ? null : redactedLine(stuck) },
        ...(confidence === 0 ? {} : { confidence }),
      },
      learnings: learnings.map(redactedLine),
      ...(summary === '' ? {} : { summary: redactedLine(summary) }),
      ...(next === '' ? {} : { next: redactedLine(next) }),
      usage,
    }
  }

  /** The answer whether the stories ask for a change of what gates expect, as a verdict on them. */
  function expectationIn(answer: string, stories: readonly string[]): Verdict {
    const expectation = expectationInJson(answer) ?? readExpectation(answer)
    if (expectation === null) {
      const lines = '<ralph>EXPECTED</ralph> or <ralph>UNEXPECTED</ralph>'
      return { kind: 'none', message: `the judge's answer does not end with a line ${lines}` }
    }
    if (expectation.kind === 'expected') return { kind: 'verified' }
    const reason = redactedLine(expectation.reason) || 'the judge gave no reason'
    return { kind: 'reset', stories: [...stories], reason }
  }

  function verdictIn(
    { finalText }: SessionAnswer,
    { stories, expectation, counterexample }: JudgeTask,
  ): Verdict {
    const { answersInOutput = false } = options.vendor
    const answer = answersInOutput ? markersAtEnd(finalText) : finalText
    if (expectation !== undefined || counterexample !== undefined) return expectationIn(answer, stories)
    const verdict = verdictInJson(answer) ?? readSignals(answer).verdict
    if (verdict === null) {
      const lines = '<ralph>VERIFIED</ralph> or <ralph>RESET:ids</ralph>'
      const place = answersInOutput
        ? "the judge's output does not end with a line"
        : "the judge's answer does not have a line"
      const how = answersInOutput ? ': the agent must print it last (docs/custom-agent.md)' : ''
      return { kind: 'none', message: `${place} ${lines}${how}` }
    }
    if (verdict.kind === 'verified') {
      const { evidence } = verdict
      if (evidence === undefined) return { kind: 'verified' }
      return {
        kind: 'verified',
        evidence: evidence.map((one) => ({ ...one, shown: redactedLine(one.shown) })),
      }
    }
    const ids = verdict.ids.filter((id) => stories.includes(id))
    if (ids.length === 0) return { kind: 'none', message: 'the judge named only stories that do not exist' }
    const reason = redactedLine(verdict.reason) || 'the judge gave no reason'
    const commands = (verdict.commands ?? []).filter(({ storyId }) => ids.includes(storyId))
    const counterexamples = commands.map(({ storyId, run }) => ({ storyId, run: redact(run), files: [] }))
    return { kind: 'reset', stories: ids, reason, ...(commands.length === 0 ? {} : { counterexamples }) }
  }

  function wordsIn({ finalText }: SessionAnswer, { kind }: WordsTask): Words {
    // What other programs print may be anything: only what they mark as the answer is posted.
    const isMarked = finalText.includes(ANSWER) || finalText.includes(ASKS_CHANGE)
    if (kind === 'answer' && options.vendor.answersInOutput === true && !isMarked)
      return { kind: 'none', message: `the agent's output does not have a line ${ANSWER}` }
    return { kind: 'words', text: finalText }
  }

  function proposalIn({ finalText }: SessionAnswer, task: PlanTask): Proposal {
    const read = readProposal(finalText, task)
    return read.kind === 'none' ? { ...read, message: redactedLine(read.message) } : read
  }

  return {
    async work(state, attempt, { conflict, step, ...bounds }, signal) {
      const story = state.prd.userStories.find((one) => one.id === attempt.storyId)
      if (story === undefined) throw new Error(`${attempt.storyId} is not in prd.json`)
      const variables = {
        RALPH_STORY_ID: story.id,
        RALPH_ATTEMPT: String(attempt.number),
        ...(slotOf(attempt) === undefined ? {} : { RALPH_CANDIDATE: String(slotOf(attempt)) }),
      }
      const labels = {
        transcript: `${attemptName(state, story.id)}${step?.log ?? ''}`,
        variables: { ...variables, ...(step === undefined ? {} : { RALPH_STEP: step.name }) },
        model: attempt.model,
      }
      const request = { mode: 'run' as const, story, conflict, ...(step === undefined ? {} : { step }) }
      return toWorkResult(await runSession(request, labels, state, bounds, signal))
    },
    async setUp(state, attempt, bounds, signal) {
      const found = await findTemplate('setup', (path) => options.read(state.green, path))
      if (found === null) return null
      options.onEvent?.({ kind: 'text', text: `sets up the project first, as ${found.path} says` })
      const labels = { transcript: `${attemptName(state, attempt.storyId)}-setup`, variables: {} }
      return toWorkResult(await runSession({ mode: 'setup' }, labels, state, bounds, signal))
    },
    /** A judge that fails, or gives no verdict, has not approved. */
    async judge(state, task, bounds, signal) {
      const isQuestion = task.expectation !== undefined || task.counterexample !== undefined
      const asked = isQuestion ? ('expectation' as const) : ('verdict' as const)
      const labels = { transcript: `verify-${Date.now()}`, variables: {}, answer: asked }
      const answer = await runSession({ mode: 'verify', task }, labels, state, bounds, signal)
      return { verdict: failureAnswer(answer) ?? verdictIn(answer, task), usage: answer.usage }
    },
    async ask(state, task, bounds, signal) {
      const answer = await runSession(
        { mode: 'verify', asked: task },
        wordsLabels(task),
        state,
        bounds,
        signal,
      )
      const failure = failureAnswer(answer)
      return { answer: failure ?? wordsIn(answer, task), usage: answer.usage }
    },
    async plan(state, task, bounds, signal) {
      const variables: Record<string, string> = task.split === null ? {} : { RALPH_STORY_ID: task.split }
      // Questions before a plan are words for people.
      const asked = task.asks === true ? {} : { answer: 'plan' as const }
      const labels = { transcript: `plan-${Date.now()}`, variables, ...asked }
      const answer = await runSession({ mode: 'plan', task }, labels, state, bounds, signal)
      return { proposal: failureAnswer(answer) ?? proposalIn(answer, task), usage: answer.usage }
    },
  }
}

function wordsLabels({ kind, storyId }: WordsTask): SessionLabels {
  const mode = kind === 'write' ? 'examples' : kind
  const labels = {
    transcript: `${mode}-${Date.now()}`,
    variables: { RALPH_MODE: mode, RALPH_STORY_ID: storyId },
  }
  return kind === 'write' ? { ...labels, isSecret: true } : labels
}

function removedAtEnd(file: string): AsyncDisposable {
  return { [Symbol.asyncDispose]: () => rm(file, { force: true }) }
}

/** Statuses that do not count as a failure of the story. */
const STATUSES: ReadonlyMap<SessionResult['status'], Session['status']> = new Map([
  ['finished', 'finished'],
  ['limit', 'limit'],
  ['overloaded', 'overloaded'],
  ['auth', 'auth'],
  ['not-started', 'not-started'],
  ['aborted', 'interrupted'],
])

/** Why there is no answer; null if the session finished. */
function failureAnswer({ result: { status, resetsAt }, message }: SessionAnswer) {
  if (status === 'finished') return null
  if (status === 'limit' || status === 'overloaded')
    return { kind: 'limit' as const, notBefore: resetsAt, message }
  const isRefused = status === 'auth' || status === 'not-started'
  return { kind: isRefused ? ('refused' as const) : ('none' as const), message }
}

const NO_WORDS = {
  answer: { kind: 'none' as const, message: 'this agent cannot run a read-only session' },
  usage: emptyUsage(),
}

/** Combines two agents: `second` works on attempts that were reserved for it; `judge` says which of them judges. */
export function withFallback(
  first: AgentPort,
  second: AgentPort | null,
  judge: (state: State) => Attempt['agent'],
): AgentPort {
  if (second === null) return first
  const portOf = (which: Attempt['agent']) => (which === 'fallback' ? second : first)
  return {
    work: (state, attempt, bounds, signal) => portOf(attempt.agent).work(state, attempt, bounds, signal),
    setUp: (state, attempt, bounds, signal) => portOf(attempt.agent).setUp(state, attempt, bounds, signal),
    judge: (state, task, bounds, signal) => portOf(judge(state)).judge(state, task, bounds, signal),
    plan: (state, task, bounds, signal) => portOf(judge(state)).plan(state, task, bounds, signal),
    async ask(state, task, bounds, signal) {
      const { ask } = portOf(judge(state))
      return ask?.(state, task, bounds, signal) ?? NO_WORDS
    },
  }
}

/** A session's usage by the proxy, known even if its program died; null without a proxy, or without requests. */
function usageSince(
  before: ProxyUsage | null,
  after: ProxyUsage | null,
): { estimate: SessionResult['estimate']; measured: MeasuredTokens } | null {
  if (before === null || after === null || after.requests === before.requests) return null
  const inputTokens = after.inputTokens - before.inputTokens
  const outputTokens = after.outputTokens - before.outputTokens
  return {
    estimate: { answers: after.requests - before.requests, inputTokens, outputTokens },
    measured: { inputTokens, outputTokens, cachedTokens: after.cachedTokens - before.cachedTokens },
  }
}
