// Evidence of a gate alongside its exit code: counts of tests, places in the code, coverage, and differences to the base.
import { relative } from 'node:path'
import {
  type Annotation,
  type Gate,
  type GateBaseline,
  type GateResult,
  isToFail,
  type TestCounts,
  testsRun,
} from '../engine/model/gate.ts'
import type { GateRun } from '../engine/model/ports.ts'
import { mapTexts, oneLine } from '../engine/model/text.ts'
import { withoutControls } from '../system/workflow-commands.ts'
import { annotationsFrom, selectAnnotations } from './annotations.ts'
import { missingCount } from './count-advice.ts'
import { namesOnlyFailures, ranNoTest, testCounts } from './counts.ts'
import { type ChangedLines, measureChange, type RedReason, reportCoverage } from './coverage.ts'
import { judgeRed } from './known-red.ts'
import type { Stamps, TreeFolders } from './report-files.ts'
import { createResolver } from './resolver.ts'
import { namesOfTests } from './test-names.ts'

/** Reads the code that gates check. */
export type CodeReader = {
  /** Its files, by path. */
  files(commit: string): Promise<readonly string[]>
  changedLines(from: string, to: string): Promise<ChangedLines>
  /** Files that differ between two commits. */
  changedPaths(from: string, to: string): Promise<readonly string[]>
}

export type EvidenceOptions = TreeFolders & {
  code: CodeReader
  /** Whether named tests may fail on the base. */
  knownRed?: boolean
  redact(text: string): string
}

/** A gate's run: how it ended, and its output, redacted. */
export type GateOutcome = Pick<GateResult, 'ok' | 'ended' | 'ms' | 'output'>
export type GateReport = GateOutcome &
  Partial<Pick<GateResult, 'tests' | 'named' | 'annotations' | 'remarks' | 'findings' | 'flaky' | 'knownRed'>>

/** Evidence from the files that a gate wrote. */
type FileEvidence = {
  tests: TestCounts | null
  /** The names of tests; left out if no report has tests. */
  failed?: string[]
  passed?: string[]
  annotations: Annotation[]
  remarks: string[]
  red: RedReason | null
}

const MAX_REMARKS = 20
const MAX_REMARK_LENGTH = 300
const MAX_MESSAGE_LENGTH = 600

/** Stamps of the files that the gate is expected to write, before it runs; null if none are configured. */
export async function stampsBefore(
  { report = [], coverage }: Gate,
  where: TreeFolders,
): Promise<Stamps | null> {
  const patterns = coverage === undefined ? report : [...report, coverage.file]
  if (patterns.length === 0) return null
  const { fileStamps } = await import(/* webpackChunkName: "evidence" */ './report-files.ts')
  return fileStamps(where, patterns)
}

/** The run with its evidence. A green gate becomes red if coverage is below the threshold, or if it counts new failures itself. */
export async function withEvidence(
  gate: Gate,
  ended: GateOutcome,
  before: Stamps | null,
  run: GateRun,
  options: EvidenceOptions,
): Promise<GateReport> {
  const evidence = before === null ? NO_EVIDENCE : await readEvidence(gate, ended, before, run, options)
  const counts = evidence.tests ?? testCounts(ended.output)
  const { ran, tests, known } = withKnownRed(gate, ended, { ...evidence, tests: counts }, run, options)
  const clean = (text: string, most: number) => oneLine(options.redact(withoutControls(text)), most)
  const failures =
    ran.ok && evidence.red === null
      ? (hiddenFailures(tests, run, gate.name) ?? lostCount(tests, run, gate.name))
      : null
  const comparison =
    ran.ok && failures === null
      ? compareWithBaseline(run.baseline[gate.name], ran.ms, tests, run)
      : NO_DIFFERENCE
  const uncounted = uncountedRemark(gate, { ok: ran.ok, tests }, run) ?? []
  const empty = ran.ok && ranNoTest(tests) && run.further === undefined ? [RAN_NO_TEST] : []
  const remarks = [...known.remarks, ...empty, ...evidence.remarks, ...comparison.remarks]
    .concat(uncounted)
    .slice(0, MAX_REMARKS)
  // Checked here for all sources: an invalid line number would make the state unreadable.
  const annotations = evidence.annotations
    .filter(({ line }) => Number.isSafeInteger(line) && line >= 1)
    .map((one) => ({ ...one, message: clean(one.message, MAX_MESSAGE_LENGTH) }))
  const red = evidence.red && {
    ok: false,
    ended: evidence.red.ended,
    output: `${ran.output}${evidence.red.output}`,
  }
  const hidden = failures === null ? {} : { ok: false, ended: `${ran.ended}, but ${failures}` }
  const result = { ...ran, ...red, ...hidden }
  const isCompared = result.ok || isToFail(run.further) || run.of === 'baseline'
  const named = isCompared ? namesOfTests(ended.output, evidence) : null
  return {
    ...result,
    ...(tests === null ? {} : { tests }),
    ...(named === null ? {} : { named: mapTexts(named, (name) => clean(name, MAX_REMARK_LENGTH)) }),
    ...(known.knownRed === undefined ? {} : { knownRed: known.knownRed }),
    ...(comparison.findings.length === 0 ? {} : { findings: comparison.findings }),
    ...(remarks.length === 0 ? {} : { remarks: remarks.map((one) => clean(one, MAX_REMARK_LENGTH)) }),
    ...(annotations.length === 0 ? {} : { annotations }),
  }
}

