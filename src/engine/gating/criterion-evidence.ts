// Checks the evidence that a judge names for a criterion, since a judge may err, or be misled by what it reads.
import type { Verdict } from '../model/event.ts'
import { LEVELS, type Level, type Story, type StoryEvidence } from '../model/feature.ts'
import type { TestNames } from '../model/gate.ts'
import type { Limits } from '../model/limit-types.ts'
import { oneLine } from '../model/text.ts'
import { isRefactoring } from './further-runs.ts'
import { findTests, testsOnLine } from './proved-tests.ts'

export type EvidenceFacts = {
  /** The level that every criterion needs. `ask`: a verdict without any evidence is accepted. */
  needs: Limits['evidence']
  /** Whether a judge was asked before: then criteria below the level reset their stories. */
  isAskedAgain: boolean
  gates: readonly string[]
  /** Names of the pictures that the judge was shown. */
  screenshots: readonly string[]
  /** The tests of the gates that are green now. */
  tests: TestNames
  /** The tests that fail without the change of this story. */
  provedBy(storyId: string): readonly string[]
  /** That line of the judged commit, or an empty text if `line` is null. Null if the file or the line does not exist. */
  lineAt(path: string, line: number | null): Promise<string | null>
  /** Whether the feature wrote that line, or any line of the file if `line` is null. Null if that is not known. */
  isChanged(path: string, line: number | null): Promise<boolean | null>
}

type Found = Omit<StoryEvidence, 'storyId' | 'criterion' | 'shown'> & { level: Level }

/** A final message has no room for evidence of more criteria than this: then missing evidence is accepted, unless it is required. */
const MAX_CRITERIA = 400

/**
 * The verdict, with the evidence that exists and its level. A criterion without evidence resets its story. Evidence that does not exist is
 * a mistake of the judge, and another judge is asked. A verdict without any evidence is accepted unless evidence is required; reports show
 * it.
 */
export async function checkEvidence(
  verdict: Verdict,
  stories: readonly Story[],
  facts: EvidenceFacts,
): Promise<Verdict> {
  if (verdict.kind !== 'verified') return verdict
  const named = verdict.evidence ?? []
  const isRequired = facts.needs !== 'ask'
  if (named.length === 0 && !isRequired) return { kind: 'verified' }
  const found: StoryEvidence[] = []
  for (const { storyId, criterion, shown } of named) {
    const one = await lookUp(shown, storyId, facts)
    if (one !== null) found.push({ storyId, criterion, shown, ...one })
  }
  const evidence = markReused(found)
  const total = stories.reduce((sum, { acceptanceCriteria }) => sum + acceptanceCriteria.length, 0)
  // `missing`: without existing evidence; `unnamed`: without any.
  const missing = criteriaWithout(stories, evidence)
  if (missing.length === 0) return checkLevels(stories, evidence, facts)
  if (total > MAX_CRITERIA && !isRequired) return { kind: 'verified', evidence }
  const unnamed = criteriaWithout(stories, named)
  if (unnamed.length > 0) return resetFor(unnamed, (which) => `the judge cited no evidence for ${which}`)
  const notFound = named.filter((one) => !found.some(({ shown }) => shown === one.shown))
  const first = oneLine(notFound[0]?.shown ?? '', 160)
  return {
    kind: 'none',
    message: `Ralph did not find the evidence that the judge cited for ${formatFirst(missing)}: ${first}`,
  }
}

type Criterion = { id: string; text: string }

function criteriaWithout(
  stories: readonly Story[],
  among: readonly StoryEvidence[],
  isEnough: (one: StoryEvidence, story: Story) => boolean = () => true,
): Criterion[] {
  return stories.flatMap((story) =>
    story.acceptanceCriteria.flatMap((text, at) => {
      const isShown = among.some(
        (one) => one.storyId === story.id && one.criterion === at + 1 && isEnough(one, story),
      )
      return isShown ? [] : [{ id: story.id, text: `${story.id}#${at + 1} (${oneLine(text, 80)})` }]
    }),
  )
}

function resetFor(criteria: readonly Criterion[], reasonOf: (which: string) => string): Verdict {
  const ids = [...new Set(criteria.map(({ id }) => id))]
  return { kind: 'reset', stories: ids, reason: reasonOf(formatFirst(criteria)) }
}

/**
 * The first time, criteria below the level are the judge's mistake: it may have named less evidence than exists. The second time they reset
 * their stories.
 */
function checkLevels(
  stories: readonly Story[],
  evidence: readonly StoryEvidence[],
  { needs, isAskedAgain }: EvidenceFacts,
): Verdict {
  const level = LEVEL_OF[needs]
  const isEnough = (one: StoryEvidence, story: Story) =>
    rankOf(one.level) >= Math.min(rankOf(level), isRefactoring(story) ? rankOf('tested') : Infinity)
  const below = criteriaWithout(stories, evidence, isEnough)
  if (below.length === 0) return { kind: 'verified', evidence }
  const ask = `evidence: ${needs} asks for ${ASKED_BY[needs]}`
  if (isAskedAgain) return resetFor(below, (which) => `${which} is not ${level}; ${ask}`)
  return { kind: 'none', message: `${formatFirst(below)} is not ${level}; ${ask}` }
}

const LEVEL_OF: Readonly<Record<EvidenceFacts['needs'], Level>> = {
  ask: 'claimed',
  require: 'cited',
  tested: 'tested',
  proved: 'proved',
}

