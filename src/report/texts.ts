// Every text of a state changed in one go, so that secrets are taken out before anything is escaped.

/**
 * The same value with `change` applied to every string in it; names of fields stay. Redaction must come before
 * rendering: an escaped or cut secret is not found any more, and the page still shows it.
 */
export function mapTexts<T>(value: T, change: (text: string) => string): T {
  // The shape stays what it was: only strings are replaced, by strings.
  return changed(value, change) as T
}

function changed(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((one: unknown) => changed(one, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, changed(one, change)]))
}