/** A red gate is green if only tests failed that may fail, as `baseline: known-red` says; else its output says why it is red. */
function withKnownRed(
  gate: Gate,
  ran: GateOutcome,
  { tests, failed }: Pick<FileEvidence, 'tests' | 'failed'>,
  run: GateRun,
  { knownRed = false }: EvidenceOptions,
): {
  ran: GateOutcome
  tests: TestCounts | null
  known: Pick<GateResult, 'knownRed'> & { remarks: string[] }
} {
  const none = { ran, tests, known: { remarks: [] } }
  if (ran.ok) return none
  const judged = judgeRed(
    { ...ran, tests, ...(failed === undefined ? {} : { failed }) },
    run,
    gate.name,
    knownRed,
  )
  if ('why' in judged) {
    if (judged.why === '') return none
    return { ...none, ran: { ...ran, output: `${ran.output.trimEnd()}\n\n${judged.why}\n` } }
  }
  // Without -v, `go test` names only failed tests: the number would be lost as soon as they pass.
  const counted = tests?.passed === 0 && namesOnlyFailures(ran.output) ? null : tests
  const ended = `${ran.ended}, only because of tests that fail on the base`
  const known = { knownRed: judged.knownRed, remarks: [judged.remark] }
  return { ran: { ...ran, ok: true, ended }, tests: counted, known }
}

const RAN_NO_TEST = 'ran no test, so its exit code 0 proves nothing'

/** More failed tests than on the base although the gate exited with 0, as text; null if there are none. */
function hiddenFailures(tests: TestCounts | null, { of, baseline }: GateRun, name: string): string | null {
  const failed = tests?.failed ?? 0
  const known = baseline[name]
  const before = known?.red === true ? 0 : (known?.tests?.failed ?? 0)
  if (of === 'baseline' || failed <= before) return null
  const also = before === 0 ? '' : ` (${before} before)`
  return `its output reports ${failed} failed ${failed === 1 ? 'test' : 'tests'}${also}`
}

/** A gate that counted tests before and does not now may have run none of them, as text; null if it counts, or never did. */
function lostCount(tests: TestCounts | null, { of, baseline }: GateRun, name: string): string | null {
  const had = testsRun(baseline[name]?.tests)
  if (tests !== null || had === 0 || of === 'baseline' || of === 'join') return null
  return `its output does not say how many tests ran (before: ${had})`
}

const NO_COUNT = 'its output does not say how many tests ran, so Ralph would not notice if fewer ran'

/** The remark on a gate at the fork point that does not say how many tests it ran. Null if it does, or if it runs no tests. */
function uncountedRemark(
  gate: Gate,
  { ok, tests }: { ok: boolean; tests: TestCounts | null },
  { of }: GateRun,
): string | null {
  const advice = of === 'baseline' && ok && tests === null ? missingCount(gate) : null
  return advice === null ? null : `${NO_COUNT}: ${advice}`
}

const NO_EVIDENCE: FileEvidence = { tests: null, annotations: [], remarks: [], red: null }

