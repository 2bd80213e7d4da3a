// Judges are fresh sessions. They decide what gates cannot: on the finished work, a story without a change, or changed tests.

import type { Weighed } from '../model/counterexample.ts'
import type { Verdict } from '../model/event.ts'
import type { Story } from '../model/feature.ts'
import { type GateResult, gateFindings } from '../model/gate.ts'
import type { Limits } from '../model/limit-types.ts'
import type { Expectation, JudgeTask, RepositoryPort } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import { addUsage, emptyUsage, type Usage } from '../model/usage.ts'
import { inScope } from '../prd/select.ts'
import { pictureName, picturePath, picturesForJudge } from '../state/screenshots.ts'
import { type StepContext, sessionBounds } from '../state/step-context.ts'
import { canWeigh, weighRefusal } from './counterexamples.ts'
import { checkEvidence, type EvidenceFacts } from './criterion-evidence.ts'
import { type FinalGates, runFinalGates } from './final-gates.ts'
import { passedNames, provedTests } from './proved-tests.ts'

/** The gates of the final verification, on the green commit in a clean room. `verdict`: null if they are fine. */
export function gateWhole(context: StepContext): Promise<FinalGates> {
  const passed = passedStories(context.state)
  const stories = passed.map(({ id }) => id)
  return runFinalGates(passed, context, (gates, change) =>
    askExpectation({ stories, gates }, change, context),
  )
}

/** The judge of the final verification, after these gates. If people skipped every story, there is nothing to judge. */
export async function judgeWhole(
  gates: readonly GateResult[],
  context: StepContext,
): Promise<{ gates: GateResult[]; verdict: Verdict; usage: Usage; weighed?: Weighed }> {
  const { state } = context
  const stories = passedStories(state).map(({ id }) => id)
  if (stories.length === 0) return { gates: [...gates], verdict: { kind: 'verified' }, usage: emptyUsage() }
  const { verdict, usage, isRefusal } = await askJudge({ stories, gates }, state.green, context)
  if (verdict.kind !== 'reset' || !isRefusal || !canWeigh(context))
    return { gates: [...gates], verdict, usage }
  const weighed = await weighRefusal(verdict, (about) => askSecond(about, context), context)
  return { ...weighed, gates: [...gates, ...weighed.gates], usage: addUsage(usage, weighed.usage) }
}

/** A second judge decides, once, whether a counterexample is right. */
function askSecond(counterexample: NonNullable<JudgeTask['counterexample']>, context: StepContext) {
  return askJudge(
    { stories: [counterexample.storyId], gates: [], counterexample },
    context.state.green,
    context,
  )
}

/** The gates, then the judge: for a verification outside of a run. */
export async function verifyWhole(
  context: StepContext,
): Promise<{ gates: GateResult[]; verdict: Verdict; usage: Usage }> {
  const { gates, verdict, usage } = await gateWhole(context)
  if (verdict !== null) return { gates, verdict, usage }
  const judged = await judgeWhole(gates, context)
  return { gates: judged.gates, verdict: judged.verdict, usage: addUsage(usage, judged.usage) }
}

/** Asks a judge whether the stories ask for what gates no longer check. No answer counts as no. */
export function askExpectation(
  about: Pick<JudgeTask, 'stories' | 'gates'>,
  change: Omit<Expectation, 'findings'>,
  context: StepContext,
) {
  const { to } = change
  const expectation = { ...change, findings: gateFindings(about.gates) }
  return askJudge({ ...about, expectation }, to, context)
}

/** The stories that a verification is about: the passed ones within the run's scope. */
function passedStories({ prd, control }: State): Story[] {
  const isInScope = inScope(control.scope)
  return prd.userStories.filter((story) => story.passes && isInScope(story))
}

