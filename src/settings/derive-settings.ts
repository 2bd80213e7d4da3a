// Settings against each other: contradictions are mistakes, and some settings are derived from others.
import { findAgent } from '../agents/registry.ts'
import { BROWSER_GATE } from '../engine/model/gate.ts'
import { agentSteps, agentsIn } from '../engine/model/pipeline-step.ts'
import { originOf, resolveSite } from '../engine/model/service.ts'
import { oneLine } from '../engine/model/text.ts'
import { nearest } from '../system/nearest.ts'
import { FEATURE } from './setting-names.ts'
import type { SettingField, Settings } from './settings-table.ts'
import { describeFound, formatDuration, joinWithOr } from './show.ts'
import { addMistake, addNote, addProblem, childPlace, type ValuePlace } from './value-place.ts'

/**
 * Where a field's value came from. `rank` 0: it is the default; then `at` is where it could be set. `isReadable`: every
 * value that was given for it could be read, so that it may be compared. `overridden`: the value of the next lower rank.
 */
export type Origin = { at: ValuePlace; rank: number; isReadable: boolean; overridden: unknown }
type Origins = Readonly<Record<SettingField, Origin>>

/** The settings with derived values. Mistakes and notes go to the report of the places. */
export function deriveSettings(settings: Settings, origins: Origins): Settings {
  const agent = deriveAgent(settings, origins)
  const agentVersion = deriveAgentVersion(settings, origins)
  const iterationTimeoutMs = deriveIterationTimeout(settings, origins)
  const network = deriveNetwork(settings, origins)
  const branchPrefix = deriveBranchPrefix(settings, origins)
  const derived = { ...settings, agent, agentVersion, iterationTimeoutMs, network, branchPrefix }
  checkAgents(derived, origins)
  noteSteps(derived, origins)
  noteServices(derived, origins)
  checkCost(derived, origins)
  checkLadders(derived, origins)
  checkBrowser(derived, origins)
  checkExamples(derived, origins)
  checkStack(derived, origins)
  return derived
}

function areReadable(origins: Origins, ...fields: SettingField[]): boolean {
  return fields.every((field) => origins[field].isReadable)
}

/** `branch-name: feat/{feature}` is the prefix `feat/`. If both are set, they have to agree. */
function deriveBranchPrefix(settings: Settings, origins: Origins): string {
  const { branchName, branchPrefix } = settings
  if (branchName === null || !areReadable(origins, 'branchName', 'branchPrefix')) return branchPrefix
  const prefix = branchName.slice(0, -FEATURE.length)
  if (origins.branchPrefix.rank > 0 && branchPrefix !== prefix)
    addProblem(
      origins.branchName.at,
      `branch-name is ${branchName}, but branch-prefix is ${branchPrefix}.`,
      'leave branch-prefix out',
    )
  return prefix
}

/** Only another user has its own network. A default changes silently; a value that was set is a mistake. */
function deriveNetwork(settings: Settings, origins: Origins): Settings['network'] {
  const { isolation, surface } = settings
  if (isolation === 'other-user') return settings.network ?? (surface === 'action' ? 'model' : 'open')
  for (const field of ['network', 'gateNetwork'] as const) {
    if (settings[field] !== 'model' || !areReadable(origins, 'isolation', field)) continue
    const problem = `the value "model" needs isolation: other-user, but isolation is ${isolation}.`
    addProblem(origins[field].at, problem, 'write isolation: other-user, or leave this setting out')
  }
  return 'open'
}

/** An agent-command of higher rank than the agent means a custom agent. */
function deriveAgent(settings: Settings, origins: Origins): string {
  const { agent, agentCommand, fallbackAgent } = settings
  if (agentCommand === null || agent === 'custom' || !areReadable(origins, 'agent', 'agentCommand'))
    return agent
  const command = origins.agentCommand
  if (fallbackAgent !== 'custom' && command.rank > origins.agent.rank) {
    addNote(command.at, 'the agent is custom, because this command is given')
    return 'custom'
  }
  if (fallbackAgent !== 'custom' && !agentsIn(settings.steps).includes('custom'))
    addNote(command.at, `ignored, because only agent: custom uses a command, and the agent is ${agent}`)
  return agent
}

/** A version of lower rank than the agent belongs to the agent that is named there. */
function deriveAgentVersion({ agent, agentVersion }: Settings, origins: Origins): string | null {
  const { rank, overridden } = origins.agent
  const version = origins.agentVersion
  const isOthers = rank > version.rank && overridden !== undefined && overridden !== agent
  if (agentVersion === null || !isOthers || !areReadable(origins, 'agent', 'agentVersion'))
    return agentVersion
  addNote(version.at, `ignored, because it is a version of ${overridden} and the agent is ${agent}`)
  return null
}

