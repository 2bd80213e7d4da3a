// What looks at a commit: its gates, and a fresh session that judges what the gates cannot see.
import type { Verdict } from '../model/event.ts'
import type { Story } from '../model/feature.ts'
import type { GateResult } from '../model/gate.ts'
import type { Limits } from '../model/limits.ts'
import type { GateRun, JudgeTask, Ports, RepositoryPort } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import { emptyUsage, type Usage } from '../model/usage.ts'
import { askedIn } from '../prd/select.ts'
import { redGate, redWords } from './change.ts'
import { type EvidenceFacts, proven } from './evidence.ts'
import { greenPages, pictureName, picturePath, shownPictures } from './screenshots.ts'
import { boundsOf, type Context } from './work.ts'

/** Gates on the green commit, which the change begins at, where nothing else is said. */
export function runOf(state: State, run: Partial<GateRun> & Pick<GateRun, 'of'>): GateRun {
  const { green, baselineGates: baseline = {} } = state
  const pages = greenPages(state, run.of === 'whole' ? 'base' : 'last')
  return { tags: null, stories: [], what: run.of, commit: green, from: green, baseline, pages, ...run }
}

/** The dependencies of a commit that is checked out, then its gates for these tags, or all (null); what they wrote is thrown away. */
export async function gatesOn(
  run: GateRun,
  {
    repository,
    gates,
    signal,
  }: Pick<Ports, 'gates' | 'signal'> & { repository: Pick<RepositoryPort, 'restore'> },
): Promise<GateResult[]> {
  const { commit, what } = run
  const prepared = await gates.prepare(commit, signal, what)
  const results = prepared === null ? [] : [prepared]
  if (prepared?.ok !== false) results.push(...(await gates.run(run, signal)))
  await repository.restore(commit)
  return results
}

/** Every gate on the green commit, which is checked out, then a fresh session that judges what passed. */
export async function verifyWhole(
  context: Context,
): Promise<{ gates: GateResult[]; verdict: Verdict; usage: Usage }> {
  const { state, ports } = context
  const passed = passedOf(state)
  const what = `verify-${state.prd.run.iterations}-${state.verification.sessions + 1}`
  const gates = await gatesOn(
    runOf(state, { of: 'whole', stories: passed, what, from: state.base.sha }),
    ports,
  )
  const red = redGate(gates)
  const usage = emptyUsage()
  // Where every story was skipped by a person there is nothing to judge.
  if (red === undefined && passed.length === 0) return { gates, verdict: { kind: 'verified' }, usage }
  if (red === undefined) {
    const stories = passed.map(({ id }) => id)
    return { gates, ...(await askJudge({ stories, gates }, state.green, context)) }
  }
  const reason = `${redWords(red, gates)} on the whole`
  // Where a gate that only the whole shows to be red is mended.
  const last = state.timeline.findLast(
    ({ storyId, result }) => result === 'passed' && passed.some(({ id }) => id === storyId),
  )
  const id = last?.storyId ?? passed[0]?.id
  const verdict: Verdict =
    id === undefined ? { kind: 'none', message: reason } : { kind: 'reset', stories: [id], reason }
  return { gates, verdict, usage }
}

/** What a verification is about: of a part of the feature, the stories of that part. */
function passedOf({ prd, control }: State): Story[] {
  const asked = askedIn(control.scope)
  return prd.userStories.filter((story) => story.passes && asked(story))
}

/** The word of a fresh session on `commit`, which is checked out; nobody but the fork point speaks to it meanwhile. */
export async function askJudge(about: JudgeTask, commit: string, { state, limits, ports, now }: Context) {
  const { agent, repository, signal } = ports
  const pictures = shownPictures(state, about)
  const task = { ...about, pictures }
  const shown = pictures.map((one) => ({ path: picturePath(one), blob: one.blob }))
  const named = new Set(about.stories)
  const stories = state.prd.userStories.filter(({ id }) => named.has(id))
  const view = await repository.openForJudge(state.base.sha, commit, shown)
  try {
    const said = await agent.judge(state, task, boundsOf(state, limits, now), signal)
    return { ...said, verdict: await proven(said.verdict, stories, factsOf(task, commit, limits, ports)) }
  } finally {
    await repository.restore(commit).finally(view.close)
  }
}

function factsOf(
  { gates, pictures = [] }: JudgeTask,
  commit: string,
  limits: Limits,
  { repository }: Ports,
): EvidenceFacts {
  const files = new Map<string, Promise<string | null>>()
  return {
    isRequired: limits.requiresEvidence,
    gates: gates.filter(({ ok }) => ok).map(({ name }) => name),
    screenshots: pictures.map(pictureName),
    async hasLine(path, line) {
      const reading = files.get(path) ?? repository.read(commit, path)
      files.set(path, reading)
      const text = await reading
      return text !== null && (line === null || (line > 0 && line <= text.split('\n').length))
    },
  }
}
