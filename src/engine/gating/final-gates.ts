// The gates of the final verification, in a clean room and once more with the earlier tests. A red gate is blamed on a story.

import type { Verdict } from '../model/event.ts'
import type { Story } from '../model/feature.ts'
import { furtherName, type GateResult, gateFindings } from '../model/gate.ts'
import type { RevertedStory } from '../model/joined-branch.ts'
import type { CleanRoom, Expectation, GateRun, Ports } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import { emptyUsage, type Usage } from '../model/usage.ts'
import { redGate, redGateReason } from '../state/state-updates.ts'
import type { StepContext } from '../state/step-context.ts'
import { runAtBase } from './base-run.ts'
import { blame, firstRed } from './blame.ts'
import { runGatesAsItWas } from './further-runs.ts'
import { atForkPoint } from './gate-memory.ts'
import { newGateRun, runGatesOn } from './gate-run.ts'
import { inCleanClone } from './needed-files.ts'
import { openLazily, reusableResults } from './reuse.ts'

/** `verdict`: by red gates, or by a judge on what gates no longer check; null if the gates are fine. */
export type FinalGates = { gates: GateResult[]; verdict: Verdict | null; usage: Usage }

/** Asks a judge whether the stories ask for what gates no longer check. */
export type AskExpectation = (
  gates: readonly GateResult[],
  change: Pick<Expectation, 'from' | 'to' | 'paths'>,
) => Promise<{ verdict: Verdict; usage: Usage }>

type FinalRun = StepContext & { passed: readonly Story[]; run: GateRun; room: CleanRoom; ask: AskExpectation }
type History = Awaited<ReturnType<Ports['repository']['history']>>

export async function runFinalGates(
  passed: readonly Story[],
  context: StepContext,
  ask: AskExpectation,
): Promise<FinalGates> {
  const { state, limits, ports } = context
  const what = `verify-${state.prd.run.iterations}-${state.verification.sessions + 1}`
  const whole = newGateRun(state, { of: 'whole', stories: passed, what, from: state.base.sha })
  await using room = openLazily(() => openRoom(context))
  const compared = await withForkPoint(whole, context, room)
  const run = ports.openCleanRoom === null ? compared : inCleanClone(compared)
  const finalRun = { ...context, passed, run, room, ask }
  const gates = await runOrReuse(finalRun)
  const red = redGate(gates)
  if (ports.signal.aborted) return { gates, verdict: null, usage: emptyUsage() }
  if (red !== undefined)
    return { gates, verdict: await blameRedGate(red, gates, finalRun), usage: emptyUsage() }
  if (limits.weakenedTests === 'off') return { gates, verdict: null, usage: emptyUsage() }
  // Awaited here, so that the room exists until it is done.
  return await checkWeakened(gates, finalRun)
}

/** The run with what gates did at the fork point that ran for no story, if the feature changed checks that were there before. */
async function withForkPoint(run: GateRun, context: StepContext, room: CleanRoom): Promise<GateRun> {
  const { gates, repository } = context.ports
  const isKnown = (name: string) => Object.hasOwn(run.baseline, name)
  if ((gates.names?.(run) ?? []).every(isKnown)) return run
  const earlier = await repository.asItWas(run.from, run.commit, { fork: run.from })
  if (earlier?.touchesBase !== true) return run
  const found = await runAtBase(run, context, room)
  return { ...run, baseline: { ...run.baseline, ...atForkPoint(found) } }
}

/** For earlier commits, in which tests that failed on the base are not fixed yet. */
function withoutFixed(run: GateRun): GateRun {
  const entries = Object.entries(run.baseline).map(([name, { fixed: _later, ...base }]) => [name, base])
  return { ...run, baseline: Object.fromEntries(entries) }
}

