import { delimiter, join, resolve } from 'node:path'
import { type AgentVendor, agentVariables } from '../agents/agent.ts'
import {
  type Availability,
  checkAgent,
  findKeyProblem,
  mayBeLoggedIn,
  missingProgram,
  type Unready,
} from '../agents/agent-ready.ts'
import { findSingleUseLogin, type Homes, openHomes } from '../agents/home.ts'
import { agentCaches, installAgent } from '../agents/install.ts'
import type { PromptSources } from '../agents/prompts.ts'
import { agentNames, everyHomeShare, findAgent, homeSharesFor, isModelKey } from '../agents/registry.ts'
import { createSessions, withFallback } from '../agents/sessions.ts'
import type { Gate } from '../engine/model/gate.ts'
import { agentsIn } from '../engine/model/pipeline-step.ts'
import type { AgentPort, FileCache } from '../engine/model/ports.ts'
import { describeReady } from '../engine/model/service.ts'
import { chooseAgent } from '../engine/state/limits.ts'
import type { OtherUser } from '../isolation/other-user.ts'
import { agentEnv, type Environment, gateEnv } from '../isolation/untrusted-env.ts'
import type { Settings } from '../settings/read-settings.ts'
import { type Mistake, UserError } from '../system/errors.ts'
import { configuredGates } from './browser-gate.ts'
import { keylessWay, openKeyless } from './keyless.ts'
import { limitsOf } from './loop-limits.ts'
import type { PortOptions } from './port-options.ts'
import { isSetIn, unreachableModel } from './reach-model.ts'
import { relayModel } from './relay.ts'
import { identityOf } from './workspace.ts'

/** The port of the agent in the settings, with its fallback if one is set. Throws UserError if one cannot be started. */
export async function agentWithFallback(options: PortOptions): Promise<AgentPort> {
  const { agent, agentVersion, model, fallbackAgent } = options.settings
  const args = options.settings.agentArgs
  const first = await agentPort(options, { path: 'agent', name: agent, version: agentVersion, model, args })
  const fallback = {
    ...NO_CHOICES,
    path: 'fallback-agent',
    name: fallbackAgent ?? '',
    args,
  }
  const second = fallbackAgent === null ? null : await agentPort(options, fallback)
  const limits = limitsOf(options.settings)
  return withFallback(first, second, (state) => chooseAgent(state, limits, Date.now()))
}

type AgentChoice = {
  path: string
  name: string
  version: string | null
  model: Settings['model']
  args: readonly string[]
}

/** Version, models and arguments are chosen for the first agent: another agent does not know them. */
const NO_CHOICES = { version: null, model: { plan: null, run: null, setup: null, verify: null }, args: [] }

export function agentForStep(options: PortOptions, name: string): Promise<AgentPort> {
  return agentPort(options, { ...NO_CHOICES, path: 'steps', name })
}

async function agentPort(options: PortOptions, choice: AgentChoice): Promise<AgentPort> {
  const { settings, workspace } = options
  const { clone, repository, redactor } = workspace
  const vendor = findAgent(choice.name)
  if (vendor === null) {
    throw new UserError({
      path: choice.path,
      found: `this version has no agent ${choice.name}.`,
      expected: '',
      fix: `use one of ${agentNames.join(', ')}`,
    })
  }
  warnOfUnreadVariables(options, vendor)
  const cwd = resolve(clone.workTree, settings.workingDirectory)
  const directory = options.folder ?? join(clone.gitDir, 'ralph')
  const as = options.as?.agent ?? null
  const homes = await openAgentHomes(vendor, options, as)
  const report = (text: string) => options.onAgent({ kind: 'text', text })
  const installing = { ...options, homes, directory, report, isForOthers: as !== null }
  const env = await withInstalledAgent(vendor, choice.version, installing)
  const visible = agentEnv(env, agentEnvOptions(vendor, settings))
  if (choice.name !== 'custom') {
    const availability = await checkVersion(vendor, homes, env, { settings, signal: options.signal })
    if (!availability.ok) {
      throw new UserError([notReady(choice.path, availability)])
    }
  }
  const reach = options.as?.reach ?? (async (port: number) => port)
  const isKeyHidden = options.as !== null || settings.isolation === 'separate-job'
  // Another agent than the first may have a stored key.
  const isKeyless = choice.path === 'agent' || vendor.keyless !== undefined
  const way = isKeyless ? keylessWay(vendor, settings, isSetIn(env)) : null
  if (way === null) await refuseWithoutKey(options, choice, vendor, visible.env, cwd)
  const relay =
    way !== null
      ? await openKeyless(vendor, way, { ...options, env, reach })
      : isKeyHidden
        ? await relayModel(vendor, env, reach, options.warn)
        : null
  const unreachable =
    relay === null && options.as !== null ? unreachableModel(settings, vendor, isSetIn(visible.env)) : null
  if (unreachable !== null) throw new UserError(unreachable)
  return createSessions({
    vendor,
    commandLine: settings.agentCommand,
    wrapper: settings.agentWrapper,
    args: [...(relay?.args ?? []), ...choice.args],
    models: choice.model,
    prices: settings.prices,
    extraEnv: settings.agentEnv,
    env: relay?.env ?? env,
    homes,
    proxy: relay?.proxy ?? null,
    ...(relay === null ? {} : { admit: relay.admit }),
    cwd,
    idleTimeoutMs: settings.idleTimeoutMs,
    ...promptSources(settings, repository.read),
    directory,
    promptFile: join(clone.gitDir, 'ralph', 'prompt.md'),
    run: options.run ?? null,
    redactor,
    mark: options.mark,
    onEvent: options.onAgent,
  })
}

