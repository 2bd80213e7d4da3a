import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { AgentEvent } from '../agents/agent.ts'
import { isModelKey } from '../agents/registry.ts'
import { createGates } from '../gates/gates.ts'
import type { GateResult } from '../model/gate.ts'
import type {
  AgentPort,
  Clock,
  DispatchPort,
  GatesPort,
  Observer,
  Ports,
  PullRequestPort,
  QueuePort,
} from '../model/ports.ts'
import type { Settings } from '../settings/index.ts'
import { type Environment, gateEnv } from '../system/untrusted-env.ts'
import { agentsOf } from './agents.ts'
import type { Isolation } from './isolation.ts'
import { observersOf } from './observers.ts'
import type { Workspace } from './workspace.ts'

export type PortOptions = {
  settings: Settings
  env: Environment
  workspace: Workspace
  /** Who else hears of the run, beside those of `observersOf`. */
  observers: readonly Observer[]
  /** Left out where there is none. */
  pullRequest?: PullRequestPort
  queue: QueuePort
  dispatch: DispatchPort
  warn(message: string): void
  signal: AbortSignal
  /** As whom agent and gates run; null for our own user. */
  as: Isolation | null
  /** Of the lease: marks every process that is not trusted, so that those which outlive us can be ended. */
  mark: string
  onAgent(event: AgentEvent): void
  onGateStart(name: string): void
  onGateEnd(result: GateResult): void
  /** In the place of an agent, or of gates, of this job. */
  agent?: AgentPort
  gates?: GatesPort
}

const systemClock: Clock = {
  now: Date.now,
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
}

const NO_PULL_REQUEST: PullRequestPort = {
  beforePublish: async ({ github }) => github,
  opened: async ({ github }) => github,
  finished: async ({ github }) => github,
  merged: async () => false,
}

/** The ports of the loop. Throws UserError when the agent cannot be started. */
export async function createPorts(options: PortOptions): Promise<Ports> {
  const { repository, store } = options.workspace
  const agent = options.agent ?? (await agentsOf(options))
  const gates = options.gates ?? gatesPort(options)
  return {
    clock: systemClock,
    agent,
    gates,
    repository,
    store,
    queue: options.queue,
    dispatch: options.dispatch,
    observers: [...options.observers, ...(await observersOf(options))],
    pullRequest: options.pullRequest ?? NO_PULL_REQUEST,
    warn: options.warn,
    signal: options.signal,
  }
}

export type GatesPortOptions = Pick<
  PortOptions,
  'settings' | 'env' | 'workspace' | 'as' | 'mark' | 'onGateStart' | 'onGateEnd'
>

export function gatesPort({ settings, env, workspace, as, mark, ...heard }: GatesPortOptions): GatesPort {
  const { clone, repository, redactor } = workspace
  return createGates({
    gates: settings.gates,
    prepare: settings.prepare,
    lockfileChanged: repository.lockfileChanged,
    cwd: resolve(clone.workTree, settings.workingDirectory),
    env: gateEnv(env, { extra: settings.gateEnv, isModelKey }).env,
    redactor,
    logs: join(clone.gitDir, 'ralph', 'logs'),
    mark,
    as: as?.gates ?? null,
    onStart: heard.onGateStart,
    onEnd: heard.onGateEnd,
  })
}
