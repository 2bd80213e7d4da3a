// Reads report files of a gate: JUnit XML and SARIF (tests, places), lcov and Cobertura XML (lines that ran). The format is
// recognised by the content. A file that cannot be read gives a remark, and no error. Pure.
import { parseXml, type XmlElement, XmlError } from '@rgrove/parse-xml'
import * as z from 'zod/mini'
import type { Annotation, TestCounts } from '../engine/model/gate.ts'
import { oneLine } from '../engine/model/text.ts'
import { decodePercent } from '../system/percent-encoding.ts'
import { addHits, type Hits } from './coverage.ts'
import type { ResolvePath } from './resolver.ts'

type File = { path: string; text: string }
type Place = { path: string; line: number }

/** Finds files of the repository by the names in a report; `placeIn`: the first place that a text names, such as a stack trace. */
export type PlaceFinder = { resolve: ResolvePath; placeIn(text: string): Place | null }

/** `failed` and `passed`: the names of these tests. */
type ReportEvidence = {
  tests: TestCounts | null
  failed: string[]
  passed: string[]
  annotations: Annotation[]
}

/** The maximum number of places that are read from one file. */
const MAX_FOUND = 500

/** The tests and places of all files together. */
export function readReports(
  files: readonly File[],
  finder: PlaceFinder,
): Omit<ReportEvidence, 'failed' | 'passed'> & { failed?: string[]; passed?: string[]; remarks: string[] } {
  const remarks: string[] = []
  const found = files.flatMap((file) => {
    const xml = (root: XmlElement) => readJunit(root, finder)
    const other = (text: string) => readSarif(JSON.parse(text), finder)
    return readAs(file, remarks, 'neither JUnit XML nor SARIF', xml, other) ?? []
  })
  const counts = found.flatMap(({ tests }) => tests ?? [])
  const sum = (kind: Exclude<keyof TestCounts, 'empty'>) => counts.reduce((all, one) => all + one[kind], 0)
  const tests = { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') }
  const annotations = found.flatMap((one) => one.annotations)
  if (counts.length === 0) return { tests: null, annotations, remarks }
  const [failed, passed] = [found.flatMap((one) => one.failed), found.flatMap((one) => one.passed)]
  return { tests, failed, passed, annotations, remarks }
}

/** The coverage of a file; null if it cannot be read, with the reason in `remarks`. */
export function readCoverage(file: File, remarks: string[]): Hits | null {
  return readAs(file, remarks, 'neither lcov nor Cobertura XML', readCobertura, readLcov)
}

function readAs<T>(
  { path, text }: File,
  remarks: string[],
  isNeither: string,
  xml: (root: XmlElement) => T | null,
  other: (text: string) => T | null,
): T | null {
  let why = isNeither
  try {
    const root = text.trimStart().startsWith('<') ? parseRoot(text) : null
    // Without a byte order mark.
    const read = root === null ? other(text.replace(/^\ufeff/, '')) : xml(root)
    if (read !== null) return read
  } catch (error) {
    // The parser's message is not used, because it quotes the file.
    const place = error instanceof XmlError ? ` (line ${error.line}, column ${error.column})` : ''
    why = `the file is damaged${place}`
  }
  remarks.push(`report ${path}: Ralph cannot read it: ${why}`)
  return null
}

/** JUnit XML, as surefire, gradle, pytest, jest, vitest, node --test, gotestsum and many others write it; null for other XML. */
function readJunit(root: XmlElement, finder: PlaceFinder): ReportEvidence | null {
  if (root.name !== 'testsuites' && root.name !== 'testsuite') return null
  const tests: TestCounts = { passed: 0, failed: 0, skipped: 0 }
  const failed: string[] = []
  const passed: string[] = []
  const annotations: Annotation[] = []
  for (const test of elements(root, 'testcase')) {
    const ends = childrenOf(test)
    const bad = ends.find(({ name }) => name === 'failure' || name === 'error')
    const end =
      bad !== undefined ? 'failed' : ends.some(({ name }) => name === 'skipped') ? 'skipped' : 'passed'
    tests[end] += 1
    if (end === 'failed') failed.push(nameOf(test))
    if (end === 'passed') passed.push(nameOf(test))
    const found = bad && annotations.length < MAX_FOUND ? annotateFailure(test, bad, finder) : null
    if (found !== null) annotations.push(found)
  }
  return { tests, failed, passed, annotations }
}

function nameOf({ attributes: { classname = '', name = 'a test' } }: XmlElement): string {
  return oneLine(classname === '' ? name : `${classname}: ${name}`, 200)
}

/** The failure at the place that its text names, else at the test's own place; null if neither is known. */
function annotateFailure(test: XmlElement, fault: XmlElement, finder: PlaceFinder): Annotation | null {
  const { name = 'a test', file = '', line = '1' } = test.attributes
  const message = fault.attributes.message?.trim() || fault.text.trim()
  const own = finder.resolve(file)
  const place =
    finder.placeIn(`Error: ${message}\n${fault.text}`) ??
    (own === null ? null : { path: own, line: parseLine(line) })
  return place && { ...place, message: `${name}: ${message}`, level: 'failure' }
}

/** A line number from a file; 1 if it is not valid. */
function parseLine(value: unknown): number {
  const line = Number(value)
  return Number.isSafeInteger(line) && line >= 1 ? line : 1
}

/** How much of a file is read: invalid entries take as much time as valid ones. */
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

/** SARIF 2.1, as linters and scanners write it; invalid entries are left out. Throws if the JSON is not SARIF. */
function readSarif(json: unknown, { resolve }: PlaceFinder): ReportEvidence {
  const runs = z.parse(sarif, json).runs.slice(0, MAX_RUNS)
  const results = runs.flatMap((one) => z.safeParse(run, one).data?.results.slice(0, MAX_RESULTS) ?? [])
  const annotations: Annotation[] = []
  for (const one of results.slice(0, MAX_RESULTS)) {
    if (annotations.length >= MAX_FOUND) break
    const { data } = z.safeParse(result, one)
    if (data?.kind !== 'fail' || data.level === 'none' || data.suppressions.length > 0) continue
    const where = z.safeParse(location, data.locations[0]).data?.physicalLocation
    const path = where && resolve(decodePercent(where.artifactLocation.uri))
    if (where === undefined || path == null) continue
    const message = [data.message.text, data.ruleId].filter((part) => part.trim() !== '').join(' - ')
    annotations.push({ path, line: parseLine(where.region.startLine), message, level: LEVELS[data.level] })
  }
  return { tests: null, failed: [], passed: [], annotations }
}

/** lcov, as c8, nyc, vitest, jest, coverage.py, cargo-llvm-cov and many others write it; null for other text. */
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
 * Cobertura XML, as coverage.py, vitest, jest, gocover-cobertura, cargo-tarpaulin and many others write it; null for other XML. If it
 * has exactly one source folder, file names are relative to that.
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

/** The root element. Carriage returns are replaced first, because the parser takes quadratic time for them. */
function parseRoot(text: string): XmlElement | null {
  return parseXml(text.replace(/\r\n?/g, '\n')).root
}

function childrenOf(element: XmlElement): XmlElement[] {
  return element.children.filter((node): node is XmlElement => node.type === 'element')
}

/** Every element of this name below `root`, in order; elements inside of a match are not searched. */
function* elements(root: XmlElement, name: string): Generator<XmlElement> {
  const left = [root]
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    if (at.name === name) yield at
    else left.push(...childrenOf(at).reverse())
  }
}
