// `ralph run`: works on a feature on this machine until an outcome.
import { join } from 'node:path'
import { screenshotFolder } from '../app/browser.ts'
import { claim, Held, withWanted } from '../app/claim.ts'
import { type Isolation, openIsolation, SAME_USER_NOTE } from '../app/isolation.ts'
import { gatedTagsOf, leaseFor, limitsOf, UNGATED_WARNING } from '../app/limits.ts'
import { createPorts, type PortOptions } from '../app/ports.ts'
import { openRunLogs } from '../app/run-logs.ts'
import { begunAnew } from '../loop/archive.ts'
import { applyCommand } from '../loop/commands.ts'
import { loop } from '../loop/loop.ts'
import { byWeight, type MovedRef, sayMoved, undoMove } from '../loop/moved-refs.ts'
import { decision } from '../loop/situation.ts'
import { sayRemark } from '../loop/templates.ts'
import { errorOf, newJob } from '../model/job.ts'
import type { Limits } from '../model/limits.ts'
import type { Ports } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import type { Step } from '../model/step.ts'
import { importedCount } from '../prd/select.ts'
import { terminalText } from '../report/escape.ts'
import { forecastOf, outlookWords, worstCase } from '../report/forecast.ts'
import { EXIT_CODES, outputsOf, partInJson } from '../report/outputs.ts'
import { refusedWords, utc } from '../report/words.ts'
import { describeSteps, type Settings } from '../settings/index.ts'
import { UserError } from '../system/errors.ts'
import { Live } from '../terminal/live.ts'
import { type Answer, type Context, settingsOf } from './context.ts'
import { inboxQueue, post } from './inbox.ts'
import { adoptSettle, editsOf, type LocalRun, openLocal } from './local.ts'
import { withOwnNotify } from './notify-own.ts'
import { preflight, templateFindings } from './preflight.ts'
import { onSignals } from './signals.ts'

/** Works until the outcome. Ctrl+C ends the session in work, saves, and gives 130; a second one ends at once. */
export async function run(context: Context): Promise<Answer> {
  const { settings: asked, notes } = await settingsOf(context)
  // The demo is nobody's news.
  const settings = context.command === 'demo' ? asked : await withOwnNotify(asked, context.env)
  const limits = limitsFor(context, settings)
  const live = liveOf(context, settings, limits, notes)
  using local = await openLocal(context, settings, live)
  const isDry = context.flags.dryRun === true
  const found = await local.look(isDry ? live.warn : undefined)
  const mistakes = await preflight(context, local, found)
  if (mistakes.length > 0) throw new UserError(mistakes)
  for (const note of (await templateFindings(local, found)).notes) live.warn(sayRemark(note))
  if (isDry) return await dryRun(local, found, limits, live, context.flags.force === true)
  const now = Date.now()
  const lease = await leaseFor(settings, now, null)
  const queue = inboxQueue(local.workspace.clone)
  const top = join(local.workspace.clone.gitDir, 'ralph')
  await using logs = await openRunLogs(top, found.feature, settings.logs, live.warn)
  const given = { mark: lease.mark, queue, run: logs.name }
  const answer = await withPorts(context, local, live, given, async (ports) => {
    const deadline =
      context.flags.jobDeadline === undefined ? Number.MAX_SAFE_INTEGER : now + settings.jobDeadlineMs
    const { clone } = local.workspace
    const claimed = await claim(local.workspace, {
      feature: settings.feature,
      typed: local.typed,
      branchPrefix: settings.branchPrefix,
      base: local.base,
      workTree: clone.workTree,
      generation: null,
      lease,
      alive: local.alive,
      endOrphansOf: local.endOrphansOf,
      job: newJob(now, deadline, gatedTagsOf(settings)),
      chosen: {},
      wanted: settings,
      anew: context.flags.force === true,
      settle: (state) => adoptSettle(local, state),
      today: new Date(now).toISOString().slice(0, 10),
      firstComment: async () => 0,
    }).catch((error: unknown) => {
      throw error instanceof Held ? atWork(error) : error
    })
    for (const note of claimed.notes) live.warn(note)
    await logs.clean()
    // It is heard behind what was typed before, such as a pause that no run was left to hear.
    await post(clone, claimed.state.feature, '/ralph run')
    const { state, conclusion } = await loop(claimed.state, limits, ports)
    const places: [string, string][] = [['Logs', join(top, 'logs', logs.name ?? '')]]
    if (settings.browser?.enabled === true)
      places.push(['Pictures', screenshotFolder({ clone }, logs.name ?? '')])
    places.push(['Report', 'ralph report'])
    live.end(state, conclusion, places)
    const movedRefs = byWeight(local.workspace.snapshot.moved)
    for (const line of movedRefLines(movedRefs)) live.warn(line)
    const more = {
      movedRefs,
      ...partInJson(state),
      ...(errorOf(state) === null ? {} : { errors: [mistakeOf(state)] }),
    }
    return { code: EXIT_CODES[conclusion.outcome], outputs: outputsOf(state, conclusion.outcome, null), more }
  })
  return answer ?? { code: EXIT_CODES.interrupted, outputs: outputsOf(null, 'interrupted', null) }
}

/**
 * Does `act` with the ports of this machine. Ctrl+C ends the session in work; a second one ends at once. Gives null where
 * the person has cancelled while an agent was installed.
 */
