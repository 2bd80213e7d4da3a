// Runs every command that `ralph init` proposes once, in a copy of the project. Those that are red there are left out, and named.
import { openTrial, type Trial, type TrialRunner } from '../app/trial.ts'
import { terminalText } from '../report/escape.ts'
import { formatDuration } from '../report/figures.ts'
import { formatCurrentCheck } from '../report/terminal/doctor-lines.ts'
import { type Look, lookOf, paint } from '../report/terminal/terminal-line.ts'
import type { FoundFacts } from '../setup/init/answers.ts'
import { toYaml } from '../setup/init/init-files.ts'
import {
  MAX_RED,
  type Reduced,
  withoutRedFiles,
  withoutRedTests,
  withoutVet,
} from '../setup/init/without-tests.ts'
import { messageOf } from '../system/errors.ts'
import { type Context, onSignals, printLines } from './command-context.ts'
import { Cancelled } from './terminal-questions.ts'

export type TrialResults = {
  found: FoundFacts
  trials: readonly Trial[]
  /** Red, or their program is missing, and no other command could replace them. */
  leftOut: readonly Trial[]
  /** Why nothing, or not everything, could be tried. */
  warnings: readonly string[]
  /** Gates with tests that are red before any change. */
  redTests?: readonly RedTests[]
  /** Gates with another command than the project's own, which is red here. */
  standIns?: readonly StandIn[]
}

/** `first`: the project's own command. `chosen`: the one that is written instead. */
export type StandIn = { first: Trial; chosen: Trial }

/**
 * `run`: the command with all tests. `what`: whether `tests` are the names of tests, or paths of files. `isLeftOut`: the written command
 * leaves them out; else it may fail them.
 */
export type RedTests = {
  name: string
  run: string
  tests: readonly string[]
  what: Reduced['what']
  isLeftOut: boolean
}

export type Place = {
  top: string
  isRepository: boolean
  workingDirectory: string
  gateEnv: readonly string[]
}

export const untried = (found: FoundFacts): TrialResults => ({ found, trials: [], leftOut: [], warnings: [] })

/** The proposed gates. One of another tool's configuration replaces the one of the same name. */
export function proposedGates({ project, olderGates }: FoundFacts): [name: string, run: string][] {
  const older = Object.entries(olderGates).map(([name, { run }]) => [name, run])
  return Object.entries({ ...project.gates, ...Object.fromEntries(older) })
}

/** Throws Cancelled if the person does not want to wait. `prepare`: the command that a run will use. */
export async function tryProposals(
  context: Context,
  place: Place,
  found: FoundFacts,
  prepare: string | null,
): Promise<TrialResults> {
  const stop = new AbortController()
  const release = onSignals(stop, (signal) =>
    printLines(process.stderr, `${signal}: stopping the command that is being tried`),
  )
  const screen = screenOf(context)
  try {
    const open = () => openTrial({ ...place, env: context.env, signal: stop.signal })
    const attemptIn =
      (trial: TrialRunner): Attempt =>
      async (name, run) => {
        screen.begins(name)
        const result = await trial.run(name, run)
        if (stop.signal.aborted) throw new Cancelled()
        screen.ends(result)
        return result
      }
    await using trial = await open()
    const attempt = attemptIn(trial)
    const prepared =
      prepare === null
        ? []
        : await firstGreen('prepare', [prepare, ...preparesInstead(found, prepare)], attempt)
    const isReady = prepared.length === 0 || prepared.some(isGreen)
    const some = isReady || prepare !== found.project.prepare ? null : await prepareEach(found, attempt)
    prepared.push(...(some?.trials ?? []))
    if (!isReady && some?.found == null) {
      // What the failed commands left behind is not in a clone.
      await using clean = await open()
      const without = prepare === found.project.prepare ? await tryUnprepared(found, attemptIn(clean)) : null
      if (without === null)
        return { ...untried(found), trials: prepared, warnings: prepared.slice(0, 1).map(notPrepared) }
      const warnings = [...prepared.slice(0, 1).map(leftUnprepared), ...without.warnings]
      return { ...without, warnings, trials: [...prepared, ...without.trials] }
    }
    const ready = some?.found ?? withPrepare(found, prepared.find(isGreen)?.run)
    const { warnings, trials, ...sorted } = await tryGates(ready, attempt)
    return {
      ...sorted,
      warnings: [...(some?.warnings ?? []), ...warnings],
      trials: [...prepared, ...trials],
    }
  } catch (error) {
    if (error instanceof Cancelled) throw error
    return { ...untried(found), warnings: [`nothing was tried: ${messageOf(error)}`] }
  } finally {
    release()
  }
}

