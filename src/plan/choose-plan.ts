// Chooses which documents stories are read from: one of several plans side by side, and no loose list of boxes alongside a plan.
import { truncate } from '../engine/model/text.ts'
import { formatCount, isGiven } from '../engine/prd/migrate.ts'
import type { Mistake } from '../system/errors.ts'
import type { DocumentReading } from './formats.ts'
import { featureOfPage, withPagesAsBackground, withUnits } from './separate-plans.ts'
import { normalizeWords } from './story-words.ts'
import type { DocumentStory, Unit } from './types.ts'

/** `unit`: the plan that was chosen among several. */
type Chosen = { readings: DocumentReading[]; mistakes: Mistake[]; notes: string[]; unit: string | null }

/** `branch`: the branch that is checked out. Spec Kit and others name it after the feature. */
export function choosePlan(found: readonly DocumentReading[], branch: string | null): Chosen {
  const readings = withUnits(withPagesAsBackground(found))
  const twoPlans = trackersOfTwoPlans(readings)
  if (twoPlans !== null) return { readings: [...readings], mistakes: [twoPlans], notes: [], unit: null }
  const { readings: candidates, notes: yielded } = withoutYieldingPlans(readings, branch)
  const { unit, mistakes, notes } = chooseUnit(candidates, branch)
  const ofUnit = candidates.map((one) =>
    unit === null || isIn(one, unit) ? one : withoutContent(one, `another ${one.reading.unit?.of}`),
  )
  const isPlan = ({ reading }: DocumentReading) =>
    reading.stories.some(({ rank, isTracked }) => rank === 'detailed' || isTracked)
  const hasPlan = ofUnit.some(isPlan)
  const headings = ofUnit
    .filter(({ format }) => format === 'headings')
    .flatMap(({ reading }) => reading.stories)
  const isBeside = (one: DocumentReading) =>
    hasPlan || (headings.length > 1 && !one.reading.stories.some((box) => isAmong(box, headings)))
  const chosen = ofUnit.map((one) =>
    one.reading.isLoose && one.reading.stories.length > 0 && isBeside(one) ? asBackground(one) : one,
  )
  return { readings: chosen, mistakes, notes: [...yielded, ...notes], unit }
}

/** Whether a box is one of these stories, by its id or its title. */
function isAmong({ raw }: DocumentStory, stories: readonly DocumentStory[]): boolean {
  const title = normalizeWords(String(raw.title))
  return stories.some(
    (story) =>
      (isGiven(raw.id) && story.raw.id === raw.id) || normalizeWords(String(story.raw.title)) === title,
  )
}

/**
 * Leaves out the plans that people keep after the work is done (`yields`) if another document has stories. They stay if a person or the
 * branch names one of them. They also stay if only one has open tasks and all other documents are loose lists.
 */
function withoutYieldingPlans(
  readings: readonly DocumentReading[],
  branch: string | null,
): { readings: readonly DocumentReading[]; notes: string[] } {
  const isYielding = ({ file, reading }: DocumentReading) =>
    reading.unit?.yields === true && file.isDiscovered === true
  const yielding = readings.filter((one) => isYielding(one) && one.reading.stories.length > 0)
  const others = readings.filter((one) => !isYielding(one) && one.reading.stories.length > 0)
  const open = yielding.filter(({ reading }) => reading.stories.some(({ raw }) => raw.passes !== true))
  const isOfTheBranch = yielding.some(
    ({ reading: { unit } }) => branch !== null && isOfBranch(unit?.name ?? '', branch),
  )
  const isOnlyOne = open.length === 1 && others.every(({ reading }) => reading.isLoose)
  if (others.length === 0 || yielding.length === 0 || isOfTheBranch || isOnlyOne)
    return { readings, notes: [] }
  const named = open.slice(0, 5).map(({ reading, path }) => `--from ${reading.unit?.name ?? path}`)
  const notes =
    named.length === 0
      ? []
      : [
          `Ralph plans from ${others[0]?.path}, which has stories. To plan from another document instead, use ${named.join(' or ')}.`,
        ]
  return {
    readings: readings.map((one) =>
      isYielding(one) ? withoutContent(one, `another ${one.reading.unit?.of}`) : one,
    ),
    notes,
  }
}

function isIn({ reading }: DocumentReading, unit: string): boolean {
  return reading.unit === null || reading.unit.name === unit
}

