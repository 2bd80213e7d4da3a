// Settings for the configuration and the workflow: the person's, else those already in the file, else proposals.
import { wayToModel } from '../../agents/model-way.ts'
import { findAgent } from '../../agents/registry.ts'
import { mapTexts } from '../../engine/model/text.ts'
import { isInputAndFlag } from '../../settings/setting.ts'
import { settingRows } from '../../settings/settings-table.ts'
import { secretsOfAgent } from './agent-secrets.ts'
import type { DetectedProject } from './detect.ts'
import type { ProductHere } from './product-here.ts'
import type { Gates } from './project.ts'

/** Settings by key, as people write them. */
export type WrittenSettings = Readonly<Record<string, unknown>>

export type GivenAnswers = {
  /** From flags or answers; `gate` is a list of `NAME=COMMAND`. */
  person: WrittenSettings
  /** From an existing configuration file. */
  config: WrittenSettings
}

export type FoundFacts = {
  project: DetectedProject
  /** A project without code: no command can be found or be green. */
  isEmpty: boolean
  /** The first agent that is on this machine, with its version if that is known; else the default one. */
  agent: { name: string; version: string | null }
  /** All agents that are on this machine. */
  installedAgents: readonly string[]
  /** Gates that documents and older configurations name, with the file. */
  olderGates: Readonly<Record<string, { run: string; path: string }>>
  /** Other settings that they name, by key, with the file. */
  olderSettings: Readonly<Record<string, { value: unknown; path: string }>>
  /** Notes on parts of these files that have no effect. */
  olderNotes: readonly string[]
  /** A limit in US dollars, from what earlier runs cost; null if there are no earlier runs. */
  budgetUsd: number | null
  /** The base branch, if Ralph would not find it by itself. */
  baseBranch: string | null
  /** What is product by the layout of the project. */
  product?: ProductHere
  /** Tests that fail as the project is, and that gates run: the base may fail them. Left out if there are none. */
  knownRed?: readonly string[]
}

/** Settings that a newcomer should see: first in both files, in this order. */
const PROMINENT = [
  ...['agent', 'agentCommand', 'agentVersion', 'prepare', 'gates', 'gatesParallel', 'baseline', 'baseBranch'],
  ...['weakenedTests', 'protectedPaths', 'networkAllow', 'iterationsPerJob', 'maxIterations', 'maxCostUsd'],
  'maxAgentTime',
]
/** Settings of jobs in CI only. */
const OF_JOBS = ['iterationsPerJob', 'isolation', 'networkAllow', 'auth']
const numeric = new Set(
  settingRows.filter(({ kind }) => kind === 'integer' || kind === 'money').map(({ key }) => key),
)

const fileOnly = new Set(settingRows.filter((row) => !isInputAndFlag(row)).map(({ key }) => key))
const isFileOnly = (key: string) => fileOnly.has(key)

const MAX_ITERATIONS = 50
const MAX_COST_USD = 20
/** All sessions of a feature together, if the agent may not report what it costs. */
const MAX_AGENT_TIME = '8h'

export type ResolvedAnswers = {
  config: WrittenSettings
  inputs: WrittenSettings
  /** Several jobs read the configuration alone: `separate` those of `isolation: separate-job`, `parallel` those of a wave. */
  jobs: 'one' | 'separate' | 'parallel' | 'separateParallel'
}

/**
 * The settings of both files: the workflow has those of a configuration that is there. `isSet`: whether a variable, such as a key, has
 * a value here.
 */
