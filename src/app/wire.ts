// Composition root: settings and a checkout become ports. The only file that knows every adapter.
import { hostname } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { AgentEvent, AgentVendor } from '../agents/agent.ts'
import { withFallback } from '../agents/fallback.ts'
import { homeFor } from '../agents/home.ts'
import { agentCaches, installAgent } from '../agents/install.ts'
import { keyTrouble, mayBeLoggedIn } from '../agents/login.ts'
import { findAgent } from '../agents/registry.ts'
import { available, missingProgram, type Unready } from '../agents/run.ts'
import { createSessions } from '../agents/sessions.ts'
import { createGates, PREPARE_TIMEOUT_MS } from '../gates/gates.ts'
import { isRalphs } from '../gates/guard.ts'
import { CatFile } from '../git/cat-file.ts'
import { type Snapshot, takeSnapshot } from '../git/clone.ts'
import { type Clone, Git, openClone, type Remote } from '../git/git.ts'
import type { Identity } from '../git/objects.ts'
import { createRepository, type Repository } from '../git/repository.ts'
import { createStore, type Store } from '../git/store.ts'
import { findSubmodules, NO_SUBMODULES } from '../git/submodules.ts'
import { agentFor } from '../loop/agent-limits.ts'
import { leaseMs } from '../loop/lease.ts'
import type { Limits } from '../loop/limits.ts'
import type {
  AgentPort,
  Clock,
  DispatchPort,
  GatesPort,
  Ports,
  QueuePort,
  ReporterPort,
} from '../loop/ports.ts'
import type { GateResult, Lease } from '../loop/state.ts'
import { createExamine } from '../review/examine.ts'
import { maxJobs, type Settings } from '../settings/index.ts'
import { standardCommits } from '../settings/structures.ts'
import { type Mistake, UserError } from '../system/errors.ts'
import { type OtherUser, openOtherUser } from '../system/other-user.ts'
import { newMark } from '../system/process.ts'
import { processStart } from '../system/process-table.ts'
import { createRedactor, type Redactor } from '../system/redact.ts'
import { agentEnv, type Environment, gateEnv, secretsIn } from '../system/untrusted-env.ts'

/** The repository and everything that reads and writes it. Ends its helper processes when disposed. */
export type Workspace = {
  clone: Clone
  git: Git
  objects: CatFile
  snapshot: Snapshot
  store: Store
  repository: Repository
  redactor: Redactor
  [Symbol.dispose](): void
}

export type WorkspaceOptions = {
  settings: Settings
  env: Environment
  directory: string
  remote: Remote | null
  /** Pushes the branch, where it is not the same; null for `remote`. */
  publishRemote?: Remote | null
  identity: Identity | null
  /** Beside those that settings and environment hold. */
  secrets?: readonly string[]
  /** False where an agent was in the tree already, and nobody works in it any more: nothing is run in them. */
  submodules?: false
  warn(message: string): void
}

/** Opens the checkout. Throws UserError where it is none that Ralph can work in. */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { settings, env } = options
  const clone = await openClone(options.directory, env)
  if (clone.head === null) {
    throw new UserError([
      {
        path: clone.workTree,
        found: 'a repository without a commit',
        expected: 'at least one commit',
        fix: 'commit something first: a branch needs a point to start from',
      },
    ])
  }
  const git = await Git.open(clone, env)
  const objects = new CatFile(git)
  const snapshot = await takeSnapshot(git, options.remote !== null, settings.stateNamespace)
  const redactor = createRedactor(secretsOf(settings, env, options.secrets ?? []))
  const looksInside = options.submodules !== false
  const submodules = looksInside ? await findSubmodules(git, clone.head, env) : NO_SUBMODULES
  const repository = createRepository(git, objects, {
    submodules,
    identity: options.identity ?? identityOf(clone),
    snapshot,
    warn: options.warn,
    isRalphs,
    redact: redactor.redact,
    stateCommits: settings.commits.prdChanges,
    stateSubject: settings.commits.message === standardCommits().message ? null : settings.commits.message,
    examine: createExamine({
      protectedPaths: [...settings.protectedPaths],
      configFile: settings.configFile,
      weakenedTests: settings.weakenedTests,
      gateCommands: settings.gates.map((gate) => gate.run),
      redactor,
    }),
  })
  const store = createStore(git, objects, {
    namespace: settings.stateNamespace,
    remote: options.remote,
    publishRemote: options.publishRemote ?? null,
    snapshot,
    leaseMs: leaseMsOf(settings),
  })
  return {
    clone,
    git,
    objects,
    snapshot,
    store,
    repository,
    redactor,
    [Symbol.dispose]: () => objects[Symbol.dispose](),
  }
}

