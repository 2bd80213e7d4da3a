// The view that `ralph monitor` follows while a run continues, and its JSON.
import type { Surface } from '../engine/commands/command-table.ts'
import type { Limits } from '../engine/model/limit-types.ts'
import type { State } from '../engine/model/state.ts'
import type { Situation } from '../engine/situation.ts'
import { toPlainText } from './sentence.ts'
import { type View, viewOf } from './view.ts'

/** One look at a feature. */
export type WatchedRun = {
  state: State
  situation: Situation
  /** Null if they are not known, as for a run on another machine. */
  limits: Limits | null
  /** The last lines that the session or the gates printed, the newest last. Not trusted. */
  lines: readonly string[]
  /** The place of the run, for people: `this machine`. */
  place: string
  /** The page of the job; null on this machine. */
  url: string | null
  /** The place at which its reader types commands. */
  surface: Surface
}

export type LiveView = View & Pick<WatchedRun, 'lines' | 'place' | 'url'>

/** `now` in epoch milliseconds. */
export function liveViewOf(
  { state, situation, lines, place, ...watched }: WatchedRun,
  now: number,
): LiveView {
  const { url } = watched
  return { ...viewOf(state, { ...watched, runUrl: url, now }, situation), lines, place, url }
}

/** Stories in JSON; those that need a person come first. */
const MAX_STORIES = 200
const MAX_ITERATIONS = 12

/** The document of `ralph monitor --json`. */
export function liveJson(view: LiveView) {
  const { feature, project, branch, counts, tally, inWork, titleInWork, iteration, iterations, jobs } = view
  const { usage, pullUrl, most, now, place, url, status, isCalling, headline, outlook, figures } = view
  const { calls, circuit, current, workers, lanes, exits, lines, bar } = view
  return {
    ...{ feature, project, branch, counts, tally, inWork, titleInWork, iteration, iterations, jobs },
    ...{ usage, pullUrl, most, now, place, url, status, isCalling },
    sign: headline.sign,
    headline: headline.text,
    next: toPlainText(view.next),
    needs: view.needs === null ? null : toPlainText(view.needs),
    ...{ outlook, figures, calls, circuit, current, workers, lanes, exits },
    // `output` is left out: `gates` has it already.
    stories: view.ranked
      .slice(0, MAX_STORIES)
      .map(({ output: _output, status: standing, ...story }) => ({ ...story, standing })),
    timeline: view.timeline.slice(-MAX_ITERATIONS).reverse(),
    ...{ lines, bar },
  }
}