/** A layer that GitHub merged by itself would need a job to turn auto-merge on for the next one, and no event starts that job. */
function checkStack({ pullRequest, autoMerge }: Settings, origins: Origins): void {
  if (pullRequest !== 'stacked' || !autoMerge || !areReadable(origins, 'pullRequest', 'autoMerge')) return
  const fix = 'leave auto-merge out: people merge a stack from the bottom'
  addMistake(origins.autoMerge.at, 'true with pull-request: stacked', 'false', fix)
}

function checkAgents(settings: Settings, origins: Origins): void {
  if (!areReadable(origins, 'agent', 'agentCommand', 'fallbackAgent')) return
  const { agent, agentCommand, fallbackAgent } = settings
  const ofSteps = agentsIn(settings.steps).map((name) => ['steps', name] as const)
  for (const [field, name] of [
    ['agent', agent] as const,
    ['fallbackAgent', fallbackAgent] as const,
    ...ofSteps,
  ]) {
    if (name !== 'custom' || agentCommand !== null) continue
    const fix = 'add agent-command (agentCommand in the file): a command that reads the prompt from stdin'
    addProblem(origins[field].at, 'the agent custom needs an agent-command.', fix)
  }
  if (fallbackAgent === agent) {
    const problem = `${agent} is already the agent, so it cannot be its own fallback.`
    addProblem(origins.fallbackAgent.at, problem, 'choose another agent, or leave fallback-agent out')
  }
}

function noteSteps({ steps, isolation, agent }: Settings, { steps: { at } }: Origins): void {
  if (steps === null) return
  if (isolation === 'separate-job' && steps.after.length > 0) {
    const names = steps.after.map(({ name }) => name).join(', ')
    addNote(at, `with isolation: separate-job, the steps after the commit do not run: ${names}`)
  }
  const first = agentSteps(steps)[0]
  if (first !== undefined && first.agent !== null && first.agent !== agent)
    addNote(at, `step ${first.name} uses ${first.agent}; planning, set-up and the judge use ${agent}`)
}

/** Services of another user are ended before Ralph looks at the tree. */
function noteServices({ services, isolation }: Settings, { services: { at } }: Origins): void {
  if (isolation === 'same-user') return
  const stay = services.filter(({ start, restartBeforeVerify }) => start !== null && !restartBeforeVerify)
  for (const { name } of stay)
    addNote(
      at,
      `restartBeforeVerify: false has no effect on ${name}: with isolation: ${isolation}, Ralph stops services after the gates`,
    )
}

/** An iteration has to fit into its job. A default is shortened silently; a timeout that was set is a mistake. */
function deriveIterationTimeout(settings: Settings, origins: Origins): number {
  const { iterationTimeoutMs, jobDeadlineMs } = settings
  if (!areReadable(origins, 'iterationTimeoutMs', 'jobDeadlineMs')) return iterationTimeoutMs
  if (iterationTimeoutMs <= jobDeadlineMs) return iterationTimeoutMs
  const { at, rank } = origins.iterationTimeoutMs
  if (rank === 0) return jobDeadlineMs
  const longest = formatDuration(jobDeadlineMs)
  const problem = `${formatDuration(iterationTimeoutMs)} is longer than the job-deadline, ${longest}.`
  addProblem(at, problem, `write at most ${longest}, or raise job-deadline`)
  return iterationTimeoutMs
}

const reportsOf = (name: string) => findAgent(name)?.reports ?? 'nothing'

