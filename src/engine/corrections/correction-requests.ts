// What the pull request shows to be wrong, before it is known whose work it is. `requestsOf` makes requests for corrections of it.

import type { CorrectionReport, CorrectionRequest, Place } from '../model/correction.ts'
import type { State } from '../model/state.ts'
import { isHandled, kindOf } from './kinds.ts'

/** The most reports in one correction, and the bytes of their texts. */
const MAX_JOINED = 20
const MAX_TEXT = 40_000

/** Requests for what no correction has handled yet. Threads of one story are one request; what does not fit into it comes later. */
export async function requestsOf(
  state: State,
  reports: readonly CorrectionReport[],
  storyAt: (place: Place) => Promise<string | null>,
): Promise<CorrectionRequest[]> {
  const requests: CorrectionRequest[] = []
  const counts = new Map<CorrectionRequest, number>()
  for (const { source, text, places, otherwise, kept, suggestions = [], onMerge } of reports) {
    if (isHandled(state.corrections, source)) continue
    const story = (await firstStory(places, storyAt)) ?? otherwise ?? null
    const { join } = kindOf(source)
    const at =
      join === undefined
        ? -1
        : requests.findIndex((one) => one.story === story && one.source.kind === source.kind)
    const known = requests[at]
    if (known === undefined || join === undefined) {
      requests.push({
        ...{ story, source, text, suggestions },
        ...(kept === undefined ? {} : { kept }),
        ...(onMerge === true ? { onMerge } : {}),
      })
      continue
    }
    const joined = {
      ...known,
      source: join(known.source, source),
      text: `${known.text}\n\n${text}`,
      suggestions: [...(known.suggestions ?? []), ...suggestions],
    }
    const count = (counts.get(known) ?? 1) + 1
    if (count > MAX_JOINED || joined.text.length > MAX_TEXT) continue
    counts.set(joined, count)
    requests[at] = joined
  }
  return requests
}

async function firstStory(
  places: readonly Place[],
  storyAt: (place: Place) => Promise<string | null>,
): Promise<string | null> {
  for (const place of places.slice(0, 20)) {
    const story = await storyAt(place)
    if (story !== null) return story
  }
  return null
}
