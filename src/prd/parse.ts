// The door for every prd.json, and for the check lists that people bring instead: text in, a Prd or all mistakes out.

import { shown } from '../model/text.ts'
import type { Mistake } from '../system/errors.ts'
import { isChecklist, parseChecklist } from './checklist.ts'
import { isRaw } from './fields.ts'
import { jsonFault, lineAndColumn } from './json-fault.ts'
import { migrate } from './migrate.ts'
import { type ParsedPrd, readDraft } from './read.ts'

export type { ParsedPrd } from './read.ts'

const deepest = 64

/**
 * Reads any known format as version 2; never throws. `source` names the file in every mistake.
 * `gone`: ids that stories may still depend on although the file no longer has them, because people removed
 * a story in the middle of a run; `mergePeople` then drops those dependencies.
 */
export function parsePrd(text: string, source: string, gone: ReadonlySet<string> = new Set()): ParsedPrd {
  const json = parseJson(text)
  if (!json.ok) {
    if (!looksLikeJson(text) && isChecklist(text)) return parseChecklist(text, source)
    return { ok: false, mistakes: [notJson(text, source)] }
  }
  if (!isRaw(json.value)) {
    const fix = Array.isArray(json.value)
      ? 'put the list into {"userStories": [...]}'
      : 'write {"userStories": [...]}'
    return { ok: false, mistakes: [{ path: source, found: shown(json.value), expected: 'an object', fix }] }
  }
  if (isDeeper(json.value, deepest)) {
    const found = `brackets nested more than ${deepest} deep`
    return {
      ok: false,
      mistakes: [{ path: source, found, expected: 'a flatter file', fix: 'remove the nesting' }],
    }
  }
  const mistakes: Mistake[] = []
  const draft = migrate(json.value, source, mistakes)
  return draft === null ? { ok: false, mistakes } : readDraft(draft, mistakes, gone)
}

function parseJson(text: string): { ok: true; value: unknown } | { ok: false } {
  try {
    // A field called __proto__ would be obeyed by whoever copies it with an assignment. It may also be
    // written with escapes, hence the second pattern; the reviver costs time, so only then.
    const suspicious = text.includes('__proto__') || /\\u00[57]/i.test(text)
    const value: unknown = suspicious ? JSON.parse(text, withoutProto) : JSON.parse(text)
    return { ok: true, value }
  } catch {
    return { ok: false }
  }
}

function withoutProto(key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value
}

/** A broken JSON file may hold "- [ ]" in a text; a check list does not begin like JSON. */
function looksLikeJson(text: string): boolean {
  return /^\ufeff?\s*(?:[{"]|\[\s*(?:[{"[\]]|$))/.test(text)
}

function notJson(text: string, source: string): Mistake {
  const fault = jsonFault(text)
  if (fault === null) {
    const found = 'JSON that is nested too deep to be read'
    return { path: source, found, expected: 'a flatter file', fix: 'remove the nesting' }
  }
  const { line, column } = lineAndColumn(text, fault.offset)
  const { found, expected, fix } = fault
  return { path: `${source}: line ${line} column ${column}`, found, expected, fix }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  return Object.values(value).some((inner) => isDeeper(inner, levels - 1))
}