/** A cost limit can only be held when the cost is known. */
function checkCost(settings: Settings, origins: Origins): void {
  const { agent, fallbackAgent, maxCostUsd, prices } = settings
  if (maxCostUsd === null || !areReadable(origins, 'agent', 'fallbackAgent', 'maxCostUsd', 'prices', 'model'))
    return
  const all = [agent, fallbackAgent, ...agentsIn(settings.steps)]
  const withoutCost = [...new Set(all)].filter((name) => name !== null && reportsOf(name) !== 'cost')
  if (withoutCost.length === 0) return
  const limit = origins.maxCostUsd.at
  const withoutUsage = withoutCost.find((name) => name !== null && reportsOf(name) === 'nothing')
  if (withoutUsage !== undefined) {
    const problem = `Ralph cannot enforce a cost limit with ${withoutUsage}, which reports neither cost nor tokens.`
    addProblem(limit, problem, 'use max-agent-time or max-iterations instead')
    return
  }
  if (Object.keys(prices).length === 0) {
    const agents = withoutCost.join(' and ')
    const problem = `a cost limit needs prices, because Ralph gets only tokens from ${agents}, and no cost.`
    const fix = 'add `prices:` to the configuration file, or use max-tokens or max-agent-time instead'
    addProblem(limit, problem, fix)
    return
  }
  // The models are the first agent's; a fallback of another vendor uses its own.
  if (reportsOf(agent) === 'cost') return
  const { rungs, run, ...others } = settings.model
  // checkLadders looks at ladders.
  const models = new Set([...Object.values(others), ...(rungs === undefined ? [run] : [])])
  for (const name of models) {
    if (name === null || Object.hasOwn(prices, name)) continue
    const problem = `the model "${oneLine(name)}" has no price, which the cost limit needs.`
    addProblem(origins.model.at, problem, `add it to \`prices:\`, or write ${modelsWith(prices)}`)
  }
  if (models.has(null))
    addNote(limit, `name the model too, because the default model of ${agent} may have no price`)
}

/** If prices are given, a rung without one is a mistyped name, or its cost would be unknown. */
function checkLadders({ model, ladder, prices }: Settings, origins: Origins): void {
  if (Object.keys(prices).length === 0 || !areReadable(origins, 'prices', 'model', 'ladder')) return
  const all = [
    ...(model.rungs ?? []).map((name) => [origins.model.at, name] as const),
    ...Object.values(ladder).flatMap((names) => names.map((name) => [origins.ladder.at, name] as const)),
  ]
  for (const [at, name] of all) {
    if (Object.hasOwn(prices, name)) continue
    const close = nearest(name, Object.keys(prices))
    const fix =
      close === null
        ? `add it to \`prices:\`, or write ${modelsWith(prices)}`
        : `did you mean ${oneLine(close, 80)}? Otherwise add it to \`prices:\``
    addProblem(at, `the model "${oneLine(name)}" of this ladder has no price.`, fix)
  }
}

function modelsWith(prices: Settings['prices']): string {
  return oneLine(joinWithOr(Object.keys(prices)), 200)
}

/** A page that no service serves would never be checked: that must not count as checked. */
function checkBrowser({ browser, services, gates }: Settings, origins: Origins): void {
  if (browser?.enabled !== true || !areReadable(origins, 'browser', 'services')) return
  const { at } = origins.browser
  const taken = gates.find(({ name }) => name.toLowerCase() === BROWSER_GATE)
  if (taken !== undefined && areReadable(origins, 'gates')) {
    const problem = `the gate ${taken.name} has the name of the built-in browser check.`
    addProblem(origins.gates.at, problem, 'rename the gate, for example to e2e')
  }
  const site = resolveSite(browser, services)
  if (site === null) {
    const fix = 'add baseUrl: http://localhost:3000, or a service whose `ready` is a URL'
    addProblem(at, 'Ralph does not know the address of your pages.', fix)
    return
  }
  for (const [index, url] of browser.urls.entries()) {
    if (url.startsWith('/') || site.origins.includes(originOf(url) ?? '')) continue
    const expected = `a page of ${joinWithOr(site.origins)}`
    addMistake(
      childPlace(at, 'urls', index),
      describeFound(url),
      expected,
      'write a path such as /cart, or a URL of that site',
    )
  }
}

const MIN_KEY = 16

/** A glue needs a clean room on the machine of its session. Without one, sealed examples are refused and not weakened. */
function checkExamples(settings: Settings, origins: Origins): void {
  const { examples, examplesKey, cleanRoom, isolation, maxParallel } = settings
  if (examples === 'off' || !areReadable(origins, 'examples', 'cleanRoom', 'isolation', 'maxParallel')) return
  const { at } = origins.examples
  if (cleanRoom === 'off')
    addProblem(at, 'sealed examples need a clean room, but clean-room is off.', 'leave clean-room out')
  if (isolation === 'separate-job')
    addProblem(
      at,
      'sealed examples do not work with isolation: separate-job.',
      'choose another isolation, or leave examples out',
    )
  if (maxParallel > 1)
    addProblem(
      at,
      'sealed examples work with one story at a time, but max-parallel is set.',
      'leave max-parallel out',
    )
  if (!areReadable(origins, 'examplesKey')) return
  const key = examplesKey?.trim() ?? ''
  const problem = `the key has ${key.length} characters, and needs at least ${MIN_KEY}.`
  if (key !== '' && key.length < MIN_KEY)
    addProblem(origins.examplesKey.at, problem, 'make a key with `openssl rand -hex 32`')
}