export function resolveAnswers(
  { person: { gate, ...person }, config }: GivenAnswers,
  found: FoundFacts,
  isSet: (variable: string) => boolean = () => false,
): ResolvedAnswers {
  const added = Array.isArray(gate) ? gate.map(String) : []
  const proposed = proposeSettings(found, { ...config, ...person }, isSet)
  const parallel = proposeParallelGates(
    withGates({ ...proposed, ...config, ...person }, added),
    config,
    found,
  )
  const inputs = withGates(
    { ...parallel, ...proposed, ...mapTexts(config, withoutEscapes), ...person },
    added,
  )
  const inFile = withGates(
    { ...parallel, ...mapTexts(proposed, withEscapes), ...config, ...mapTexts(person, withEscapes) },
    added.map(withEscapes),
  )
  const isParallel = Number(inputs.maxParallel ?? 1) > 1
  const isSeparate = inputs.isolation === 'separate-job'
  const alone = isSeparate ? 'separate' : 'one'
  const jobs = isParallel ? (isSeparate ? 'separateParallel' : 'parallel') : alone
  const isNamed = (key: string) => key in person || key in found.olderSettings
  const isInput = (key: string) =>
    PROMINENT.includes(key) || (isNamed(key) && !(key in found.olderSettings && isFileOnly(key)))
  // If the agent is on the machine, a run there takes it as it is.
  const isOfJobs = (key: string) =>
    OF_JOBS.includes(key) || (key === 'agentVersion' && found.installedAgents.includes(String(inputs.agent)))
  const isInFile = (key: string) =>
    key in config || (!isOfJobs(key) && (PROMINENT.includes(key) || isNamed(key)))
  return {
    config: selectSettings(inFile, (key) => isInFile(key) || (jobs !== 'one' && isInput(key))),
    // The action's own default needs no line.
    inputs: selectSettings(
      inputs,
      (key) => isInput(key) && !(key === 'isolation' && inputs[key] === 'other-user'),
    ),
    jobs,
  }
}

/** `${NAME}` is replaced only in the configuration. In an input, an escaped `$${NAME}` would keep both dollars. */
export const withEscapes = (text: string) => text.replace(/\$\{(?=[A-Za-z_]\w*\})/g, '$$$&')
const withoutEscapes = (text: string) => text.replace(/\$(?=\$\{[A-Za-z_]\w*\})/g, '')

/** Each `NAME=COMMAND` adds a gate, or replaces the one of that name. */
function withGates(written: WrittenSettings, added: readonly string[]): WrittenSettings {
  if (added.length === 0) return written
  const gates: Record<string, unknown> = typeof written.gates === 'object' ? { ...written.gates } : {}
  for (const one of added) {
    const cut = one.indexOf('=')
    const name = one.slice(0, cut).trim()
    const sameName = Object.keys(gates).find((key) => key.toLowerCase() === name.toLowerCase())
    gates[sameName ?? name] = one.slice(cut + 1).trim()
  }
  return { ...written, gates }
}

/** The maximum number of gates at the same time that are proposed: a hosted runner has four cores. */
const MAX_PARALLEL = 3

/** `gates-parallel` if at least two of the gates are independent, and none of the others would run alongside them. */
function proposeParallelGates(
  { gates }: WrittenSettings,
  config: WrittenSettings,
  { project, olderGates }: FoundFacts,
): WrittenSettings {
  if ('gates' in config || typeof gates !== 'object' || gates === null) return {}
  const isFound = ([name, run]: [string, unknown]) =>
    project.independent.includes(name) && commandOf(run) === project.gates[name] && !(name in olderGates)
  const [independent, others] = partition(Object.entries(gates), isFound)
  const areAlone = others.every(([, gate]) => isAlone(gate))
  if (independent.length < 2 || !areAlone) return {}
  return { gatesParallel: Math.min(MAX_PARALLEL, independent.length) }
}

function commandOf(gate: unknown): unknown {
  return typeof gate === 'object' && gate !== null && 'run' in gate ? gate.run : gate
}

function isAlone(gate: unknown): boolean {
  return typeof gate === 'object' && gate !== null && 'alone' in gate && gate.alone === true
}

function partition<T>(all: readonly T[], test: (one: T) => boolean): [T[], T[]] {
  return [all.filter(test), all.filter((one) => !test(one))]
}

/**
 * Gates as they are written, with the gates that they need. If several are independent, they run side by side. Any other gate, such as a
 * build, then has the tree to itself.
 */