/** Without a gate that blocks every change would pass: that has to be said outright. Throws UserError. */
export function refuseUngated(settings: Settings): void {
  if (settings.ungated || settings.gates.some((gate) => !gate.advisory)) return
  const none = settings.surface === 'cli' ? '--gates none' : 'gates: none'
  throw new UserError([
    {
      path: 'gates',
      found: settings.gates.length === 0 ? 'no gate' : 'advisory gates only',
      expected: 'at least one command that must exit 0 before a story passes',
      fix: `${gateExample(settings)}; or say outright that nothing is checked: ${none}`,
    },
  ])
}

/** For `gates: none`, on every surface that can warn. */
export const UNGATED_WARNING =
  'gates: none: no command checks what the agent makes; every change that it makes passes'

function gateExample({ surface }: Settings): string {
  return surface === 'cli'
    ? 'name one, such as --gate test="npm test", or gates: in ralph.config.yml'
    : "name one in the workflow, such as gates: 'test: npm test'"
}

/** The user as whom agent and gates run, tried out; null for `same-user`. Throws UserError where it cannot be had. */
export async function openIsolation(
  options: Pick<WorkspaceOptions, 'settings' | 'env'> & { clone: Clone; say(text: string): void },
): Promise<OtherUser | null> {
  if (options.settings.isolation !== 'other-user') return null
  return openOtherUser(otherUserOptions(options))
}

export function otherUserOptions(options: { env: Environment; clone: Clone; say(text: string): void }) {
  const { env, clone, say } = options
  const key = `${env.RUNNER_NAME ?? hostname()} ${clone.commonDir}`
  return { env, workTree: clone.workTree, gitDir: clone.commonDir, key, say }
}

