// Runs every command that `ralph init` proposes once, in a copy of the project. Those that are red there are left out, and named.
import { openTrial, type Trial } from '../app/trial.ts'
import { terminalText } from '../report/escape.ts'
import { formatDuration } from '../report/figures.ts'
import { formatCurrentCheck } from '../report/terminal/doctor-lines.ts'
import { type Look, lookOf, paint } from '../report/terminal/terminal-line.ts'
import type { FoundFacts } from '../setup/init/answers.ts'
import { withoutRedTests } from '../setup/init/without-tests.ts'
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

/** Throws Cancelled where the person does not want to wait. `prepare`: the command that a run will use. */
export async function tryProposals(
  context: Context,
  place: Place,
  found: FoundFacts,
  prepare: string | null,
): Promise<TrialResults> {
  const stop = new AbortController()
  const release = onSignals(stop, (signal) => printLines(process.stderr, `${signal}: ending what is tried`))
  const screen = screenOf(context)
  try {
    await using trial = await openTrial({ ...place, env: context.env, signal: stop.signal })
    const attempt = async (name: string, run: string): Promise<Trial> => {
      screen.begins(name)
      const result = await trial.run(name, run)
      if (stop.signal.aborted) throw new Cancelled()
      screen.ends(result)
      return result
    }
    const prepared =
      prepare === null
        ? []
        : await firstGreen('prepare', [prepare, ...preparesInstead(found, prepare)], attempt)
    if (prepared.length > 0 && !prepared.some(isGreen))
      return { ...untried(found), trials: prepared, warnings: prepared.slice(0, 1).map(notPrepared) }
    const results: TriedGate[] = []
    for (const [name, run] of proposedGates(found)) results.push(await tryGate(name, run, found, attempt))
    await tryAfterBuild(results, found, attempt)
    const used = prepared.find(isGreen)?.run
    return {
      ...sortTrials(withPrepare(found, used), results),
      trials: [...prepared, ...results.flatMap(({ tried }) => tried)],
    }
  } catch (error) {
    if (error instanceof Cancelled) throw error
    return { ...untried(found), warnings: [`nothing was tried: ${messageOf(error)}`] }
  } finally {
    release()
  }
}

type Attempt = (name: string, run: string) => Promise<Trial>

/** All trials of a gate. */
type TriedGate = {
  name: string
  tried: Trial[]
  /** It was green only after this gate. */
  needs: string | null
  /** Tests that are red on the project as it is, which its command does not run. */
  leavesOut?: readonly string[]
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
  const reduced = name in found.olderGates ? null : withoutRedTests(run, last.output)
  const known = reduced === null ? [] : [await attempt(name, reduced.run)]
  if (reduced !== null && known.some(isGreen))
    return { name, tried: [first, ...again, ...known], needs: null, leavesOut: reduced.tests }
  const rest = await firstGreen(name, others, attempt)
  return { name, tried: [first, ...again, ...known, ...rest], needs: null }
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
 * Decides by its trials whether a gate is written or left out. One whose program is missing is left out, too; but where no gate at
 * all is green, as on a machine without the project's language, a missing program says nothing of the project, and it is written.
 */
function sortTrials(found: FoundFacts, results: readonly TriedGate[]): Omit<TrialResults, 'trials'> {
  const canJudge = results.some(({ tried }) => tried.some(isGreen))
  const isLeftOut = ({ state }: Trial) => state === 'red' || (state === 'missing' && canJudge)
  const gates = new Map<string, string>()
  const needs: Record<string, readonly string[]> = {}
  const leftOut: Trial[] = []
  const warnings: string[] = []
  for (const { name, tried, needs: needed, leavesOut = [] } of results) {
    const [first, last] = [tried[0], tried.at(-1)]
    if (first === undefined || last === undefined) continue
    // Where no command could be judged, the first is taken: the project's own.
    const chosen = last.state === 'green' || last.state === 'unknown' ? last : first
    if (isLeftOut(chosen)) {
      leftOut.push(first)
      continue
    }
    gates.set(name, chosen.run)
    if (needed !== null) needs[name] = [needed]
    if (leavesOut.length > 0) warnings.push(describeLeftOut(name, leavesOut))
    if (chosen.state !== 'green') warnings.push(undecided(chosen))
    else if (needed === null && tried.some((one) => one.state === 'red' && one.run === chosen.run))
      warnings.push(
        `${name} was red at first, and green when it was tried again: its result may be unreliable`,
      )
  }
  return { found: withNeeds(withGates(found, gates), needs), leftOut, warnings }
}

function describeLeftOut(name: string, tests: readonly string[]): string {
  const isOne = tests.length === 1
  const [are, them] = isOne ? ['test is', 'it'] : ['tests are', 'them']
  return `${tests.length} ${are} red before any change, and gate ${name} does not run ${them}: ${tests.join(', ')}. Fix ${them}, then take ${them} back into its command`
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
  `prepare ${ended}${state === 'missing' ? '' : ' here'}, so no gate was tried; \`ralph doctor\` shows more${line === '' ? '' : `: ${line}`}`

const undecided = ({ name, ended, line }: Trial) =>
  `${name} could not be judged here (${ended}${line === '' ? '' : `: ${line}`}), and is written as it is`

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
