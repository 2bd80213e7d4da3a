// The pipeline of an iteration: the steps that people set up around the agent's session. Nothing without `steps`.
import * as z from 'zod/mini'

/** After so many failures in a row a step is left out until it has rested. */
export type CircuitLimits = { threshold: number; resetAfterMs: number }

/** What the circuit of a step knows, kept over jobs; a step without a failure has none. `until`: epoch milliseconds. */
export type Circuits = z.infer<typeof Circuits>
export const Circuits = z.record(
  z.string(),
  z.object({ failures: z.number(), until: z.nullable(z.number()) }),
)

type Common = {
  name: string
  /** At most; the iteration's own time bounds it, too. */
  timeoutMs: number | null
  maxRetries: number
  retryDelayMs: number
  continueOnError: boolean
  circuit: CircuitLimits | null
}

/** What a session is told in the place of the built-in prompt, or before it: a text of the settings, or people's file. */
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
  /** The gates, on the tree as it stands. */
  | (Common & { type: 'verify' })
  /** `path` null: a README in the working directory. */
  | (Common & { type: 'readme-check'; path: string | null })
  | (Common & { type: 'noop' })

/** `before` and `after` what is Ralph's: the guard, the gates and the commit. */
export type Pipeline = {
  name: string
  /** Whether a set-up session comes before the first story, where people wrote a prompt for one. */
  setsUp: boolean
  before: readonly PipelineStep[]
  after: readonly PipelineStep[]
}

/** Which step of a pipeline a session is. `log`: what stands behind the attempt in the name of its transcript. */
export type SessionStep = Pick<AgentStep, 'name' | 'model' | 'args' | 'prompt'> & { log: string }

/** What the steps behind the commit came to. `pause`: why the run ends. */
export type AfterSteps = { pause?: string; circuits?: Circuits }

export function agentsIn(pipeline: Pipeline | null): string[] {
  const named = agentSteps(pipeline).flatMap(({ agent }) => (agent === null ? [] : [agent]))
  return [...new Set(named)]
}

export function agentSteps(pipeline: Pipeline | null): AgentStep[] {
  return (pipeline?.before ?? []).filter((step) => step.type === 'agent')
}

export function formatPipeline({ name, before, after }: Pipeline, agent: string): string {
  const said = (step: PipelineStep) =>
    `${step.name} (${step.type === 'agent' ? [step.agent ?? agent, step.model].filter(Boolean).join(', ') : step.type})`
  const ours = 'git-commit (guard, gates, commit)'
  return `${name}: ${[...before.map(said), ours, ...after.map(said)].join(' > ')}`
}
