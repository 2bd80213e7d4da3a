import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isModelKey } from '../agents/registry.ts'
import type { AgentEvent } from '../engine/model/agent-event.ts'
import type { GateResult } from '../engine/model/gate.ts'
import type {
  AgentPort,
  Clock,
  DispatchPort,
  FileCache,
  GatesPort,
  Observer,
  Ports,
  PullRequestPort,
  QueuePort,
  RepositoryPort,
} from '../engine/model/ports.ts'
import { OWN_PORT_NAME, type Service, servicesAt } from '../engine/model/service.ts'
import { createGates } from '../gates/gates.ts'
import type { ReuseFacts } from '../gates/reuse-key.ts'
import type { ServicesOptions } from '../gates/services.ts'
import { type Environment, gateEnv } from '../isolation/untrusted-env.ts'
import type { Settings } from '../settings/read-settings.ts'
import { agentForStep, agentWithFallback } from './agents.ts'
import { createBrowserCheck } from './browser-gate.ts'
import type { GatePlace } from './clean-room.ts'
import type { Isolation } from './isolation.ts'
import { usageNotes, withUsageNotes } from './lost-session.ts'
import { observersOf } from './observers.ts'
import { withOwnPort } from './own-port.ts'
import type { Workspace } from './workspace.ts'

export type PortOptions = {
  settings: Settings
  env: Environment
  workspace: Workspace
  /** Who else hears of the run, beside those of `observersOf`; null for a part of it that nobody watches by itself. */
  observers: readonly Observer[] | null
  pullRequest?: PullRequestPort
  /** What people say meanwhile; left out where nobody is heard. */
  queue?: QueuePort
  /** Left out where no other job is started. */
  dispatch?: DispatchPort
  warn(message: string): void
  signal: AbortSignal
  /** As whom agent and gates run; null for our own user. */
  as: Isolation | null
  /** Of the lease: marks every process that is not trusted, so that those which outlive us can be ended. */
  mark: string
  /** Its number, where stories are worked on side by side on this machine. */
  worker?: string
  /** The folder in which transcripts and logs of this run are put; left out where they are in none. */
  run?: string | null
  /** Ralph's folder in the clone, for these, and agents that it installs; left out: that of the work tree. */
  folder?: string
  /** `storyId` is given where stories are worked on side by side. */
  onAgent(event: AgentEvent, storyId?: string): void
  onGateStart(name: string, storyId?: string): void
  onGateEnd(result: GateResult, storyId?: string): void
  /** Keeps the installed agent between jobs; left out where nothing does. */
  cache?: FileCache | null
  /** In the place of an agent, or of gates, of this job. */
  agent?: AgentPort
  gates?: GatesPort
}

const systemClock: Clock = {
  now: Date.now,
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
}

const NO_QUEUE: QueuePort = {
  read: async () => [],
  waiting: async () => false,
  arrived: async () => false,
}

const NO_DISPATCH: DispatchPort = { dispatch: async () => ({ kind: 'dispatched', runId: null }) }

const NO_PULL_REQUEST: PullRequestPort = {
  beforePublish: async ({ github }) => github,
  opened: async ({ github }) => github,
  finished: async ({ github }) => github,
  merged: async () => false,
}

/** The ports of the loop; disposed of when the job is over. Throws UserError when the agent cannot be started. */
export async function createPorts(asked: PortOptions): Promise<Ports & AsyncDisposable> {
  const options = { ...asked, env: await withOwnPort(asked.env, asked.worker) }
  const { git, repository, store } = options.workspace
  const gates = options.gates ?? gatesPort(options)
  const agent = options.agent ?? (await withPipelineSteps(await agentWithFallback(options), gates, options))
  return {
    clock: systemClock,
    agent: options.observers === null ? agent : withUsageNotes(agent, git),
    gates,
    openCleanRoom: cleanRoomOpener(options),
    repository: { ...repository, history: historyWith(options.workspace) },
    store,
    queue: options.queue ?? NO_QUEUE,
    dispatch: options.dispatch ?? NO_DISPATCH,
    observers: await allObservers(options),
    pullRequest: options.pullRequest ?? NO_PULL_REQUEST,
    warn: options.warn,
    signal: options.signal,
    [Symbol.asyncDispose]: async () => gates[Symbol.asyncDispose]?.(),
  }
}

/** Nobody watches a part of a run by itself. */
async function allObservers(options: PortOptions): Promise<Observer[]> {
  const { observers, workspace } = options
  if (observers === null) return []
  return [...observers, usageNotes(workspace.git), ...(await observersOf(options))]
}

