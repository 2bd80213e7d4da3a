// Runs the steps that people set up around the agent: those before the commit are its session for the loop.
import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { writeCommit } from '../git/commits.ts'
import { RALPH } from '../git/state-commit.ts'
import { redWords, withRecord } from '../loop/change.ts'
import * as pure from '../loop/pipeline.ts'
import type { GateResult } from '../model/gate.ts'
import { attemptName } from '../model/paths.ts'
import {
  type AgentStep,
  agentsIn,
  type CommandStep,
  type Pipeline,
  type PipelineStep,
} from '../model/pipeline.ts'
import type { AgentPort, Clock, GatesPort, RepositoryPort } from '../model/ports.ts'
import type { Attempt, State } from '../model/state.ts'
import { excerpt } from '../system/excerpt.ts'
import type { GatesPortOptions, PortOptions } from './ports.ts'

/** What steps are made of. */
export type StepTools = {
  /** The run's own agent, and those that steps name. */
  base: AgentPort
  agents: ReadonlyMap<string, AgentPort>
  gates: GatesPort
  repository: Pick<RepositoryPort, 'keep' | 'checkOut' | 'restore'>
  /** A commit of a tree on top of another, which no branch holds. */
  commit(tree: string, parent: string): Promise<string>
  command(step: CommandStep, what: string, timeoutMs: number, signal: AbortSignal): Promise<GateResult>
  /** Where agents and gates run. */
  cwd: string
  clock: Clock
  /** `agent`: whose words come next, where it is not the run's own. */
  say(text: string, agent?: string | null): void
  warn(text: string): void
}

/** Of a command's output, for the next prompt; UTF-8 bytes. */
const DETAIL_BYTES = 4000

/** How other ports are made, for a step: they are put together above. */
type Makers = {
  agentOf(options: PortOptions, name: string): Promise<AgentPort>
  gatesOf(options: GatesPortOptions): GatesPort
}

/** The run's agent with the steps of the settings around it. Throws UserError when an agent of theirs cannot be started. */
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
  const { git, objects, repository, clone } = workspace
  return withPipeline(pipeline, {
    ...ports,
    agents,
    repository,
    commit: (tree, parent) => writeCommit({ git, objects }, RALPH, tree, [parent], 'steps'),
    async command({ name, run }, what, timeoutMs, signal) {
      // As a gate runs: its user, its environment, its bounds, its log.
      const gate = { name: `step-${pure.fileWord(name)}`, run, timeoutMs, when: null, advisory: false }
      const own = { ...settings, gates: [gate], prepare: null, services: [], browser: null }
      const gates = gatesOf({ ...options, settings: own, onGateStart: () => {}, onGateEnd: () => {} })
      const one = { of: 'story', tags: null, stories: [], what, commit: '', from: '', baseline: {} } as const
      const [result] = await gates.run(one, signal)
      return result ?? { ...gate, ok: false, ended: 'cancelled', ms: 0, output: '' }
    },
    cwd: resolve(clone.workTree, settings.workingDirectory),
    say: (text, agent = null) => onAgent({ kind: 'step', text, agent }),
    warn,
  })
}

export function withPipeline(pipeline: Pipeline, tools: StepTools): AgentPort {
  const { base } = tools
  return {
    judge: base.judge,
    plan: base.plan,
    setUp: pipeline.setsUp ? base.setUp : async () => null,
    async work(state, attempt, { conflict, timeoutMs, ...bounds }, signal) {
      const begun = pure.begin(tools.clock.now() + timeoutMs, state.control.circuits ?? {})
      const steps = new Steps(pipeline, pipeline.before, { state, attempt, conflict }, tools, signal)
      const { progress, why } = await steps.run(begun, bounds)
      const session = pure.foldSessions(progress, why)
      return progress.circuits === begun.circuits ? session : { ...session, circuits: progress.circuits }
    },
    ...(pipeline.after.length === 0 ? {} : { afterwards: afterwards(pipeline, tools) }),
  }
}

