// `ralph run`: works on a feature on this machine until an outcome.

import { join } from 'node:path'
import { AtWork, atWorkError, isAlive, refuseAtWork, refuseOtherRun } from '../app/at-work.ts'
import { screenshotFolder } from '../app/browser-gate.ts'
import { claim, FeatureHeld } from '../app/claim-feature.ts'
import { type Isolation, openIsolation, SAME_USER_NOTE } from '../app/isolation.ts'
import { laneOpener, removeStaleLanes } from '../app/lane-work-trees.ts'
import { gatedTagsOf, leaseFor, limitsOf, UNGATED_WARNING } from '../app/loop-limits.ts'
import { createPorts } from '../app/loop-ports.ts'
import { notifyError } from '../app/observers.ts'
import type { PortOptions } from '../app/port-options.ts'
import { openRunLogs } from '../app/run-logs.ts'
import { sealState } from '../app/seal-examples.ts'
import { requireSigner } from '../app/sign-commits.ts'
import { changesByStory } from '../branch/story-changes.ts'
import { runToEnd } from '../engine/driver.ts'
import { inCheckout } from '../engine/executors/in-checkout.ts'
import { inLanes } from '../engine/executors/in-lanes.ts'
import { haltError, newJob } from '../engine/model/job.ts'
import type { Limits } from '../engine/model/limit-types.ts'
import { existingRefsFirst, formatMovedRef, type MovedRef, undoCommand } from '../engine/model/moved-refs.ts'
import type { Ports } from '../engine/model/ports.ts'
import type { State } from '../engine/model/state.ts'
import { checkedOutElsewhere } from '../git/open-clone.ts'
import { describeRefusedHosts } from '../report/figures.ts'
import { EXIT_CODES, outputsOf, scopeInJson } from '../report/outputs.ts'
import { Live } from '../report/terminal/live-lines.ts'
import type { Settings, SettingsResult } from '../settings/read-settings.ts'
import { configDifference, templatesOf } from '../setup/checks/check-repository.ts'
import { refuseBlocked } from '../setup/checks/check-table.ts'
import { findLaneWarnings } from '../setup/checks/machine.ts'
import { loadEveryChunk } from '../system/bundle-chunks.ts'
import { UserError } from '../system/errors.ts'
import { shellWord } from '../system/shell-word.ts'
import { openForRun } from './before-run.ts'
import {
  type CommandResult,
  type Context,
  errorResult,
  findTop,
  interruptedResult,
  onSignals,
  readSettings,
} from './command-context.ts'
import { currentCommitNotes } from './commit-note.ts'
import { editsOf, takeUpEdits } from './edits.ts'
import { findMerged, withMerge } from './feature-status.ts'
import { inboxQueue, queueCommand } from './inbox.ts'
import { type LocalRun, openLocal } from './local-feature.ts'
import { dryRun } from './look.ts'
import { withOwnNotify } from './notify-own.ts'

/** Works until the outcome. Ctrl+C ends the running session, saves, and exits 130; a second one ends at once. */
export async function run(context: Context): Promise<CommandResult> {
  const { command, env, flags, out, warn } = context
  const read = await readSettings(context)
  // The demo sends no notifications.
  const sendsNotifications = command !== 'demo'
  const settings = sendsNotifications ? await withOwnNotify(read.settings, env) : read.settings
  try {
    // A session, or an update meanwhile, may change the files that this program runs from.
    await loadEveryChunk()
    return await workOnFeature(context, { ...read, settings })
  } catch (error) {
    // On a terminal the person reads the error there, and needs no notification.
    if (sendsNotifications && flags.dryRun !== true && out.isTTY !== true && !(error instanceof AtWork)) {
      const place = { settings, env, workTree: findTop(context.directory).top, warn }
      await notifyError(error, { ...place, signal: new AbortController().signal }, null, null)
    }
    if (error instanceof UserError) throw error
    return errorResult(context, error, {}, await savedState(context, settings))
  }
}

/** The state that was saved last, for the result of a run that an unexpected error ended; null if it cannot be read. */
async function savedState(context: Context, settings: Settings): Promise<State | null> {
  try {
    using local = await openLocal(context, settings, { warn: () => {} })
    return await local.look()
  } catch {
    return null
  }
}

