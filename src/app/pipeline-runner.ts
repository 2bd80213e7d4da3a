// Runs the pipeline of steps from the settings. The loop sees all steps before the commit as one session of the agent.
import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { writeCommit } from '../branch/commits.ts'
import { findPortConflict } from '../engine/gating/gate-memory.ts'
import { newGateRun, runGatesOn, withoutSessionFiles } from '../engine/gating/gate-run.ts'
import type { Attempt } from '../engine/model/attempt.ts'
import type { GateResult } from '../engine/model/gate.ts'
import { attemptName } from '../engine/model/paths.ts'
import {
  type AgentStep,
  agentsIn,
  type CommandStep,
  type Pipeline,
  type PipelineStep,
} from '../engine/model/pipeline-step.ts'
import type { AgentPort, Clock, GatesPort, RepositoryPort } from '../engine/model/ports.ts'
import type { State } from '../engine/model/state.ts'
import * as pure from '../engine/pipeline.ts'
import { redGate, redGateReason, withRecord } from '../engine/state/state-updates.ts'
import { RALPH_IDENTITY } from '../git/git-process.ts'
import type { GatesPortOptions, PortOptions } from './port-options.ts'

export type StepTools = {
  /** The run's agent; `agents`: those that steps name. */
  base: AgentPort
  agents: ReadonlyMap<string, AgentPort>
  gates: GatesPort
  repository: Pick<RepositoryPort, 'saveWork' | 'checkOut' | 'restore' | 'ignored'>
  /** A commit of a tree on top of another, which no branch holds. */
  commit(tree: string, parent: string): Promise<string>
  command(step: CommandStep, what: string, timeoutMs: number, signal: AbortSignal): Promise<GateResult>
  cwd: string
  clock: Clock
  /** `agent`: the agent whose output follows, if it is not that of the run. */
  report(text: string, agent?: string | null): void
  warn(text: string): void
}

/** Functions that make the ports of a step. They are passed in because loop-ports.ts imports this file. */
type Makers = {
  agentOf(options: PortOptions, name: string): Promise<AgentPort>
  gatesOf(options: GatesPortOptions): GatesPort
}

/** The run's agent with the steps of the settings around it. Throws UserError if an agent that a step names cannot be started. */
export async function withSteps(
  pipeline: Pipeline,
  ports: Pick<StepTools, 'base' | 'gates' | 'clock'>,
  options: PortOptions,
  { agentOf, gatesOf }: Makers,
): Promise<AgentPort> {
  const { settings, workspace, onAgent, warn } = options
  const agents = new Map<string, AgentPort>()
  for (const name of agentsIn(pipeline))
    if (name !== settings.agent) agents.set(name, await agentOf(options, name))
  const { git, repository, clone } = workspace
  return withPipeline(pipeline, {
    ...ports,
    agents,
    repository,
    commit: (tree, parent) => writeCommit(git, RALPH_IDENTITY, tree, [parent], 'steps'),
    async command({ name, run }, what, timeoutMs, signal) {
      // A command runs as a gate does: its user, environment, limits and log.
      const gate = { name: `step-${pure.fileWord(name)}`, run, timeoutMs, when: null, advisory: false }
      const stepSettings = { ...settings, gates: [gate], prepare: null, services: [], browser: null }
      const gates = gatesOf({
        ...options,
        settings: stepSettings,
        onGateStart: () => {},
        onGateEnd: () => {},
      })
      const gateRun = {
        of: 'story',
        tags: null,
        stories: [],
        what,
        commit: '',
        from: '',
        baseline: {},
      } as const
      const [result] = await gates.run(gateRun, signal)
      return result ?? { ...gate, ok: false, ended: 'cancelled', ms: 0, output: '' }
    },
    cwd: resolve(clone.workTree, settings.workingDirectory),
    report: (text, agent = null) => onAgent({ kind: 'step', text, agent }),
    warn,
  })
}

export function withPipeline(pipeline: Pipeline, tools: StepTools): AgentPort {
  const { base, clock, report } = tools
  return {
    judge: base.judge,
    ...(base.ask === undefined ? {} : { ask: base.ask }),
    plan: base.plan,
    setUp: pipeline.setsUp ? base.setUp : async () => null,
    async work(state, attempt, { conflict, timeoutMs, ...bounds }, signal) {
      const { circuits = {} } = state.control
      const steps = pipeline.before.map((step) => forFallbackAgent(step, attempt, tools))
      const context = { steps, state, attempt, tools, signal, isBefore: true }
      const runTry = ({ step, tries, bounds, failed: failure }: pure.StepTry) => {
        if (step.type !== 'agent') return runStep(step, context, bounds.timeoutMs)
        const withFailure =
          failure === null ? state : withRecord(state, attempt.storyId, (record) => ({ ...record, failure }))
        const sessionBounds = { ...bounds, conflict, step: pure.sessionStep(steps, step, tries) }
        return (tools.agents.get(step.agent ?? '') ?? base).work(withFailure, attempt, sessionBounds, signal)
      }
      const start = { deadline: clock.now() + timeoutMs, circuits, bounds }
      const result = await pure.runPipelineSteps(steps, start, { clock, signal, report, attempt: runTry })
      const session = pure.foldSessions(result)
      return result.circuits === circuits ? session : { ...session, circuits: result.circuits }
    },
    ...(pipeline.after.length === 0 ? {} : { afterwards: afterwards(pipeline, tools) }),
  }
}

