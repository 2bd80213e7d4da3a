// The gates, on the commit that a run would start from: each of them, although one before it fails.
import { refuseUngated, UNGATED_WARNING } from '../../app/loop-limits.ts'
import { gatesPort } from '../../app/loop-ports.ts'
import { withOwnPort } from '../../app/own-port.ts'
import { type Gate, type GateResult, type TestCounts, testsRun } from '../../engine/model/gate.ts'
import { isFor } from '../../engine/model/service.ts'
import { missingCount } from '../../gates/count-advice.ts'
import { ranNoTest } from '../../gates/counts.ts'
import { formatNames } from '../../gates/known-red.ts'
import { formatDuration, pluralize } from '../../report/figures.ts'
import type { Settings } from '../../settings/read-settings.ts'
import { tellingLine } from '../../system/excerpt.ts'
import {
  type Checkout,
  type CheckResult,
  faultResult,
  NotCheckedError,
  okResult,
  refuseDuringRun,
  requireCheckout,
  type Subject,
  unknownResult,
  warningResult,
} from './subject.ts'

const RUN = { of: 'baseline', tags: [], stories: [], what: 'doctor', baseline: {} } as const

export async function checkGates(subject: Subject): Promise<CheckResult[]> {
  if (subject.settings.ungated)
    return [warningResult(UNGATED_WARNING, '', 'add a gate: gates: { test: npm test }')]
  const { settings, remarks } = withWorkflowGates(subject)
  refuseUngated(settings)
  const checkout = requireCheckout(subject)
  if (!subject.withGates)
    throw new NotCheckedError('not run: --no-gates', 'run `ralph doctor` without --no-gates')
  const commit = await commitToGate(subject)
  return [...remarks, ...(await runAll({ ...subject, settings }, checkout, commit))]
}

/** The commit that gates run on. It holds uncommitted stories, as in a run, so that throwing away what gates write cannot lose them. */
async function commitToGate(subject: Subject): Promise<string> {
  const { workspace, commit } = requireCheckout(subject)
  const { repository } = workspace
  if (subject.settings.surface === 'action') {
    await repository.checkOut(commit, null)
    return commit
  }
  refuseDuringRun(subject)
  const dirt = (await repository.uncommitted(commit)).map(({ path }) => path)
  if (dirt.some((path) => !path.startsWith('.ralph/'))) {
    const fix = 'commit or stash them, then run `ralph doctor` again'
    throw new NotCheckedError('not run: there are uncommitted changes', fix)
  }
  return dirt.length === 0 ? commit : repository.adopt(commit, dirt, 'stories')
}

/** Takes the gates of the workflow if the configuration has none, and warns: a run here would have none. */
function withWorkflowGates({ settings, checkout }: Subject): { settings: Settings; remarks: CheckResult[] } {
  const ci = 'workspace' in checkout ? checkout.ci : null
  if (settings.gates.length > 0 || ci === null || ci.settings.gates.length === 0)
    return { settings, remarks: [] }
  const { gates: list, prepare, gateEnv, services } = ci.settings
  const found = `only ${ci.file.path} has gates, so \`ralph run\` on this machine has none`
  const fix = 'move `gates` from the workflow to ralph.config.yml, which CI and `ralph run` both read'
  const remarks = settings.surface === 'cli' ? [warningResult(found, '', fix)] : []
  const merged = { ...settings, gates: list, prepare: settings.prepare ?? prepare, gateEnv, services }
  return { settings: merged, remarks }
}