/** The results of all gates. Results that were green in a clean room on the same tree are reused. */
async function runOrReuse(finalRun: FinalRun): Promise<GateResult[]> {
  const { state, run, ports, now } = finalRun
  const keys = ports.openCleanRoom === null ? {} : ((await ports.gates.keys?.(run.commit, run.from)) ?? {})
  const reused = reusableResults(state, keys, now)
  if (reused.length === 0) return runAt(finalRun, run.commit)
  const remainingNames = Object.keys(keys).filter((name) => !reused.some((one) => one.name === name))
  const results = remainingNames.length === 0 ? [] : await runAt(finalRun, run.commit, remainingNames)
  // Gates whose files the remaining gates need have run again with them: their new results count.
  return [...results, ...reused.filter(({ name }) => !results.some((one) => one.name === name))]
}

/** Runs the gates on a commit in the room. `only`: these gates and those that they need. */
async function runAt(
  { run, room, ports }: FinalRun,
  commit: string,
  only?: readonly string[],
): Promise<GateResult[]> {
  await room.checkOut(commit)
  const one = only === undefined ? run : { ...run, commit, only, what: `${run.what}-${commit.slice(0, 7)}` }
  return runGatesOn(one, { gates: room.gates, repository: room, signal: ports.signal })
}

/** The verdict on a red gate: a reset of the story that broke it. */
async function blameRedGate(
  red: GateResult,
  gates: readonly GateResult[],
  finalRun: FinalRun,
): Promise<Verdict> {
  const { state, passed, run, ports } = finalRun
  const last = lastPassed(state, passed)
  const history = await ports.repository.history(state)
  return blame(red, { state, run, gates, last }, history, (commit, only) =>
    runAt(commit === run.commit ? finalRun : { ...finalRun, run: withoutFixed(run) }, commit, only),
  )
}

/** Checks what the green gates no longer check since the fork point, and whether the stories ask for that. */
async function checkWeakened(green: GateResult[], finalRun: FinalRun): Promise<FinalGates> {
  const { state, limits, ports, passed, run, room, ask } = finalRun
  const history = await ports.repository.history(state)
  const expectedPaths = passed.flatMap(({ id }) => state.records[id]?.expected ?? [])
  const but = [...expectedPaths, ...history.flatMap(({ paths }) => paths)]
  // Gates that were red at the fork point say nothing: with its files they are still red.
  const others = green.filter(({ name }) => run.baseline[name]?.atFork !== false)
  const ran = await runGatesAsItWas(run, others, { fork: state.base.sha, but }, ports, room)
  const { paths } = ran
  const results = await withoutRedAtFork(ran.results, others, finalRun)
  const gates = [...green, ...results]
  const [finding] = gateFindings(gates)
  if (finding === undefined || limits.weakenedTests === 'warn')
    return { gates, verdict: null, usage: emptyUsage() }
  const answer =
    limits.weakenedTests === 'fail' ? null : await ask(gates, { from: run.from, to: run.commit, paths })
  const usage = answer?.usage ?? emptyUsage()
  if (answer !== null && answer.verdict.kind !== 'reset' && answer.verdict.kind !== 'none')
    return { gates, verdict: answer.verdict.kind === 'verified' ? null : answer.verdict, usage }
  const red = results.find(({ ok }) => !ok)
  const brokenBy = red === undefined ? null : await findFirstWeakened(red, paths, history, finalRun)
  const why = answer === null ? '' : `; ${describeAnswer(answer.verdict)}`
  const verdict = resetBy(
    brokenBy ?? lastPassed(state, passed),
    `${finding}${why}`,
    red ?? firstWithFinding(gates),
  )
  return { gates, verdict, usage }
}

/**
 * Leaves out findings of gates that are red at the fork point. Gates that first ran for a later story have no result there yet, so they run
 * there now.
 */
async function withoutRedAtFork(
  results: GateResult[],
  first: readonly GateResult[],
  finalRun: FinalRun,
): Promise<GateResult[]> {
  const { state, run } = finalRun
  const found = results.filter((one) => gateFindings([one]).length > 0)
  const unknown = first
    .filter(({ name }) => run.baseline[name]?.atFork === undefined)
    .filter(({ name }) => found.some((one) => one.name === furtherName(name, 'checks')))
    .map(({ name }) => name)
  if (unknown.length === 0) return results
  const there = await runAt(finalRun, state.base.sha, unknown)
  const red = unknown.filter((name) => there.find((one) => one.name === name)?.ok !== true)
  return results.filter((one) => !red.some((name) => one.name === furtherName(name, 'checks')))
}

