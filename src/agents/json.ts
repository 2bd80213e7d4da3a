// Reads values out of JSON that nobody promised us a shape for.

import { words } from './agent.ts'

export type Json = Readonly<Record<string, unknown>>

/** The object on this line, or null when the line is anything else. */
export function jsonObject(line: string): Json | null {
  const text = line.trim() // a byte order mark is white space here, and an error to JSON.parse
  if (!text.startsWith('{')) return null
  try {
    return object(JSON.parse(text))
  } catch {
    return null
  }
}

/**
 * The event on a line of a vendor's stream, or null: as `jsonObject`, but a warning of the program, or terminal codes,
 * may stand on the line before it, written without a line end of their own.
 */
export function jsonEvent(line: string): Json | null {
  const start = line.indexOf('{')
  return start < 0 || line.lastIndexOf('"', start) >= 0 ? null : jsonObject(line.slice(start))
}

/** The value as an object, or null. */
export function object(value: unknown): Json | null {
  return isObject(value) ? value : null
}

/** The objects in a list; anything else is left out. */
export function objects(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** The value as a string, or null. */
export function string(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** The value as a finite number, or null. */
export function number(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** A count or an amount: finite and not negative, or 0. */
export function amount(value: unknown): number {
  const found = number(value)
  return found !== null && found >= 0 ? found : 0
}

const TARGETS = words('file_path filePath path notebook_path command pattern query url description')

/** What a tool was used on, for people: the first telling argument, one line of at most 200 characters. */
export function toolTarget(input: unknown): string | null {
  const given = object(input) ?? {}
  const value = TARGETS.map((name) => string(given[name])).find((one) => one !== null && one !== '')
  return value?.replace(/\s+/g, ' ').slice(0, 200) ?? null
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