async function runAll(
  subject: Subject,
  { workspace, base, commit: start }: Checkout,
  commit: string,
): Promise<CheckResult[]> {
  const { settings, env, mark, signal } = subject
  const commitText = `on ${base.branch} (${start.slice(0, 7)})`
  const red = (name: string, result: GateResult) => ({ name, ...redResult(name, result, commitText) })
  const results = new Map<string, CheckResult>()
  const resultOfGate = (gate: Gate, result: GateResult): CheckResult => {
    const name = `gate ${gate.name}`
    if (result.knownRed !== undefined)
      return { name, ...knownRedResult(result.knownRed.tests, result.tests, commitText) }
    const counted = result.tests === undefined ? '' : `: ${pluralize(testsRun(result.tests), 'test')}`
    const green = `green ${commitText}${counted} in ${formatDuration(result.ms)}`
    const uncounted = result.ok && result.tests === undefined ? missingCount(gate) : null
    if (uncounted !== null)
      return {
        name,
        ...warningResult(`${green}, but its output does not say how many tests ran`, '', uncounted),
      }
    if (result.ok && ranNoTest(result.tests ?? null)) return { name, ...emptyResult(gate) }
    if (result.ok) return { name, ...okResult(green) }
    const isAllowed = gate.advisory || settings.baseline === 'off'
    return { ...red(name, result), ...(isAllowed ? { state: 'warning' } : {}) }
  }
  // A failing gate does not stop the others.
  const all = settings.gates.map((gate) => ({ ...gate, advisory: true }))
  let isPrepared = false
  const port = gatesPort({
    ...{ env: await withOwnPort(env), workspace, mark, as: await subject.isolation() },
    settings: { ...settings, gates: all, browser: null },
    onGateStart: (name) =>
      subject.onBegin(name === 'prepare' || name.startsWith('service ') ? name : `gate ${name}`),
    onGateEnd: (result) => {
      const gate = settings.gates.find(({ name }) => name === result.name)
      if (!isPrepared || gate === undefined) return
      const found = resultOfGate(gate, result)
      results.set(gate.name, found)
      subject.onResult?.(found)
    },
  })
  try {
    const prepared = await port.prepare(commit, signal, 'doctor')
    isPrepared = true
    if (prepared?.ok === false) return [red('prepare', prepared)]
    const listed: CheckResult[] =
      prepared === null ? [] : [{ name: 'prepare', ...okResult(`done in ${formatDuration(prepared.ms)}`) }]
    for (const one of listed) subject.onResult?.(one)
    const ran = await port.run({ ...RUN, commit, from: commit }, signal)
    for (const gate of settings.gates) {
      const name = `gate ${gate.name}`
      const result = results.get(gate.name)
      if (result !== undefined) listed.push(result)
      else if (!isFor(gate.when, RUN.tags))
        listed.push({ name, ...okResult(`not run: only for stories tagged ${gate.when?.join(', ')}`) })
      else if (!signal.aborted) listed.push({ name, ...NOT_RUN })
    }
    const otherFailures = ran.filter(
      ({ name, ok }) => !ok && settings.gates.every((gate) => gate.name !== name),
    )
    return [...listed, ...otherFailures.map((result) => red(result.name, result))]
  } finally {
    await port[Symbol.asyncDispose]?.()
    await workspace.repository.restore(commit)
  }
}

function emptyResult({ advisory }: Gate): CheckResult {
  const words = ['this gate ran no test', '', 'correct its command, or write a first test'] as const
  return advisory ? warningResult(...words) : faultResult(...words)
}

/** The base fails these tests, and the settings allow it. `counts`: left out if no test passed. */
function knownRedResult(
  failed: readonly string[],
  counts: TestCounts | undefined,
  commitText: string,
): CheckResult {
  const all = counts === undefined ? '' : ` of ${testsRun(counts)}`
  const are = `${failed.length}${all} ${failed.length === 1 && all === '' ? 'test fails' : 'tests fail'}`
  const found = `${are} ${commitText}, which \`baseline: known-red\` allows: ${formatNames(failed)}`
  return warningResult(found, '', 'fix these tests, then set `baseline: require`')
}

const NOT_RUN = unknownResult('not run, because a service did not start', 'fix the service first')

function redResult(name: string, { ended, ms, output }: GateResult, commitText: string): CheckResult {
  const first = tellingLine(output)
  const found = `${ended} ${commitText} after ${formatDuration(ms)}${first === '' ? '' : `: ${first}`}`
  const log = `.git/ralph/logs/doctor-${name.replace(/^gate /, '').replace(' ', '-')}.log`
  const fix = `fix this before you start a run; the output is in ${log}. If the project has no code yet, set \`baseline: off\``
  return faultResult(found, '', fix)
}
