// SARIF 2.1, as linters and scanners write it. Pure; whatever does not fit is left out.
import * as z from 'zod/mini'
import type { Annotation } from '../../model/gate.ts'
import { type Finder, type Found, lineOf, MOST_FOUND } from './found.ts'

/** So much of a file is looked at: what does not fit costs as much as what does. */
const MOST_RUNS = 100
const MOST_RESULTS = 20_000

const text = z.catch(z.string(), '')
/** Cut before anything in it is looked at; empty for what is no list. */
const list = (most: number) =>
  z.catch(
    z.pipe(
      z.unknown(),
      z.transform((value): unknown[] => (Array.isArray(value) ? value.slice(0, most) : [])),
    ),
    [],
  )

const location = z.object({
  physicalLocation: z.object({
    artifactLocation: z.object({ uri: z.string() }),
    region: z.catch(z.object({ startLine: z.unknown() }), { startLine: 1 }),
  }),
})
const result = z.object({
  ruleId: text,
  level: z.catch(z.string(), 'warning'),
  kind: z.catch(z.string(), 'fail'),
  message: z.catch(z.object({ text }), { text: '' }),
  suppressions: list(1),
  locations: list(1),
})
const run = z.object({ results: list(MOST_RESULTS) })
const sarif = z.object({ runs: z.custom<unknown[]>(Array.isArray) })

const LEVELS = new Map<string, Annotation['level']>([
  ['error', 'failure'],
  ['note', 'notice'],
])

/** Throws where it is no SARIF. */
export function readSarif(json: unknown, { resolve }: Finder): Found {
  const annotations: Annotation[] = []
  for (const one of resultsOf(z.parse(sarif, json).runs)) {
    if (annotations.length >= MOST_FOUND) break
    const { success, data } = z.safeParse(result, one)
    if (!success || data.kind !== 'fail' || data.level === 'none' || data.suppressions.length > 0) continue
    const where = z.safeParse(location, data.locations[0]).data?.physicalLocation
    const path = where === undefined ? null : resolve(pathOf(where.artifactLocation.uri))
    if (where === undefined || path === null) continue
    const message = [data.message.text, data.ruleId].filter((part) => part.trim() !== '').join(' - ')
    const line = lineOf(where.region.startLine)
    annotations.push({ path, line, message, level: LEVELS.get(data.level) ?? 'warning' })
  }
  return { tests: null, annotations }
}

function resultsOf(runs: readonly unknown[]): unknown[] {
  const lists = runs.slice(0, MOST_RUNS).map((one) => z.safeParse(run, one).data?.results ?? [])
  return lists.flat().slice(0, MOST_RESULTS)
}

function pathOf(uri: string): string {
  try {
    return decodeURIComponent(uri)
  } catch {
    return uri
  }
}
