// Plans that must not be joined, since the result would be a plan that no one wrote. Such are the pages next to a prd.json that was made
// from one of them, and documents that use the same numbers for other stories.
import { oneLine } from '../engine/model/text.ts'
import { formatCount } from '../engine/prd/migrate.ts'
import type { DocumentReading } from './formats.ts'
import { areAlike } from './join-stories.ts'
import type { DocumentStory, Unit } from './types.ts'

/** `prd-login.md`, `prd_login.md`: a page for one feature. */
const PAGE = /(?:^|\/)prd[-_][^/]+\.md$/i

/**
 * A prd.json with open stories is the plan, and pages of other features next to it are left out. Such a page uses its numbers for other
 * stories, or the prd.json names another page as its source. A page with further numbers belongs to the plan.
 */
export function withPagesAsBackground(readings: readonly DocumentReading[]): DocumentReading[] {
  const plan = readings.find(({ reading }) =>
    reading.stories.some(({ rank, raw }) => rank === 'made' && raw.passes !== true),
  )
  if (plan === undefined) return [...readings]
  const pages = readings.filter(({ path, reading }) => PAGE.test(path) && reading.unit === null)
  const { madeFrom, root, stories } = plan.reading
  const branch = typeof root.branchName === 'string' ? lastPart(root.branchName) : ''
  const source =
    pages.find(({ path }) => path === madeFrom) ?? pages.find(({ path }) => featureOfPage(path) === branch)
  const isOther = (page: DocumentReading) =>
    (source !== undefined && page !== source) || doClash(stories, page.reading.stories, true)
  return readings.map((one) => (pages.includes(one) && isOther(one) ? asPage(one, plan.path) : one))
}

function asPage(page: DocumentReading, plan: string): DocumentReading {
  const { stories, notes } = page.reading
  const titles = stories.slice(0, 5).map(({ raw }) => oneLine(String(raw.title ?? raw.id), 60))
  const named = `${titles.join('; ')}${stories.length > 5 ? '; ...' : ''}`
  const note = `left out: ${formatCount(stories.length, 'story')} (${named}), because ${plan} is the plan. To use them instead: ralph plan --from ${page.path}.`
  const content = { stories: [], root: {}, mistakes: [], notes: stories.length > 0 ? [note] : notes }
  const what = `a page next to ${plan}`
  return { ...page, reading: { ...page.reading, ...content, prose: 'background', what } }
}

/** The documents, each that uses the numbers of another one for other stories as its own feature. */
export function withUnits(readings: readonly DocumentReading[]): DocumentReading[] {
  const plans = readings.filter(isSeparable)
  const clashing = new Set<DocumentReading>()
  for (const [index, one] of plans.entries())
    for (const other of plans.slice(index + 1))
      if (doClash(one.reading.stories, other.reading.stories, PAGE.test(one.path) && PAGE.test(other.path))) {
        clashing.add(one)
        clashing.add(other)
      }
  return readings.map((one) => {
    if (!clashing.has(one)) return one
    const unit: Unit = { of: PAGE.test(one.path) ? 'page' : 'plan', name: one.path }
    return { ...one, reading: { ...one.reading, unit } }
  })
}

/** A person who names two files wants both. Trackers and lists of boxes only mention stories of others. */
function isSeparable({ file, reading }: DocumentReading): boolean {
  return (
    file.isNamed !== true &&
    reading.unit === null &&
    reading.stories.length > 0 &&
    reading.stories.every(({ rank, isTracked }) => rank !== 'listed' && !isTracked)
  )
}

/** `arePages`: one shared number is enough, because every page begins at US-001. */
function doClash(
  stories: readonly DocumentStory[],
  others: readonly DocumentStory[],
  arePages: boolean,
): boolean {
  if (!arePages && (stories.length < 2 || others.length < 2)) return false
  const titles = new Map(stories.map(({ raw }) => [String(raw.id), String(raw.title)]))
  const shared = others.filter(({ raw }) => raw.id !== undefined && titles.has(String(raw.id)))
  const unlike = shared.filter(({ raw }) => !areAlike(titles.get(String(raw.id)) ?? '', String(raw.title)))
  const isEnough = arePages ? unlike.length > 0 : unlike.length > 1
  return isEnough && unlike.length * 2 >= shared.length
}

/** The feature's name in the name of its page: `tasks/prd-login.md` is of `login`. */
export function featureOfPage(path: string): string {
  return lastPart(path)
    .replace(/\.md$/i, '')
    .replace(/^prd[-_]/i, '')
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