/** The steps after the commit. Their changes are discarded, and a failure is only a warning, because the story has passed. */
function afterwards({ after: steps }: Pipeline, tools: StepTools): NonNullable<AgentPort['afterwards']> {
  const { clock, report } = tools
  return async (state, attempt, timeoutMs, signal) => {
    const { circuits: circuitsBefore = {} } = state.control
    const context = { steps, state, attempt, tools, signal, isBefore: false }
    const runTry = async ({ step, bounds }: pure.StepTry) => {
      if (step.type === 'agent') throw new Error('no session starts after the commit')
      return runStep(step, context, bounds.timeoutMs)
    }
    const noBudget = { costUsd: null, tokens: null }
    const bounds = { budget: noBudget, reserved: noBudget }
    const start = { deadline: clock.now() + timeoutMs, circuits: circuitsBefore, bounds }
    const { circuits, ended } = await pure.runPipelineSteps(steps, start, {
      clock,
      signal,
      report,
      attempt: runTry,
    })
    if (await tools.repository.restore(attempt.candidate.commit))
      report('Ralph discarded the changes that steps after git-commit made')
    if (ended?.status === 'failed')
      tools.warn(
        `${ended.message}, but ${attempt.storyId} has passed, because Ralph committed it before that step`,
      )
    return {
      ...(ended?.pause === undefined ? {} : { pause: ended.pause }),
      ...(circuits === circuitsBefore ? {} : { circuits }),
    }
  }
}

type StepContext = {
  steps: readonly PipelineStep[]
  state: State
  attempt: Attempt
  tools: StepTools
  signal: AbortSignal
  /** Whether the step is before the commit. */
  isBefore: boolean
}

/** The fallback agent does not know the models and arguments of the first agent's step. */
function forFallbackAgent(step: PipelineStep, attempt: Attempt, { agents }: StepTools): PipelineStep {
  if (step.type !== 'agent' || attempt.agent === 'first' || agents.has(step.agent ?? '')) return step
  return { ...step, agent: null, model: null, args: [] }
}

async function runStep(
  step: Exclude<PipelineStep, AgentStep>,
  context: StepContext,
  timeoutMs: number,
): Promise<pure.StepOutcome> {
  const { state, attempt, tools, signal } = context
  switch (step.type) {
    case 'noop':
      return { kind: 'ok' }
    case 'command': {
      const what = attemptName(state, attempt.storyId)
      return commandResult(step, await tools.command(step, what, timeoutMs, signal))
    }
    case 'verify':
      return runVerifyStep(step, context, timeoutMs)
    case 'readme-check': {
      const problem = await readmeProblem(tools.cwd, step.path)
      return problem === null ? { kind: 'ok' } : { kind: 'failed', summary: problem, detail: '' }
    }
  }
}

/** Runs the gates on the story's work so far, which does not change. Only the gates after the last step decide on the story. */
async function runVerifyStep(
  step: PipelineStep,
  context: StepContext,
  timeoutMs: number,
): Promise<pure.StepOutcome> {
  const { state, attempt, steps, isBefore } = context
  const { repository, gates, commit: writeStepCommit } = context.tools
  if (!isBefore || steps.at(-1) === step) return { kind: 'ok' }
  const savedWork = await repository.saveWork(state, attempt.storyId)
  if (savedWork === null) return { kind: 'ok' }
  if (savedWork.dropped.length > 0) {
    const detail = savedWork.dropped.slice(0, 20).join('\n')
    return { kind: 'failed', summary: 'the guard would refuse its changes', detail }
  }
  const commit = await writeStepCommit(savedWork.tree, state.green)
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(Math.min(timeoutMs, 2 ** 31 - 1))])
  const stories = state.prd.userStories.filter(({ id }) => id === attempt.storyId)
  const tags = stories.flatMap((story) => story.tags)
  const what = `${attemptName(state, attempt.storyId)}-${pure.fileWord(step.name)}`
  try {
    const run = newGateRun(state, { of: 'story', tags, stories, what, commit })
    const place = { repository, gates }
    const results = await withoutSessionFiles(place, () => runGatesOn(run, { ...place, signal }))
    const conflict = findPortConflict(results)
    if (conflict !== null) return { kind: 'ends-run', reason: `${conflict.summary}: ${conflict.fix}` }
    const red = redGate(results)
    if (red === undefined) return { kind: 'ok' }
    return { kind: 'failed', summary: redGateReason(red, results), detail: red.output }
  } finally {
    await repository.checkOut(state.green, { ...savedWork, base: state.green })
  }
}

function commandResult({ endRunOn, name }: CommandStep, { ok, ended, output }: GateResult): pure.StepOutcome {
  const code = /^exit (\d+)$/.exec(ended)?.[1]
  if (code !== undefined && endRunOn.includes(Number(code))) {
    const lastLine = output.trimEnd().split('\n').at(-1)?.trim().slice(0, 200) ?? ''
    return { kind: 'ends-run', reason: `step ${name} ends the run (${lastLine === '' ? ended : lastLine})` }
  }
  if (ok) return { kind: 'ok' }
  return { kind: 'failed', summary: ended, detail: output }
}

const README = /^readme(?:\.[a-z]+)?$/i

/** What is wrong: there is no README, or it is empty. Null if there is one with text. Only its size is checked. */
async function readmeProblem(cwd: string, path: string | null): Promise<string | null> {
  const names =
    path === null ? (await readdir(cwd).catch(() => [])).filter((name) => README.test(name)) : [path]
  for (const name of names) {
    const found = await stat(join(cwd, name)).catch(() => null)
    if (found?.isFile() === true && found.size > 0) return null
  }
  return names.length === 0 || path !== null
    ? `there is no ${path ?? 'README'}`
    : `${names.join(', ')} is empty`
}