/** What they write is thrown away, and what they fail at is a warning: the story has passed. */
function afterwards(pipeline: Pipeline, tools: StepTools): NonNullable<AgentPort['afterwards']> {
  return async (state, attempt, timeoutMs, signal) => {
    const { circuits = {} } = state.control
    const begun = pure.begin(tools.clock.now() + timeoutMs, circuits)
    const steps = new Steps(pipeline, pipeline.after, { state, attempt, conflict: null }, tools, signal)
    const nothing = { costUsd: null, tokens: null }
    const { progress, why } = await steps.run(begun, { budget: nothing, reserved: nothing })
    if (await tools.repository.restore(attempt.candidate.commit))
      tools.say('what steps behind git-commit wrote is thrown away')
    if (why?.status === 'failed') tools.warn(`${why.message}; ${attempt.storyId} has passed all the same`)
    return {
      ...(why?.pause === undefined ? {} : { pause: why.pause }),
      ...(progress.circuits === circuits ? {} : { circuits: progress.circuits }),
    }
  }
}

type On = { state: State; attempt: Attempt; conflict: string | null }
type Trial = Extract<pure.Move, { kind: 'try' }>

/** One iteration's way through a list of steps. */
class Steps {
  readonly #pipeline: Pipeline
  readonly #steps: readonly PipelineStep[]
  readonly #on: On
  readonly #tools: StepTools
  readonly #signal: AbortSignal

  constructor(
    pipeline: Pipeline,
    steps: readonly PipelineStep[],
    on: On,
    tools: StepTools,
    signal: AbortSignal,
  ) {
    this.#pipeline = pipeline
    this.#steps = steps
    this.#on = on
    this.#tools = tools
    this.#signal = signal
  }

