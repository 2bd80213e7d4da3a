// What every command of the CLI needs: settings from flags and file, the streams, and how results are told.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { CommandName } from '../loop/command-table.ts'
import { EXIT_CODES, type Outputs, outputsOf } from '../report/outputs.ts'
import { hostEnvironment } from '../settings/environment.ts'
import type { Settings, SettingsResult } from '../settings/index.ts'
import { type Mistake, messageOf, sayMistake, UserError } from '../system/errors.ts'
import { muted, mutedJson } from '../system/workflow-commands.ts'

export type Flags = Readonly<Record<string, string | boolean | readonly string[] | undefined>>

/** A command's result: the exit code, and what `--json` prints beside the outputs. */
export type Answer = { code: number; outputs: Outputs; more?: Record<string, unknown> }

export type Context = {
  /** The command's name. */
  command: CommandName
  flags: Flags
  /** What stands behind the name of a command that takes words, and behind ` -- `; null for other commands. */
  given: { words: readonly string[]; text: string } | null
  feature: string | null
  json: boolean
  directory: string
  env: Record<string, string>
}

export function contextOf(
  command: CommandName,
  flags: Flags,
  feature: string | undefined,
  given: Context['given'] = null,
): Context {
  const env = hostEnvironment()
  const directory = typeof flags.directory === 'string' ? resolve(flags.directory) : process.cwd()
  const named = feature ?? (typeof flags.feature === 'string' ? flags.feature : undefined)
  return { command, flags, given, feature: named ?? null, json: flags.json === true, directory, env }
}

/** Flags over the configuration file over the defaults. Throws UserError with every mistake. */
export async function settingsOf(
  context: Context,
  extra: Flags = {},
): Promise<{ settings: Settings; notes: string[] }> {
  const result = await settingsRead(context, extra)
  if (!result.ok) throw new UserError(result.mistakes)
  return result
}

/** The same, with the mistakes beside what could be read. */
export async function settingsRead(context: Context, extra: Flags = {}): Promise<SettingsResult> {
  // Loaded here: `ralph --version` and help have no use for it.
  const { flagTable, resolveSettings } = await import(/* webpackChunkName: "work" */ '../settings/index.ts')
  const isSetting = (name: string) => flagTable().some(({ key }) => key === name)
  const flags = Object.fromEntries(Object.entries(context.flags).filter(([name]) => isSetting(name)))
  const chosen = { ...flags, ...(context.flags.once === true ? { iterationsPerJob: '1' } : {}), ...extra }
  if (context.feature !== null) Object.assign(chosen, { feature: context.feature })
  const top = topOf(context.directory)
  return resolveSettings({ flags: chosen, env: context.env, surface: 'cli' }, (path) =>
    readFile(join(top, path), 'utf8').catch(() => null),
  )
}

/** The top of the checkout that a folder lies in: the configuration stands there, not in a sub-folder. */
function topOf(directory: string): string {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (dirname(at) === at) return directory
  }
}

/** Writes lines that a terminal and a job log only show: in another CI, or in a step of a workflow, this is its output. */
export function tell(stream: { write(text: string): unknown }, text: string): void {
  stream.write(`${text.split('\n').map(muted).join('\n')}\n`)
}

/** Runs a command and tells its result; every error has an exit code and, with `--json`, its one line. */
export async function answer(context: Context, act: () => Promise<Answer>): Promise<number> {
  const { code, outputs, more } = await act().catch((error: unknown) => refusal(context, error))
  if (context.json) process.stdout.write(`${mutedJson({ ...outputs, ...more })}\n`)
  return code
}

/** Says what is wrong; the answer to `--json` has it, too. */
export function refusal(context: Context, error: unknown, beside: Record<string, unknown> = {}): Answer {
  const errors = error instanceof UserError ? error.mistakes : [unexpected(error)]
  for (const mistake of errors) tell(process.stderr, `error: ${sayMistake(mistake)}`)
  const outputs = { ...outputsOf(null, 'error', null), feature: context.feature }
  return { code: EXIT_CODES.error, outputs, more: { errors, ...beside } }
}

function unexpected(error: unknown): Mistake {
  return {
    path: 'ralph',
    found: messageOf(error),
    expected: 'no error',
    fix: 'the state is saved as of the last checkpoint; run again',
  }
}
