// The door for every prd.json: text in, a Prd or all mistakes out. Markdown and YAML come in through documents/.

import { jsonFault } from '../model/json-fault.ts'
import { shown } from '../model/text.ts'
import type { Mistake } from '../system/errors.ts'
import { type Draft, isRaw, migrate } from './migrate.ts'
import { type ParsedPrd, readDraft } from './read.ts'

export type { ParsedPrd } from './read.ts'

const deepest = 64

/**
 * Reads any known format as version 2; never throws. `source` names the file in every mistake.
 * `gone`: ids that stories may still depend on although the file no longer has them, because people removed
 * a story in the middle of a run; `mergePeople` then drops those dependencies.
 */
export function parsePrd(text: string, source: string, gone: ReadonlySet<string> = new Set()): ParsedPrd {
  const { draft, mistakes } = draftPrd(text, source)
  return draft === null ? { ok: false, mistakes } : readDraft(draft, mistakes, gone)
}

/** The file in the shape of version 2, unchecked; null with the mistakes where it cannot be had. */
export function draftPrd(text: string, source: string): { draft: Draft | null; mistakes: Mistake[] } {
  let value: unknown
  try {
    value = parseJson(text)
  } catch (thrown) {
    const { line, column, ...fault } = jsonFault(text, thrown)
    return refused({ path: `${source}: line ${line} column ${column}`, ...fault })
  }
  return draftOf(value, source)
}

/** The same for a value that was read from a file. */
export function draftOf(value: unknown, source: string): { draft: Draft | null; mistakes: Mistake[] } {
  if (!isRaw(value)) {
    const fix = Array.isArray(value)
      ? 'put the list into {"userStories": [...]}'
      : 'write {"userStories": [...]}'
    return refused({ path: source, found: shown(value), expected: 'an object', fix })
  }
  if (isDeeper(value, deepest)) {
    const found = `brackets nested more than ${deepest} deep`
    return refused({ path: source, found, expected: 'a flatter file', fix: 'remove the nesting' })
  }
  const mistakes: Mistake[] = []
  return { draft: migrate(value, source, mistakes), mistakes }
}

function refused(mistake: Mistake): { draft: null; mistakes: Mistake[] } {
  return { draft: null, mistakes: [mistake] }
}

/** Without fields called __proto__, in whatever spelling: whoever copies one with an assignment would obey it. */
function parseJson(text: string): unknown {
  // The reviver costs time, so only where the name, or an escape for one of its letters, can be seen.
  const suspicious = text.includes('__proto__') || /\\u00[57]/i.test(text)
  return suspicious ? JSON.parse(text, withoutProto) : JSON.parse(text)
}

function withoutProto(key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value
}

/** A broken JSON file may hold "- [ ]" in a text; Markdown does not begin like JSON. */
export function looksLikeJson(text: string): boolean {
  return /^\ufeff?\s*(?:[{"]|\[\s*(?:[{"[\]]|$))/.test(text)
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  return Object.values(value).some((inner) => isDeeper(inner, levels - 1))
}
