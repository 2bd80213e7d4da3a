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
import { addMistake, addNote, childPlace, type ValuePlace } from './value-place.ts'

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
    addMistake(origins.branchName.at, branchName, `${branchPrefix}${FEATURE}`, 'leave branch-prefix out')
  return prefix
}

/** Only another user has its own network. A default changes silently; a value that was set is a mistake. */
function deriveNetwork(settings: Settings, origins: Origins): Settings['network'] {
  const { isolation, surface } = settings
  if (isolation === 'other-user') return settings.network ?? (surface === 'action' ? 'model' : 'open')
  for (const field of ['network', 'gateNetwork'] as const) {
    if (settings[field] !== 'model' || !areReadable(origins, 'isolation', field)) continue
    const found = `${settings[field]} at isolation: ${isolation}`
    addMistake(
      origins[field].at,
      found,
      'isolation: other-user',
      'write isolation: other-user, or leave it out',
    )
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
    addNote(command.at, 'means agent: custom')
    return 'custom'
  }
  if (fallbackAgent !== 'custom' && !agentsIn(settings.steps).includes('custom'))
    addNote(command.at, `not used: the agent is ${agent}, and this is for agent: custom`)
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
    const fix = 'add agent-command (agentCommand in the file): a command line that takes the prompt on stdin'
    addMistake(origins[field].at, 'custom without a command', 'an agent-command as well', fix)
  }
  if (fallbackAgent === agent) {
    const at = origins.fallbackAgent.at
    addMistake(at, `${agent} as its own fallback`, 'another agent', 'choose another one, or leave it out')
  }
}

function noteSteps({ steps, isolation, agent }: Settings, { steps: { at } }: Origins): void {
  if (steps === null) return
  if (isolation === 'separate-job' && steps.after.length > 0) {
    const names = steps.after.map(({ name }) => name).join(', ')
    addNote(
      at,
      `not run at isolation: separate-job, which runs nothing of the repository after the commit: ${names}`,
    )
  }
  const first = agentSteps(steps)[0]
  if (first !== undefined && first.agent !== null && first.agent !== agent)
    addNote(
      at,
      `step ${first.name} works with ${first.agent}; judging, planning and set-up are of agent: ${agent}`,
    )
}

/** Services of another user are ended before Ralph looks at the tree. */
function noteServices({ services, isolation }: Settings, { services: { at } }: Origins): void {
  if (isolation === 'same-user') return
  const stay = services.filter(({ start, restartBeforeVerify }) => start !== null && !restartBeforeVerify)
  for (const { name } of stay)
    addNote(
      at,
      `${name}: restartBeforeVerify: false has no effect at isolation: ${isolation}: it is stopped after the gates`,
    )
}

/** An iteration has to fit into its job. A default is shortened silently; a timeout that was set is a mistake. */
function deriveIterationTimeout(settings: Settings, origins: Origins): number {
  const { iterationTimeoutMs, jobDeadlineMs } = settings
  if (!areReadable(origins, 'iterationTimeoutMs', 'jobDeadlineMs')) return iterationTimeoutMs
  if (iterationTimeoutMs <= jobDeadlineMs) return iterationTimeoutMs
  const { at, rank } = origins.iterationTimeoutMs
  if (rank === 0) return jobDeadlineMs
  const found = `${formatDuration(iterationTimeoutMs)}, longer than the job-deadline of ${formatDuration(jobDeadlineMs)}`
  addMistake(at, found, `at most ${formatDuration(jobDeadlineMs)}`, 'shorten it, or raise job-deadline')
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
    const found = `a cost limit with ${withoutUsage}, which reports neither cost nor tokens`
    addMistake(limit, found, 'another limit', 'limit by max-agent-time or max-iterations instead')
    return
  }
  if (Object.keys(prices).length === 0) {
    const found = `a cost limit with ${withoutCost.join(' and ')}, reporting no cost`
    const fix = 'add `prices:` to the configuration file, or limit by max-tokens or max-agent-time instead'
    addMistake(limit, found, 'prices of the models', fix)
    return
  }
  // The models are the first agent's; a fallback of another vendor uses its own.
  if (reportsOf(agent) === 'cost') return
  const { rungs, run, ...others } = settings.model
  // checkLadders looks at ladders.
  const models = new Set([...Object.values(others), ...(rungs === undefined ? [run] : [])])
  for (const name of models) {
    if (name === null || Object.hasOwn(prices, name)) continue
    const expected = `a model with a price: ${oneLine(joinWithOr(Object.keys(prices)), 200)}`
    addMistake(origins.model.at, `"${oneLine(name)}" without a price`, expected, 'add it to `prices:`')
  }
  if (models.has(null)) addNote(limit, `name the model: what ${agent} uses by itself may have no price`)
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
    const expected = `a model with a price: ${oneLine(joinWithOr(Object.keys(prices)), 200)}`
    const fix =
      close === null
        ? 'add it to `prices:`'
        : `did you mean ${oneLine(close, 80)}? else add it to \`prices:\``
    addMistake(at, `"${oneLine(name)}" on a ladder, without a price`, expected, fix)
  }
}

/** A page that no service serves would never be checked: that must not count as checked. */
function checkBrowser({ browser, services, gates }: Settings, origins: Origins): void {
  if (browser?.enabled !== true || !areReadable(origins, 'browser', 'services')) return
  const { at } = origins.browser
  const taken = gates.find(({ name }) => name.toLowerCase() === BROWSER_GATE)
  if (taken !== undefined && areReadable(origins, 'gates')) {
    const expected = 'another name, because the built-in browser check is called browser'
    const fix = 'give the gate another name, such as e2e'
    addMistake(origins.gates.at, `a gate named ${taken.name}`, expected, fix)
  }
  const site = resolveSite(browser, services)
  if (site === null) {
    const expected = 'a service with a URL in `ready`, or baseUrl'
    addMistake(at, 'nothing that says where pages are', expected, 'add baseUrl: http://localhost:3000')
    return
  }
  for (const [index, url] of browser.urls.entries()) {
    if (url.startsWith('/') || site.origins.includes(originOf(url) ?? '')) continue
    const expected = `a page of ${joinWithOr(site.origins)}`
    addMistake(
      childPlace(at, 'urls', index),
      describeFound(url),
      expected,
      'name one of these, or a path such as /cart',
    )
  }
}

const MIN_KEY = 16

/** A glue needs a clean room on the machine of its session. Without one, sealed examples are refused and not weakened. */
function checkExamples(settings: Settings, origins: Origins): void {
  const { examples, examplesKey, cleanRoom, isolation, maxParallel } = settings
  if (examples === 'off' || !areReadable(origins, 'examples', 'cleanRoom', 'isolation', 'maxParallel')) return
  const { at } = origins.examples
  const refuse = (found: string, expected: string, fix: string) => addMistake(at, found, expected, fix)
  if (cleanRoom === 'off') refuse('sealed with clean-room: off', 'clean-room: on', 'leave clean-room out')
  if (isolation === 'separate-job')
    refuse(
      'sealed at isolation: separate-job',
      'another isolation',
      'this version cannot do both: leave one out',
    )
  if (maxParallel > 1) refuse('sealed with max-parallel', 'one story at a time', 'leave max-parallel out')
  if (!areReadable(origins, 'examplesKey')) return
  const key = examplesKey?.trim() ?? ''
  const fix = 'make one with `openssl rand -hex 32`'
  if (key !== '' && key.length < MIN_KEY)
    addMistake(origins.examplesKey.at, `${key.length} characters`, `at least ${MIN_KEY} characters`, fix)
}
