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
import { type Homes, openHomes } from '../agents/home.ts'
import { agentCaches, installAgent } from '../agents/install.ts'
import type { PromptSources } from '../agents/prompts.ts'
import { agentNames, findAgent, homeSharesFor, isModelKey } from '../agents/registry.ts'
import { createSessions, withFallback } from '../agents/sessions.ts'
import { chooseAgent } from '../engine/limits.ts'
import type { Gate } from '../engine/model/gate.ts'
import { agentsIn } from '../engine/model/pipeline-step.ts'
import type { AgentPort, FileCache } from '../engine/model/ports.ts'
import { describeReady } from '../engine/model/service.ts'
import type { OtherUser } from '../isolation/other-user.ts'
import { agentEnv, type Environment, gateEnv } from '../isolation/untrusted-env.ts'
import type { Settings } from '../settings/read-settings.ts'
import { type Mistake, UserError } from '../system/errors.ts'
import { configuredGates } from './browser-gate.ts'
import { limitsOf } from './loop-limits.ts'
import type { PortOptions } from './loop-ports.ts'
import { relayModel } from './relay.ts'
import { identityOf } from './workspace.ts'

/** The agent, with the one that stands in for it. */
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

type Choice = {
  path: string
  name: string
  version: string | null
  model: Settings['model']
  args: readonly string[]
}

/** What was chosen for the first agent means nothing to another one. */
const NO_CHOICES = { version: null, model: { plan: null, run: null, setup: null, verify: null }, args: [] }

export function agentForStep(options: PortOptions, name: string): Promise<AgentPort> {
  return agentPort(options, { ...NO_CHOICES, path: 'steps', name })
}

async function agentPort(options: PortOptions, choice: Choice): Promise<AgentPort> {
  const { settings, workspace } = options
  const { clone, repository, redactor } = workspace
  const vendor = findAgent(choice.name)
  if (vendor === null) {
    throw new UserError({
      path: choice.path,
      found: choice.name,
      expected: 'an agent of this version',
      fix: `use one of ${agentNames.join(', ')}`,
    })
  }
  warnOfUnreadVariables(options, vendor)
  const cwd = resolve(clone.workTree, settings.workingDirectory)
  const directory = options.folder ?? join(clone.gitDir, 'ralph')
  const as = options.as?.agent ?? null
  const homes = await openAgentHomes(vendor, options, as)
  const report = (text: string) => options.onAgent({ kind: 'text', text })
  const env = await withInstalledAgent(vendor, choice.version, { ...options, directory, report })
  const seen = agentEnv(env, agentEnvOptions(vendor, settings))
  if (choice.name !== 'custom') {
    const found = await checkVersion(vendor, homes, env, { settings, signal: options.signal })
    if (!found.ok) {
      throw new UserError([notReady(vendor, choice.path, found)])
    }
  }
  await refuseWithoutKey(options, choice, vendor, seen.env, cwd)
  const reach = options.as?.reach ?? (async (port: number) => port)
  const isKept = options.as !== null || settings.isolation === 'separate-job'
  const relayed = isKept ? await relayModel(vendor, env, reach, options.warn) : null
  if (relayed === null) refuseUnreachableModel(options, choice.name)
  return createSessions({
    vendor,
    commandLine: settings.agentCommand,
    wrapper: settings.agentWrapper,
    args: [...(relayed?.args ?? []), ...choice.args],
    models: choice.model,
    prices: settings.prices,
    extraEnv: settings.agentEnv,
    env: relayed?.env ?? env,
    homes,
    used: relayed?.proxy.used ?? null,
    ...(relayed === null ? {} : { admit: relayed.admit }),
    cwd,
    idleTimeoutMs: settings.idleTimeoutMs,
    ...promptSources(settings, repository.read),
    directory,
    run: options.run ?? null,
    redactor,
    mark: options.mark,
    onEvent: options.onAgent,
  })
}

function warnOfUnreadVariables(
  { settings, env, warn }: PortOptions,
  { name, unread = [] }: AgentVendor,
): void {
  const left = unread.filter((one) => (env[one] ?? '') !== '' && !settings.agentEnv.includes(one))
  if (left.length === 0) return
  warn(
    `${name} is not given ${left.join(', ')}: a session could write there what the next one reads; name it in agentEnv where none can`,
  )
}

/** Homes of sessions on this machine, as the agent has them. */
export function openAgentHomes(
  vendor: AgentVendor,
  { env, workspace: { clone } }: Pick<PortOptions, 'env' | 'workspace'>,
  as: OtherUser | null,
): Promise<Homes> {
  const shares = homeSharesFor(vendor)
  return openHomes({ shares, env, identity: identityOf(clone), key: clone.gitDir, as })
}

