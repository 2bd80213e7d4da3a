// SARIF 2.1, as linters and scanners write it. Pure; whatever does not fit is left out.
import * as z from 'zod/mini'
import type { Annotation } from '../../model/gate.ts'
import { type Finder, type Found, MOST_FOUND } from './found.ts'

const text = z.catch(z.string(), '')
/** The items that fit. */
function fitting<T>(item: z.ZodMiniType<T>) {
  const read = (value: unknown): T[] => {
    const one = z.safeParse(item, value)
    return one.success ? [one.data] : []
  }
  return z.catch(
    z.pipe(
      z.array(z.unknown()),
      z.transform((all) => all.flatMap(read)),
    ),
    [],
  )
}

const result = z.object({
  ruleId: text,
  level: z.catch(z.string(), 'warning'),
  kind: z.catch(z.string(), 'fail'),
  message: z.catch(z.object({ text }), { text: '' }),
  suppressions: fitting(z.unknown()),
  locations: fitting(
    z.object({
      physicalLocation: z.object({
        artifactLocation: z.object({ uri: z.string() }),
        region: z.catch(z.object({ startLine: z.number() }), { startLine: 1 }),
      }),
    }),
  ),
})
const sarif = z.object({ runs: z.array(z.object({ results: fitting(result) })) })

const LEVELS: Readonly<Record<string, Annotation['level']>> = { error: 'failure', note: 'notice' }

/** Throws where it is no SARIF. */
export function readSarif(json: unknown, { resolve }: Finder): Found {
  const annotations: Annotation[] = []
  for (const one of z.parse(sarif, json).runs.flatMap(({ results }) => results)) {
    if (one.kind !== 'fail' || one.level === 'none' || one.suppressions.length > 0) continue
    if (annotations.length >= MOST_FOUND) break
    const where = one.locations[0]?.physicalLocation
    const path = where === undefined ? null : resolve(pathOf(where.artifactLocation.uri))
    if (where === undefined || path === null) continue
    const message = [one.message.text, one.ruleId].filter((part) => part.trim() !== '').join(' - ')
    annotations.push({ path, line: where.region.startLine, message, level: LEVELS[one.level] ?? 'warning' })
  }
  return { tests: null, annotations }
}

function pathOf(uri: string): string {
  try {
    return decodeURIComponent(uri)
  } catch {
    return uri
  }
}