/** Asks a judge about `commit`, which is checked out. The judge sees agent documents as they were at the fork point. */
export async function askJudge(
  about: JudgeTask,
  commit: string,
  context: StepContext,
): Promise<{ verdict: Verdict; usage: Usage; isRefusal?: true }> {
  const { state, limits, ports, now } = context
  const { agent, repository, signal } = ports
  const pictures = picturesForJudge(state, about)
  const task = { ...about, pictures }
  const shown = pictures.map((one) => ({ path: picturePath(one), blob: one.blob }))
  const named = new Set(about.stories)
  const stories = state.prd.userStories.filter(({ id }) => named.has(id))
  const view = await repository.openForJudge(state.base.sha, commit, shown)
  try {
    const answer = await agent.judge(state, task, sessionBounds(state, limits, now), signal)
    const isQuestion = about.expectation !== undefined || about.counterexample !== undefined
    if (isQuestion || limits.checksEvidence === false) return answer
    if (answer.verdict.kind === 'reset')
      return { ...answer, verdict: await withLeftFiles(answer.verdict, commit, repository), isRefusal: true }
    const facts = evidenceFacts(task, commit, { state, limits, repository })
    return { ...answer, verdict: await checkEvidence(answer.verdict, stories, facts) }
  } finally {
    await repository.restore(commit).finally(view.close)
  }
}

type Looking = Pick<StepContext, 'state' | 'limits'> & {
  repository: Pick<RepositoryPort, 'read' | 'writtenLines'>
}

/** The verdict on the whole feature of a judge that another job asked, with the evidence that exists. */
export function checkVerdict(
  verdict: Verdict,
  gates: readonly GateResult[],
  context: Looking,
): Promise<Verdict> {
  const { state } = context
  const stories = passedStories(state)
  const about = { stories: stories.map(({ id }) => id), gates }
  const task = { ...about, pictures: picturesForJudge(state, about) }
  return checkEvidence(verdict, stories, evidenceFacts(task, state.green, context))
}

/** The verdict with the files that the session left: each counterexample may need all of them. */
async function withLeftFiles(
  verdict: Extract<Verdict, { kind: 'reset' }>,
  commit: string,
  { leftFiles }: RepositoryPort,
): Promise<Verdict> {
  const { counterexamples = [] } = verdict
  if (counterexamples.length === 0 || leftFiles === undefined) return verdict
  const files = await leftFiles(commit)
  return { ...verdict, counterexamples: counterexamples.map((one) => ({ ...one, files })) }
}

function evidenceFacts(
  { gates, pictures = [], isUnchanged }: JudgeTask,
  commit: string,
  { state, limits, repository }: Looking,
): EvidenceFacts {
  const green = gates.filter(({ ok }) => ok)
  const lines = cached(async (path: string) => (await repository.read(commit, path))?.split('\n') ?? null)
  const written = cached(() => repository.writtenLines?.(state, commit) ?? Promise.resolve(null))
  return {
    needs: isUnchanged === true ? NEEDS_UNCHANGED[limits.evidence] : limits.evidence,
    isAskedAgain: isUnchanged === true || state.verification.sessions > 0,
    gates: isUnchanged === true ? [] : green.map(({ name }) => name),
    screenshots: pictures.map(pictureName),
    tests: passedNames(green),
    provedBy: (storyId) => provedTests(state, storyId),
    async lineAt(path, line) {
      const text = await lines(path)
      return text === null || line === null ? text && '' : (text[line - 1] ?? null)
    },
    async isChanged(path, line) {
      const changed = await written('')
      if (changed === null) return null
      const found = changed.get(path)
      return line === null ? found !== undefined : found?.includes(line) === true
    },
  }
}

/** A gate proves nothing about a story without a change, so a judge's word needs evidence. No test can need a change that is not there. */
const NEEDS_UNCHANGED: Readonly<Record<Limits['evidence'], Limits['evidence']>> = {
  ask: 'require',
  require: 'require',
  tested: 'tested',
  proved: 'tested',
}

/** A function that calls `read` once for each text, and remembers the answer. */
function cached<T>(read: (text: string) => Promise<T>): (text: string) => Promise<T> {
  const known = new Map<string, Promise<T>>()
  return (text) => {
    const reading = known.get(text) ?? read(text)
    known.set(text, reading)
    return reading
  }
}