function withOrder(gates: Gates, project: DetectedProject): WrittenSettings {
  const isFound = (name: string) => gates[name] === project.gates[name]
  const isFree = (name: string) => project.independent.includes(name) && isFound(name)
  const names = Object.keys(gates)
  const isParallel = names.filter(isFree).length >= 2
  const orderOf = (name: string) => {
    const needs = isFound(name) ? (project.needs[name] ?? []).filter((one) => one in gates) : []
    const isAlone = isParallel && !isFree(name)
    return { ...(needs.length > 0 ? { needs } : {}), ...(isAlone ? { alone: true } : {}) }
  }
  const written = names.map((name): [string, unknown] => {
    const order = orderOf(name)
    return [name, Object.keys(order).length === 0 ? gates[name] : { run: gates[name], ...order }]
  })
  return Object.fromEntries(written)
}

/** Proposals for settings that were not given. */
function proposeSettings(
  { project, isEmpty, agent, olderGates, olderSettings, budgetUsd, baseBranch, knownRed }: FoundFacts,
  answers: WrittenSettings,
  isSet: (variable: string) => boolean,
): WrittenSettings {
  const olderValues = Object.fromEntries(
    Object.entries(olderSettings).map(([key, { value }]) => [key, value]),
  )
  const name = String(answers.agent ?? olderValues.agent ?? agent.name)
  const vendor = findAgent(name)
  const older = Object.entries(olderGates).map(([gate, { run }]) => [gate, run])
  const gates: Gates = { ...project.gates, ...Object.fromEntries(older) }
  const isLimited = ['maxTokens', 'maxAgentTime', 'maxCostUsd'].some((key) => key in answers)
  const reportsCost = vendor?.reports === 'cost'
  // A command of the user's own may report nothing.
  const needsTime = !reportsCost || vendor.name === 'custom'
  return withoutNulls({
    agent: name,
    agentVersion:
      vendor?.npm == null
        ? null
        : ((name === agent.name ? agent.version : null) ?? vendor.tested ?? 'latest'),
    prepare: project.prepare,
    gates: Object.keys(gates).length > 0 ? withOrder(gates, project) : isEmpty ? 'none' : null,
    baseline: isEmpty ? 'off' : knownRed === undefined ? null : 'known-red',
    // The default, written down so that a reader meets it.
    weakenedTests: 'judge',
    protectedPaths: 'elsewhere',
    iterationsPerJob: 5,
    maxIterations: MAX_ITERATIONS,
    networkAllow: hostsToAllow(name, answers, isSet),
    maxCostUsd: reportsCost && !isLimited ? (budgetUsd ?? MAX_COST_USD) : null,
    maxAgentTime: needsTime && !isLimited ? MAX_AGENT_TIME : null,
    baseBranch,
    ...olderValues,
  })
}

/** The hosts of the agent's model, for the closed network of the action's default isolation; null if none have to be named. */
function hostsToAllow(
  agent: string,
  { isolation = 'other-user', network = 'model', auth }: WrittenSettings,
  isSet: (variable: string) => boolean,
): readonly string[] | null {
  const vendor = findAgent(agent)
  if (vendor === null || isolation !== 'other-user' || network !== 'model') return null
  if (auth === 'oidc' && vendor.keyless !== undefined) return null
  const keys = secretsOfAgent(agent, isSet)
  const way = wayToModel(vendor, (name) => keys.includes(name))
  return way.kind === 'hosts' ? way.hosts : null
}

function withoutNulls(written: WrittenSettings): WrittenSettings {
  return Object.fromEntries(Object.entries(written).filter(([, value]) => value !== null))
}

/** The settings in order: prominent ones first. Numbers that came as text (flags) are written as numbers. */
function selectSettings(all: WrittenSettings, isWanted: (key: string) => boolean): WrittenSettings {
  const keys = [...PROMINENT, ...Object.keys(all).filter((key) => !PROMINENT.includes(key))]
  const entries = keys
    .filter((key) => all[key] != null && isWanted(key))
    .map((key) => {
      const value = all[key]
      const isNumber = numeric.has(key) && typeof value === 'string' && /^\d+(?:\.\d+)?$/.test(value)
      return [key, isNumber ? Number(value) : value]
    })
  return Object.fromEntries(entries)
}
