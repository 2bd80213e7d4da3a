// `ralph verify`: every gate and a judge on the checkout as it is, now. Says what they find, and changes nothing of the run.

import { withWanted } from '../app/claim.ts'
import { checkDirt } from '../app/dirt.ts'
import { gatedTagsOf, limitsOf, refuseUngated } from '../app/limits.ts'
import { sayHolder } from '../loop/lease.ts'
import { verifyWhole } from '../loop/perform.ts'
import type { Verdict } from '../model/event.ts'
import { newJob } from '../model/job.ts'
import type { Ports } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import { emptyUsage } from '../model/usage.ts'
import { scopeWords } from '../prd/scope.ts'
import { counts, remaining } from '../prd/select.ts'
import { terminalText } from '../report/escape.ts'
import { EXIT_CODES, outputsOf } from '../report/outputs.ts'
import { many, usd } from '../report/words.ts'
import { UserError } from '../system/errors.ts'
import { newMark } from '../system/process.ts'
import { type Answer, type Context, settingsOf } from './context.ts'
import { type LocalRun, openLocal } from './local.ts'
import { atWork, liveOf, withPorts } from './run.ts'

/** Gives 0 where every gate is green and the judge agrees, 1 where not, 130 where it was interrupted. */
export async function verify(context: Context): Promise<Answer> {
  const { settings, notes } = await settingsOf(context)
  const limits = limitsOf(settings)
  const live = liveOf(context, settings, limits, notes)
  refuseUngated(settings)
  using local = await openLocal(context, settings, live)
  const { clone, repository } = local.workspace
  const found = withWanted(await local.look(), settings)
  const head = clone.head ?? found.green
  await refuseAtWork(local)
  refuseElsewhere(found, clone.branch)
  await checkDirt(repository, head, () => false)
  const queue = { read: async () => [], waiting: async () => false, arrived: async () => false }
  const answer = await withPorts(context, local, live, { mark: newMark(), queue }, async (ports) => {
    const now = Date.now()
    const state = {
      ...found,
      // It is not charged to the run: the limits hold for this session alone.
      prd: { ...found.prd, run: { ...found.prd.run, usage: emptyUsage() } },
      green: head,
      attempts: {},
      job: newJob(now, Number.MAX_SAFE_INTEGER, gatedTagsOf(settings)),
    }
    await live.step({ kind: 'verify' }, state)
    const { gates, verdict: given, usage } = await verifyWhole(state, limits, guarded(local, ports), now)
    live.close()
    if (ports.signal.aborted) return interrupted(found)
    const verdict = counts(found.prd, found.control.scope).passed > 0 ? given : NOTHING_JUDGED
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
  })
  return answer ?? interrupted(found)
}

function interrupted(state: State): Answer {
  return { code: EXIT_CODES.interrupted, outputs: outputsOf(state, 'interrupted', null) }
}

async function refuseAtWork(local: LocalRun): Promise<void> {
  const { lease, feature } = await local.look()
  if (lease === null || !(await local.alive(lease))) return
  throw atWork({ message: `${sayHolder(lease)} works on ${feature}` })
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
  const { scope } = state.control
  const open = remaining(state.prd, scope).length
  const left = open === 0 ? [] : [`${many(open, 'story is', 'stories are')} left to be worked on`]
  const { passed } = counts(state.prd, scope)
  const part = scope === null ? '' : ` ${terminalText(scopeWords(scope))}`
  switch (verdict.kind) {
    case 'verified':
      return [`VERIFIED: every criterion of ${many(passed, 'story', 'stories')}${part} is met`, ...left]
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
