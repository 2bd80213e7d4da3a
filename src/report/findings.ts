// Findings that need a person's attention before a merge: remarks of the guard and of gates on stories that passed. Every surface
// shows them in its first lines, one short line each.
import { gateFindings } from '../engine/model/gate.ts'
import type { State } from '../engine/model/state.ts'
import { oneLine } from '../engine/model/text.ts'
import { joinBlocks, list } from './blocks.ts'
import { link } from './escape.ts'
import { pluralize } from './figures.ts'
import { type Sentence, sentence, toMarkdown } from './sentence.ts'

/** A finding about a story, or about the whole feature (`storyId` null). `text` is hostile. */
type ReviewFinding = { storyId: string | null; text: string }
export type Findings = { shown: ReviewFinding[]; more: number; total: number }

const MAX_FINDINGS = 5
const MAX_LENGTH = 160

export function findingsOf(state: State): Findings {
  const { prd, records, verification } = state
  const own = prd.userStories
    .filter(({ passes }) => passes)
    .map(({ id }) => {
      const { gates = [], remarks = [] } = records[id] ?? {}
      return [...gateFindings(gates), ...remarks].map((text) => ({ storyId: id, text }))
    })
  const whole = [
    ...flakyGates(state),
    ...(verification.remarks ?? []).map((remark) => `final verification: ${remark}`),
    ...(verification.voided ?? []),
    ...(hasNoEvidence(state) ? [NO_EVIDENCE] : []),
  ].map((text) => ({ storyId: null, text }))
  const total = own.reduce((sum, remarks) => sum + remarks.length, whole.length)
  const shown: ReviewFinding[] = []
  // One finding of each story comes before the second of any, so that no story hides another.
  const lists = [...own.filter(({ length }) => length > 0), whole]
  for (let at = 0; shown.length < Math.min(MAX_FINDINGS, total); at += 1)
    for (const findings of lists) {
      const one = findings[at]
      if (one !== undefined && shown.length < MAX_FINDINGS) shown.push(one)
    }
  return { shown, more: total - shown.length, total }
}

const NO_EVIDENCE = 'the judge approved without citing evidence'

function hasNoEvidence({ prd, verification }: State): boolean {
  const judged = verification.approved ? prd.userStories.filter(({ passes }) => passes) : []
  return judged.length > 0 && judged.every(({ lastResult }) => !lastResult?.evidence?.length)
}

/** Gates that were red and green on the same tree. */
function flakyGates({ records }: State): string[] {
  const flaky = new Map<string, string[]>()
  for (const [id, { gates }] of Object.entries(records))
    for (const gate of gates) if (gate.flaky) flaky.set(gate.name, [...(flaky.get(gate.name) ?? []), id])
  return [...flaky].map(
    ([name, ids]) =>
      `gate ${name} is flaky: it failed and passed on the same code, in ${ids.slice(0, 10).join(', ')}`,
  )
}

/** One sentence for each finding. */
export function findingSentences({ shown }: Findings): Sentence[] {
  return shown.map(({ storyId, text }) => {
    const words = sentence`${{ text, most: MAX_LENGTH }}`
    return storyId === null ? sentence`⚠️ ${words}` : sentence`⚠️ ${{ story: storyId }} ${words}`
  })
}

/** The findings as Markdown; empty without any. `details`: the address of the page with all of them, or null. */
export function findingsBlock(findings: Findings, details: string | null): string {
  const { more, total } = findings
  if (total === 0) return ''
  const where = 'the check of each story has the details'
  const pointer = details === null ? where : link(where, details)
  const lines = findingSentences(findings).map(toMarkdown)
  return joinBlocks([
    `**${formatFindingCount(total)}** to look at before you merge (${pointer})`,
    list(more === 0 ? lines : [...lines, `and ${more} more`]),
  ]).trim()
}

export function formatFindingCount(total: number): string {
  return pluralize(total, 'finding')
}

/** The findings as lines for a terminal. The caller escapes each line. */
export function findingLines({ shown, more }: Findings): string[] {
  const lines = shown.map(({ storyId, text }) => {
    const words = oneLine(text, MAX_LENGTH)
    return storyId === null ? words : `${oneLine(storyId, 64)}: ${words}`
  })
  return more === 0 ? lines : [...lines, `and ${more} more: ralph report has all of them`]
}