async function workOnFeature(context: Context, read: SettingsResult): Promise<CommandResult> {
  const { settings, notes } = read
  // A job of CI would end here, such as at a rate limit. A run on this machine waits.
  const limits = { ...limitsOf(settings), waits: context.flags.wait !== false }
  const live = liveOf(context, settings, limits, notes)
  const isDry = context.flags.dryRun === true
  const opened = await openForRun(context, read, live, isDry ? live.warn : undefined)
  using local = opened.local
  const { state: found, start } = opened
  for (const note of (await templatesOf(start)).notes) live.warn(note)
  const other = await configDifference(local.workspace, settings, found)
  if (other !== null) live.warn(other)
  for (const { found, fix } of await findLaneWarnings(start)) live.warn(`${found}; ${fix}`)
  if (isDry) return await dryRun(context, local, found, limits)
  const merged = await findMerged(local, found, limits)
  if (merged !== null && context.flags.force !== true) {
    await refuseAtWork(found)
    live.end(found, merged, [['Report', 'ralph report']])
    return { code: 0, outputs: outputsOf(found, 'complete', null), more: scopeInJson(found) }
  }
  const elsewhere = checkedOutElsewhere(local.workspace.clone, found.branch)
  if (elsewhere !== null) {
    // Another run may have had the lease since the checks, and may have left work undone.
    await refuseAtWork(found)
    await refuseBlocked(start, ['work tree'])
    context.print(`${found.feature} is complete; ${found.branch} is checked out in ${elsewhere}`)
    return { code: 0, outputs: outputsOf(found, 'complete', null), more: scopeInJson(found) }
  }
  await refuseOtherRun(local, found.branch)
  // Uncommitted changes are refused before the agent is installed. A run that starts over checks later, by its new state.
  if (context.flags.force !== true) {
    await refuseAtWork(found)
    await editsOf(local.workspace, found)
  }
  await requireSigner(settings, local.workspace.signer)
  const now = Date.now()
  const lease = await leaseFor(settings, now, null)
  const queue = inboxQueue(local.workspace.clone)
  const top = join(local.workspace.clone.gitDir, 'ralph')
  await using logs = await openRunLogs(top, found.feature, settings.logs, live.warn)
  const options = { mark: lease.mark, queue, run: logs.name }
  const answer = await withPorts(context, local, live, options, async (ports) => {
    const deadline =
      context.flags.jobDeadline === undefined ? Number.MAX_SAFE_INTEGER : now + settings.jobDeadlineMs
    const { clone } = local.workspace
    const claimed = await claim(local.workspace, {
      feature: settings.feature,
      formatName: local.formatName,
      branchPrefix: settings.branchPrefix,
      base: local.base,
      workTree: clone.workTree,
      generation: null,
      lease,
      isAlive,
      endOrphansOf: local.endOrphansOf,
      job: newJob(now, deadline, gatedTagsOf(settings)),
      chosen: {},
      scope: settings,
      anew: context.flags.force === true,
      inLanes: limits.maxParallel > 1,
      canResume: limits.maxParallel > 1 || ports.openCleanRoom !== null,
      prepareState: async (state) =>
        sealState(await takeUpEdits(local.workspace, state, live.warn), local.workspace.seal),
      today: new Date(now).toISOString().slice(0, 10),
      firstComment: async () => 0,
    }).catch((error: unknown) => {
      throw error instanceof FeatureHeld ? atWorkError(error.message) : error
    })
    for (const note of claimed.notes) live.warn(note)
    const from = local.workspace.clone.branch
    const { branch } = claimed.state
    if (from !== branch && context.command !== 'demo')
      live.say(`Your checkout switches to ${branch}, and stays there. ${wayBack(from, local)}`)
    await logs.clean()
    await removeStaleLanes(clone, context.env)
    // It is queued after commands that were typed before, such as a pause that no run has read.
    await queueCommand(clone, claimed.state.feature, '/ralph run')
    const executor = (limits.maxParallel > 1 ? inLanes : inCheckout)(limits, ports)
    const { state, conclusion } = await runToEnd(claimed.state, limits, executor)
    const places: [string, string][] = [['Logs', join(top, 'logs', logs.name ?? '')]]
    if (settings.browser?.enabled === true)
      places.push(['Pictures', screenshotFolder({ clone }, logs.name ?? '')])
    if (context.command !== 'demo') places.push(['Report', 'ralph report'])
    if (from !== branch && state.published !== null)
      places.push(['Checkout', `${branch} is checked out. ${wayBack(from, local)}`])
    const ended = await withMerge(local.workspace, state, { kind: 'ended', conclusion })
    live.end(state, ended, places, await changesByStory(local.workspace.git, state).catch(() => ({})))
    const movedRefs = existingRefsFirst(local.workspace.snapshot.people.moved)
    for (const line of movedRefLines(movedRefs)) live.warn(line)
    const error = haltError(state)
    const mistake = {
      path: 'run',
      found: error?.summary ?? '',
      expected: '',
      fix: error?.fix ?? '',
    }
    const more = { movedRefs, ...scopeInJson(state), ...(error === null ? {} : { errors: [mistake] }) }
    return { code: EXIT_CODES[conclusion.outcome], outputs: outputsOf(state, conclusion.outcome, null), more }
  })
  return answer ?? interruptedResult()
}

