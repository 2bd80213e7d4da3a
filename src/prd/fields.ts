// Reading one field of untrusted JSON: its value, or the default and a mistake that says how to mend it.

import type { Extra } from '../model/feature.ts'
import { shown } from '../model/text.ts'
import type { Mistake } from '../system/errors.ts'

/** A JSON object whose fields nobody has checked yet. */
export type Raw = { [key: string]: unknown }

/** An unchecked object, how its fields are called in messages, and where its mistakes are collected. */
export type Fields = { raw: Raw; path: (key: string) => string; mistakes: Mistake[] }

export function isRaw(value: unknown): value is Raw {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Neither absent nor null: generated files write null where a person leaves the field out. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** Text as it stands; absent is ''. More than `max` characters is a mistake. */
export function text(fields: Fields, key: string, max = 50_000): string {
  const value = fields.raw[key]
  if (!isGiven(value)) return ''
  return checkedText(fields.mistakes, fields.path(key), value, max) ?? ''
}

/** Text or null; absent and empty are null. A whole number is taken as text, for ids written without quotes. */
export function nullableText(fields: Fields, key: string, max = 500): string | null {
  const value = fields.raw[key]
  if (!isGiven(value) || value === '') return null
  if (Number.isSafeInteger(value)) return String(value)
  return checkedText(fields.mistakes, fields.path(key), value, max)
}

/** A list of non-empty texts; absent is []. */
export function texts(fields: Fields, key: string, max = 50_000): string[] {
  const value = fields.raw[key]
  if (!isGiven(value)) return []
  const path = fields.path(key)
  if (!Array.isArray(value)) {
    const fix = typeof value === 'string' ? 'write it as a list: ["..."]' : 'write a list of texts'
    fields.mistakes.push({ path, found: shown(value), expected: 'a list of texts', fix })
    return []
  }
  return value.flatMap((item: unknown, index) => {
    const checked = checkedText(fields.mistakes, `${path}[${index}]`, item, max)
    if (checked === null) return []
    if (checked.trim() !== '') return [checked]
    const fix = 'write something there, or remove the entry'
    fields.mistakes.push({ path: `${path}[${index}]`, found: 'an empty text', expected: 'a text', fix })
    return []
  })
}

/** true or false; absent is false. */
export function flag(fields: Fields, key: string): boolean {
  const value = fields.raw[key]
  if (!isGiven(value)) return false
  if (typeof value === 'boolean') return value
  const fix = 'write true or false, without quotes'
  fields.mistakes.push({ path: fields.path(key), found: shown(value), expected: 'true or false', fix })
  return false
}

/** Any finite number, or `fallback` when absent. */
export function number(fields: Fields, key: string, fallback: number): number {
  const value = fields.raw[key]
  if (!isGiven(value)) return fallback
  // Adding 0 makes -0 a 0: JSON writes both alike, so only 0 reads back the same.
  if (typeof value === 'number' && Number.isFinite(value)) return value + 0
  const fix = 'write a number without quotes, such as 1'
  fields.mistakes.push({ path: fields.path(key), found: shown(value), expected: 'a number', fix })
  return fallback
}

/** A number of at least 0, or 0 when absent. */
export function amount(fields: Fields, key: string): number {
  const value = number(fields, key, 0)
  if (value >= 0) return value
  const fix = 'write 0 or more, or leave it out'
  fields.mistakes.push({ path: fields.path(key), found: shown(value), expected: '0 or more', fix })
  return 0
}

/** An object with unknown content, or null when absent. */
export function object(fields: Fields, key: string): Raw | null {
  const value = fields.raw[key]
  if (!isGiven(value)) return null
  if (isRaw(value)) return value
  const fix = 'remove it: Ralph writes it'
  fields.mistakes.push({ path: fields.path(key), found: shown(value), expected: 'an object or null', fix })
  return null
}

/** `value` with the fields of `raw` that `known` does not name, in their order. */
export function withExtra<T extends { extra?: Extra }>(value: T, raw: Raw, known: readonly string[]): T {
  let extra: Extra | null = null
  for (const key in raw) {
    if (known.includes(key) || key === '__proto__') continue
    extra ??= {}
    extra[key] = raw[key]
  }
  return extra === null ? value : { ...value, extra }
}

function checkedText(mistakes: Mistake[], path: string, value: unknown, max: number): string | null {
  if (typeof value !== 'string') {
    mistakes.push({ path, found: shown(value), expected: 'a text', fix: 'write it in double quotes' })
    return null
  }
  if (value.length > max) {
    const fix = 'shorten it, or move the detail to prd.md or context.md'
    mistakes.push({ path, found: `${value.length} characters`, expected: `at most ${max} characters`, fix })
  }
  return value
}
