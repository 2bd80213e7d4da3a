// Chooses which documents stories are read from: one of several plans side by side, and no loose list of boxes beside a plan.
import { truncate } from '../engine/model/text.ts'
import { formatCount } from '../engine/prd/migrate.ts'
import type { Mistake } from '../system/errors.ts'
import type { DocumentReading } from './formats.ts'
import { normalizeWords } from './story-words.ts'
import type { DocumentStory, Unit } from './types.ts'

type Chosen = { readings: DocumentReading[]; mistakes: Mistake[]; notes: string[] }

/** `branch`: the branch that is checked out. Spec Kit and others name it after the feature. */
export function choosePlan(readings: readonly DocumentReading[], branch: string | null): Chosen {
  const twoPlans = trackersOfTwoPlans(readings)
  if (twoPlans !== null) return { readings: [...readings], mistakes: [twoPlans], notes: [] }
  const { unit, mistakes, notes } = chooseUnit(readings, branch)
  const ofUnit = readings.map((one) =>
    unit === null || isIn(one, unit) ? one : withoutContent(one, `another ${one.reading.unit?.of}`),
  )
  const isPlan = ({ reading }: DocumentReading) =>
    reading.stories.some(({ rank, isTracked }) => rank === 'detailed' || isTracked)
  const hasPlan = ofUnit.some(isPlan)
  const chosen = ofUnit.map((one) =>
    hasPlan && one.reading.isLoose && one.reading.stories.length > 0 ? asBackground(one) : one,
  )
  return { readings: chosen, mistakes, notes }
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
      const found = `two plans side by side: ${one.path} and ${other.path} give the same numbers to other stories`
      const fix = `name the documents of one: ralph plan --from ${one.path}, or --from ${other.path}, with its epics and stories`
      return { path: other.path, found, expected: 'one plan', fix }
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
    const why = chosen === wanted ? `the branch ${branch} names it` : 'in the others nothing is left to do'
    return {
      unit: chosen.unit.name,
      mistakes: [],
      notes: [`${chosen.unit.name}: planned from this ${chosen.unit.of}, for ${why}.`],
    }
  }
  const names = all.map(
    ({ unit, stories }) => `${unit.name} (${stories.filter(({ raw }) => raw.passes !== true).length} open)`,
  )
  const found = truncate(`${formatCount(all.length, 'feature')} side by side: ${names.join(', ')}`, 80)
  const named = (open.length > 0 ? open : all).slice(0, 5).map(({ unit }) => `--from ${unit.name}`)
  const fix = `name one: ralph plan ${named.join(', or ')}`
  return { unit: null, notes: [], mistakes: [{ path: only.unit.name, found, expected: 'one feature', fix }] }
}

/** The branch `feature/001-sign-in` belongs to `specs/001-sign-in`. */
function isOfBranch(unit: string, branch: string): boolean {
  const last = (path: string) => path.slice(path.lastIndexOf('/') + 1)
  return last(branch) === last(unit)
}

function withoutContent(one: DocumentReading, what: string): DocumentReading {
  const { reading } = one
  return {
    ...one,
    reading: { ...reading, stories: [], context: [], notes: [], root: {}, prose: 'none', what, boxes: 0 },
  }
}

function asBackground(one: DocumentReading): DocumentReading {
  const { reading, path } = one
  const count = reading.stories.length
  const boxes = reading.boxes + count
  const notes = [
    `left out: ${formatCount(count, 'box')}, for a plan stands beside it. --as stories ${path} takes them, too.`,
  ]
  return {
    ...one,
    reading: {
      ...reading,
      stories: [],
      notes,
      boxes,
      prose: 'background',
      what: 'a list of boxes beside a plan',
    },
  }
}