export async function withPorts<T>(
  { env }: Context,
  { settings, workspace }: LocalRun,
  live: Live,
  given: Pick<PortOptions, 'mark' | 'queue' | 'run'>,
  act: (ports: Ports) => Promise<T>,
): Promise<T | null> {
  const stop = new AbortController()
  const heard = (signal: string) =>
    live.warn(`${signal}: ending what is in work and saving; press Ctrl+C again to leave at once`)
  const release = onSignals(stop, heard, () => live.close())
  let as: Isolation | null = null
  try {
    if (settings.isolation === 'same-user') live.warn(SAME_USER_NOTE)
    as = await openIsolation({ settings, env, clone: workspace.clone, say: live.warn })
    await using ports = await createPorts({
      ...given,
      settings,
      env,
      workspace,
      observers: [live],
      warn: live.warn,
      signal: stop.signal,
      as,
      onAgent: live.agent,
      onGateStart: live.starts,
      onGateEnd: live.gate,
    }).catch((error: unknown) => {
      if (stop.signal.aborted) return null
      throw error
    })
    return ports === null ? null : await act(ports)
  } finally {
    const refused = as === null ? null : refusedWords(as.refused())
    if (refused !== null) live.warn(workspace.redactor.redact(refused))
    await as?.close()
    release()
    live.close()
  }
}

/** A run has the work tree to itself. */
export function atWork({ message }: { message: string }): UserError {
  const fix = 'wait until it has ended, or end it with `ralph stop`'
  return new UserError({ path: 'feature', found: message, expected: 'nobody at work on it', fix })
}

/** So many refs are told by name at the end. */
const TOLD_REFS = 50

/** What may have been the agent's doing is the last thing to be read. */
function movedRefLines(moved: readonly MovedRef[]): string[] {
  if (moved.length === 0) return []
  const more = moved.length - TOLD_REFS
  return [
    `refs of yours moved while agents or gates ran. Ralph cannot know whether you moved them, and left them:`,
    ...moved.slice(0, TOLD_REFS).map((one) => `${sayMoved(one)}. To put it back: ${undoMove(one)}`),
    ...(more > 0 ? [`and ${more} more, all of which --json names`] : []),
  ]
}

function mistakeOf(state: State) {
  const error = errorOf(state)
  return { path: 'run', found: error?.summary ?? '', expected: 'a run that can start', fix: error?.fix ?? '' }
}

/** A run on this machine waits where a job of CI ends. */
function limitsFor(context: Context, settings: Settings): Limits {
  return { ...limitsOf(settings), waits: context.flags.wait !== false }
}

/** The terminal, where settings that mean less than they seem to are warned of first. */
export function liveOf(context: Context, settings: Settings, limits: Limits, notes: readonly string[]): Live {
  const screen = context.json ? process.stderr : process.stdout
  const facts = { limits, agent: settings.agent, surface: 'cli' as const }
  const live = new Live(screen, facts, context.env.NO_COLOR !== undefined)
  for (const note of notes) live.warn(note)
  if (settings.ungated) live.warn(UNGATED_WARNING)
  return live
}

/** Prints the decision and touches nothing. */
async function dryRun(
  local: LocalRun,
  state: State,
  limits: Limits,
  live: Live,
  isAnew: boolean,
): Promise<Answer> {
  const { lease, feature } = state
  if (lease !== null && (await local.alive(lease))) throw atWork(new Held(lease, feature))
  await editsOf(local, state)
  const begun = isAnew ? begunAnew(state, state.nonce) : state
  const asked = withWanted(begun, local.settings)
  const step = decision(applyCommand(asked, { kind: 'run', id: 0, by: 'you' }), limits, Date.now())
  const forecast = forecastOf(asked, Date.now())
  const outlook = outlookWords(forecast, worstCase(asked, limits))
  if (outlook !== null) live.say(`Left: ${outlook}`)
  live.say(`Next: ${sayStep(step, asked)}`)
  if (local.settings.steps !== null) live.say(`Steps: ${describeSteps(local.settings)}`)
  return {
    code: 0,
    outputs: outputsOf(state, null, null),
    more: { next: stepInJson(step), forecast, ...partInJson(asked) },
  }
}

export function stepInJson(step: Step): Record<string, unknown> {
  if (step.kind === 'reserve') return { step: 'work', storyId: step.storyId }
  if (step.kind === 'conclude')
    return { step: 'stop', outcome: step.conclusion.outcome, reason: step.conclusion.reason }
  if (step.kind === 'wait') return { step: 'wait', until: step.until, reason: step.reason }
  return { step: step.kind }
}

export function sayStep(step: Step, state: State): string {
  if (step.kind === 'reserve') {
    const story = state.prd.userStories.find((one) => one.id === step.storyId)
    return `work on ${step.storyId} (${terminalText(story?.title ?? '')}), attempt ${(story?.retries ?? 0) + 1}`
  }
  if (step.kind === 'verify') {
    const imported = importedCount(state.prd, state.control.scope)
    const seen = 'imported as passed, not seen by a gate of this run'
    return imported === 0 ? 'the final verification' : `the final verification (${imported} ${seen})`
  }
  if (step.kind === 'wait') return `wait until ${utc(step.until)}: ${terminalText(step.reason)}`
  if (step.kind === 'conclude')
    return `stop: ${step.conclusion.outcome} (${terminalText(step.conclusion.reason)})`
  return step.kind
}
