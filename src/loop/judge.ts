// Asks a judge, and looks for what it names.
import type { Story } from '../model/feature.ts'
import type { Limits } from '../model/limits.ts'
import type { JudgeTask, Ports } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import { type EvidenceFacts, pictureName, picturePath, proven } from './evidence.ts'
import { shownPictures } from './screenshots.ts'
import { boundsOf, type Context } from './work.ts'

/** The word of a fresh session on `commit`, which is checked out; nobody but the fork point speaks to it meanwhile. */
export async function askJudge(about: JudgeTask, commit: string, { state, limits, ports, now }: Context) {
  const { agent, repository, signal } = ports
  const pictures = shownPictures(state, about)
  const task = { ...about, pictures }
  const shown = pictures.map((one) => ({ path: picturePath(one), blob: one.blob }))
  const view = await repository.openForJudge(state.base.sha, commit, shown)
  try {
    const said = await agent.judge(state, task, boundsOf(state, limits, now), signal)
    const facts = factsOf(task, commit, limits, ports)
    return { ...said, verdict: await proven(said.verdict, judgedStories(state, task), facts) }
  } finally {
    await repository.restore(commit).finally(view.close)
  }
}

function judgedStories({ prd }: State, { stories }: JudgeTask): Story[] {
  const named = new Set(stories)
  return prd.userStories.filter(({ id }) => named.has(id))
}

/** What evidence is looked for in. */
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
