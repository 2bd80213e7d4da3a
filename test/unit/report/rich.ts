// A stuck run with everything that a report can show: refusals, flaky tests, places, pictures, hints, jobs with a wait between.
import type { State } from '../../../src/engine/model/state.ts'
import { stuck } from './samples.ts'

/** A picture of one pixel, as the page holds it. */
export const PIXEL = 'data:image/webp;base64,UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=='

export function rich(state: State = stuck(), text = 'said'): State {
  const timeline = state.timeline.map((entry, at) => ({
    ...entry,
    job: 1 + Math.floor(at / 3),
    at: entry.at + Math.floor(at / 3) * 5_400_000,
    agentMs: Math.round(entry.ms * 0.8),
    gatesMs: Math.round(entry.ms * 0.1),
    ...(entry.result === 'rejected' ? { kind: at % 2 === 0 ? ('guard' as const) : ('gates' as const) } : {}),
  }))
  const records = Object.fromEntries(
    Object.entries(state.records).map(([id, record]) => {
      const gates = record.gates.map((gate) => ({
        ...gate,
        tests: { passed: 13, failed: gate.ok ? 0 : 1, skipped: 2 },
        flaky: true as const,
        remarks: [text],
        annotations: [{ path: text, line: 3, message: text, level: 'failure' as const }],
        screenshots: [{ url: text, viewport: text, blob: 'b'.repeat(40), bytes: 34, before: 'c'.repeat(40) }],
      }))
      const candidates = [{ slot: 1, startedAt: state.job.startedAt, result: text }]
      return [id, { ...record, gates, choice: { slot: 1, why: text, candidates } }]
    }),
  )
  const [first] = state.prd.userStories
  const guidance = first === undefined ? {} : { [first.id]: [text] }
  const userStories = state.prd.userStories.map((story) =>
    story.lastResult === null
      ? story
      : {
          ...story,
          lastResult: { ...story.lastResult, evidence: [{ criterion: 1, shown: text, path: text, line: 3 }] },
        },
  )
  const prd = { ...state.prd, userStories }
  return { ...state, prd, timeline, records, control: { ...state.control, guidance } }
}