const ASKED_BY: Readonly<Record<EvidenceFacts['needs'], string>> = {
  ask: 'nothing',
  require: 'a gate, a screenshot, a test, or a line that contains a letter or a digit',
  tested: 'a test, by its name',
  proved: 'a test that fails without the change, by its name',
}

function rankOf(level: Level = 'cited'): number {
  return LEVELS.indexOf(level)
}

/** Marks places that several criteria name. */
function markReused(found: readonly StoryEvidence[]): StoryEvidence[] {
  const users = new Map<string, Set<string>>()
  for (const one of found) {
    const place = placeKey(one)
    users.set(place, (users.get(place) ?? new Set()).add(`${one.storyId}#${one.criterion}`))
  }
  return found.map((one) => {
    const isReused =
      one.level === 'cited' && one.path !== undefined && (users.get(placeKey(one))?.size ?? 0) > 1
    return isReused ? { ...one, reused: true as const } : one
  })
}

function placeKey({ path = '', line }: StoryEvidence): string {
  return `${path}:${line ?? ''}`
}

function formatFirst(criteria: readonly { text: string }[]): string {
  const more = criteria.length > 3 ? ` and ${criteria.length - 3} more` : ''
  return `${criteria
    .slice(0, 3)
    .map(({ text }) => text)
    .join(', ')}${more}`
}

/** Finds `test adds two`, `adds two`, `gate test`, `screenshot cart-1280x800` or `src/cart.ts:14` at the start of a text; null if it does not exist. */
async function lookUp(shown: string, storyId: string, facts: EvidenceFacts): Promise<Found | null> {
  const text = shown.replace(/[`"']/g, '').trim()
  const [, kind = '', rest = ''] = /^(gate|screenshot|test):?\s+(.*)$/i.exec(text) ?? []
  const isOneOf = (names: readonly string[]) =>
    names.some((name) => rest.startsWith(name) && !/^[\w-]/.test(rest.slice(name.length)))
  switch (kind.toLowerCase()) {
    case 'gate':
      return isOneOf(facts.gates) ? { level: 'cited' } : null
    case 'screenshot':
      return isOneOf(facts.screenshots) ? { level: 'cited' } : null
    case 'test':
      return (await placeOf(rest, storyId, facts)) ?? testOf(rest, storyId, facts)
    default:
      // Judges may leave the word `test` out.
      return (
        (await placeOf(text, storyId, facts)) ??
        (/^\S*[./]/.test(text) ? knownTest(text, storyId, facts) : testOf(text, storyId, facts))
      )
  }
}

/** A test by its name. Without the names of all tests it cannot be looked up, and stays a claim. */
function testOf(text: string, storyId: string, facts: EvidenceFacts): Found | null {
  const known = knownTest(text, storyId, facts)
  if (known !== null) return known
  const { passed, more } = facts.tests
  return passed.length === 0 || more === true ? { level: 'claimed' } : null
}

function knownTest(text: string, storyId: string, facts: EvidenceFacts): Found | null {
  return levelOfTests(findTests(text, testNames(storyId, facts)), storyId, facts)
}

/** The tests that are known to pass now. */
function testNames(storyId: string, { tests, provedBy }: EvidenceFacts): string[] {
  const { passed, more } = tests
  const proved = provedBy(storyId)
  // A test that was there when the story passed, and no longer is, proves nothing.
  if (passed.length > 0 && more !== true)
    return [...passed, ...proved.filter((name) => findTests(name, passed).length > 0)]
  return [...passed, ...proved]
}

function levelOfTests(found: readonly string[], storyId: string, { provedBy }: EvidenceFacts): Found | null {
  const [first] = found
  if (first === undefined) return null
  const proved = provedBy(storyId)
  const proof = found.find((name) => proved.includes(name))
  return proof === undefined ? { level: 'tested', test: first } : { level: 'proved', test: proof }
}

/** The maximum number of words of a path that has spaces. */
const MAX_WORDS = 6
const MAX_LINE = 160

async function placeOf(text: string, storyId: string, facts: EvidenceFacts): Promise<Found | null> {
  const words = text.split(/\s+/)
  for (let count = 1; count <= Math.min(words.length, MAX_WORDS); count += 1) {
    const [, path, number] =
      /^(?:\.\/)?(.+?)(?::(\d{1,7})(?:[-:]\d{1,7})?)?[,;:.)]*$/.exec(words.slice(0, count).join(' ')) ?? []
    if (path === undefined) continue
    const line = number === undefined ? null : Number(number)
    const code = await facts.lineAt(path, line)
    if (code === null) continue
    const place = { path, ...(line === null ? {} : { line, text: oneLine(code, MAX_LINE) }) }
    return {
      ...place,
      ...(await levelOfPlace({ path, line, code }, words.slice(count).join(' '), storyId, facts)),
    }
  }
  return null
}

/** A place is a test if its line has the test's name, or if the file is followed by the name. */
async function levelOfPlace(
  { path, line, code }: { path: string; line: number | null; code: string },
  remark: string,
  storyId: string,
  facts: EvidenceFacts,
): Promise<Found> {
  const names = testNames(storyId, facts)
  const named = line === null ? findTests(remark, names) : testsOnLine(code, names)
  const test = levelOfTests(named, storyId, facts)
  if (test !== null) return test
  // A line without a letter or a digit, such as a bracket, shows nothing.
  if (line !== null && !/[\p{L}\p{N}]/u.test(code)) return { level: 'claimed' }
  return (await facts.isChanged(path, line)) === false
    ? { level: 'cited', outside: true }
    : { level: 'cited' }
}