  async run(begun: pure.Progress, bounds: Parameters<typeof pure.nextMove>[2]) {
    const { clock, say } = this.#tools
    let progress = begun
    for (;;) {
      const move = pure.nextMove(this.#steps, progress, bounds, clock.now())
      const isWhole = move.kind === 'end' && move.why === null
      if (this.#signal.aborted && !isWhole) return { progress, why: pure.CANCELLED }
      if (move.kind === 'end') return { progress, why: move.why }
      if (move.kind === 'wait') {
        say(`${move.step.name} is tried again in ${Math.ceil(move.ms / 1000)} s`)
        await clock.sleep(move.ms, this.#signal)
      } else if (move.kind === 'rest') {
        say(`${move.step.name} is left out: it rests until ${new Date(move.until).toISOString()}`)
        progress = pure.rested(this.#steps, progress, move.step, move.until)
      } else progress = await this.#try(move, progress)
    }
  }

  async #try(move: Trial, progress: pure.Progress): Promise<pure.Progress> {
    const { clock, say } = this.#tools
    const { step, tries } = move
    const again = tries === 0 ? '' : `, try ${tries + 1}`
    const agent = step.type === 'agent' ? step.agent : null
    const place = `${progress.at + 1} of ${this.#steps.length}`
    say(`${place}: ${step.name} (${agent ?? step.type}${again})`, agent)
    if (step.type === 'agent') {
      const session = await this.#session(step, move, progress)
      const after = pure.worked(this.#steps, progress, this.#ranAs(step), session, clock.now())
      return this.#told(after, progress)
    }
    const result = await this.#act(step, move)
    // What was cut short has not failed.
    if (this.#signal.aborted) return progress
    return this.#told(pure.tried(progress, step, result, clock.now()), progress)
  }

  /** A failure that ends nothing is told; one that does is what the attempt came to. */
  #told(after: pure.Progress, before: pure.Progress): pure.Progress {
    if (after.failed !== null && after.failed !== before.failed)
      this.#tools.say(`${after.failed.summary.replace(/^step /, '')}; goes on`)
    return after
  }

  #session(step: AgentStep, { tries, bounds }: Trial, { failed }: pure.Progress) {
    const { state, attempt, conflict } = this.#on
    const { base, agents } = this.#tools
    if (attempt.phase !== 'reserved') throw new Error('no session is begun behind the commit')
    const own = step.agent === null ? undefined : agents.get(step.agent)
    const { model, args } = this.#ranAs(step)
    const told =
      failed === null
        ? state
        : withRecord(state, attempt.storyId, (record) => ({ ...record, failure: failed }))
    const session = pure.sessionStep(this.#pipeline, step, tries)
    const how = { ...bounds, conflict, step: { ...session, model, args } }
    return (own ?? base).work(told, attempt, how, this.#signal)
  }

  /** Whoever stands in for the run's agent knows neither its models nor its arguments. */
  #ranAs(step: AgentStep): AgentStep {
    const isOwn = step.agent !== null && this.#tools.agents.has(step.agent)
    return isOwn || this.#on.attempt.agent === 'first'
      ? step
      : { ...step, agent: null, model: null, args: [] }
  }

  async #act(step: Exclude<PipelineStep, AgentStep>, { bounds }: Trial): Promise<pure.Tried> {
    const { state, attempt } = this.#on
    switch (step.type) {
      case 'noop':
        return { kind: 'ok' }
      case 'command': {
        const what = attemptName(state, attempt.storyId)
        return triedCommand(step, await this.#tools.command(step, what, bounds.timeoutMs, this.#signal))
      }
      case 'verify':
        return this.#verify(step, bounds.timeoutMs)
      case 'readme-check': {
        const why = await readmeTrouble(this.#tools.cwd, step.path)
        return why === null ? { kind: 'ok' } : { kind: 'failed', summary: why, detail: '' }
      }
    }
  }

  /** The gates on the story's work as it stands, which stays as it is. What counts is their run with the commit. */
  async #verify(step: PipelineStep, timeoutMs: number): Promise<pure.Tried> {
    const { state, attempt } = this.#on
    const { repository, gates, commit: write } = this.#tools
    if (this.#steps !== this.#pipeline.before || this.#steps.at(-1) === step) return { kind: 'ok' }
    const kept = await repository.keep(state, attempt.storyId)
    if (kept === null) return { kind: 'ok' }
    if (kept.dropped.length > 0) {
      const detail = kept.dropped.slice(0, 20).join('\n')
      return { kind: 'failed', summary: 'the guard would refuse what was changed', detail }
    }
    const commit = await write(kept.tree, state.green)
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(Math.min(timeoutMs, 2 ** 31 - 1))])
    const stories = state.prd.userStories.filter(({ id }) => id === attempt.storyId)
    const tags = stories.flatMap((story) => story.tags)
    const what = `${attemptName(state, attempt.storyId)}-${pure.fileWord(step.name)}`
    const baseline = state.baselineGates ?? {}
    try {
      const prepared = await gates.prepare(commit, signal, what)
      const results = prepared === null ? [] : [prepared]
      if (prepared?.ok !== false)
        results.push(
          ...(await gates.run(
            { of: 'story', tags, stories, what, commit, from: state.green, baseline },
            signal,
          )),
        )
      const red = results.find(({ ok, advisory }) => !ok && !advisory)
      if (red === undefined) return { kind: 'ok' }
      return {
        kind: 'failed',
        summary: redWords(red, results),
        detail: excerpt(red.output, DETAIL_BYTES),
      }
    } finally {
      await repository.checkOut(state.green, { ...kept, base: state.green })
    }
  }
}

function triedCommand({ endRunOn, name }: CommandStep, { ok, ended, output }: GateResult): pure.Tried {
  const code = /^exit (\d+)$/.exec(ended)?.[1]
  if (code !== undefined && endRunOn.includes(Number(code))) {
    const last = output.trimEnd().split('\n').at(-1)?.trim().slice(0, 200) ?? ''
    return { kind: 'ends-run', reason: `step ${name} ends the run (${last === '' ? ended : last})` }
  }
  if (ok) return { kind: 'ok' }
  return { kind: 'failed', summary: ended, detail: excerpt(output, DETAIL_BYTES) }
}

const README = /^readme(?:\.[a-z]+)?$/i

/** Why there is no README that says something; null where there is one. Its size is looked at, not its words. */
async function readmeTrouble(cwd: string, path: string | null): Promise<string | null> {
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
