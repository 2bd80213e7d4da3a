// `ralph drill`: plants what agents get wrong in a clone of this project, and shows what gates and settings stop.
import { type DrillResult, type DrillRow, drill as runDrill } from '../app/drill/run-drill.ts'
import { refuseUngated } from '../app/loop-limits.ts'
import { EXIT_CODES, outputsOf } from '../report/outputs.ts'
import { lookOf } from '../report/terminal/terminal-line.ts'
import { UserError } from '../system/errors.ts'
import {
  type CommandResult,
  type Context,
  findTop,
  onSignals,
  printLines,
  settingsOf,
} from './command-context.ts'
import { drillLines } from './drill-lines.ts'

const DEFAULT_MINUTES = 10

/** Exit 0 whatever passes: the drill measures, it decides nothing. */
export async function drill(context: Context): Promise<CommandResult> {
  const { settings } = await settingsOf(context)
  refuseUngated(settings)
  const { top, isRepository } = findTop(context.directory)
  if (!isRepository)
    throw new UserError({
      path: top,
      found: 'this folder is not in a git repository.',
      expected: '',
      fix: "go to your project's folder, or name it with -C",
    })
  const minutes = minutesOf(context)
  const stop = new AbortController()
  const release = onSignals(stop, (signal) =>
    printLines(process.stderr, `${signal}: ending the drill. Press Ctrl+C again to quit at once`),
  )
  const say = (text: string) => printLines(process.stderr, text)
  try {
    const result = await runDrill({
      top,
      settings,
      env: context.env,
      timeMs: minutes * 60_000,
      signal: stop.signal,
      warn: context.warn,
      onPlant: (plant, at, of) =>
        say(
          plant === null
            ? 'Preparing a clean clone and running your gates on it ...'
            : `${at}/${of} ${plant.does}`,
        ),
      onRow: () => {},
    })
    context.print(drillLines(result, lookOf(context.out, context.env.NO_COLOR !== undefined)).join('\n'))
    const code = stop.signal.aborted ? EXIT_CODES.interrupted : 0
    return { code, outputs: outputsOf(null, null, null), more: jsonOf(result) }
  } finally {
    release()
  }
}

function minutesOf({ flags }: Context): number {
  const { minutes = DEFAULT_MINUTES } = flags
  const value = Number(minutes)
  if (value > 0 && value <= 24 * 60) return value
  throw new UserError({
    path: '--minutes',
    found: String(minutes),
    expected: 'a number of minutes, such as 5',
    fix: `name a number, or leave --minutes out for the default of ${DEFAULT_MINUTES}`,
  })
}

function jsonOf({ rows, remedies, commit }: DrillResult): Record<string, unknown> {
  const count = (result: DrillRow['result']) => rows.filter((row) => row.result === result).length
  return {
    commit,
    planted: rows.length - count('none'),
    stopped: count('stopped'),
    asked: count('asked'),
    reported: count('reported'),
    passed: count('passed'),
    plants: rows,
    remedies,
  }
}