/**
 * The clone of a later job ends at the green commit that the job before it left. What lies between the fork point and that one
 * is fetched when it is asked for: the final verification looks through it.
 */
function historyWith({
  git,
  objects,
  repository,
  store,
}: PortOptions['workspace']): RepositoryPort['history'] {
  return async (state) => {
    const { sha } = state.base
    const isThere = (await objects.root(sha)) !== null
    const isWhole = isThere && (await git.isAncestor(sha, state.green))
    if (!isWhole) await store.fetch([sha], 'whole')
    return repository.history(state)
  }
}

/** The jobs of `separate-job` run gates on machines of their own, in a checkout that nothing else ran in. */
function cleanRoomOpener(options: PortOptions): Ports['openCleanRoom'] {
  const { settings, workspace, env } = options
  if (settings.cleanRoom === 'off' || settings.isolation === 'separate-job') return null
  const as = options.as?.gates ?? null
  return async (state) => {
    const { openCleanRoom } = await import(/* webpackChunkName: "clean-room" */ './clean-room.ts')
    return openCleanRoom({ workspace, env, as, gatesIn: (place) => gatesPort(options, place) }, state)
  }
}

/** A run without steps loads nothing of them. */
async function withPipelineSteps(
  agent: AgentPort,
  gates: GatesPort,
  options: PortOptions,
): Promise<AgentPort> {
  const { steps } = options.settings
  if (steps === null) return agent
  const { withSteps } = await import(/* webpackChunkName: "steps" */ './pipeline-runner.ts')
  const makers = { agentOf: agentForStep, gatesOf: gatesPort }
  return withSteps(steps, { base: agent, gates, clock: systemClock }, options, makers)
}

export type GatesPortOptions = Pick<
  PortOptions,
  'settings' | 'env' | 'workspace' | 'as' | 'mark' | 'run' | 'folder' | 'onGateStart' | 'onGateEnd'
>

/** `place`: where they run in the place of the work tree. */
export function gatesPort(options: GatesPortOptions, place?: GatePlace): GatesPort {
  const { settings, workspace, mark, run, onGateStart: onStart, onGateEnd: onEnd } = options
  const { clone, repository, redactor } = workspace
  const { top, env, as, restore } = place ?? {
    top: clone.workTree,
    env: options.env,
    as: options.as?.gates ?? null,
    restore: repository.restore,
  }
  const after = createBrowserCheck({ ...options, env })
  const shared = {
    cwd: resolve(top, settings.workingDirectory),
    redactor,
    logs: { top: options.folder ?? join(clone.gitDir, 'ralph'), folder: join('logs', run ?? '') },
    mark,
    as,
    onStart,
    onEnd,
  }
  return createGates({
    ...shared,
    gates: settings.gates,
    parallel: settings.gatesParallel,
    prepare: settings.prepare,
    lockfileChanged: repository.lockfileChanged,
    code: repository,
    restore,
    top,
    shownTop: clone.workTree,
    env: gateEnv(env, { extra: settings.gateEnv, isModelKey }).env,
    ...(settings.services.length === 0 ? {} : { services: () => servicesOf(shared, { ...options, env }) }),
    // What a browser sees has to be looked at behind gates that ran.
    ...(after === null ? { reuse: reuseFacts(options) } : { after }),
  })
}

function reuseFacts({ settings, workspace, env }: GatesPortOptions): ReuseFacts {
  const { services, prepare, workingDirectory, isolation, gateNetwork, gateEnv: names } = settings
  const image = [env.ImageOS ?? '', env.ImageVersion ?? '']
  return {
    treeOf: (commit) => workspace.objects.root(commit),
    ...{ services, prepare, workingDirectory },
    isolation: `${isolation} ${gateNetwork}`,
    machine: [process.platform, process.arch, ...image, env.PATH ?? '', ...names],
  }
}

async function servicesOf(
  shared: Omit<ServicesOptions, 'services' | 'envOf'>,
  { settings, env }: GatesPortOptions,
) {
  const { createServices } = await import(/* webpackChunkName: "services" */ '../gates/services.ts')
  const envOf = ({ inherit, environment: set }: Service) =>
    gateEnv(env, { extra: [...settings.gateEnv, ...inherit], set, isModelKey }).env
  const services = servicesAt(settings.services, Number(env[OWN_PORT_NAME]))
  return createServices({ ...shared, services, envOf })
}
