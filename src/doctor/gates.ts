// The gates, on the commit that a run would start from: each of them, although one before it fails.
import { refuseUngated, UNGATED_WARNING } from '../app/limits.ts'
import { gatesPort } from '../app/ports.ts'
import type { Gate, GateResult } from '../model/gate.ts'
import type { GateRun } from '../model/ports.ts'
import { isFor } from '../model/service.ts'
import { humanMs } from '../report/words.ts'
import type { Settings } from '../settings/index.ts'
import { telling } from '../system/excerpt.ts'
import { fault, fine, NotSeen, type Result, unknown, warning } from './result.ts'
import { type Checkout, checkoutOf, type Subject } from './subject.ts'

/** A gate that takes more of its time than this may run out of it on a busy machine. */
const NEAR = 0.7
const RUN: GateRun = {
  of: 'baseline',
  tags: [],
  stories: [],
  what: 'doctor',
  commit: '',
  from: '',
  baseline: {},
}

export async function gates(subject: Subject, signal: AbortSignal): Promise<Result[]> {
  if (subject.settings.ungated)
    return [warning(UNGATED_WARNING, 'a gate', 'name one: gates: { test: npm test }')]
  const { settings, remarks } = gatedBy(subject)
  refuseUngated(settings)
  const checkout = checkoutOf(subject)
  if (!subject.withGates) throw new NotSeen('not run: --no-gates', 'run `ralph doctor` without it')
  const isAction = settings.surface === 'action'
  const { repository, clone } = checkout.workspace
  const commit = isAction ? checkout.base.sha : (clone.head ?? checkout.base.sha)
  // What gates write is thrown away afterwards, and nothing of a person's may go with it.
  if (!isAction && (await repository.dirt(commit)).length > 0)
    throw new NotSeen(
      'not run: there are uncommitted changes',
      'commit or stash them, then run `ralph doctor` again',
    )
  if (isAction) await repository.checkOut(commit, null)
  return [...remarks, ...(await runAll({ ...subject, settings }, checkout, commit, signal))]
}

/** Gates that stand in the workflow alone are looked at, too: a run here would have none. */
function gatedBy({ settings, checkout }: Subject): { settings: Settings; remarks: Result[] } {
  const ci = 'workspace' in checkout ? checkout.ci : null
  if (settings.gates.length > 0 || ci === null || ci.settings.gates.length === 0)
    return { settings, remarks: [] }
  const { gates: list, prepare, gateEnv, services } = ci.settings
  const found = `those of ${ci.file.path} alone: \`ralph run\` here has none`
  const fix = 'move gates: from the workflow into ralph.config.yml, which serves both'
  const remarks = settings.surface === 'cli' ? [warning(found, 'gates for every run', fix)] : []
  return {
    settings: { ...settings, gates: list, prepare: settings.prepare ?? prepare, gateEnv, services },
    remarks,
  }
}

async function runAll(
  subject: Subject,
  { workspace, base }: Checkout,
  commit: string,
  signal: AbortSignal,
): Promise<Result[]> {
  const { settings, env } = subject
  const as = await subject.isolation()
  const onGateStart = (name: string) =>
    subject.begins(name === 'prepare' || name.startsWith('service ') ? name : `gate ${name}`)
  const heard = { mark: subject.mark, onGateStart, onGateEnd: () => {} }
  // One that fails does not keep the others from being run.
  const all = settings.gates.map((gate) => ({ ...gate, advisory: true }))
  const port = gatesPort({
    ...heard,
    env,
    workspace,
    as,
    settings: { ...settings, gates: all, browser: null },
  })
  const isJob = settings.surface === 'action'
  const where = `on ${base.branch} (${commit.slice(0, 7)})`
  try {
    const prepared = isJob ? await port.prepare(commit, signal, 'doctor') : null
    if (prepared?.ok === false) return [red('prepare', prepared, where)]
    const results = prepared === null ? [] : [{ ...fine(`done in ${humanMs(prepared.ms)}`), name: 'prepare' }]
    if (!isJob && settings.prepare !== null) results.push({ ...fine(NOT_PREPARED), name: 'prepare' })
    const ran = await port.run({ ...RUN, commit, from: commit }, signal)
    for (const gate of settings.gates) {
      const result = ran.find(({ name }) => name === gate.name)
      if (result !== undefined) results.push(told(gate, result, where, settings.baseline))
      else if (!isFor(gate.when, RUN.tags)) results.push(skipped(gate))
      else if (!signal.aborted) results.push({ ...NOT_RUN, name: `gate ${gate.name}` })
    }
    const others = ran.filter(({ name, ok }) => !ok && settings.gates.every((gate) => gate.name !== name))
    return [...results, ...others.map((result) => red(result.name, result, where))]
  } finally {
    await port[Symbol.asyncDispose]?.()
    await workspace.repository.restore(commit)
  }
}

/** A job's machine is thrown away. */
const NOT_PREPARED = 'not run: it would change what is installed here; gates see what is there'

const NOT_RUN = unknown('not run: a service that it needs is not there', 'mend the service first')

function skipped({ name, when }: Gate): Result & { name: string } {
  return { ...fine(`not run: for stories tagged ${when?.join(', ')} alone`), name: `gate ${name}` }
}

function told(
  gate: Gate,
  result: GateResult,
  where: string,
  baseline: Settings['baseline'],
): Result & { name: string } {
  const name = `gate ${gate.name}`
  const isAllowed = gate.advisory || baseline === 'off'
  if (!result.ok) return { ...red(name, result, where), ...(isAllowed ? { state: 'warning' } : {}) }
  const took = humanMs(result.ms)
  if (result.ms <= gate.timeoutMs * NEAR) return { ...fine(`green ${where} in ${took}`), name }
  const found = `green ${where}, but it took ${took} of its ${humanMs(gate.timeoutMs)}`
  return { ...warning(found, 'time to spare', 'give it a longer timeout'), name }
}

function red(name: string, { ended, ms, output }: GateResult, where: string): Result & { name: string } {
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  const last = telling(lines, 4, () => 1, 1).find((line) => typeof line === 'string') ?? ''
  const found = `${ended} ${where} after ${humanMs(ms)}${last === '' ? '' : `: ${last.trim()}`}`
  const log = `.git/ralph/logs/doctor-${name.replace(/^gate /, '').replace(' ', '-')}.log`
  const fix = `mend it before a run; its output is in ${log}. A project that does not exist yet: baseline: off`
  return { ...fault(found, 'exit 0', fix), name }
}