/** Finds the story of the first commit on which the gate is red with the earlier version of these files. */
function findFirstWeakened(red: GateResult, paths: readonly string[], history: History, finalRun: FinalRun) {
  const { state, run, room, ports } = finalRun
  const which = { fork: state.base.sha, only: paths }
  return firstRed(history, async (commit) => {
    const earlierTests = await ports.repository.asItWas(run.from, commit, which)
    if (earlierTests === null || earlierTests.commit === run.from) return false
    await runAt(finalRun, commit, [])
    await room.restore(earlierTests.commit)
    await room.ignored.forGatesAgain()
    const only = Object.keys(run.baseline).filter((name) => furtherName(name, 'checks') === red.name)
    const again = { ...run, commit: earlierTests.commit, only, further: 'checks' as const }
    return (await room.gates.run(again, ports.signal)).some(({ ok }) => !ok)
  })
}

function describeAnswer(verdict: Verdict): string {
  return verdict.kind === 'reset'
    ? `a judge says that no story requires this: ${verdict.reason}`
    : 'no judge confirmed that a story requires this'
}

function firstWithFinding(gates: readonly GateResult[]): GateResult | undefined {
  return gates.find(({ findings = [] }) => findings.length > 0)
}

function resetBy(storyId: string | null, reason: string, gate: GateResult | undefined): Verdict {
  if (storyId === null || gate === undefined) return { kind: 'none', message: reason }
  return { kind: 'reset', stories: [storyId], reason, gate: gate.name }
}

/** Opens the clean room; if there is none, cleans the work tree as far as possible. */
export async function openRoom({ state, ports }: StepContext): Promise<CleanRoom> {
  if (ports.openCleanRoom !== null) return ports.openCleanRoom(state)
  const { repository, gates } = ports
  await repository.ignored.forGates(gates.canPrepare)
  // Files of earlier gate runs must not make gates green now.
  await repository.ignored.forGatesAgain()
  return {
    gates,
    ignored: repository.ignored,
    restore: repository.restore,
    async checkOut(commit) {
      if (commit === state.green) return
      await repository.renew(commit)
      await gates.renew()
    },
    [Symbol.asyncDispose]: () => repository.ignored.forSession(),
  }
}

/**
 * The story that broke a gate which is red after a join with people's commits. A gate with `when` may not have run for that story.
 * Null if Ralph's own head is green, if the fork point is red as well, or if no commit turned the gate red.
 */
export async function findBreakingStory(
  red: GateResult,
  run: GateRun,
  gates: readonly GateResult[],
  { state, ports }: StepContext,
): Promise<RevertedStory | null> {
  const { repository } = ports
  const isRed = async (commit: string) => {
    await repository.checkOut(commit, null)
    const results = await runGatesOn({ ...run, commit, only: [red.name] }, ports)
    return results.some(({ name, ok }) => name === red.name && !ok)
  }
  try {
    if (!(await isRed(state.green))) return null
    // This fetches the history of a shallow clone.
    const history = await repository.history(state)
    if (await isRed(state.base.sha)) return null
    const storyId = await firstRed(history, isRed)
    if (storyId === null) return null
    const summary = `${redGateReason(red, gates)} in the final verification, but passed before this story`
    const failure = { kind: 'gates' as const, summary, detail: '', gate: red.name }
    return { storyId, kept: null, failure, gates: [...gates] }
  } finally {
    await repository.checkOut(run.commit, null)
  }
}

/** The story that has to make a gate green if no commit can be blamed: the last one that passed. */
function lastPassed(state: State, passed: readonly Story[]): string | null {
  const isPassed = (id: string) => passed.some((story) => story.id === id)
  const last = state.timeline.findLast(({ storyId, result }) => result === 'passed' && isPassed(storyId))
  return last?.storyId ?? passed[0]?.id ?? null
}
