// What shows that a criterion is met: named by a judge, and looked for before it counts. A judge may err, or be talked to.
import type { Verdict } from '../model/event.ts'
import type { Story, StoryEvidence } from '../model/feature.ts'
import type { GateResult, Screenshot } from '../model/gate.ts'
import { oneLine } from '../model/text.ts'

type Place =
  | { kind: 'file'; path: string; line: number | null }
  | { kind: 'gate' | 'screenshot'; name: string }

export type EvidenceFacts = {
  /** A verdict that names no evidence at all counts as one whose evidence is missing. */
  isRequired: boolean
  /** Names of the gates that passed. */
  gates: readonly string[]
  /** Names of the pictures that the judge was shown. */
  screenshots: readonly string[]
  /** Whether the commit that was judged has that file, and the file that line. */
  hasLine(path: string, line: number | null): Promise<boolean>
}

/** More criteria than a session's last words hold a line for: what is missing then says nothing. */
const MOST_CRITERIA = 400

/**
 * An approval with the evidence that is there. Where a criterion of a story has none, the story is reset: nothing is assumed.
 * A judge that names none for any criterion keeps its word, and every page says so, unless evidence is required.
 */
export async function proven(
  verdict: Verdict,
  stories: readonly Story[],
  facts: EvidenceFacts,
): Promise<Verdict> {
  if (verdict.kind !== 'verified') return verdict
  const named = verdict.evidence ?? []
  if (named.length === 0 && !facts.isRequired) return { kind: 'verified' }
  const found: StoryEvidence[] = []
  for (const one of named) {
    const place = placeOf(one.shown)
    if (place !== null && (await isThere(place, facts))) found.push(withPlace(one, place))
  }
  const missing = stories.flatMap(({ id, acceptanceCriteria }) =>
    acceptanceCriteria.flatMap((text, at) => {
      const has = found.some(({ storyId, criterion }) => storyId === id && criterion === at + 1)
      return has ? [] : [{ id, text: `${id}#${at + 1} (${oneLine(text, 80)})` }]
    }),
  )
  const total = stories.reduce((sum, { acceptanceCriteria }) => sum + acceptanceCriteria.length, 0)
  if (missing.length === 0 || total > MOST_CRITERIA) return { kind: 'verified', evidence: found }
  const more = missing.length > 3 ? ` and ${missing.length - 3} more` : ''
  const reason = `nothing was found that shows ${missing
    .slice(0, 3)
    .map(({ text }) => text)
    .join(', ')}${more}`
  return { kind: 'reset', stories: [...new Set(missing.map(({ id }) => id))], reason }
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

export function screenshotsOf(gates: readonly Pick<GateResult, 'screenshots'>[]): Screenshot[] {
  return gates.flatMap(({ screenshots = [] }) => screenshots)
}

/** `gate test`, `screenshot cart-1280x800`, `src/cart.test.ts:14`, each with words behind it. */
function placeOf(shown: string): Place | null {
  const [first = '', second = ''] = shown.split(/\s+/)
  if (first === 'gate' || first === 'screenshot') return second === '' ? null : { kind: first, name: second }
  const [, path = '', line] = /^`?(?:\.\/)?([^`]+?)(?::(\d{1,7})(?:[-:]\d{1,7})?)?`?[,;]?$/.exec(first) ?? []
  return path === '' ? null : { kind: 'file', path, line: line === undefined ? null : Number(line) }
}

function isThere(place: Place, facts: EvidenceFacts): boolean | Promise<boolean> {
  if (place.kind === 'file') return facts.hasLine(place.path, place.line)
  return (place.kind === 'gate' ? facts.gates : facts.screenshots).includes(place.name)
}

function withPlace({ storyId, criterion, shown }: StoryEvidence, place: Place): StoryEvidence {
  const at = place.kind === 'file' && place.line !== null ? { line: place.line } : {}
  return { storyId, criterion, shown, ...(place.kind === 'file' ? { path: place.path } : {}), ...at }
}
