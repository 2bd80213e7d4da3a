// The results of runs: stories that passed at the first attempt, corrections, the cost of a passed story, and what people changed
// after the merge. Pure.
import type { Prd } from '../engine/model/feature.ts'
import type { TimelineEntry } from '../engine/model/state.ts'

/**
 * What the default branch has of a merged run. `written`: lines that the run wrote, without Ralph's own files. `kept`: those that the
 * default branch still has. `peopleCommits`: commits of people on the branch.
 */
export type Merged = { written: number; kept: number; peopleCommits: number }

/** `firstTry` and `attempts` are null without a state; `merged` is null before the merge. */
export type RunResults = {
  passed: number
  firstTry: number | null
  attempts: number | null
  corrections: number
  usdPerStory: number | null
  merged: Merged | null
}

type Run = { prd: Pick<Prd, 'userStories'>; timeline?: readonly TimelineEntry[] | undefined; costUsd: number }

/** Entries of the timeline in which gates and judges decided. */
const DECIDED: readonly TimelineEntry['result'][] = ['passed', 'rejected']

export function resultsOf({ prd, timeline, costUsd }: Run, merged: Merged | null): RunResults {
  const corrections = prd.userStories.filter(({ corrects }) => corrects !== undefined)
  const stories = prd.userStories.filter(({ corrects }) => corrects === undefined)
  const passed = stories.filter(({ passes, lastResult }) => passes && lastResult?.imported !== true)
  const decided = timeline?.filter(({ result }) => DECIDED.includes(result)) ?? null
  const firstOf = (id: string) => decided?.find(({ storyId }) => storyId === id)?.result
  return {
    passed: passed.length,
    firstTry: decided === null ? null : passed.filter(({ id }) => firstOf(id) === 'passed').length,
    attempts: decided?.length ?? null,
    corrections: corrections.length,
    usdPerStory: passed.length === 0 ? null : costUsd / passed.length,
    merged,
  }
}

export type RunRow = { feature: string; folder: string; outcome: string | null; results: RunResults }

const COLUMNS: readonly (readonly [name: string, of: (run: RunRow) => string | number | null | undefined])[] =
  [
    ['feature', ({ feature }) => feature],
    ['folder', ({ folder }) => folder],
    ['outcome', ({ outcome }) => outcome ?? 'open'],
    ['passed', ({ results }) => results.passed],
    ['first_try', ({ results }) => results.firstTry],
    ['attempts', ({ results }) => results.attempts],
    ['corrections', ({ results }) => results.corrections],
    ['usd_per_story', ({ results }) => results.usdPerStory],
    ['lines_written', ({ results }) => results.merged?.written],
    ['lines_kept', ({ results }) => results.merged?.kept],
    ['commits_of_people', ({ results }) => results.merged?.peopleCommits],
  ]

/** A line for each run, and one with the names of the columns. What is not known is empty. */
export function resultsCsv(runs: readonly RunRow[]): string {
  const lines = runs.map((run) => COLUMNS.map(([, of]) => cell(of(run))))
  return [COLUMNS.map(([name]) => name), ...lines].map((cells) => cells.join(',')).join('\n')
}

/** A spreadsheet runs text that begins like a formula, so such text gets a quote in front (OWASP, "CSV Injection"). */
function cell(value: string | number | null | undefined): string {
  const text = String(value ?? '')
  const safe = /^[=+@\t\r-]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** One sentence about all runs; null if no story has passed. */
export function describeResults(all: readonly RunResults[]): string | null {
  const sum = (some: readonly RunResults[], of: (one: RunResults) => number | null) =>
    some.reduce((total, one) => total + (of(one) ?? 0), 0)
  const known = all.filter(({ firstTry, passed }) => firstTry !== null && passed > 0)
  const passed = sum(known, (one) => one.passed)
  if (passed === 0) return null
  const first = sum(known, (one) => one.firstTry)
  const perStory = (sum(known, (one) => one.attempts) / passed).toFixed(1)
  const begin = `${first} of ${passed} stories passed on the first attempt; on average, a story took ${perStory} attempts`
  const merged = all.filter((one) => (one.merged?.written ?? 0) > 0)
  if (merged.length === 0) return begin
  const share = sum(merged, (one) => one.merged?.kept ?? 0) / sum(merged, (one) => one.merged?.written ?? 0)
  return `${begin}; the default branch still has ${Math.round(share * 100)} % of the lines that ${merged.length === 1 ? 'the merged run' : `${merged.length} merged runs`} wrote`
}
