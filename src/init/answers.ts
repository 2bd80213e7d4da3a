// What is written into the configuration and the workflow: what a person gave, else what stands there already, else what was found.
import { findAgent } from '../agents/registry.ts'
import { settingRows } from '../settings/table.ts'
import type { Detected } from './detect.ts'
import type { Gates } from './project.ts'

/** Settings by key, as people write them. */
export type Written = Readonly<Record<string, unknown>>

export type Given = {
  /** By flags or in the conversation; `gate` is a list of `NAME=COMMAND`. */
  person: Written
  /** In a workflow, and in a configuration, that stand there already. */
  workflow: Written
  config: Written
}

export type Found = {
  project: Detected
  /** No code yet: no command can be found, and none can be green. */
  isEmpty: boolean
  /** The first agent that is on this machine, with its version where that is known; else the default one. */
  agent: { name: string; version: string | null }
  /** All agents that are on this machine. */
  here: readonly string[]
  /** Gates that documents and older configurations name, with the file. */
  olderGates: Readonly<Record<string, { run: string; path: string }>>
  /** The branch that the work starts from, where Ralph would not find it by itself. */
  baseBranch: string | null
}

/** What a newcomer should see and change: in both files, in this order, before all else that was given. */
const SHOWN = [
  ...['agent', 'agentCommand', 'agentVersion', 'prepare', 'gates', 'baseline', 'baseBranch'],
  ...['iterationsPerJob', 'maxIterations', 'maxCostUsd'],
]
/** Of the jobs in CI alone. */
const OF_JOBS = ['iterationsPerJob', 'isolation']
const numeric = new Set(
  settingRows.filter(({ kind }) => kind === 'integer' || kind === 'money').map(({ key }) => key),
)

export const MAX_ITERATIONS = 50
export const MAX_COST_USD = 20

export type Settled = {
  config: Written
  inputs: Written
  /** `isolation: separate-job`: the four jobs read the configuration alone. */
  isSeparate: boolean
}

/** The settings of both files. */
export function settle({ person: { gate, ...person }, workflow, config }: Given, found: Found): Settled {
  const given: Written = { ...config, ...workflow, ...person }
  const proposed: Written = { ...proposals(found, given), ...given }
  const all = Array.isArray(gate)
    ? { ...proposed, gates: withGates(proposed.gates, gate.map(String)) }
    : proposed
  const isSeparate = all.isolation === 'separate-job'
  const forInputs = (key: string) => SHOWN.includes(key) || key in workflow || key in person
  // Where the agent is on the machine, a run there takes it as it is.
  const isOfJobs = (key: string) =>
    OF_JOBS.includes(key) || (key === 'agentVersion' && found.here.includes(String(all.agent)))
  const forConfig = (key: string) =>
    key in config || (!isOfJobs(key) && (SHOWN.includes(key) || key in person))
  return {
    config: chosen(all, (key) => forConfig(key) || (isSeparate && forInputs(key))),
    // The action's own default needs no line.
    inputs: chosen(all, (key) => forInputs(key) && !(key === 'isolation' && all[key] === 'other-user')),
    isSeparate,
  }
}

/** Each `NAME=COMMAND` adds a gate, or replaces the one of that name. */
function withGates(base: unknown, added: readonly string[]): Record<string, unknown> {
  const gates: Record<string, unknown> = typeof base === 'object' ? { ...base } : {}
  for (const one of added) {
    const [name = '', run = ''] = [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)].map(
      (part) => part.trim(),
    )
    const known = Object.keys(gates).find((key) => key.toLowerCase() === name.toLowerCase())
    gates[known ?? name] = run
  }
  return gates
}

/** What is proposed beside what is given. */
function proposals({ project, isEmpty, agent, olderGates, baseBranch }: Found, given: Written): Written {
  const name = String(given.agent ?? agent.name)
  const vendor = findAgent(name)
  const older = Object.entries(olderGates).map(([gate, { run }]) => [gate, run])
  const gates: Gates = { ...project.gates, ...Object.fromEntries(older) }
  const isLimited = ['maxTokens', 'maxAgentTime'].some((key) => key in given)
  return dropped({
    agent: name,
    agentVersion:
      vendor?.npm == null
        ? null
        : ((name === agent.name ? agent.version : null) ?? vendor.tested ?? 'latest'),
    prepare: project.prepare,
    gates: Object.keys(gates).length > 0 ? gates : isEmpty ? 'none' : null,
    baseline: isEmpty ? 'off' : null,
    iterationsPerJob: 5,
    maxIterations: MAX_ITERATIONS,
    maxCostUsd: vendor?.reports === 'cost' && !isLimited ? MAX_COST_USD : null,
    baseBranch,
  })
}

function dropped(written: Written): Written {
  return Object.fromEntries(Object.entries(written).filter(([, value]) => value !== null))
}

/** In order: what is shown first, then the rest as it came. Flags are texts, and numbers are written as numbers. */
function chosen(all: Written, isWanted: (key: string) => boolean): Written {
  const keys = [...SHOWN, ...Object.keys(all).filter((key) => !SHOWN.includes(key))]
  const entries = keys
    .filter((key) => all[key] != null && isWanted(key))
    .map((key) => {
      const value = all[key]
      const isNumber = numeric.has(key) && typeof value === 'string' && /^\d+(?:\.\d+)?$/.test(value)
      return [key, isNumber ? Number(value) : value]
    })
  return Object.fromEntries(entries)
}
