// The further runs of the gates on a green change. With the checks as they were: did it change its own checks? With the product as it was:
// which tests need it? With a mistake in its new code: do they notice? Gates never run twice on the same tree.
import { displayPath } from '../../system/path-text.ts'
import { isCounterexample } from '../model/counterexample.ts'
import type { Story } from '../model/feature.ts'
import {
  BROWSER_GATE,
  furtherName,
  type GateBaseline,
  type GateResult,
  type Proof,
  testsRun,
} from '../model/gate.ts'
import type { Mutant } from '../model/mutant.ts'
import type { CleanRoom, GateRun, Ports, RepositoryPort } from '../model/ports.ts'
import { testsThatNeed, testsThatPassNow } from './proved-tests.ts'

type Place = Pick<CleanRoom, 'restore' | 'ignored' | 'gates'>
type Which = Parameters<RepositoryPort['asItWas']>[2]
type EarlierTree = NonNullable<Awaited<ReturnType<RepositoryPort['asItWas']>>>
type FurtherPorts = Pick<Ports, 'repository' | 'signal'>

/**
 * Runs the gates again on the base plus the product of the change. Gates whose result would say nothing are left out. If some are red and
 * the change touches package manifests, these run once more with the packages of the change, which the product may need.
 */
export async function runGatesAsItWas(
  run: GateRun,
  first: readonly GateResult[],
  which: Which,
  { repository, signal }: FurtherPorts,
  place: Place,
): Promise<{ results: GateResult[]; paths: string[] }> {
  const { baseline, also = [] } = run
  const earlier = await repository.asItWas(run.from, run.commit, which)
  if (earlier === null) return { results: [], paths: [] }
  if (earlier.commit === run.from)
    return { results: resultsAtBase(run, first, earlier), paths: earlier.paths }
  // A gate that the story has to make green was red before, so its red result would say nothing.
  const only = inTree(first)
    .filter((one) => one.ok && !also.includes(one.name) && saysSomething(baseline[one.name], one, earlier))
    .map(({ name }) => name)
  if (only.length === 0 || signal.aborted) return { results: [], paths: [] }
  const runOn = async ({ commit, paths }: EarlierTree) => {
    const again = { ...run, commit, only, further: 'checks' as const, what: `${run.what}-as-it-was` }
    const all = await runFurther(again, place, signal)
    const beforeOf = new Map(only.map((name) => [furtherName(name, 'checks'), baseline[name]]))
    const results = all.filter((one) => !isRedWithoutTests(one, beforeOf.get(one.name)))
    return { results: results.map((one) => withPaths(withSkips(one, first), paths)), paths }
  }
  try {
    const found = await runOn(earlier)
    if (found.results.every(({ ok }) => ok) || signal.aborted) return found
    const withPackages = await repository.asItWas(run.from, run.commit, { ...which, newPackages: true })
    if (withPackages === null || withPackages.commit === earlier.commit) return found
    const manifests = earlier.paths.filter((path) => withPackages.kept?.includes(path))
    if (manifests.length === 0) return found
    const second = await runOn(withPackages)
    if (second.results.some(({ ok }) => !ok)) return second
    const finding = `passes only with the packages that this change adds: ${formatPaths(manifests)}`
    return { results: second.results.map((one) => withFinding(one, finding)), paths: earlier.paths }
  } finally {
    await place.restore(run.commit)
  }
}

/** Without the browser check, which is in no tree: it is the same in every run. */
function inTree(results: readonly GateResult[]): GateResult[] {
  return results.filter(({ name }) => name !== BROWSER_GATE)
}

/** If only checks changed, the tree with the earlier ones is the base, whose results are known. Those that are red or have a finding. */
function resultsAtBase(
  { baseline, also = [] }: GateRun,
  first: readonly GateResult[],
  { paths, touchesBase }: EarlierTree,
): GateResult[] {
  return first.flatMap(({ name, ok }) => {
    const before = baseline[name]
    const isRed = before?.red === true
    if (!ok || before?.tests === undefined) return []
    // No product was changed, so a test that was red is green only because of a change to the checks.
    if (isRed && (!touchesBase || before.tests.failed === 0 || also.includes(name))) return []
    const checks = { name: furtherName(name, 'checks'), further: 'checks' as const, advisory: true }
    const output = isRed ? (before.failing ?? []).map((test) => `failed: ${test}`).join('\n') : ''
    const atBase = { ...checks, ok: !isRed, ms: 0, ended: 'as at the base', output, tests: before.tests }
    const result = withPaths(withSkips(atBase, first), paths)
    return isRed || result.findings !== undefined ? [result] : []
  })
}

/**
 * Whether a red result would show a weakened check. If the gate was red before, it would only if the gate counts tests, and if the change
 * touched checks that existed.
 */
