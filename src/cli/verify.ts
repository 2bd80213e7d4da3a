// `ralph verify`: every gate and a judge on the checkout as it is, now. Says what they find, and changes nothing of the run.

import { newJob } from '../app/claim.ts'
import { checkDirt } from '../app/dirt.ts'
import { gatedTagsOf, limitsOf, refuseUngated, UNGATED_WARNING } from '../app/limits.ts'
import { openIsolation } from '../app/workspace.ts'
import { sayHolder } from '../loop/lease.ts'
import { verifyWhole } from '../loop/perform.ts'
import type { Verdict } from '../model/event.ts'
import type { Ports } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import { emptyUsage } from '../model/usage.ts'
import { remaining } from '../prd/select.ts'
import { terminalText } from '../report/escape.ts'
import { EXIT_CODES, outputsOf } from '../report/outputs.ts'
import { many, usd } from '../report/words.ts'
import { UserError } from '../system/errors.ts'
import type { OtherUser } from '../system/other-user.ts'
import { newMark } from '../system/process.ts'
import { createLive } from '../terminal/live.ts'
import { type Answer, type Context, settingsOf } from './context.ts'
import { type LocalRun, openLocal } from './local.ts'
import { cancellable, onSignals } from './run.ts'

/** Gives 0 where every gate is green and the judge agrees, 1 where not, 130 where it was interrupted. */
export async function verify(context: Context): Promise<Answer> {
  const { settings, notes } = await settingsOf(context)
  const limits = limitsOf(settings)
  const screen = context.json ? process.stderr : process.stdout
  const facts = { limits, agent: settings.agent, voice: 'cli' as const }
  const live = createLive(screen, facts, context.env.NO_COLOR !== undefined)
  for (const note of notes) live.warn(note)
  refuseUngated(settings)
  if (settings.ungated) live.warn(UNGATED_WARNING)
  using local = await openLocal(context, settings, live)
  const { clone, repository } = local.workspace
  const found = await local.look()
  const head = clone.head ?? found.green
  await refuseAtWork(local)
  refuseElsewhere(found, clone.branch)
  await checkDirt(repository, head, () => false)
  const stop = new AbortController()
  const release = onSignals(stop, live)
  let as: OtherUser | null = null
  try {
    as = await openIsolation({ settings, env: context.env, clone, say: live.warn })
    const ports = await cancellable(stop.signal, {
      settings,
      mark: newMark(),
      env: context.env,
      workspace: local.workspace,
      reporter: live,
      queue: { read: async () => [], waiting: async () => false, arrived: async () => false },
      dispatch: { dispatch: async () => ({ kind: 'dispatched', runId: null }) },
      signal: stop.signal,
      as,
      onAgent: live.agent,
      onGateStart: live.starts,
      onGateEnd: live.gate,
    })
    if (ports === null) return interrupted(found)
    const now = Date.now()
    const state = {
      ...found,
      // It is not charged to the run: the limits hold for this session alone.
      prd: { ...found.prd, run: { ...found.prd.run, usage: emptyUsage() } },
      green: head,
      attempt: null,
      job: newJob(now, Number.MAX_SAFE_INTEGER, gatedTagsOf(settings)),
    }
    await live.step({ kind: 'verify' }, state)
    const { gates, verdict: given, usage } = await verifyWhole(state, limits, guarded(local, ports), now)
    live.close()
    if (stop.signal.aborted) return interrupted(found)
    const verdict = found.prd.userStories.some((story) => story.passes) ? given : NOTHING_JUDGED
    const red = gates.find((gate) => !gate.ok && !gate.advisory)
    const isFine = red === undefined && verdict.kind === 'verified'
    for (const line of [...said(found, verdict, red?.name ?? null), unchanged(found, usage.costUsd)])
      live.say(line)
    const more = {
      verified: isFine,
      verdict: red === undefined ? verdict : { kind: 'red', gate: red.name },
      gates: gates.map(({ name, ok, advisory, ended }) => ({ name, ok, advisory, ended })),
      usage,
    }
    return { code: isFine ? 0 : 1, outputs: outputsOf(found, found.prd.run.outcome, null), more }
  } finally {
    await as?.close()
    release()
    live.close()
  }
}

function interrupted(state: State): Answer {
  return { code: EXIT_CODES.interrupted, outputs: outputsOf(state, 'interrupted', null) }
}

/** A run has the work tree to itself. */
async function refuseAtWork(local: LocalRun): Promise<void> {
  const { lease, feature } = await local.look()
  if (lease === null || !(await local.alive(lease))) return
  throw new UserError({
    path: 'feature',
    found: `${sayHolder(lease)} works on ${feature}`,
    expected: 'nobody at work on it',
    fix: 'wait until it has ended, or end it with `ralph stop`',
  })
}

function refuseElsewhere(state: State, branch: string | null): void {
  if (state.published === null || branch === state.branch) return
  throw new UserError({
    path: 'HEAD',
    found: branch ?? 'a detached HEAD',
    expected: `${state.branch}, where the work is`,
    fix: `git switch ${state.branch}`,
  })
}

/** What gates wrote is put back, but never over the tree of a run that has begun meanwhile. */
function guarded(local: LocalRun, ports: Ports): Ports {
  const restore = async (commit: string) => {
    await refuseAtWork(local)
    return ports.repository.restore(commit)
  }
  return { ...ports, repository: { ...ports.repository, restore } }
}

/** Green gates alone are no verdict: a script that goes by the exit code must not go on. */
const NOTHING_JUDGED: Verdict = {
  kind: 'none',
  message: 'the gates are green, but no story has passed yet, so there was nothing to judge',
}

function said(state: State, verdict: Verdict, red: string | null): string[] {
  if (red !== null) return [`NOT VERIFIED: gate ${red} fails, so nothing was judged`]
  const open = remaining(state.prd).length
  const left = open === 0 ? [] : [`${many(open, 'story is', 'stories are')} left to be worked on`]
  const passed = state.prd.userStories.filter((story) => story.passes).length
  switch (verdict.kind) {
    case 'verified':
      return [`VERIFIED: every criterion of ${many(passed, 'story', 'stories')} is met`, ...left]
    case 'reset':
      return [`NOT VERIFIED: ${terminalText(`${verdict.stories.join(', ')}: ${verdict.reason}`)}`, ...left]
    default:
      return [`NOT VERIFIED: no verdict: ${terminalText(verdict.message)}`, ...left]
  }
}

function unchanged(state: State, costUsd: number): string {
  const cost = costUsd > 0 ? ` (${usd(costUsd)})` : ''
  return `Nothing was changed: ${state.feature} stands as before, and this session${cost} is not charged to the run.`
}