/** What the agent sees of an environment. */
export function agentEnvOptions(vendor: AgentVendor, { agentEnv }: Settings) {
  return { extra: agentEnv, vendor: agentVariables(vendor), set: {} }
}

/** Whether the agent can be started, asked as a session starts it, in a home that is thrown away. */
export async function checkVersion(
  vendor: AgentVendor,
  homes: Homes,
  env: Environment,
  { settings, signal }: { settings: Settings; signal: AbortSignal },
): Promise<Availability> {
  await using home = await homes.open()
  const inside = agentEnv(home.env(env), agentEnvOptions(vendor, settings))
  // Who says its version needs no key.
  const named = Object.entries(inside.env).filter(([name]) => vendor.relay?.keys.includes(name) !== true)
  return await checkAgent(vendor, Object.fromEntries(named), { as: home.as, signal })
}

/** What prompts say of the settings; `read` gives people's files at a commit. */
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
  const touched = paths === undefined ? null : `where the change touches ${paths.join(' ')}`
  return `${name}: ${run}${formatAside(advisory ? 'advisory' : null, describeTags(when), touched)}`
}

function describeTags(when: readonly string[] | null): string | null {
  return when === null ? null : `for stories tagged ${when.join(', ')}`
}

function formatAside(...words: (string | null)[]): string {
  const known = words.filter((one) => one !== null)
  return known.length === 0 ? '' : ` (${known.join('; ')})`
}

function notReady(vendor: AgentVendor, path: string, { reason, fix }: Unready): Mistake {
  return { path, found: reason, expected: `the program ${vendor.program}, ready to work`, fix }
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

/** Agents whose program is nowhere on the PATH: what can be said of them without starting one. */
export function missingAgents(settings: Settings, env: Environment): Mistake[] {
  // Another user has a PATH of its own, and what Ralph installs is not there yet.
  if (settings.isolation === 'other-user') return []
  return chosenAgents(settings).flatMap(({ path, name, version }) => {
    const vendor = version !== null || name === 'custom' ? null : findAgent(name)
    const missing = vendor === null ? null : missingProgram(vendor, env.PATH ?? '')
    return vendor === null || missing === null ? [] : [notReady(vendor, path, missing)]
  })
}

/** A key that is missing or refused is told before branch and pull request exist. Throws UserError. */
async function refuseWithoutKey(
  { settings, env: own, as }: PortOptions,
  { path, name, version }: Choice,
  { login }: AgentVendor,
  env: Readonly<Record<string, string>>,
  cwd: string,
): Promise<void> {
  const isWrapped = settings.agentWrapper !== null || settings.agentArgs.length > 0
  const how = { platform: process.platform, isInstalledByUs: version !== null, isWrapped }
  if (login === null || mayBeLoggedIn(own, how)) return
  // The other user's home is new.
  const known = as === null ? login : { ...login, files: [] }
  const why = await findKeyProblem({ login: known, env, extraEnv: settings.agentEnv, cwd })
  if (why === null) return
  const key = login.keys[0] ?? ''
  throw new UserError({
    path,
    found: `${name}, and ${why}`,
    expected: `a key for its model in ${login.keys.join(' or ')}`,
    fix: keyFix(key),
  })
}

export function keyFix(key: string): string {
  return `add a valid one to the repository's secrets (Settings, Secrets and variables, Actions), and to this step: env: { ${key}: \${{ secrets.${key} }} }`
}

/** An agent that goes to its model by itself goes nowhere on a closed network. Throws UserError. */
function refuseUnreachableModel({ settings, as }: PortOptions, name: string): void {
  const isClosed = as !== null && settings.network === 'model' && settings.networkAllow.length === 0
  if (!isClosed || name === 'custom') return
  throw new UserError({
    path: 'network',
    found: `network: model with ${name}, whose model Ralph's proxy cannot reach for it here`,
    expected: 'a way to its model',
    fix: 'name the hosts of its model in network-allow (such as api.example.com), or write network: open',
  })
}

/** The environment in which the agent's program is found: installed first, where its version is Ralph's to bring. */
export async function withInstalledAgent(
  vendor: AgentVendor,
  version: string | null,
  {
    env,
    signal,
    directory,
    report,
    cache = null,
  }: {
    env: Environment
    signal: AbortSignal
    /** Left out where nothing is kept between jobs. */
    cache?: FileCache | null
    /** Ralph's, in the clone. */
    directory: string
    report(text: string): void
  },
): Promise<Environment> {
  if (version === null) return env
  const { bin } = await installAgent({
    vendor,
    version,
    env: gateEnv(env, { extra: [], isModelKey }).env,
    caches: agentCaches(env, join(directory, 'agents')),
    cache,
    signal,
    report,
  })
  return { ...env, PATH: env.PATH === undefined ? bin : `${bin}${delimiter}${env.PATH}` }
}
