// Pictures of pages that a state names: which of them it keeps, and how a page looked when it last was green. Pure.
import type { GateResult, Screenshot } from './model/gate.ts'
import type { State } from './model/state.ts'

/** A state keeps at most so many: 60 KB each, which every job fetches. */
const MOST = 200

/** The newest pictures of each story, those of attempts in work first, and those of the base. */
function screenshotsOf(state: State): Screenshot[] {
  const inWork = Object.values(state.attempts).flatMap((one) => ('gates' in one ? one.gates : []))
  const ofStories = newestFirst(state).flatMap((id) => picturesOf(state, id))
  return [...picturesIn(inWork), ...ofStories, ...(state.basePages ?? [])]
}

/** How pages looked before any story, and behind that after those that passed, the newest last. */
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
 * What a judge of these stories is shown: their pages as the gates saw them, and where those ran elsewhere, or could not hand a
 * picture over, as the last attempts left them.
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
  // A picture without the one before it is worth more than one that is not there.
  const before = all.flatMap((one) => (one.before === null ? [] : [one.before]))
  return [...new Set([...after, ...before])].slice(0, MOST)
}

export function picturesIn(gates: readonly GateResult[]): Screenshot[] {
  return gates.flatMap(({ screenshots = [] }) => screenshots)
}

/** How a judge names a picture: by its page and its viewport. */
export function pictureName({ url, viewport }: Pick<Screenshot, 'url' | 'viewport'>): string {
  const page = url.replace(/^[a-z]+:\/\/[^/]*\/?/i, '').replace(/[^A-Za-z0-9._-]+/g, '-')
  return `${page === '' ? 'home' : page.slice(0, 80)}-${viewport}`
}

/** Where a judge finds it. */
export function picturePath(picture: Pick<Screenshot, 'url' | 'viewport'>): string {
  return `.ralph/screenshots/${pictureName(picture)}.webp`
}

function newestFirst({ records, timeline }: State): string[] {
  const at = (id: string) => timeline.findLastIndex(({ storyId }) => storyId === id)
  return Object.keys(records).sort((one, other) => at(other) - at(one))
}
