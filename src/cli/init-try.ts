// Runs every command that `ralph init` proposes once, in a copy of the project. Those that are red there are left out, and named.
import { openTrial, type Trial } from '../app/trial.ts'
import { terminalText } from '../report/escape.ts'
import { formatDuration } from '../report/figures.ts'
import { formatCurrentCheck } from '../report/terminal/doctor-lines.ts'
import { type Look, lookOf, paint } from '../report/terminal/terminal-line.ts'
import type { FoundFacts } from '../setup/init/answers.ts'
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
    const prepared = prepare === null ? [] : [await attempt('prepare', prepare)]
    if (prepared.some(({ state }) => state !== 'green'))
      return { ...untried(found), trials: prepared, warnings: prepared.map(notPrepared) }
    const results: Trial[][] = []
    for (const [name, run] of proposedGates(found)) {
      const others = name in found.olderGates ? [] : (found.project.alternatives[name] ?? [])
      const tried = [await attempt(name, run)]
      for (const other of others) if (isBad(tried.at(-1))) tried.push(await attempt(name, other))
      results.push(tried)
    }
    return { ...sortTrials(found, results), trials: [...prepared, ...results.flat()] }
  } catch (error) {
    if (error instanceof Cancelled) throw error
    return { ...untried(found), warnings: [`nothing was tried: ${messageOf(error)}`] }
  } finally {
    release()
  }
}

const isBad = (trial: Trial | undefined) => trial?.state === 'red' || trial?.state === 'missing'

/**
 * Decides by its trials whether a gate is written or left out. One whose program is missing is left out, too; but where no gate at
 * all is green, as on a machine without the project's language, a missing program says nothing of the project, and it is written.
 */
function sortTrials(found: FoundFacts, results: readonly (readonly Trial[])[]): Omit<TrialResults, 'trials'> {
  const canJudge = results.flat().some(({ state }) => state === 'green')
  const isLeftOut = ({ state }: Trial) => state === 'red' || (state === 'missing' && canJudge)
  const gates = new Map<string, string>()
  const leftOut: Trial[] = []
  const warnings: string[] = []
  for (const tried of results) {
    const [first, last] = [tried[0], tried.at(-1)]
    if (first === undefined || last === undefined) continue
    // Where no command could be judged, the first is taken: the project's own.
    const chosen = last.state === 'green' || last.state === 'unknown' ? last : first
    if (isLeftOut(chosen)) leftOut.push(first)
    else gates.set(chosen.name, chosen.run)
    if (!isLeftOut(chosen) && chosen.state !== 'green') warnings.push(undecided(chosen))
  }
  return { found: withGates(found, gates), leftOut, warnings }
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