async function readEvidence(
  gate: Gate,
  { ok }: GateOutcome,
  before: Stamps,
  run: GateRun,
  { top, cwd, code }: EvidenceOptions,
): Promise<FileEvidence> {
  const folder = relative(top, cwd).replaceAll('\\', '/')
  const resolve = createResolver(new Set(await code.files(run.commit)), folder === '' ? '' : `${folder}/`)
  const { readNewFiles: readFresh } = await import(/* webpackChunkName: "evidence" */ './report-files.ts')
  const { readReports, readCoverage } = await import(/* webpackChunkName: "evidence" */ './reports.ts')
  const { texts, remarks } = await readFresh({ top, cwd }, gate.report ?? [], before)
  const placeIn = (text: string) => annotationsFrom(text, resolve, 1)[0] ?? null
  const reports = readReports(texts, { resolve, placeIn })
  const changed = run.from === run.commit ? NO_LINES : await code.changedLines(run.from, run.commit)
  const evidence: FileEvidence = { ...NO_EVIDENCE, ...reports, remarks: [...remarks, ...reports.remarks] }
  // A further run leaves out tests, or code, of the change: that fewer lines are covered says nothing.
  if (gate.coverage !== undefined && ok && changed.size > 0 && run.further === undefined) {
    const { file } = gate.coverage
    // Code that people pushed needs no tests.
    const threshold = run.of === 'join' ? null : gate.coverage.threshold
    const fresh = await readFresh({ top, cwd }, [file], before)
    const hits = fresh.texts.flatMap((one) => readCoverage(one, fresh.remarks) ?? [])
    const covered = measureChange(changed, hits, resolve, threshold !== null)
    const coverage =
      hits.length === 0
        ? reportMissingCoverage(threshold, fresh.remarks)
        : reportCoverage(file, threshold, covered)
    evidence.annotations = [...evidence.annotations, ...coverage.annotations]
    evidence.remarks.push(...fresh.remarks, ...coverage.remarks)
    evidence.red = coverage.red
  }
  return { ...evidence, annotations: selectAnnotations(evidence.annotations, (path) => changed.has(path)) }
}

const NO_LINES: ChangedLines = new Map()

/** Without a coverage file, a threshold is not reached. */
function reportMissingCoverage(threshold: number | null, remarks: readonly string[]): FileEvidence {
  const ended = `no coverage file shows which changed lines the tests ran, but the threshold is ${threshold} %`
  const red = threshold === null ? null : { ended, output: `\n${ended}: ${remarks.join('; ')}\n` }
  return { ...NO_EVIDENCE, red }
}

/** A gate is reported as slower if it takes this many times as long as on the base, and at least this many milliseconds. */
const SLOWER = 5
const SLOW_MS = 10_000

type Comparison = { remarks: string[]; findings: string[] }
const NO_DIFFERENCE: Comparison = { remarks: [], findings: [] }

/** How a green gate differs from the base: slower, fewer tests, more skipped tests. */
function compareWithBaseline(
  before: GateBaseline | undefined,
  ms: number,
  tests: TestCounts | null,
  { of, further, fork }: GateRun,
): Comparison {
  if (before === undefined) return NO_DIFFERENCE
  const [remarks, findings]: [string[], string[]] = [[], []]
  const times = ms / Math.max(before.ms, 1)
  // The gates of the last story and of the final verification run in a clean clone. It has no build caches, so tools take longer there.
  const isCold = of === 'whole' || fork !== undefined
  if (!isCold && before.red !== true && times >= SLOWER && ms >= SLOW_MS)
    remarks.push(
      `took ${seconds(ms)} s, ${Math.floor(times)} times as long as on the base (${seconds(before.ms)} s)`,
    )
  // Former tests are fewer than those that the stories have added since, so their counts are not compared.
  if ((of === 'whole' && further !== undefined) || isToFail(further)) return { remarks, findings }
  const [had, has] = [testsRun(before.tests), testsRun(tests)]
  const [skippedBefore, skipped] = [before.tests?.skipped ?? 0, tests?.skipped ?? 0]
  const empty = (tests?.empty ?? 0) - (before.tests?.empty ?? 0)
  const aside = skipped === 0 ? '' : `; ${skipped} are skipped`
  if (has < had) findings.push(`ran ${has} tests, ${had - has} fewer than before (${had})${aside}`)
  else if (skipped > skippedBefore)
    findings.push(`number of skipped tests: ${skipped}, more than before (${skippedBefore})`)
  if (empty > 0) findings.push(`${empty} test ${empty === 1 ? 'file' : 'files'} ran no test`)
  return { remarks, findings }
}

function seconds(ms: number): string {
  return ms < 9_950 ? (ms / 1000).toFixed(1) : String(Math.round(ms / 1000))
}
