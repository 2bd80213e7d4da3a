// What files of a gate say: JUnit XML and SARIF (tests, places), lcov and Cobertura XML (lines that ran). They are
// known by what they hold. Whatever cannot be read is a remark, and never ends anything. Pure.
import { parseXml, type XmlElement, XmlError } from '@rgrove/parse-xml'
import * as z from 'zod/mini'
import type { Annotation, TestCounts } from '../engine/model/gate.ts'
import { addHits, type Hits } from './coverage.ts'
import type { ResolvePath } from './resolver.ts'

type File = { path: string; text: string }
type Place = { path: string; line: number }

/** How what a file names is found in the repository; `placeIn`: the first place that a text of a runner names, such as a stack. */
export type Finder = { resolve: ResolvePath; placeIn(text: string): Place | null }

type Found = { tests: TestCounts | null; annotations: Annotation[] }

/** More places are not looked for in one file. */
const MAX_FOUND = 500

/** What all files say together. */
export function readReports(files: readonly File[], finder: Finder): Found & { remarks: string[] } {
  const remarks: string[] = []
  const found = files.flatMap((file) => {
    const xml = (root: XmlElement) => readJunit(root, finder)
    const other = (text: string) => readSarif(JSON.parse(text), finder)
    return attempted(file, remarks, 'neither JUnit XML nor SARIF', xml, other) ?? []
  })
  const counts = found.flatMap(({ tests }) => tests ?? [])
  const sum = (kind: Exclude<keyof TestCounts, 'empty'>) => counts.reduce((all, one) => all + one[kind], 0)
  const tests = { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') }
  const annotations = found.flatMap((one) => one.annotations)
  return { tests: counts.length === 0 ? null : tests, annotations, remarks }
}

/** Null where there is none to be read; then `remarks` say why. */
export function readCoverage(file: File, remarks: string[]): Hits | null {
  return attempted(file, remarks, 'neither lcov nor Cobertura XML', readCobertura, readLcov)
}

function attempted<T>(
  { path, text }: File,
  remarks: string[],
  isNeither: string,
  xml: (root: XmlElement) => T | null,
  other: (text: string) => T | null,
): T | null {
  let why = isNeither
  try {
    const root = text.trimStart().startsWith('<') ? rootOf(text) : null
    // Without the mark that some editors of Windows begin with.
    const read = root === null ? other(text.replace(/^\ufeff/, '')) : xml(root)
    if (read !== null) return read
  } catch (error) {
    // What a parser says quotes the file.
    const place = error instanceof XmlError ? ` (line ${error.line}, column ${error.column})` : ''
    why = `it is damaged${place}`
  }
  remarks.push(`${path}: cannot be read: ${why}`)
  return null
}

/** As surefire, gradle, pytest, jest, vitest, node --test, gotestsum and many more write it; null where it is no JUnit. */
function readJunit(root: XmlElement, finder: Finder): Found | null {
  if (root.name !== 'testsuites' && root.name !== 'testsuite') return null
  const tests: TestCounts = { passed: 0, failed: 0, skipped: 0 }
  const annotations: Annotation[] = []
  for (const test of elements(root, 'testcase')) {
    const ends = childrenOf(test)
    const bad = ends.find(({ name }) => name === 'failure' || name === 'error')
    const end =
      bad !== undefined ? 'failed' : ends.some(({ name }) => name === 'skipped') ? 'skipped' : 'passed'
    tests[end] += 1
    const found = bad && annotations.length < MAX_FOUND ? annotationOf(test, bad, finder) : null
    if (found !== null) annotations.push(found)
  }
  return { tests, annotations }
}

/** Where the failure's own words say it, else where the test stands. */
function annotationOf(test: XmlElement, bad: XmlElement, finder: Finder): Annotation | null {
  const { name = 'a test', file = '', line = '1' } = test.attributes
  const said = bad.attributes.message?.trim() || bad.text.trim()
  const own = finder.resolve(file)
  const place =
    finder.placeIn(`Error: ${said}\n${bad.text}`) ?? (own === null ? null : { path: own, line: lineOf(line) })
  return place && { ...place, message: `${name}: ${said}`, level: 'failure' }
}

/** The number of a line as a file says it; the first where that is none. */
function lineOf(value: unknown): number {
  const line = Number(value)
  return Number.isSafeInteger(line) && line >= 1 ? line : 1
}

/** So much of a file is looked at: what does not fit costs as much as what does. */
const MAX_RUNS = 100
const MAX_RESULTS = 20_000

const list = z.catch(z.array(z.unknown()), [])
const text = z.catch(z.string(), '')
const sarif = z.object({ runs: z.array(z.unknown()) })
const run = z.object({ results: list })
const result = z.object({
  ruleId: text,
  level: z.catch(z.enum(['error', 'warning', 'note', 'none']), 'warning'),
  kind: z.catch(z.string(), 'fail'),
  message: z.catch(z.object({ text }), { text: '' }),
  suppressions: list,
  locations: list,
})
const location = z.object({
  physicalLocation: z.object({
    artifactLocation: z.object({ uri: z.string() }),
    region: z.catch(z.object({ startLine: z.unknown() }), { startLine: 1 }),
  }),
})
const LEVELS = { error: 'failure', warning: 'warning', note: 'notice' } as const

/** SARIF 2.1, as linters and scanners write it; whatever does not fit is left out. Throws where it is none. */
function readSarif(json: unknown, { resolve }: Finder): Found {
  const runs = z.parse(sarif, json).runs.slice(0, MAX_RUNS)
  const results = runs.flatMap((one) => z.safeParse(run, one).data?.results.slice(0, MAX_RESULTS) ?? [])
  const annotations: Annotation[] = []
  for (const one of results.slice(0, MAX_RESULTS)) {
    if (annotations.length >= MAX_FOUND) break
    const { data } = z.safeParse(result, one)
    if (data?.kind !== 'fail' || data.level === 'none' || data.suppressions.length > 0) continue
    const where = z.safeParse(location, data.locations[0]).data?.physicalLocation
    const path = where && resolve(decoded(where.artifactLocation.uri))
    if (where === undefined || path == null) continue
    const message = [data.message.text, data.ruleId].filter((part) => part.trim() !== '').join(' - ')
    annotations.push({ path, line: lineOf(where.region.startLine), message, level: LEVELS[data.level] })
  }
  return { tests: null, annotations }
}

function decoded(uri: string): string {
  try {
    return decodeURIComponent(uri)
  } catch {
    return uri
  }
}

/** As c8, nyc, vitest, jest, coverage.py, cargo-llvm-cov and many more write it; null where it is no lcov. */
function readLcov(text: string): Hits | null {
  const hits: Hits = new Map()
  let name = ''
  for (const line of text.split('\n')) {
    if (line.startsWith('SF:')) {
      name = line.slice(3).trim()
      addHits(hits, name)
    }
    const [, number, times] = /^DA:(\d{1,7}),(\d{1,15})/.exec(line) ?? []
    if (number !== undefined && name !== '') addHits(hits, name, Number(number), Number(times))
  }
  return hits.size === 0 ? null : hits
}

/**
 * As coverage.py, vitest, jest, gocover-cobertura, cargo-tarpaulin and many more write it; null where it is no Cobertura.
 * Names of files are from the first source where there is but one.
 */
function readCobertura(root: XmlElement): Hits | null {
  if (root.name !== 'coverage') return null
  const sources = [...elements(root, 'source')].map(({ text }) => text.trim().replace(/\/*$/, '/'))
  const folder = sources.length === 1 && sources[0] !== './' ? (sources[0] ?? '') : ''
  const hits: Hits = new Map()
  for (const one of elements(root, 'class')) {
    const { filename = '' } = one.attributes
    const name = filename.startsWith('/') ? filename : folder + filename
    addHits(hits, name)
    for (const { attributes } of elements(one, 'line'))
      addHits(hits, name, Number(attributes.number), Number(attributes.hits))
  }
  return hits
}

/** The root; without replacing them, the parser would take the square of the time for carriage returns. */
function rootOf(text: string): XmlElement | null {
  return parseXml(text.replace(/\r\n?/g, '\n')).root
}

function childrenOf(element: XmlElement): XmlElement[] {
  return element.children.filter((node): node is XmlElement => node.type === 'element')
}

/** Every element of this name below `root`, in their order; what is inside of one is not looked for. */
function* elements(root: XmlElement, name: string): Generator<XmlElement> {
  const left = [root]
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    if (at.name === name) yield at
    else left.push(...childrenOf(at).reverse())
  }
}
