// Reads values out of JSON of unknown shape.

export type Json = Readonly<Record<string, unknown>>

/** The text parsed as a JSON object; null for anything else. */
export function jsonObject(source: string): Json | null {
  const text = source.trim() // a byte order mark is white space here, and an error to JSON.parse
  if (!text.startsWith('{')) return null
  try {
    return asObject(JSON.parse(text))
  } catch {
    return null
  }
}

export function asObject(value: unknown): Json | null {
  return isObject(value) ? value : null
}

/** The objects in a list; other entries are left out. */
export function asObjects(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

export function asString(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

export function asNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** A count or an amount: finite and not negative, or 0. */
export function asAmount(value: unknown): number {
  const found = asNumber(value)
  return found !== null && found >= 0 ? found : 0
}

/** A whole number that is not negative, or 0. */
export function asCount(value: unknown): number {
  return Number.isSafeInteger(value) ? asAmount(value) : 0
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
