// The screenshots in a state: which of them are kept, and the last green ones of each page. Pure.
import type { GateResult, Screenshot } from '../model/gate.ts'
import type { State } from '../model/state.ts'

/** The maximum number of screenshots in a state: each has about 60 KB, and every job fetches them. */
const MAX_SCREENSHOTS = 200

/** The newest screenshots of each story, those of attempts in progress first, then those of the base. */
function screenshotsOf(state: State): Screenshot[] {
  const inWork = Object.values(state.attempts).flatMap((one) => ('gates' in one ? one.gates : []))
  const ofStories = newestFirst(state).flatMap((id) => picturesOf(state, id))
  return [...picturesIn(inWork), ...ofStories, ...(state.basePages ?? [])]
}

/** The screenshots of the base, followed (`last`) by those of passed stories, the newest last. */
export function greenPages(state: State, until: 'base' | 'last'): Screenshot[] {
  const { basePages = [] } = state
  if (until === 'base') return basePages
  const passed = state.prd.userStories.filter(({ passes }) => passes).map(({ id }) => id)
  const after = newestFirst(state).filter((id) => passed.includes(id))
  return [...basePages, ...after.reverse().flatMap((id) => picturesOf(state, id))]
}

/** The pictures of a story's last attempt. */
function picturesOf({ records }: State, storyId: string): Screenshot[] {
  return picturesIn(records[storyId]?.gates ?? [])
}

/**
 * The screenshots for a judge of these stories. Those of the gates that just ran come first; pages without one get that of the stories'
 * last attempts.
 */
export function picturesForJudge(
  state: State,
  { stories, gates }: { stories: readonly string[]; gates: readonly GateResult[] },
): Screenshot[] {
  const left = newestFirst(state).filter((id) => stories.includes(id))
  const all = [...left.reverse().flatMap((id) => picturesOf(state, id)), ...picturesIn(gates)]
  return [...new Map(all.map((one) => [`${one.url} ${one.viewport}`, one])).values()]
}

/** The blobs that the state's commit holds, without repetition. */
export function screenshotBlobs(state: State): string[] {
  const all = screenshotsOf(state)
  const after = all.map(({ blob }) => blob)
  // Current screenshots take precedence over the earlier ones that they are compared with.
  const before = all.flatMap((one) => (one.before === null ? [] : [one.before]))
  return [...new Set([...after, ...before])].slice(0, MAX_SCREENSHOTS)
}

export function picturesIn(gates: readonly GateResult[]): Screenshot[] {
  return gates.flatMap(({ screenshots = [] }) => screenshots)
}

/** The name of a screenshot in a judge's evidence: its page and its viewport. */
export function pictureName({ url, viewport }: Pick<Screenshot, 'url' | 'viewport'>): string {
  const page = url.replace(/^[a-z]+:\/\/[^/]*\/?/i, '').replace(/[^A-Za-z0-9._-]+/g, '-')
  return `${page === '' ? 'home' : page.slice(0, 80)}-${viewport}`
}

/** Where a judge finds the screenshot. */
export function picturePath(picture: Pick<Screenshot, 'url' | 'viewport'>): string {
  return `.ralph/screenshots/${pictureName(picture)}.webp`
}

function newestFirst({ records, timeline }: State): string[] {
  const at = (id: string) => timeline.findLastIndex(({ storyId }) => storyId === id)
  return Object.keys(records).sort((one, other) => at(other) - at(one))
}
