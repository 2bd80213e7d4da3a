// The pipeline of an iteration: steps that people configured around the agent's session. Without `steps` there is none.
import * as z from 'zod/mini'

/** A step is left out for `resetAfterMs` after `threshold` failures in a row. */
type CircuitLimits = { threshold: number; resetAfterMs: number }

/** Circuits by the name of the step, kept over jobs; a step without a failure has none. `until`: epoch milliseconds. */
export type Circuits = z.infer<typeof Circuits>
export const Circuits = z.record(
  z.string(),
  z.object({ failures: z.number(), until: z.nullable(z.number()) }),
)

type Common = {
  name: string
  /** At most; the iteration's own time limits it as well. */
  timeoutMs: number | null
  maxRetries: number
  retryDelayMs: number
  continueOnError: boolean
  circuit: CircuitLimits | null
}

/** A prompt instead of the built-in one, or before it: a text of the settings, or a file. */
export type StepPrompt = { kind: 'text'; text: string } | { kind: 'file'; path: string }

/** `agent` and `model` null: those of the run. `args`: further arguments of its agent. */
export type AgentStep = Common & {
  type: 'agent'
  agent: string | null
  model: string | null
  args: readonly string[]
  prompt: StepPrompt | null
}
/** `endRunOn`: the exit codes with which it ends the run. */
export type CommandStep = Common & { type: 'command'; run: string; endRunOn: readonly number[] }
export type PipelineStep =
  | AgentStep
  | CommandStep
  /** The gates, on the current work tree. */
  | (Common & { type: 'verify' })
  /** `path` null: a README in the working directory. */
  | (Common & { type: 'readme-check'; path: string | null })
  | (Common & { type: 'noop' })

/** `before` and `after` Ralph's own steps: the guard, the gates and the commit. */
export type Pipeline = {
  name: string
  /** Whether a set-up session runs before the first story, provided that people wrote a prompt for one. */
  setsUp: boolean
  before: readonly PipelineStep[]
  after: readonly PipelineStep[]
}

/** The pipeline step that a session runs for. `log`: the suffix of its transcript's name. */
export type SessionStep = Pick<AgentStep, 'name' | 'model' | 'args' | 'prompt'> & { log: string }

/** The result of the steps after the commit. `pause`: why the run ends. */
export type AfterSteps = { pause?: string; circuits?: Circuits }

export function agentsIn(pipeline: Pipeline | null): string[] {
  const named = agentSteps(pipeline).flatMap(({ agent }) => (agent === null ? [] : [agent]))
  return [...new Set(named)]
}

export function agentSteps(pipeline: Pipeline | null): AgentStep[] {
  return (pipeline?.before ?? []).filter((step) => step.type === 'agent')
}

export function formatPipeline({ name, before, after }: Pipeline, agent: string): string {
  const formatStep = (step: PipelineStep) =>
    `${step.name} (${step.type === 'agent' ? [step.agent ?? agent, step.model].filter(Boolean).join(', ') : step.type})`
  const ralphSteps = 'git-commit (guard, gates, commit)'
  return `${name}: ${[...before.map(formatStep), ralphSteps, ...after.map(formatStep)].join(' > ')}`
}