async function tryGates(found: FoundFacts, attempt: Attempt): Promise<TrialResults> {
  const results: TriedGate[] = []
  for (const [name, run] of proposedGates(found)) results.push(await tryGate(name, run, found, attempt))
  await tryAfterBuild(results, found, attempt)
  return { ...sortTrials(found, results), trials: results.flatMap(({ tried }) => tried) }
}

/**
 * The gates that need no `prepare`, if one that runs tests is among them: tox and cargo install what they need themselves. Else null, for
 * the other gates say nothing of the project.
 */
async function tryUnprepared(found: FoundFacts, attempt: Attempt): Promise<TrialResults | null> {
  const { project } = found
  const results = await tryGates({ ...found, project: { ...project, prepare: null } }, attempt)
  const hasTests = results.trials.some((trial) => isGreen(trial) && (trial.tests?.passed ?? 0) > 0)
  return hasTests ? results : null
}

type Attempt = (name: string, run: string) => Promise<Trial>

/** All trials of a gate. */
type TriedGate = {
  name: string
  tried: Trial[]
  /** It was green only after this gate. */
  needs: string | null
  redTests?: RedTests
}

const isGreen = ({ state }: Trial) => state === 'green'
const isBad = (trial: Trial | undefined) => trial?.state === 'red' || trial?.state === 'missing'
const isBuild = (name: string) => /(?:^|-)build$/.test(name)
/** A gate that took longer is not tried a second time. */
const QUICK_MS = 2 * 60_000

/** The trials of these commands, up to the first that is not red. */
async function firstGreen(name: string, runs: readonly string[], attempt: Attempt): Promise<Trial[]> {
  const tried: Trial[] = []
  for (const run of runs) if (tried.length === 0 || isBad(tried.at(-1))) tried.push(await attempt(name, run))
  return tried
}

/**
 * Prepares the projects of one repository one by one. Those that fail are left out with their gates, so that one broken example does
 * not leave the others untested. `found` is null if none could be prepared.
 */
async function prepareEach(
  found: FoundFacts,
  attempt: Attempt,
): Promise<{ found: FoundFacts | null; trials: Trial[]; warnings: string[] }> {
  const { project } = found
  const trials: Trial[] = []
  for (const { run, instead } of project.prepares)
    trials.push(...(await firstGreen('prepare', [run, ...instead], attempt)))
  const greenOf = ({ run, instead }: Prepare) =>
    trials.find((one) => [run, ...instead].includes(one.run) && isGreen(one))?.run
  const done = project.prepares.flatMap((one) => greenOf(one) ?? [])
  const failed = project.prepares.filter((one) => greenOf(one) === undefined)
  if (done.length === 0) return { found: null, trials, warnings: [] }
  const lost = new Set(failed.flatMap(({ gates }) => gates))
  const gates = Object.fromEntries(Object.entries(project.gates).filter(([name]) => !lost.has(name)))
  const prepare = done.join(' && ')
  const warnings = failed.map(({ run, gates: names }) => {
    const trial = trials.find((one) => one.run === run)
    const line = trial?.line === undefined || trial.line === '' ? '' : `: ${trial.line}`
    const gates = `${names.length === 1 ? 'gate' : 'gates'} ${names.join(', ')}`
    const leftOut = names.length === 0 ? 'it' : gates
    return `${run} failed (${trial?.ended}${line}), so Ralph left out ${leftOut}`
  })
  return { found: { ...found, project: { ...project, prepare, gates } }, trials, warnings }
}

type Prepare = FoundFacts['project']['prepares'][number]

/** Other commands of the package manager, for a `prepare` of ours that fails. */
function preparesInstead({ project }: FoundFacts, prepare: string): readonly string[] {
  return prepare === project.prepare ? project.prepareInstead : []
}

/** A red command is tried once more, for a busy machine makes some tests red; then the commands that may replace it. */
async function tryGate(name: string, run: string, found: FoundFacts, attempt: Attempt): Promise<TriedGate> {
  const others = name in found.olderGates ? [] : (found.project.alternatives[name] ?? [])
  const first = await attempt(name, run)
  const isAgain = first.state === 'red' && first.tests?.passed !== 0 && first.ms < QUICK_MS
  const again = isAgain ? [await attempt(name, run)] : []
  const last = again[0] ?? first
  if (!isBad(last)) return { name, tried: [first, ...again], needs: null }
  const tried = [first, ...again]
  const redTests = name in found.olderGates ? null : await tryRedTests(tried, attempt)
  if (redTests !== null) return { name, tried, needs: null, redTests }
  const unvetted = withoutVet(last.run, last.output)
  tried.push(...(await firstGreen(name, [...(unvetted === null ? [] : [unvetted]), ...others], attempt)))
  return { name, tried, needs: null }
}