function warnOfUnreadVariables(
  { settings, env, warn }: PortOptions,
  { name, withheld: unread = [] }: AgentVendor,
): void {
  const hidden = unread.filter((one) => (env[one] ?? '') !== '' && !settings.agentEnv.includes(one))
  if (hidden.length === 0) return
  warn(
    `Ralph does not pass ${hidden.join(', ')} to ${name}, because one session could leave files in that folder for the next. To pass it anyway, name it in agentEnv`,
  )
}

/** Opens home folders for sessions of this agent; each session gets a new one. `as`: the user that it runs as, null for Ralph's own. */
export function openAgentHomes(
  vendor: AgentVendor,
  { env, workspace: { clone } }: Pick<PortOptions, 'env' | 'workspace'>,
  as: OtherUser | null,
): Promise<Homes> {
  const shares = homeSharesFor(vendor)
  return openHomes({
    shares,
    everyShare: everyHomeShare(),
    env,
    identity: identityOf(clone),
    key: clone.gitDir,
    as,
  })
}

/** Which variables of an environment the agent gets alongside the allow-list: options of `agentEnv`. */
export function agentEnvOptions(vendor: AgentVendor, { agentEnv }: Settings) {
  return { extra: agentEnv, vendor: agentVariables(vendor), set: {} }
}

/** Whether the agent's program starts. It is started as a session starts it, in a home that is thrown away. */
export async function checkVersion(
  vendor: AgentVendor,
  homes: Homes,
  env: Environment,
  { settings, signal }: { settings: Settings; signal: AbortSignal },
): Promise<Availability> {
  await using home = await homes.open()
  const isolated = agentEnv(home.env(env), agentEnvOptions(vendor, settings))
  // Printing a version needs no key.
  const withoutKeys = Object.entries(isolated.env).filter(
    ([name]) => vendor.relay?.keys.includes(name) !== true,
  )
  return await checkAgent(vendor, Object.fromEntries(withoutKeys), { as: home.as, signal })
}

/** The parts of a prompt that come from the settings. `read` gives the text of a file at a commit. */
export function promptSources(settings: Settings, read: PromptSources['read']): PromptSources {
  return {
    gates: configuredGates(settings).map(describeGate),
    services: settings.services.map(
      ({ name, ready, when }) => `${name}: ${describeReady(ready)}${formatAside(describeTags(when))}`,
    ),
    instructions: settings.instructions ?? '',
    read,
  }
}

function describeGate({ name, run, advisory, when, paths }: Gate): string {
  const touched = paths === undefined ? null : `when the change touches ${paths.join(' ')}`
  return `${name}: ${run}${formatAside(advisory ? 'advisory' : null, describeTags(when), touched)}`
}

function describeTags(when: readonly string[] | null): string | null {
  return when === null ? null : `for stories tagged ${when.join(', ')}`
}

function formatAside(...words: (string | null)[]): string {
  const present = words.filter((one) => one !== null)
  return present.length === 0 ? '' : ` (${present.join('; ')})`
}

function notReady(path: string, { reason, fix }: Unready): Mistake {
  return { path, found: `${reason}.`, expected: '', fix }
}

/** The agents that a run of these settings would start, the first one first, each with the setting that names it. */
export function chosenAgents({ agent, agentVersion, fallbackAgent, steps }: Settings) {
  const others = agentsIn(steps).filter((name) => name !== agent && name !== fallbackAgent)
  return [
    { path: 'agent', name: agent, version: agentVersion },
    ...(fallbackAgent === null ? [] : [{ path: 'fallback-agent', name: fallbackAgent, version: null }]),
    ...others.map((name) => ({ path: 'steps', name, version: null })),
  ]
}

