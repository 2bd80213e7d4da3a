import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isModelKey } from '../agents/registry.ts'
import type {
  AgentPort,
  Clock,
  DispatchPort,
  GatesPort,
  Observer,
  Ports,
  PullRequestPort,
  QueuePort,
  RepositoryPort,
} from '../engine/model/ports.ts'
import { OWN_PORT_NAME, type Service, servicesAt } from '../engine/model/service.ts'
import type { State } from '../engine/model/state.ts'
import { createGates } from '../gates/gates.ts'
import type { ReuseFacts } from '../gates/reuse-key.ts'
import type { ServicesOptions } from '../gates/services.ts'
import { shallowCommits } from '../git/own-directory.ts'
import { followsFirstParents } from '../git/trees.ts'
import { gateEnv } from '../isolation/untrusted-env.ts'
import { agentForStep, agentWithFallback } from './agents.ts'
import { createBrowserCheck } from './browser-gate.ts'
import { restoreCandidates, withoutOtherCandidates } from './candidates-out-of-reach.ts'
import type { CleanRoomOptions, GatePlace } from './clean-room.ts'
import { gatesEnvironment } from './gate-environment.ts'
import { observersOf } from './observers.ts'
import { withOwnPort } from './own-port.ts'
import type { GatesPortOptions, PortOptions } from './port-options.ts'
import { restoreAfterKill, withoutStash } from './stash-out-of-reach.ts'
import { usageNotes, withUsageNotes } from './usage-notes.ts'

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
  newIds: async () => ({}),
  opened: async ({ github }) => github,
  finished: async ({ github }) => github,
  merged: async () => false,
}

/** The ports of the loop; disposed of when the job is over. Throws UserError when the agent cannot be started. */
export async function createPorts(requested: PortOptions): Promise<Ports & AsyncDisposable> {
  const options = { ...requested, env: await withOwnPort(requested.env, requested.worker) }
  const { git, repository, store } = options.workspace
  const gates = options.gates ?? gatesPort(options)
  await restoreAfterKill(options.workspace)
  await restoreCandidates(options)
  const agent = options.agent ?? (await withPipelineSteps(await agentWithFallback(options), gates, options))
  return {
    clock: systemClock,
    random: Math.random,
    agent: withUsageNotes(apartFromOthers(agent, options), options.notes ?? git),
    gates,
    openCleanRoom: cleanRoomOpener(options),
    ...(options.workspace.seal === null ? {} : { seal: options.workspace.seal }),
    repository: { ...repository, ...withHistory(options.workspace) },
    store,
    queue: options.queue ?? NO_QUEUE,
    ...(options.corrections === undefined ? {} : { corrections: options.corrections }),
    dispatch: options.dispatch ?? NO_DISPATCH,
    observers: await allObservers(options),
    pullRequest: options.pullRequest ?? NO_PULL_REQUEST,
    warn: options.warn,
    signal: options.signal,
    [Symbol.asyncDispose]: async () => gates[Symbol.asyncDispose]?.(),
  }
}

/** The agent, whose sessions find neither the person's stash nor what other candidates left. */
function apartFromOthers(agent: AgentPort, options: PortOptions): AgentPort {
  return withoutOtherCandidates(withoutStash(agent, options.workspace), options)
}

/** The observers of a whole run; none for a part of a run. */
async function allObservers(options: PortOptions): Promise<Observer[]> {
  const { observers, workspace } = options
  if (observers === null) return []
  return [...observers, usageNotes(workspace.git), ...(await observersOf(options))]
}

/**
 * A later job's clone begins at the green commit that the job before left. The commits between the fork point and that commit are fetched
 * only when needed. The final verification needs them, and so does whatever finds or reverts the commit of a story.
 */
function withHistory({
  git,
  objects,
  repository,
  store,
}: PortOptions['workspace']): Pick<
  RepositoryPort,
  'history' | 'storyAt' | 'edit' | 'undone' | 'writtenLines'
> {
  /** The last green commit that was asked about, which is based on the fork point. */
  let known: { sha: string; green: string } | null = null
  const ensureHistory = async ({ base: { sha }, green }: State) => {
    if (known?.sha !== sha || !(await isBeyond(known.green, green))) await findHistory(sha, green)
    known = { sha, green }
  }
  const isBeyond = (earlier: string, later: string) =>
    followsFirstParents(objects, { later, earlier, borders: shallowCommits(git.shared) })
  const findHistory = async (sha: string, green: string) => {
    const hasBase = (await objects.root(sha)) !== null
    const hasHistory = hasBase && (await git.isAncestor(sha, green))
    if (!hasHistory) await store.fetch([sha], 'whole')
  }
  return {
    async history(state) {
      await ensureHistory(state)
      return repository.history(state)
    },
    async edit(state, edit) {
      await ensureHistory(state)
      return repository.edit(state, edit)
    },
    async storyAt(state, place) {
      await ensureHistory(state)
      return repository.storyAt(state, place)
    },
    async writtenLines(state, commit) {
      await ensureHistory(state)
      return (await repository.writtenLines?.(state, commit)) ?? null
    },
    async undone(state, candidate) {
      await ensureHistory(state)
      return (await repository.undone?.(state, candidate)) ?? []
    },
  }
}

