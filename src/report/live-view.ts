// A view that is followed while a run goes on, and where and how it was seen.
import type { Surface } from '../engine/commands/command-table.ts'
import type { Limits } from '../engine/model/limit-types.ts'
import type { State } from '../engine/model/state.ts'
import type { Situation } from '../engine/situation.ts'
import { toPlainText } from './sentence.ts'
import { type View, viewOf } from './view.ts'

/** What was seen of a feature. */
export type WatchedRun = {
  state: State
  situation: Situation
  /** Null where they are not known, as of a run elsewhere. */
  limits: Limits | null
  /** The last lines that the session or the gates printed, the newest last. Not trusted. */
  lines: readonly string[]
  /** Where it runs, and when it was looked at: `this machine`. */
  place: string
  /** Where the job can be seen; null on this machine. */
  url: string | null
  /** How a person steers it from there. */
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

/** Stories in JSON: those that a person may have to look at come first. */
const MOST_STORIES = 200
const MOST_ITERATIONS = 12

/** As `ralph monitor --json` shows it. */
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
    // A gate's output is in `gates` already.
    stories: view.ranked
      .slice(0, MOST_STORIES)
      .map(({ output: _output, status: standing, ...story }) => ({ ...story, standing })),
    timeline: view.timeline.slice(-MOST_ITERATIONS).reverse(),
    ...{ lines, bar },
  }
}
