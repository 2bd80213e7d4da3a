// What the examples of each criterion showed, in words: met, mismatch or no example. Pure.

import { RUNS } from '../engine/examples/compare.ts'
import type { ExampleResult } from '../engine/model/example.ts'
import type { Story } from '../engine/model/feature.ts'
import type { StoryRecord } from '../engine/model/state.ts'
import { pluralize } from './figures.ts'

/** By criterion; all empty for a story whose examples were not tried. `why` comes from sessions, so it is hostile. */
export function exampleWords({ acceptanceCriteria }: Story, record: StoryRecord | undefined): string[] {
  const { results = [], none = [] } = record?.examples ?? {}
  if (results.length === 0) return acceptanceCriteria.map(() => '')
  return acceptanceCriteria.map((_, at) => {
    const own = results.filter(({ criterion }) => criterion === at + 1)
    const why = none.find(({ criterion }) => criterion === at + 1)?.why ?? own[0]?.why ?? ''
    return wordsOf(own, why)
  })
}

function wordsOf(results: readonly ExampleResult[], why: string): string {
  if (results.some(({ result }) => result === 'mismatch')) return 'mismatch'
  const met = results.filter(({ result }) => result === 'met').length
  if (met === 0) return why === '' ? 'no example' : `no example: ${why}`
  const words = met === 1 ? 'example' : pluralize(met, 'example')
  return `${words} met (${RUNS} of ${RUNS})`
}