/** Null at `separate-job` as well: its gates run on their own machine, in a checkout that nothing else ran in. */
function cleanRoomOpener(options: PortOptions): Ports['openCleanRoom'] {
  const { settings, workspace, env } = options
  if (settings.cleanRoom === 'off' || settings.isolation === 'separate-job') return null
  const as = options.as?.gates ?? null
  return async (state) => {
    const { openCleanRoom } = await import(/* webpackChunkName: "clean-room" */ './clean-room.ts')
    const gatesIn = (place: GatePlace) => gatesPort(options, place)
    const glueIn: CleanRoomOptions['glueIn'] = async ({ top, env: roomEnv, as: user }, glue, signal) => {
      const { runGlue } = await import(/* webpackChunkName: "clean-room" */ '../gates/run-glue.ts')
      const cwd = resolve(top, settings.workingDirectory)
      const at = { top, cwd, env: gatesEnvironment(roomEnv, settings), as: user, mark: options.mark }
      return runGlue(at, glue, signal)
    }
    return openCleanRoom({ workspace, env, as, gatesIn, glueIn }, state)
  }
}

/** The agent with the pipeline's steps around it. A run without steps does not load their code. */
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

function workTreePlace(options: GatesPortOptions): GatePlace {
  const { workspace, env, as } = options
  const { clone, repository } = workspace
  return { top: clone.workTree, env, as: as?.gates ?? null, restore: repository.restore }
}

/** The gates of the settings, which run in the work tree or at another place. */
export function gatesPort(options: GatesPortOptions, place = workTreePlace(options)): GatesPort {
  const {
    settings,
    workspace,
    mark,
    run,
    onGateStart: onStart,
    onGateOutput: onOutput,
    onGateEnd: onEnd,
  } = options
  const { clone, repository, redactor } = workspace
  const { top, env, as, restore } = place
  const browserCheck = createBrowserCheck({ ...options, env })
  /** Gates and services run their programs in the same way. */
  const forPrograms = {
    cwd: resolve(top, settings.workingDirectory),
    redactor,
    logs: { top: options.folder ?? join(clone.gitDir, 'ralph'), folder: join('logs', run ?? '') },
    mark,
    as,
    onStart,
    ...(onOutput === undefined ? {} : { onOutput }),
    onEnd,
  }
  return createGates({
    ...forPrograms,
    gates: settings.gates,
    parallel: settings.gatesParallel,
    prepare: settings.prepare,
    knownRed: settings.baseline === 'known-red',
    lockfileChanged: repository.lockfileChanged,
    code: repository,
    restore,
    top,
    shownTop: clone.workTree,
    env: gatesEnvironment(env, settings),
    ...(settings.services.length === 0
      ? {}
      : { services: () => servicesOf(forPrograms, { ...options, env }) }),
    // With a browser check no gate result is reused: pages are opened after gates that really ran.
    ...(browserCheck === null ? { reuse: reuseFacts(options) } : { after: browserCheck }),
  })
}

function reuseFacts({ settings, workspace, env }: GatesPortOptions): ReuseFacts {
  const { services, prepare, workingDirectory, isolation, gateNetwork } = settings
  const image = [env.ImageOS ?? '', env.ImageVersion ?? '']
  return {
    treeOf: (commit) => workspace.objects.root(commit),
    ...{ services, prepare, workingDirectory },
    isolation: `${isolation} ${gateNetwork}`,
    machine: [process.platform, process.arch, ...image, env.PATH ?? ''],
    env: gatesEnvironment(env, settings),
  }
}

async function servicesOf(
  forPrograms: Omit<ServicesOptions, 'services' | 'envOf'>,
  { settings, env }: GatesPortOptions,
) {
  const { createServices } = await import(/* webpackChunkName: "services" */ '../gates/services.ts')
  const envOf = ({ inherit, environment: set }: Service) =>
    gateEnv(env, { extra: [...settings.gateEnv, ...inherit], set, isModelKey }).env
  const services = servicesAt(settings.services, Number(env[OWN_PORT_NAME]))
  return createServices({ ...forPrograms, services, envOf })
}
