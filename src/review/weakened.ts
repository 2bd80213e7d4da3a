// Whether a change makes the tests weaker: tests that are gone, skipped, emptied or shut out, and dropped assertions.
//
// Read from the text alone, so it is a hint and no proof: honest refactorings are let through where their words turn
// up again in tests that run (a renamed test, a table, a helper), and a cheat who writes those words is not found.
import { type Weakening, weakenedIn } from './compare.ts'
import { readTests, sideOf } from './sides.ts'
import { type Budget, type Language, languageOf, readSource } from './source.ts'
import { mayHoldTests } from './test-files.ts'
import type { Walk } from './walk.ts'

export type { Weakening }

/** `before` and `after` are null where there is no such file. */
export type FileChange = { path: string; before: string | null; after: string | null }

const MAX_WEAKENINGS = 100
/** No more text than this is compared, so that a hostile change cannot hold us up for long. */
const MAX_TEXT = 16_000_000
/** Nor for longer, milliseconds of processor time. */
const MAX_TIME = 20_000

/**
 * How the tests got weaker between two states, at most 100 findings. `files` are the changed files; those for which
 * `mayHoldTests` is false are left out. Renames come as a file without `after` and one without `before`. Tests that
 * move between files, and tables that take over from single tests, are no weakening.
 */
export async function weakenedTests(files: FileChange[]): Promise<Weakening[]> {
  const budget: Budget = { time: MAX_TIME, text: MAX_TEXT }
  const found: Weakening[] = []
  const left: Weakening[] = []
  const read = new Map<Language, { before: Walk[]; after: Walk[] }>()
  for (const change of inOrder(files.filter((it) => it.before !== it.after && mayHoldTests(it.path)))) {
    const language = languageOf(change.path)
    if (language === null) continue
    const walks = await walksOf(change, language, budget)
    const own = read.get(language) ?? { before: [], after: [] }
    read.set(language, own)
    own.before.push(...walks.before)
    own.after.push(...walks.after)
    if (walks.isUnread && change.before !== null) left.push(unread(change.path))
  }
  const order = new Map(files.map(({ path }, at) => [path, at]))
  const inPlace = (walks: Walk[]) => walks.sort((a, b) => (order.get(a.path) ?? 0) - (order.get(b.path) ?? 0))
  for (const walks of read.values()) {
    const before = sideOf(inPlace(walks.before), new Set())
    // Where tests stood before, their runner looked, whatever the file is called.
    const known = new Set(before.tests.map((it) => it.path))
    found.push(...weakenedIn(before, sideOf(inPlace(walks.after), known)))
  }
  return [...found, ...left].slice(0, MAX_WEAKENINGS)
}

/** A test file that nobody compared may have lost everything: that is said, too. */
export function unread(path: string): Weakening {
  return { path, kind: 'unread', text: 'too much text to see whether its tests were weakened' }
}

/** Those that stood before come first, for nothing else can get weaker; the small ones of them before the large ones. */
function inOrder(files: FileChange[]): FileChange[] {
  return files.toSorted(
    (a, b) => Number(a.before === null) - Number(b.before === null) || sizeOf(a) - sizeOf(b),
  )
}

function sizeOf({ before, after }: FileChange): number {
  return (before?.length ?? 0) + (after?.length ?? 0)
}

type Walks = { before: Walk[]; after: Walk[]; isUnread: boolean }

async function walksOf(change: FileChange, language: Language, budget: Budget): Promise<Walks> {
  const walks: Walks = { before: [], after: [], isUnread: false }
  budget.text -= sizeOf(change)
  for (const side of ['before', 'after'] as const) {
    const text = change[side]
    if (text === null) continue
    const read = budget.text < 0 ? null : await readSource(change.path, text, language, budget)
    if (read === null) return { before: [], after: [], isUnread: true }
    walks[side].push(readTests(change.path, read.source, read.tree, language))
  }
  return walks
}