/**
 * Calls `act` with the ports of this machine. Ctrl+C ends the running session; a second one ends at once. Returns null if
 * the person cancelled while an agent was being installed.
 */
export async function withPorts<T>(
  { env }: Context,
  { settings, workspace }: LocalRun,
  live: Live,
  identity: Pick<PortOptions, 'mark' | 'queue' | 'run'>,
  act: (ports: Ports) => Promise<T>,
): Promise<T | null> {
  const stop = new AbortController()
  const onSignal = (signal: string) =>
    live.warn(`${signal}: ending the session and saving. Press Ctrl+C again to quit at once`)
  const release = onSignals(stop, onSignal, () => live.close())
  let as: Isolation | null = null
  try {
    if (settings.isolation === 'same-user') live.warn(SAME_USER_NOTE)
    as = await openIsolation({ settings, env, clone: workspace.clone, report: live.warn })
    const options = {
      ...identity,
      settings,
      env,
      workspace,
      observers: [live, currentCommitNotes(workspace.git)],
      warn: live.warn,
      signal: stop.signal,
      as,
      onAgent: live.agent,
      onGateStart: live.starts,
      onGateOutput: live.output,
      onGateEnd: live.gate,
    }
    await using ports = await createPorts(options).catch((error: unknown) => {
      if (stop.signal.aborted) return null
      throw error
    })
    return ports === null ? null : await act({ ...ports, openLane: laneOpener(options) })
  } finally {
    const refused = as === null ? null : describeRefusedHosts(as.refused())
    if (refused !== null) live.warn(workspace.redactor.redact(refused))
    await as?.close()
    release()
    live.close()
  }
}

/** How a person gets back to the branch that was checked out before the run; `from`: null for a detached HEAD. */
function wayBack(from: string | null, { workspace }: LocalRun): string {
  const target = from === null ? `--detach ${workspace.clone.head?.slice(0, 12) ?? 'HEAD'}` : shellWord(from)
  return `To go back: git switch ${target}`
}

/** At most so many moved refs are listed. */
const MAX_NAMED_REFS = 50

/** Warnings about refs that changed during the run: the agent may have moved them. */
function movedRefLines(moved: readonly MovedRef[]): string[] {
  if (moved.length === 0) return []
  const more = moved.length - MAX_NAMED_REFS
  return [
    `some of your refs moved while agents or gates ran. Ralph cannot know who moved them, and left them as they are:`,
    ...moved
      .slice(0, MAX_NAMED_REFS)
      .map((one) => `${formatMovedRef(one)}. To put it back: ${undoCommand(one)}`),
    ...(more > 0 ? [`and ${more} more; --json lists all of them`] : []),
  ]
}

/** The terminal output of a run. It begins with the warnings about settings. */
export function liveOf(context: Context, settings: Settings, limits: Limits, notes: readonly string[]): Live {
  const facts = { limits, agent: settings.agent, surface: 'cli' as const, redact: context.redact }
  const live = new Live(context.out, facts, context.env.NO_COLOR !== undefined)
  for (const note of notes) live.warn(note)
  if (settings.ungated) live.warn(UNGATED_WARNING)
  return live
}