function saysSomething(
  before: GateBaseline | undefined,
  now: GateResult,
  { touchesBase }: EarlierTree,
): boolean {
  if (before === undefined) return false
  return before.red !== true || (touchesBase && testsRun(before.tests) + testsRun(now.tests) > 0)
}

/** A gate that was red without a test on the base, and is so with the checks as they were. Its code does not compile there, as before. */
function isRedWithoutTests({ ok, tests }: GateResult, before: GateBaseline | undefined): boolean {
  return !ok && before?.red === true && testsRun(before.tests) + testsRun(tests) === 0
}

/**
 * Adds to green results what fails without the change's product: the tests that need it. Gates that count tests run; if none does, all run.
 * `unproved`: nothing fails, although the product changed, and every gate ran to its end. `unnoticed`: mistakes in the new code with which
 * nothing fails either; empty if a test noticed one.
 */
export async function addProofs(
  run: GateRun,
  { first, earlier, fork }: { first: readonly GateResult[]; earlier: readonly GateResult[]; fork: string },
  { repository, signal }: FurtherPorts,
  place: Place,
): Promise<{ results: readonly GateResult[]; unproved: boolean; unnoticed: Mutant[] }> {
  const { commit, changesProduct } = await repository.withoutProduct(run.from, run.commit, fork)
  const unknown = { results: first, unproved: false, unnoticed: [] }
  if (!changesProduct || signal.aborted) return unknown
  const green = inTree(first).filter(
    (one) => one.ok && !one.advisory && one.further === undefined && !isCounterexample(one),
  )
  const counting = green.filter(({ tests }) => tests !== undefined)
  const only = (counting.length > 0 ? counting : green).map(({ name }) => name)
  // If only the product changed, the tree is the base, and its results are known.
  const { proofs, ran } =
    commit === null
      ? { proofs: proofsFromBase(run, first, only), ran: only.length }
      : await proofsFrom({ ...run, commit, only }, { first, earlier, changed: run.commit, place, signal })
  if (signal.aborted) return unknown
  const results = first.map((result) => {
    const proof = proofs.get(result.name)
    return proof === undefined ? result : { ...result, proof }
  })
  const noticing = counting.filter(({ name }) => proofs.has(name))
  const unnoticed = await findUnnoticed(run, { noticing, fork }, { repository, signal }, place)
  return { results, unproved: proofs.size === 0 && ran > 0 && ran === only.length, unnoticed }
}

/** How many mistakes Ralph tries, and for how long: a test that compares results notices the first one. */
const MAX_MUTANTS = 3
const MUTANTS_MS = 60_000

/**
 * Runs gates on the change with a mistake in its new code, one at a time, until a gate fails. A test that fails without the change may only
 * need a function to exist; one that fails here compares what the function does.
 */
async function findUnnoticed(
  run: GateRun,
  { noticing, fork }: { noticing: readonly GateResult[]; fork: string },
  { repository, signal }: FurtherPorts,
  place: Place,
): Promise<Mutant[]> {
  const only = noticing.map(({ name }) => name)
  const usualMs = totalMs(noticing)
  if (only.length === 0 || usualMs > MUTANTS_MS) return []
  const mutants = await repository.mutants(run.from, run.commit, { fork, count: MAX_MUTANTS })
  const unnoticed: Mutant[] = []
  let leftMs = MUTANTS_MS
  try {
    for (const [at, mutant] of mutants.entries()) {
      const commit = leftMs < usualMs ? null : await repository.withMutant(run.commit, mutant)
      if (commit === null) break
      const timeoutsMs = hangLimits(noticing)
      const what = `${run.what}-mistake${at + 1}`
      const again = { ...run, commit, only, further: 'mutant' as const, timeoutsMs, what }
      const results = await runFurther(again, place, signal)
      const isNoticed = results.length < only.length || results.some(({ ok }) => !ok)
      if (isNoticed || signal.aborted) return []
      unnoticed.push(mutant)
      leftMs -= totalMs(results)
    }
    return unnoticed
  } finally {
    if (mutants.length > 0) await place.restore(run.commit)
  }
}

function totalMs(results: readonly GateResult[]): number {
  return results.reduce((sum, { ms }) => sum + ms, 0)
}

function proofsFromBase({ baseline }: GateRun, first: readonly GateResult[], only: readonly string[]) {
  const proofs = new Map<string, Proof>()
  for (const now of first.filter((one) => only.includes(one.name))) {
    const before = baseline[now.name]
    if (before?.red !== true) continue
    const names = testsThatPassNow(now, before.failing ?? [])
    proofs.set(now.name, withTestNames(proofOf(now.tests, before.tests), names))
  }
  return proofs
}

