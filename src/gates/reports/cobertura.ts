// Cobertura XML, as coverage.py, vitest, jest, gocover-cobertura, cargo-tarpaulin and many more write it. Pure.
import type { Hits } from './found.ts'
import { elements, type XmlElement } from './xml.ts'

/** Null where it is no Cobertura. Names of files are from the first source where there is but one. */
export function readCobertura(root: XmlElement): Hits | null {
  if (root.name !== 'coverage') return null
  const sources = [...elements(root, ['source'])].map(({ text }) => text.trim().replace(/\/*$/, '/'))
  const folder = sources.length === 1 && sources[0] !== './' ? (sources[0] ?? '') : ''
  const hits: Hits = new Map()
  for (const one of elements(root, ['class'])) {
    const { filename = '' } = one.attributes
    const name = filename.startsWith('/') ? filename : folder + filename
    const lines = hits.get(name) ?? new Map<number, number>()
    hits.set(name, lines)
    for (const { attributes } of elements(one, ['line'])) {
      const [number, times] = [Number(attributes.number), Number(attributes.hits)]
      if (Number.isSafeInteger(number) && number >= 1 && times >= 0)
        lines.set(number, Math.max(lines.get(number) ?? 0, times))
    }
  }
  return hits
}
