// Renders context.md: the passages of the documents that go into every prompt, up to a size limit.
import { sanitizeText } from '../engine/model/text.ts'
import type { DocumentReading } from './formats.ts'

/** Characters for each part. context.md is in every prompt, so its size is limited. */
const MAX_CONTEXT = { overview: 1_800, architecture: 3_200, specification: 2_400, sprint: 800 }
/** In characters. A passage that would have to be cut to fewer is left out. */
const MIN_PASSAGE_LENGTH = 200

/** Whole passages, as many as fit. The last one is cut at the end of a line. */
export function renderContext(readings: readonly DocumentReading[]): string {
  const parts = (['overview', 'architecture', 'specification', 'sprint'] as const).flatMap((about) => {
    let left = MAX_CONTEXT[about]
    const passages = readings.flatMap(({ path, reading }) => {
      const texts: string[] = []
      for (const { text } of reading.context.filter((passage) => passage.about === about)) {
        const isWhole = text.length <= left
        if (left < MIN_PASSAGE_LENGTH && !isWhole) break
        texts.push(isWhole ? text : text.slice(0, left).replace(/\n[^\n]*$/, ''))
        left -= Math.min(left, text.length)
      }
      return texts.length === 0 ? [] : [...texts, `(${path})`]
    })
    const title = `${about.charAt(0).toUpperCase()}${about.slice(1)}`
    return passages.length === 0 ? [] : [`## ${title}\n\n${passages.join('\n\n')}`]
  })
  return parts.length === 0 ? '' : `${sanitizeText(parts.join('\n\n'))}\n`
}
