// Examples that a criterion states itself: Given/When/Then, Gherkin and EARS with one plain value at the end. Pure.

import type { Example } from '../model/example.ts'

/** Longer criteria are not looked at. */
const MAX_WORDS = 2000
const PARTS =
  /^(?:given\s+(?<given>.+?)[,;.]?\s+)?(?:when|if)\s+(?<when>.+?)[,;.]?\s+(?:then\s+|the\s+system\s+shall\s+|the\s+system\s+should\s+)(?<then>.+)$/is
/** Only a value that is the whole of what is expected counts: `15 minutes` could be 15 or 900. */
const VALUE =
  /(?:\b(?:is|are|be|equals?|returns?|returned|shows?|shown|prints?|displays?|gives?|yields?|outputs?)|=|:)\s+(?<value>"(?:[^"\\]|\\.)*"|`[^`]+`|-?\d+(?:\.\d+)?|true|false|null|\[.*\]|\{.*\})\s*\.?\s*$/is

/** The example that each criterion states; most state none. */
export function examplesInCriteria(criteria: readonly string[]): Example[] {
  return criteria.flatMap((text, index) => {
    const found = exampleIn(text)
    return found === null ? [] : [{ criterion: index + 1, ...found, from: 'criterion' as const }]
  })
}

function exampleIn(text: string): Pick<Example, 'given' | 'expect'> | null {
  if (text.length > MAX_WORDS) return null
  const { given, when, then } = PARTS.exec(text.replace(/\s+/g, ' ').trim())?.groups ?? {}
  if (when === undefined || then === undefined) return null
  const { value } = VALUE.exec(then)?.groups ?? {}
  if (value === undefined) return null
  const expect = literalIn(value)
  if (expect === undefined) return null
  return { given: { ...(given === undefined ? {} : { given }), when }, expect }
}

function literalIn(text: string): unknown {
  const inner = text.startsWith('`') ? text.slice(1, -1) : text
  try {
    return JSON.parse(inner)
  } catch {
    return text.startsWith('`') ? inner : undefined
  }
}