async function proofsFrom(
  run: GateRun,
  {
    first,
    earlier,
    changed,
    place,
    signal,
  }: {
    first: readonly GateResult[]
    earlier: readonly GateResult[]
    changed: string
    place: Place
    signal: AbortSignal
  },
): Promise<{ proofs: Map<string, Proof>; ran: number }> {
  const timeoutsMs = hangLimits(first)
  const again = { ...run, further: 'product' as const, timeoutsMs, what: `${run.what}-without` }
  try {
    const results = await runFurther(again, place, signal)
    const proofs = new Map<string, Proof>()
    let ran = 0
    for (const now of first) {
      const { name } = now
      const without = results.find((one) => one.name === furtherName(name, 'product'))
      if (without === undefined) continue
      ran += 1
      const proof = proofOf(now.tests, without.tests)
      const old = earlier.find((one) => one.name === furtherName(name, 'checks'))
      const hadTests = testsRun(run.baseline[name]?.tests) > 0
      const names = testsThatNeed(now, without, { old, hadTests })
      if (!without.ok || (proof.tests ?? 0) > 0) proofs.set(name, withTestNames(proof, names))
    }
    return { proofs, ran }
  } finally {
    await place.restore(changed)
  }
}

/** How many tests fail without the product, or do not even run; left out if the gate does not count them then. */
function proofOf(now: GateResult['tests'], without: GateResult['tests']): Proof {
  if (now === undefined || without === undefined) return {}
  const tests = Math.max(without.failed, now.passed - without.passed)
  return tests > 0 ? { tests } : {}
}

function withTestNames(proof: Proof, names: readonly string[]): Proof {
  return names.length === 0 ? proof : { ...proof, names: [...names] }
}

/** A test may wait forever for a product that is not there: the run may take this much longer than the green one. */
const HANG_TIMES = 3
const HANG_MS = 30_000

function hangLimits(green: readonly GateResult[]): Record<string, number> {
  return Object.fromEntries(green.map(({ name, ms }) => [name, HANG_MS + HANG_TIMES * ms]))
}

/** Runs gates on another tree than the change: see `GateRun.further`. The tree stays. */
export async function runFurther(run: GateRun, place: Place, signal: AbortSignal): Promise<GateResult[]> {
  await place.restore(run.commit)
  await place.ignored.forGatesAgain()
  const prepared = await place.gates.prepare(run.commit, signal, run.what)
  if (prepared?.ok === false) return [{ ...prepared, advisory: true, further: run.further ?? 'checks' }]
  if (prepared !== null) await place.ignored.afterPrepare()
  return place.gates.run(run, signal)
}

/** Adds a finding if fewer tests are skipped now: the earlier tests skip them as well, so only the number shows that tests are gone. */
function withSkips(result: GateResult, first: readonly GateResult[]): GateResult {
  const now = first.find(({ name }) => furtherName(name, 'checks') === result.name)?.tests
  const gone = (result.tests?.skipped ?? 0) - (now?.skipped ?? 0)
  if (!result.ok || now === undefined || gone <= 0) return result
  const what = gone === 1 ? '1 test that was skipped is' : `${gone} tests that were skipped are`
  return withFinding(result, `${what} now deleted or no longer skipped`)
}

/** Adds to a red result which files are as they were: one of them was expected to change with the product. */
function withPaths(result: GateResult, paths: readonly string[]): GateResult {
  if (result.ok || paths.length === 0) return result
  const remark = `ran with these files as they were before: ${formatPaths(paths)}`
  return { ...result, remarks: [...(result.remarks ?? []), remark] }
}

const MAX_NAMED = 5

function formatPaths(paths: readonly string[]): string {
  const more = paths.length - MAX_NAMED
  const named = paths.slice(0, MAX_NAMED).map((path) => displayPath(path))
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function withFinding(result: GateResult, finding: string): GateResult {
  return { ...result, findings: [...(result.findings ?? []), finding] }
}

const REFACTORING_TAGS = ['refactor', 'refactoring', 'cleanup', 'chore']
const REFACTORING =
  /\brefactor|\b(?:no|without|same|keeps?|unchanged) (?:\w+ )?(?:change in |changes? (?:of|in|to) )?behaviou?r|\bbehaviou?r (?:stays|is|remains) (?:the same|unchanged)|\brenam(?:e|es|ed|ing)\b/i

/** Whether a story asks for no other behavior, so that no test can need its change. */
export function isRefactoring({ title, tags, acceptanceCriteria }: Story): boolean {
  return (
    tags.some((tag) => REFACTORING_TAGS.includes(tag.toLowerCase())) ||
    [title, ...acceptanceCriteria].some((text) => REFACTORING.test(text))
  )
}
