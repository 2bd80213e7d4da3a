// The door for every prd.json, and for the check lists that people bring instead: text in, a Prd or all mistakes out.

import { jsonFault } from '../model/json-fault.ts'
import { shown } from '../model/text.ts'
import type { Mistake } from '../system/errors.ts'
import { isChecklist, parseChecklist } from './checklist.ts'
import { isRaw, migrate } from './migrate.ts'
import { type ParsedPrd, readDraft } from './read.ts'

export type { ParsedPrd } from './read.ts'

const deepest = 64

/**
 * Reads any known format as version 2; never throws. `source` names the file in every mistake.
 * `gone`: ids that stories may still depend on although the file no longer has them, because people removed
 * a story in the middle of a run; `mergePeople` then drops those dependencies.
 */
export function parsePrd(text: string, source: string, gone: ReadonlySet<string> = new Set()): ParsedPrd {
  let value: unknown
  try {
    value = parseJson(text)
  } catch (thrown) {
    if (!looksLikeJson(text) && isChecklist(text)) return parseChecklist(text, source)
    const { line, column, ...fault } = jsonFault(text, thrown)
    return refused({ path: `${source}: line ${line} column ${column}`, ...fault })
  }
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
  const draft = migrate(value, source, mistakes)
  return draft === null ? { ok: false, mistakes } : readDraft(draft, mistakes, gone)
}

function refused(mistake: Mistake): ParsedPrd {
  return { ok: false, mistakes: [mistake] }
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

/** A broken JSON file may hold "- [ ]" in a text; a check list does not begin like JSON. */
function looksLikeJson(text: string): boolean {
  return /^\ufeff?\s*(?:[{"]|\[\s*(?:[{"[\]]|$))/.test(text)
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  return Object.values(value).some((inner) => isDeeper(inner, levels - 1))
}