/**
 * A gate with a few red tests, all named: the same command without them. If that does not work, the command as it is, whose base may
 * fail them (`baseline: known-red`). Adds its trials to `tried`; the last one is the command that is written.
 */
async function tryRedTests(tried: Trial[], attempt: Attempt): Promise<RedTests | null> {
  const last = tried.at(-1)
  if (last === undefined || last.state !== 'red') return null
  const { name, run } = last
  const tryWithout = async (reduced: Reduced | null): Promise<RedTests | null> => {
    if (reduced === null) return null
    const without = await attempt(name, reduced.run)
    tried.push(without)
    const { tests, what } = reduced
    return isGreen(without) ? { name, run: runsAllTests(run, last), tests, what, isLeftOut: true } : null
  }
  const without = await tryWithout(withoutRedTests(run, last.output))
  if (without !== null) return without
  const whole = runsAllTests(run, last)
  const end = whole === run ? last : await attempt(name, whole)
  const before = whole === run ? tried.find((one) => one.run === run && one !== end) : end
  const { failures: judged } = end
  // Tests that are red in one of two trials only would make every later comparison wrong.
  const isSteady = before === undefined || sameFailures(before.failures, judged)
  if ('why' in judged || judged.names.length > MAX_RED || !isSteady)
    return await tryWithout(withoutRedFiles(run, last.output))
  if (tried.at(-1) !== end) tried.push(end)
  return { name, run: whole, tests: judged.names, what: 'test', isLeftOut: false }
}

function sameFailures(one: Trial['failures'], other: Trial['failures']): boolean {
  return 'names' in one && 'names' in other && one.names.join('\0') === other.names.join('\0')
}

/** cargo stops at the first target with a failed test, so the others would never be compared. */
function runsAllTests(run: string, { output }: Trial): string {
  const isCargo = /^error: test failed, to rerun pass `/m.test(output)
  return isCargo ? run.replace(/\bcargo test\b/, 'cargo test --no-fail-fast') : run
}

/** Tries red gates once more after a green build that came after them: they may use what it writes. */
async function tryAfterBuild(results: TriedGate[], found: FoundFacts, attempt: Attempt): Promise<void> {
  const builtAt = results.findIndex(({ name, tried }) => isBuild(name) && tried.some(isGreen))
  const build = results[builtAt]
  if (build === undefined) return
  for (const gate of results.slice(0, builtAt)) {
    const first = gate.tried[0]
    if (first === undefined || !isBad(gate.tried.at(-1)) || first.state === 'missing') continue
    const others = gate.name in found.olderGates ? [] : (found.project.alternatives[gate.name] ?? [])
    const after = await firstGreen(gate.name, [first.run, ...others], attempt)
    gate.tried.push(...after)
    if (after.some(isGreen)) gate.needs = build.name
  }
}

/**
 * Decides by its trials whether a gate is written or left out. A gate whose program is missing is left out as well. But if no gate is
 * green, the machine may not have the project's language. Then a missing program says nothing about the project, and the gate is written.
 */
function sortTrials(found: FoundFacts, results: readonly TriedGate[]): Omit<TrialResults, 'trials'> {
  const canJudge = results.some(({ tried }) => tried.some(isGreen))
  const isLeftOut = ({ state }: Trial) => state === 'red' || (state === 'missing' && canJudge)
  const gates = new Map<string, string>()
  const needs: Record<string, readonly string[]> = {}
  const leftOut: Trial[] = []
  const warnings: string[] = []
  const redTests: RedTests[] = []
  const standIns: StandIn[] = []
  for (const { name, tried, needs: needed, redTests: red } of results) {
    const [first, last] = [tried[0], tried.at(-1)]
    if (first === undefined || last === undefined) continue
    // If no command could be judged, it is the first one, which is the project's own.
    const chosen = last.state === 'green' || last.state === 'unknown' || red !== undefined ? last : first
    if (red === undefined && isLeftOut(chosen)) {
      leftOut.push(first)
      continue
    }
    gates.set(name, chosen.run)
    if (needed !== null) needs[name] = [needed]
    if (red !== undefined) {
      redTests.push(red)
      warnings.push(describeRedTests(red))
      continue
    }
    if (chosen.run !== first.run && chosen.state === 'green') standIns.push({ first, chosen })
    if (chosen.state !== 'green') warnings.push(undecided(chosen))
    else if (needed === null && tried.some((one) => one.state === 'red' && one.run === chosen.run))
      warnings.push(`gate ${name} failed, then passed on a second try, so its result may be unreliable`)
  }
  const mayFail = redTests.flatMap(({ tests, isLeftOut: isOut }) => (isOut ? [] : tests))
  const kept = withNeeds(withGates(found, gates), needs)
  const knownRed = mayFail.length === 0 ? {} : { knownRed: mayFail }
  return { found: { ...kept, ...knownRed }, leftOut, warnings, redTests, standIns }
}

/** The person wants these tests run, and lets the base fail them. */
export function withKnownRed(tried: TrialResults, red: RedTests): TrialResults {
  const { found, redTests = [], warnings } = tried
  const { project, knownRed = [] } = found
  const allowed = { ...red, isLeftOut: false }
  return {
    ...tried,
    found: {
      ...found,
      project: { ...project, gates: { ...project.gates, [red.name]: red.run } },
      knownRed: [...knownRed, ...red.tests],
    },
    warnings: warnings.map((one) => (one === describeRedTests(red) ? describeRedTests(allowed) : one)),
    redTests: redTests.map((one) => (one === red ? allowed : one)),
  }
}

function describeRedTests({ name, run, tests, what, isLeftOut }: RedTests): string {
  const [are, them] = tests.length === 1 ? [`${what} is`, 'it'] : [`${what}s are`, 'them']
  const head = `${tests.length} ${are} red before any change`
  const list = tests.join(', ')
  if (what === 'test file')
    return `${head}, and gate ${name} does not run ${them}: ${list}. Fix ${them}, then set the gate to \`${toYaml({ [name]: run }).trim()}\``
  return isLeftOut
    ? `${head}, and gate ${name} does not run ${them}: ${list}. Fix ${them}, then add ${them} to the gate's command again. Or set \`baseline: known-red\` and the gate \`${toYaml({ [name]: run }).trim()}\`: it runs ${them}, and accepts failures only in ${them}`
    : `${head}, and with \`baseline: known-red\`, gate ${name} may fail only in ${them}: ${list}. Fix ${them}, then set \`baseline: require\``
}