/** A mistake for each agent whose program is not on the PATH. Starts no program. */
export function missingAgents(settings: Settings, env: Environment): Mistake[] {
  // The other user has its own PATH, and an agent that Ralph installs is not installed yet.
  if (settings.isolation === 'other-user') return []
  return chosenAgents(settings).flatMap(({ path, name, version }) => {
    const vendor = version !== null || name === 'custom' ? null : findAgent(name)
    const missing = vendor === null ? null : missingProgram(vendor, env.PATH ?? '')
    return vendor === null || missing === null ? [] : [notReady(path, missing)]
  })
}

/**
 * Warns of agents whose sessions would run side by side with a login that only one session at a time can renew. Empty if a key is set, or
 * if the agent is another user, whose home has no login.
 */
export function singleUseLoginWarnings(settings: Settings, env: Environment): Omit<Mistake, 'path'>[] {
  if (settings.maxParallel === 1 || settings.isolation !== 'same-user') return []
  return chosenAgents(settings).flatMap(({ name }) => {
    const { login = null, home = null } = findAgent(name) ?? {}
    if (home === null) return []
    const keys = login?.keys ?? []
    const variables = [...keys, ...(login?.alternatives ?? []), ...settings.agentEnv]
    if (variables.some((one) => one !== home.folderVariable?.[0] && (env[one] ?? '').trim() !== '')) return []
    const file = findSingleUseLogin(home, env)
    if (file === null) return []
    const found = `the login of ${name} is in ${file}, which only one session at a time can renew. With max-parallel, sessions would log each other out.`
    const named = keys.length === 0 ? `give ${name} a key in a variable` : `set ${keys.join(' or ')}`
    const fix = `${named}, or leave max-parallel out`
    return [{ found, expected: '', fix }]
  })
}

/** Reports a key that is missing or refused before branch and pull request exist. Throws UserError. */
async function refuseWithoutKey(
  { settings, env: ownEnv, as }: PortOptions,
  { path, name, version }: AgentChoice,
  { login }: AgentVendor,
  env: Readonly<Record<string, string>>,
  cwd: string,
): Promise<void> {
  const isWrapped = settings.agentWrapper !== null || settings.agentArgs.length > 0
  const options = { platform: process.platform, isInstalledByUs: version !== null, isWrapped }
  if (login === null || mayBeLoggedIn(ownEnv, options)) return
  // The other user's home is new.
  const visibleLogin = as === null ? login : { ...login, files: [] }
  const problem = await findKeyProblem({ login: visibleLogin, env, extraEnv: settings.agentEnv, cwd })
  if (problem === null) return
  const key = login.keys[0] ?? ''
  throw new UserError({
    path,
    found: `${name} has no key that works: ${problem}.`,
    expected: '',
    fix: keyFix(key),
  })
}

export function keyFix(key: string): string {
  return `add a valid key to the secrets of the repository (Settings, Secrets and variables, Actions), and to this step: env: { ${key}: \${{ secrets.${key} }} }`
}

/** The environment with the agent's program on its PATH. Installs the agent first if a `version` is set. */
export async function withInstalledAgent(
  vendor: AgentVendor,
  version: string | null,
  {
    env,
    signal,
    homes,
    directory,
    report,
    isForOthers = false,
    cache = null,
  }: {
    env: Environment
    signal: AbortSignal
    /** Home folders of the agent's user. */
    homes: Homes
    /** Whether another user than Ralph's own starts the agent. */
    isForOthers?: boolean
    /** Keeps the installed agent between jobs; null or left out: it is installed again. */
    cache?: FileCache | null
    /** Ralph's own folder in the clone. */
    directory: string
    report(text: string): void
  },
): Promise<Environment> {
  if (version === null) return env
  const checkRestored = async (bin: string): Promise<Availability> => {
    await using home = await homes.open()
    const isolated = gateEnv(home.env(withProgram(env, bin)), { extra: [], isModelKey })
    return await checkAgent(vendor, isolated.env, { as: home.as, signal })
  }
  const { bin } = await installAgent({
    vendor,
    version,
    env: gateEnv(env, { extra: [], isModelKey }).env,
    caches: agentCaches(env, join(directory, 'agents'), isForOthers),
    cache: cache === null ? null : { files: cache, checkRestored },
    signal,
    report,
  })
  return withProgram(env, bin)
}

function withProgram(env: Environment, bin: string): Environment {
  return { ...env, PATH: env.PATH === undefined ? bin : `${bin}${delimiter}${env.PATH}` }
}
