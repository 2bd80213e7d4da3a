// Starts a fresh session for a story or a judgement and hears what it says. Implements AgentPort.
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type PromptFacts, runPrompt, verifyPrompt } from '../loop/prompt.ts'
import type { Verdict } from '../model/event.ts'
import { attemptName } from '../model/paths.ts'
import type { AgentPort, SessionBounds } from '../model/ports.ts'
import type { Session, State } from '../model/state.ts'
import type { Price } from '../model/usage.ts'
import { clearWay } from '../system/files.ts'
import type { OtherUser } from '../system/other-user.ts'
import type { Redactor } from '../system/redact.ts'
import { agentEnv, type Environment } from '../system/untrusted-env.ts'
import { withoutControls } from '../system/workflow-commands.ts'
import { type AgentEvent, type AgentVendor, type SessionResult, variablesOf } from './agent.ts'
import { costByPrices, settled } from './cost.ts'
import { runAgent } from './run.ts'
import { readSignals } from './signals.ts'

export type SessionsOptions = {
  vendor: AgentVendor
  /** The command line of a custom agent. */
  commandLine: string | null
  wrapper: string | null
  args: readonly string[]
  models: { run: string | null; verify: string | null }
  /** By model; for agents that do not report what they cost. */
  prices: Readonly<Record<string, Price>>
  extraEnv: readonly string[]
  env: Environment
  cwd: string
  idleTimeoutMs: number
  /** `name: command` of each gate that will run for these tags (all of them for null). */
  gates(tags: readonly string[] | null): string[]
  instructions: string
  /** Ralph's or people's text at the green commit. */
  read(commit: string, path: string): Promise<string | null>
  /** Transcripts and the prompt file, on this machine only. */
  directory: string
  redactor: Redactor
  /** See RunRequest. */
  mark?: string
  /** See RunRequest. */
  as?: OtherUser | null
  onEvent(event: AgentEvent): void
}

const CAPTURE_BYTES = 64 * 1024
const MESSAGE = 400

export function createSessions(options: SessionsOptions): AgentPort {
  async function session(
    mode: 'run' | 'verify',
    state: State,
    text: string,
    { timeoutMs, budget }: SessionBounds,
    signal: AbortSignal,
  ) {
    const { attempt } = state
    const prompt = options.redactor.redact(text)
    const promptFile = join(options.directory, 'prompt.md')
    const name = mode === 'run' && attempt !== null ? attemptName(state, attempt) : `verify-${Date.now()}`
    const transcript = join(options.directory, 'transcripts', `${name}.log`)
    await clearWay(dirname(options.directory), promptFile)
    await clearWay(dirname(options.directory), transcript)
    await writeFile(promptFile, prompt)
    const set: Record<string, string> = {
      RALPH_MODE: mode,
      RALPH_FEATURE: state.feature,
      RALPH_PROMPT_FILE: promptFile,
    }
    if (mode === 'run' && attempt !== null) {
      set.RALPH_STORY_ID = attempt.storyId
      set.RALPH_ATTEMPT = String(attempt.number)
    }
    const { env } = agentEnv(options.env, {
      extra: options.extraEnv,
      vendor: variablesOf(options.vendor),
      set,
    })
    const model = options.models[mode]
    return runAgent({
      vendor: options.vendor,
      ...(options.commandLine === null ? {} : { commandLine: options.commandLine }),
      ...(options.wrapper === null ? {} : { wrapper: options.wrapper }),
      ...(model === null ? {} : { model }),
      extraArgs: options.args,
      prompt,
      cwd: options.cwd,
      env,
      timeoutMs,
      budget,
      costOf: (usage) => usage.costUsd ?? costByPrices(usage, options.prices, model),
      idleTimeoutMs: options.idleTimeoutMs,
      signal,
      onEvent: options.onEvent,
      redactor: options.redactor,
      transcriptPath: transcript,
      captureBytes: CAPTURE_BYTES,
      ...(options.mark === undefined ? {} : { mark: options.mark }),
      as: options.as ?? null,
    })
  }

  async function facts(
    state: State,
    tags: readonly string[] | null,
    dropped: readonly string[],
    conflict: string | null,
  ): Promise<PromptFacts> {
    return {
      gates: options.gates(tags),
      instructions: options.instructions,
      context: (await options.read(state.green, `${state.folder}/context.md`)) ?? '',
      dropped,
      conflict,
    }
  }

  const oneLine = (text: string) =>
    options.redactor.redact(withoutControls(text)).replace(/\s+/g, ' ').trim().slice(0, MESSAGE)

  return {
    async work(state, attempt, { conflict, ...bounds }, signal) {
      const story = state.prd.userStories.find((one) => one.id === attempt.storyId)
      if (story === undefined) throw new Error(`${attempt.storyId} is not in prd.json`)
      const template = await options.read(state.green, '.ralph/prompts/run.md')
      const told = await facts(state, story.tags, state.kept[story.id]?.dropped ?? [], conflict)
      const result = await session('run', state, runPrompt(template, state, story, told), bounds, signal)
      const signals = readSignals(options.redactor.redact(result.finalText))
      return {
        status: statusOf(result),
        message: oneLine(result.message),
        usage: settled(result, options.prices, options.models.run, bounds.reserved),
        resetsAt: result.resetsAt,
        hints: {
          done: signals.done,
          notDone: signals.notDone,
          stuck: signals.stuck === null ? null : oneLine(signals.stuck),
        },
        learnings: signals.learnings.map(oneLine),
      }
    },

    async judge(state, stories, bounds, signal) {
      // An agent's settings there would speak to whoever judges it.
      await options.as?.renewHome()
      const template = await options.read(state.green, '.ralph/prompts/verify.md')
      const prompt = verifyPrompt(template, state, stories, await facts(state, null, [], null))
      const result = await session('verify', state, prompt, bounds, signal)
      return {
        verdict: verdictOf(result, stories, options, oneLine),
        usage: settled(result, options.prices, options.models.verify, bounds.reserved),
      }
    },
  }
}

function statusOf(result: SessionResult): Session['status'] {
  switch (result.status) {
    case 'finished':
    case 'limit':
    case 'overloaded':
    case 'auth':
    case 'not-started':
      return result.status
    case 'aborted':
      return 'interrupted'
    default:
      return 'failed'
  }
}

/** A judge that errs, or says neither, has not approved. */
function verdictOf(
  result: SessionResult,
  stories: readonly string[],
  { vendor, redactor }: SessionsOptions,
  oneLine: (text: string) => string,
): Verdict {
  if (result.status === 'limit' || result.status === 'overloaded') {
    return { kind: 'limit', notBefore: result.resetsAt, message: oneLine(result.message) }
  }
  if (result.status === 'auth' || result.status === 'not-started')
    return { kind: 'refused', message: oneLine(result.message) }
  if (result.status !== 'finished') return { kind: 'none', message: oneLine(result.message) }
  const { verdict } = readSignals(redactor.redact(result.finalText))
  if (verdict === null) {
    const hint = vendor.name === 'custom' ? ', which the agent must print (docs/custom-agent.md)' : ''
    const lines = '<ralph>VERIFIED</ralph> or <ralph>RESET:ids</ralph>'
    return { kind: 'none', message: `no line ${lines} in the judge's answer${hint}` }
  }
  if (verdict.kind === 'verified') return verdict
  const ids = verdict.ids.filter((id) => stories.includes(id))
  if (ids.length === 0) return { kind: 'none', message: 'the judge reset stories that do not exist' }
  return { kind: 'reset', stories: ids, reason: oneLine(verdict.reason) || 'the judge gave no reason' }
}