/** Gates that need others come after them. */
function withNeeds(found: FoundFacts, needs: Readonly<Record<string, readonly string[]>>): FoundFacts {
  if (Object.keys(needs).length === 0) return found
  const { project } = found
  const [late, early] = partition(Object.entries(project.gates), ([name]) => name in needs)
  return {
    ...found,
    project: {
      ...project,
      gates: Object.fromEntries([...early, ...late]),
      needs: { ...project.needs, ...needs },
    },
  }
}

function partition<T>(all: readonly T[], test: (one: T) => boolean): [T[], T[]] {
  return [all.filter(test), all.filter((one) => !test(one))]
}

function withPrepare(found: FoundFacts, prepare: string | undefined): FoundFacts {
  const { project } = found
  if (prepare === undefined || !project.prepareInstead.includes(prepare)) return found
  return { ...found, project: { ...project, prepare } }
}

function withGates(found: FoundFacts, gates: ReadonlyMap<string, string>): FoundFacts {
  const older = Object.entries(found.olderGates).filter(([name]) => gates.has(name))
  const own = Object.entries(found.project.gates).flatMap(([name]) => {
    const run = gates.get(name)
    return run === undefined ? [] : [[name, run] as const]
  })
  const project = { ...found.project, gates: Object.fromEntries(own) }
  return { ...found, project, olderGates: Object.fromEntries(older) }
}

const notPrepared = ({ ended, line, state }: Trial) =>
  `prepare ${ended}${state === 'missing' ? '' : ' here'}${line === '' ? '' : ` (${line})`}, so no gate was tried; \`ralph doctor\` shows more`

const leftUnprepared = ({ run, ended, line }: Trial) =>
  `\`${run}\` failed here (${ended}${line === '' ? '' : `: ${line}`}), so there is no \`prepare\`, and the gates that need it are left out`

const undecided = ({ name, ended, line }: Trial) =>
  `Ralph could not try gate ${name} here (${ended}${line === '' ? '' : `: ${line}`}), and wrote it unchanged`

const COLOURS = { green: 'green', red: 'red', missing: 'yellow', unknown: 'yellow' } as const

/** Each result in a line as soon as it is known. */
function screenOf(context: Context) {
  const look: Look = lookOf(context.out, context.env.NO_COLOR !== undefined)
  return {
    begins: (name: string) => context.out.write(formatCurrentCheck(name, look)),
    ends({ name, run, state, ended, ms, line }: Trial) {
      context.out.write(formatCurrentCheck(null, look))
      const why = state === 'green' ? '' : ` ${ended}${line === '' ? '' : `: ${line}`}`
      const words = terminalText(`${name}: ${run} (${formatDuration(ms)})${why}`, 400)
      context.print(`  ${paint(state.padEnd(7), [COLOURS[state]], look)}  ${words}`)
    },
  }
}