export type PortOptions = {
  settings: Settings
  env: Environment
  workspace: Workspace
  reporter: ReporterPort
  queue: QueuePort
  dispatch: DispatchPort
  signal: AbortSignal
  /** As whom agent and gates run; null for our own user. */
  as: OtherUser | null
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

/** The ports of the loop. Throws UserError when the agent cannot be started. */
export async function createPorts(options: PortOptions): Promise<Ports> {
  const { settings, workspace } = options
  const { clone, repository, redactor, store } = workspace
  const agent = options.agent ?? (await agentsOf(options))
  const gates =
    options.gates ??
    createGates({
      gates: settings.gates,
      prepare: settings.prepare,
      lockfileChanged: repository.lockfileChanged,
      cwd: resolve(clone.workTree, settings.workingDirectory),
      env: gateEnv(options.env, { extra: settings.gateEnv }).env,
      redactor,
      logs: join(clone.gitDir, 'ralph', 'logs'),
      mark: options.mark,
      as: options.as,
      onStart: options.onGateStart,
      onEnd: options.onGateEnd,
    })
  return {
    clock: systemClock,
    agent,
    gates,
    repository,
    store,
    queue: options.queue,
    dispatch: options.dispatch,
    reporter: options.reporter,
    signal: options.signal,
  }
}

/** The agent, with the one that stands in for it. */
async function agentsOf(options: PortOptions): Promise<AgentPort> {
  const { agent, agentVersion, model, fallbackAgent } = options.settings
  const first = await agentPort(options, { name: agent, version: agentVersion, model })
  const fallback = {
    name: fallbackAgent ?? '',
    version: null,
    model: { plan: null, run: null, setup: null, verify: null },
  }
  const second = fallbackAgent === null ? null : await agentPort(options, fallback)
  const limits = limitsOf(options.settings)
  return withFallback(first, second, (state) => agentFor(state, limits, Date.now()))
}

type Choice = { name: string; version: string | null; model: Settings['model'] }

/** One agent, installed where a version is asked for, and asked whether it can be started. */
async function agentPort(options: PortOptions, choice: Choice): Promise<AgentPort> {
  const { settings, workspace } = options
  const { clone, repository, redactor } = workspace
  const vendor = findAgent(choice.name)
  if (vendor === null) {
    throw new UserError([
      {
        path: 'agent',
        found: choice.name,
        expected: 'an agent of this version',
        fix: 'use claude or custom',
      },
    ])
  }
  const cwd = resolve(clone.workTree, settings.workingDirectory)
  const directory = join(clone.gitDir, 'ralph')
  const env = await forAgent(options, vendor, choice.version, directory)
  const seen = agentEnv(env, { extra: settings.agentEnv, vendor: vendor.env, set: {} })
  if (choice.name !== 'custom') {
    const found = await available(vendor, seen.env, { as: options.as, signal: options.signal })
    if (!found.ok) {
      throw new UserError([notReady(vendor, 'agent', found)])
    }
  }
  await refuseWithoutKey(options, choice, vendor, seen.env, cwd)
  const sayGates = (tags: readonly string[] | null) =>
    settings.gates
      .filter((gate) => tags === null || gate.when === null || gate.when.some((tag) => tags.includes(tag)))
      .map((gate) => `${gate.name}: ${gate.run}${gate.advisory ? ' (advisory)' : ''}`)
  return createSessions({
    vendor,
    commandLine: settings.agentCommand,
    wrapper: settings.agentWrapper,
    args: settings.agentArgs,
    models: choice.model,
    prices: settings.prices,
    extraEnv: settings.agentEnv,
    env,
    cwd,
    idleTimeoutMs: settings.idleTimeoutMs,
    gates: sayGates,
    instructions: settings.instructions ?? '',
    read: repository.read,
    directory,
    redactor,
    mark: options.mark,
    as: options.as,
    onEvent: options.onAgent,
  })
}

function notReady(vendor: AgentVendor, path: string, { reason, fix }: Unready): Mistake {
  return { path, found: reason, expected: `the program ${vendor.program}, ready to work`, fix }
}

/** Agents whose program is nowhere on the PATH: what can be said of them without starting one. */
export function missingAgents(settings: Settings, env: Environment): Mistake[] {
  // Another user has a PATH of its own, and what Ralph installs is not there yet.
  if (settings.isolation === 'other-user') return []
  const installed = settings.agentVersion === null ? [['agent', settings.agent] as const] : []
  const chosen = [...installed, ['fallback-agent', settings.fallbackAgent] as const]
  return chosen.flatMap(([path, name]) => {
    const vendor = name === null || name === 'custom' ? null : findAgent(name)
    const missing = vendor === null ? null : missingProgram(vendor, env.PATH ?? '')
    return vendor === null || missing === null ? [] : [notReady(vendor, path, missing)]
  })
}

/** A key that is missing or refused is told before branch and pull request exist. Throws UserError. */
async function refuseWithoutKey(
  { settings, env: own, as }: PortOptions,
  { name, version }: Choice,
  { login }: AgentVendor,
  env: Readonly<Record<string, string>>,
  cwd: string,
): Promise<void> {
  const isWrapped = settings.agentWrapper !== null || settings.agentArgs.length > 0
  const how = { platform: process.platform, isInstalledByUs: version !== null, isWrapped }
  if (login === null || mayBeLoggedIn(own, how)) return
  // The other user's home is new.
  const known = as === null ? login : { ...login, files: [] }
  const why = await keyTrouble({ login: known, env, extraEnv: settings.agentEnv, cwd })
  if (why === null) return
  const key = login.keys[0] ?? ''
  throw new UserError([
    {
      path: 'agent',
      found: `${name}, and ${why}`,
      expected: `a key for its model in ${login.keys.join(' or ')}`,
      fix: `add a valid one to the repository's secrets (Settings, Secrets and variables, Actions), and to this step: env: { ${key}: \${{ secrets.${key} }} }`,
    },
  ])
}

/** Throws UserError where the commit that is worked on has no such folder: neither agent nor gates could start. */
export async function refuseNoFolder(
  { objects }: Workspace,
  settings: Settings,
  green: string,
): Promise<void> {
  const { workingDirectory: folder } = settings
  if (folder === '.' || (await objects.info(`${green}:${folder.replace(/^\.\/|\/$/g, '')}`))?.type === 'tree')
    return
  throw new UserError([
    {
      path: 'working-directory',
      found: folder,
      expected: 'a folder of the repository',
      fix: 'name a folder of the repository as it is at the base, or leave it out for the root; make a new one in a first commit',
    },
  ])
}

/** The environment for the agent: that of `agent-version` first on the PATH, and a HOME that it can use. */
async function forAgent(
  options: PortOptions,
  vendor: AgentVendor,
  version: string | null,
  directory: string,
): Promise<Environment> {
  const { env, signal } = options
  const say = (text: string) => options.onAgent({ kind: 'text', text })
  const HOME = options.as?.home ?? (await homeFor(vendor, env.HOME, join(directory, 'home')))
  if (HOME !== env.HOME && options.as === null)
    say(`HOME is ${env.HOME === undefined ? 'not set' : 'not to be written'}: it gets ${HOME}`)
  if (version === null) return { ...env, HOME }
  const { bin } = await installAgent({
    vendor,
    version,
    env: { ...gateEnv(env, { extra: [] }).env, ...(options.as === null ? { HOME } : {}) },
    caches: agentCaches(env, join(directory, 'agents')),
    signal,
    say,
  })
  return { ...env, HOME, PATH: env.PATH === undefined ? bin : `${bin}${delimiter}${env.PATH}` }
}

/** The bounds of the run, as the loop counts them. */
export function limitsOf(settings: Settings): Limits {
  // Four jobs do one iteration.
  const iterationsPerJob = settings.isolation === 'separate-job' ? 1 : settings.iterationsPerJob
  return {
    iterationsPerJob,
    maxIterations: settings.maxIterations,
    maxJobs: maxJobs({ ...settings, iterationsPerJob }),
    maxAttempts: settings.maxAttempts,
    maxInterruptions: settings.maxInterruptions,
    iterationTimeoutMs: settings.iterationTimeoutMs,
    gatesMs: gatesMsOf(settings),
    maxCostUsd: settings.maxCostUsd,
    maxTokens: settings.maxTokens,
    maxAgentTimeMs: settings.maxAgentTimeMs,
    callsPerHour: settings.callsPerHour,
    breaker: settings.breaker,
    baseline: settings.baseline === 'require' && !settings.ungated,
    finalVerification: settings.finalVerification,
    stopOnBlocked: settings.stopOnBlocked,
    agent: settings.agent,
    fallback: settings.fallbackAgent,
    waits: false,
    redispatch: settings.surface === 'action' && settings.redispatch,
    publishEach: settings.publish === 'story',
  }
}

/** What `Job.gatedTags` says of these gates. */
export function gatedTagsOf({ gates }: Settings): string[] | null {
  const blocking = gates.filter((gate) => !gate.advisory)
  if (blocking.some((gate) => gate.when === null)) return null
  return [...new Set(blocking.flatMap((gate) => gate.when ?? []))]
}

function gatesMsOf(settings: Settings): number {
  return settings.gates.reduce((sum, gate) => sum + gate.timeoutMs, 0)
}

/** How long the work, gate and land jobs of one run may wait for a machine, in all, milliseconds. */
const QUEUE_MS = 2 * 3_600_000

function leaseMsOf(settings: Settings): number {
  const prepareMs = settings.prepare === null ? 0 : PREPARE_TIMEOUT_MS
  // The lease holds while jobs wait for their machines.
  const queuedMs = settings.isolation === 'separate-job' ? QUEUE_MS : 0
  return queuedMs + leaseMs(settings.iterationTimeoutMs, gatesMsOf(settings) + prepareMs)
}

/** A lease for this process. */
export async function leaseFor(
  settings: Settings,
  now: number,
  run: { id: number; attempt: number; url: string } | null,
): Promise<Omit<Lease, 'nonce'>> {
  return {
    holder: run === null ? `${hostname()}:${process.pid}` : `run ${run.id}.${run.attempt}`,
    expiresAt: now + leaseMsOf(settings),
    runId: run?.id ?? null,
    runAttempt: run?.attempt ?? null,
    url: run?.url ?? null,
    host: hostname(),
    pid: process.pid,
    startTime: (await processStart(process.pid)) ?? '',
    mark: newMark(),
  }
}

function secretsOf(settings: Settings, env: Environment, more: readonly string[]): string[] {
  return [...secretsIn(env), settings.token, settings.publishToken, ...more].filter((value) => value !== null)
}

function identityOf(clone: Clone): Identity {
  return {
    name: clone.config.get('user.name') ?? 'Ralph',
    email: clone.config.get('user.email') ?? 'ralph@localhost',
  }
}
