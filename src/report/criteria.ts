// What shows each acceptance criterion, as a table: proved, tested, cited or claimed. Every surface renders the same rows.
import { LEVELS, type Level } from '../engine/model/feature.ts'
import { pathOf } from './escape.ts'
import { pluralize } from './figures.ts'
import type { Columns, SentencePart } from './sentence.ts'
import type { StoryView } from './stories.ts'

type Evidence = StoryView['evidence'][number]
/** `criterion`: its text, hostile like all texts here. `shown`: the test or the place. `detail`: the line, and what a reader should know. */
export type CriterionRow = { criterion: string; level: Level; shown: SentencePart; detail: string }

/** Short words for a level; the documentation explains them. */
const SIGNS: Readonly<Record<Level, string>> = { proved: '✅ ', tested: '', cited: '', claimed: '⚠️ ' }

/** The rows of a story for which a judge named evidence; empty for others. `blob`: the address of the branch's files. */
export function criteriaRows({ criteria, evidence, examples }: StoryView, blob: string): CriterionRow[] {
  if (evidence.length === 0) return []
  return criteria.map((criterion, at) => {
    const best = bestOf(evidence.filter((one) => one.criterion === at + 1))
    const example = examples[at] ?? ''
    const detail = (words: string) => [example, words].filter((one) => one !== '').join('; ')
    if (best === null) return { criterion, level: 'claimed', shown: '', detail: detail(NO_EVIDENCE) }
    return { criterion, level: levelOf(best), shown: shownBy(best, blob), detail: detail(detailOf(best)) }
  })
}

const NO_EVIDENCE = 'the judge cited nothing'

/** Texts are escaped, so that a cell may take six times as much. */
const MAX_SHOWN = 100

export const CRITERIA: Columns<CriterionRow> = [
  ['Criterion', 'text', ({ criterion: text }) => ({ text, most: MAX_SHOWN })],
  ['Level', 'word', ({ level }) => `${SIGNS[level]}${level}`],
  ['Shown by', 'text', ({ shown }) => shown],
  ['Detail', 'text', ({ detail: text }) => ({ text, most: MAX_SHOWN })],
]

/** `3 proved, 1 cited`, the best first; empty without rows. */
export function describeLevels(rows: readonly CriterionRow[]): string {
  return LEVELS.toReversed()
    .flatMap((level) => {
      const count = rows.filter((one) => one.level === level).length
      return count === 0 ? [] : [`${count} ${level}`]
    })
    .join(', ')
}

/** `Evidence for 4 criteria: 3 proved, 1 cited`. */
export function criteriaTitle(rows: readonly CriterionRow[]): string {
  return `Evidence for ${pluralize(rows.length, 'criterion', 'criteria')}: ${describeLevels(rows)}`
}

/** A state of an earlier version has no levels: what it names exists. */
function levelOf({ level = 'cited' }: Evidence): Level {
  return level
}

function bestOf(found: readonly Evidence[]): Evidence | null {
  const rank = (one: Evidence) => LEVELS.indexOf(levelOf(one))
  return found.reduce<Evidence | null>(
    (best, one) => (best === null || rank(one) > rank(best) ? one : best),
    null,
  )
}

function shownBy({ test, path, line, shown }: Evidence, blob: string): SentencePart {
  if (path === undefined) return { text: test ?? shown, most: MAX_SHOWN }
  const [at, anchor] = line === undefined ? [path, ''] : [`${path}:${line}`, `#L${line}`]
  const url = blob === '' ? '' : `${blob}/${pathOf(path)}${anchor}`
  const isShort = at.length <= MAX_SHOWN && url !== '' && url.length <= MAX_URL
  return isShort ? { link: at, url } : { text: at, most: MAX_SHOWN }
}

/** Percent-encoding makes a name up to nine times as long. */
const MAX_URL = 500

function detailOf({ level, test, path, text = '', outside, reused }: Evidence): string {
  const notes = [
    path === undefined ? '' : (test ?? text),
    outside === true ? 'not changed by this feature' : '',
    reused === true ? 'cited for several criteria' : '',
    level === 'claimed' && test === undefined ? 'shows nothing by itself' : '',
  ]
  return notes.filter((one) => one !== '').join('; ')
}

/** Each criterion with what its examples showed, for a story that no judge has looked at yet. */
export function criteriaTexts({ criteria, examples }: StoryView): string[] {
  return criteria.map((criterion, at) => {
    const example = examples[at] ?? ''
    return example === '' ? criterion : `${criterion} (${example})`
  })
}