/** A mistake if two trackers belong to different plans: then most story numbers that both have come with different titles. */
function trackersOfTwoPlans(readings: readonly DocumentReading[]): Mistake | null {
  const trackers = readings.filter(({ reading }) => reading.stories.some(({ isTracked }) => isTracked))
  for (const [index, one] of trackers.entries())
    for (const other of trackers.slice(index + 1)) {
      const titles = new Map(one.reading.stories.map(({ raw }) => [raw.id, String(raw.title)]))
      const shared = other.reading.stories.filter(({ raw }) => titles.has(raw.id))
      const different = shared.filter(
        ({ raw }) => normalizeWords(titles.get(raw.id) ?? '') !== normalizeWords(String(raw.title)),
      )
      if (different.length === 0 || different.length * 2 < shared.length) continue
      const found = `${one.path} and ${other.path} are two plans, which give the same numbers to different stories.`
      const fix = `name the documents of one plan, with its epics and stories: ralph plan --from ${one.path}, or --from ${other.path}`
      return { path: other.path, found, expected: '', fix }
    }
  return null
}

/** The plan that the branch names, else the only plan with open stories. `unit` is null if there is nothing to choose. */
function chooseUnit(
  readings: readonly DocumentReading[],
  branch: string | null,
): { unit: string | null; mistakes: Mistake[]; notes: string[] } {
  const units = new Map<string, { unit: Unit; stories: DocumentStory[] }>()
  for (const { reading } of readings) {
    if (reading.unit === null || reading.stories.length === 0) continue
    const { name } = reading.unit
    units.set(name, {
      unit: reading.unit,
      stories: [...(units.get(name)?.stories ?? []), ...reading.stories],
    })
  }
  const all = [...units.values()]
  const [only] = all
  if (only === undefined) return { unit: null, mistakes: [], notes: [] }
  if (all.length === 1) return { unit: only.unit.name, mistakes: [], notes: [] }
  const isDiscovered = readings.some(
    ({ file, reading }) => reading.unit !== null && file.isDiscovered === true,
  )
  if (!isDiscovered && all.every(({ unit }) => unit.hasOwnIds === true))
    return { unit: null, mistakes: [], notes: [] }
  const wanted = all.find(({ unit }) => branch !== null && isOfBranch(unit.name, branch))
  const open = all.filter(({ stories }) => stories.some(({ raw }) => raw.passes !== true))
  const chosen = wanted ?? (open.length === 1 ? open[0] : undefined)
  if (chosen !== undefined) {
    const why =
      chosen === wanted ? `it belongs to the branch ${branch}` : 'all stories of the others are done'
    return {
      unit: chosen.unit.name,
      mistakes: [],
      notes: [`${chosen.unit.name}: Ralph plans from this ${chosen.unit.of}, because ${why}.`],
    }
  }
  const newest = (open.length > 0 ? open : all).toSorted((a, b) => compareNames(b.unit.name, a.unit.name))
  const names = newest.map(
    ({ unit, stories }) => `${unit.name} (${stories.filter(({ raw }) => raw.passes !== true).length} open)`,
  )
  const found = truncate(
    `there are ${formatCount(all.length, 'feature')}, newest first: ${names.join(', ')}`,
    MAX_FOUND,
  )
  const named = newest.slice(0, MAX_NAMED).map(({ unit }) => `--from ${unit.name}`)
  const more = newest.length > MAX_NAMED ? `, or one of ${newest.length - MAX_NAMED} older ones` : ''
  const fix = `choose one of them: ralph plan ${named.join(', or ')}${more}`
  return { unit: null, notes: [], mistakes: [{ path: only.unit.name, found, expected: '', fix }] }
}

const MAX_FOUND = 80
/** The maximum number of features that a message names. */
const MAX_NAMED = 20

/** By their numbers or dates, of which the higher one is newer. */
function compareNames(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true })
}

/** The branch `feature/001-sign-in` belongs to `specs/001-sign-in`. */
function isOfBranch(unit: string, branch: string): boolean {
  const last = (path: string) => path.slice(path.lastIndexOf('/') + 1)
  return last(branch) === last(unit) || last(branch) === featureOfPage(unit)
}

function withoutContent(one: DocumentReading, what: string): DocumentReading {
  const { reading } = one
  return {
    ...one,
    reading: {
      ...reading,
      ...{ stories: [], context: [], notes: [], mistakes: [], choices: [], root: {} },
      ...{ prose: 'none', what, boxes: 0 },
    },
  }
}

function asBackground(one: DocumentReading): DocumentReading {
  const { reading, path } = one
  const count = reading.stories.length
  const boxes = reading.boxes + count
  const notes = [
    `left out: ${formatCount(count, 'check box')}, because there is a plan next to this document. To plan from them too, add --as stories ${path}.`,
  ]
  return {
    ...one,
    reading: {
      ...reading,
      stories: [],
      notes,
      boxes,
      prose: 'background',
      what: 'a checklist next to a plan',
    },
  }
}
