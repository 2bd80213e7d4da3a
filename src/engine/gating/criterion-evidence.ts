// Checks the evidence that a judge names for a criterion, since a judge may err, or be misled by what it reads.
import type { Verdict } from '../model/event.ts'
import type { Story, StoryEvidence } from '../model/feature.ts'
import { oneLine } from '../model/text.ts'

/** Where evidence is: a place in a file; or `named`, a gate or a picture. */
type Place = { path: string; line: number | null } | 'named'

export type EvidenceFacts = {
  /** Whether a verdict without any evidence is refused. */
  isRequired: boolean
  gates: readonly string[]
  /** Names of the pictures that the judge was shown. */
  screenshots: readonly string[]
  /** Whether the commit that was judged has that file, and the file that line. */
  hasLine(path: string, line: number | null): Promise<boolean>
}

/** A final message has no room for evidence of more criteria than this: then missing evidence is accepted, unless it is required. */
const MAX_CRITERIA = 400

/**
 * The verdict, with the evidence that exists. A criterion without evidence resets its story. Evidence that does not exist is a mistake
 * of the judge, and another judge is asked. A verdict without any evidence is accepted unless evidence is required; reports show it.
 */
export async function checkEvidence(
  verdict: Verdict,
  stories: readonly Story[],
  facts: EvidenceFacts,
): Promise<Verdict> {
  if (verdict.kind !== 'verified') return verdict
  const named = verdict.evidence ?? []
  if (named.length === 0 && !facts.isRequired) return { kind: 'verified' }
  const found: StoryEvidence[] = []
  for (const one of named) {
    const place = await placeOf(one.shown, facts)
    if (place !== null) found.push(withPlace(one, place))
  }
  const criteriaWithout = (among: readonly StoryEvidence[]) =>
    stories.flatMap((story) =>
      story.acceptanceCriteria.flatMap((text, at) => {
        const isNamed = among.some(({ storyId, criterion }) => storyId === story.id && criterion === at + 1)
        return isNamed ? [] : [{ id: story.id, text: `${story.id}#${at + 1} (${oneLine(text, 80)})` }]
      }),
    )
  const total = stories.reduce((sum, { acceptanceCriteria }) => sum + acceptanceCriteria.length, 0)
  // `missing`: without existing evidence; `unnamed`: without any.
  const missing = criteriaWithout(found)
  if (missing.length === 0 || (total > MAX_CRITERIA && !facts.isRequired))
    return { kind: 'verified', evidence: found }
  const unnamed = criteriaWithout(named)
  if (unnamed.length > 0) {
    const reason = `nothing was named that shows ${formatFirst(unnamed)}`
    return { kind: 'reset', stories: [...new Set(unnamed.map(({ id }) => id))], reason }
  }
  const notFound = named
    .filter((one) => !found.some(({ shown }) => shown === one.shown))
    .map(({ shown }) => shown)
  const message = `what was named for ${formatFirst(missing)} is not there: ${oneLine(notFound[0] ?? '', 160)}`
  return { kind: 'none', message }
}

function formatFirst(criteria: readonly { text: string }[]): string {
  const more = criteria.length > 3 ? ` and ${criteria.length - 3} more` : ''
  return `${criteria
    .slice(0, 3)
    .map(({ text }) => text)
    .join(', ')}${more}`
}

/** The most words of a path that has spaces. */
const MAX_WORDS = 6

/** Finds `gate test`, `screenshot cart-1280x800` or `src/cart.test.ts:14` at the start of a text; null if it does not exist. */
async function placeOf(shown: string, facts: EvidenceFacts): Promise<Place | null> {
  const text = shown.replace(/[`"']/g, '').trim()
  const [, kind, rest = ''] = /^(gate|screenshot):?\s+(.*)$/i.exec(text) ?? []
  if (kind !== undefined) {
    const names = kind.toLowerCase() === 'gate' ? facts.gates : facts.screenshots
    const isNamed = (name: string) => rest.startsWith(name) && !/^[\w-]/.test(rest.slice(name.length))
    return names.some(isNamed) ? 'named' : null
  }
  const words = text.split(/\s+/)
  for (let count = 1; count <= Math.min(words.length, MAX_WORDS); count += 1) {
    const path = /^(?:\.\/)?(.+?)(?::(\d{1,7})(?:[-:]\d{1,7})?)?[,;:.)]*$/.exec(
      words.slice(0, count).join(' '),
    )
    const line = path?.[2] === undefined ? null : Number(path[2])
    if (path?.[1] !== undefined && (await facts.hasLine(path[1], line))) return { path: path[1], line }
  }
  return null
}

function withPlace({ storyId, criterion, shown }: StoryEvidence, place: Place): StoryEvidence {
  if (place === 'named') return { storyId, criterion, shown }
  const { path, line } = place
  return { storyId, criterion, shown, path, ...(line === null ? {} : { line }) }
}
