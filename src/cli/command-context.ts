// What every command of the CLI needs: settings from flags and file, the streams, signals, and the printing of results.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { CommandName } from '../engine/commands/command-table.ts'
import type { State } from '../engine/model/state.ts'
import { mapTexts } from '../engine/model/text.ts'
import { createRedactor } from '../isolation/redact.ts'
import { secretsIn } from '../isolation/untrusted-env.ts'
import { EXIT_CODES, type Outputs, outputsOf } from '../report/outputs.ts'
import { hostEnvironment } from '../settings/environment.ts'
import type { Settings, SettingsResult } from '../settings/read-settings.ts'
import { diskMistake } from '../system/disk-error.ts'
import { formatMistake, type Mistake, messageOf, UserError } from '../system/errors.ts'
import { MARK_NAME } from '../system/orphans.ts'
import { sanitizeJson, sanitizeLine } from '../system/workflow-commands.ts'

export type Flags = Readonly<Record<string, string | boolean | readonly string[] | undefined>>

/** A command's result: the exit code, and what `--json` prints alongside the outputs. */
export type CommandResult = { code: number; outputs: Outputs; more?: Record<string, unknown> }

export type Context = {
  /** The command's name. */
  command: CommandName
  flags: Flags
  /** The words after the name of a command that takes words, and the text after ` -- `; null for other commands. */
  args: { words: readonly string[]; text: string } | null
  feature: string | null
  json: boolean
  directory: string
  env: Record<string, string>
  /** Where lines for people go: stdout, or stderr with `--json`, so that stdout has only the line of JSON. */
  out: NodeJS.WriteStream
  /** Removes the values of the environment's keys from a text. */
  redact(text: string): string
  /** Prints lines for people, redacted. */
  print(text: string): void
  warn(text: string): void
}

export function contextOf(
  command: CommandName,
  flags: Flags,
  feature: string | undefined,
  args: Context['args'] = null,
): Context {
  const env = hostEnvironment()
  const directory = typeof flags.directory === 'string' ? resolve(flags.directory) : process.cwd()
  const named = feature ?? (typeof flags.feature === 'string' ? flags.feature : undefined)
  const json = flags.json === true
  const out = json ? process.stderr : process.stdout
  const { redact } = createRedactor(secretsIn(env))
  const print = (text: string) => printLines(out, redact(text))
  const warn = (text: string) => printLines(process.stderr, `warning: ${redact(text)}`)
  return {
    command,
    flags,
    args: args,
    feature: named ?? null,
    json,
    directory,
    env,
    out,
    redact,
    print: print,
    warn,
  }
}

/** The settings: flags over the configuration file over the defaults. Throws UserError with every mistake. */
export async function settingsOf(
  context: Context,
  extra: Flags = {},
): Promise<{ settings: Settings; notes: string[] }> {
  const result = await readSettings(context, extra)
  if (!result.ok) throw new UserError(result.mistakes)
  return result
}

/** The same, but returns the mistakes together with what could be read. */
export async function readSettings(context: Context, extra: Flags = {}): Promise<SettingsResult> {
  // Loaded late, because `ralph --version` and help do not need it.
  const { flagTable, resolveSettings } = await import(
    /* webpackChunkName: "work" */ '../settings/read-settings.ts'
  )
  const isSetting = (name: string) => flagTable().some(({ key }) => key === name)
  const flags = Object.fromEntries(Object.entries(context.flags).filter(([name]) => isSetting(name)))
  const chosen = { ...flags, ...(context.flags.once === true ? { iterationsPerJob: '1' } : {}), ...extra }
  if (context.feature !== null) Object.assign(chosen, { feature: context.feature })
  const { top } = findTop(context.directory)
  return resolveSettings({ flags: chosen, env: context.env, surface: 'cli' }, (path) =>
    readFile(join(top, path), 'utf8').catch(() => null),
  )
}

/** The top folder of the checkout, which has the configuration file; outside of a repository the folder itself. */
export function findTop(directory: string): { top: string; isRepository: boolean } {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return { top: at, isRepository: true }
    if (dirname(at) === at) return { top: directory, isRepository: false }
  }
}

/** Prints lines that neither a terminal nor a workflow's runner can take for a command of theirs. */
export function printLines(stream: { write(text: string): unknown }, text: string): void {
  stream.write(`${text.split('\n').map(sanitizeLine).join('\n')}\n`)
}

/** Throws UserError if an agent or a gate has typed the command. */
export function refuseFromInside({ env, command }: Context): void {
  if (env[MARK_NAME] === undefined) return
  const found = 'an agent or a gate ran this command. Only people may run it.'
  const fix = 'ask a person to run it. If a gate contains this command, remove it there'
  throw new UserError({ path: `ralph ${command}`, found, expected: '', fix })
}

/** Throws UserError if the word after the command and `--feature` name two features. */
export function refuseTwoFeatures({ command, flags }: Context, word: string | undefined): void {
  const { feature: flag } = flags
  if (word === undefined || typeof flag !== 'string' || flag === word) return
  const found = `two features are named: ${word} and --feature ${flag}.`
  const fix = `name only one: ralph ${command} ${word}, or ralph ${command} ${flag}`
  throw new UserError({ path: `ralph ${command}`, found, expected: '', fix })
}

/** The result of a command with the outputs of a feature's state. */
export function resultOfState(state: State, more: Record<string, unknown> = {}, code = 0): CommandResult {
  return { code, outputs: outputsOf(state, state.prd.run.outcome, null), more }
}

/** The result after a signal or a cancelled question; `state`: if it is known. */
export function interruptedResult(state: State | null = null): CommandResult {
  return { code: EXIT_CODES.interrupted, outputs: outputsOf(state, 'interrupted', null) }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * At the first signal, such as Ctrl+C, calls `first` and aborts `stop`. At the second one calls `leave` and ends the process. Gives
 * a function that stops listening.
 */
export function onSignals(
  stop: AbortController,
  first: (signal: NodeJS.Signals) => void,
  leave: () => void = () => {},
): () => void {
  const onSignal = (signal: NodeJS.Signals) => {
    if (stop.signal.aborted) {
      leave()
      process.exit(EXIT_CODES.interrupted)
    }
    first(signal)
    stop.abort()
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return () => {
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
}

/** Runs a command, prints its result with `--json`, and gives the exit code. An error becomes a result as well. */
export async function runCommand(context: Context, act: () => Promise<CommandResult>): Promise<number> {
  const { code, outputs, more } = await act().catch((error: unknown) => errorResult(context, error))
  if (context.json)
    process.stdout.write(`${sanitizeJson(mapTexts({ ...outputs, ...more }, context.redact))}\n`)
  return code
}

/** Prints the mistakes, and gives the result that has them for `--json`. */
export function errorResult(
  context: Context,
  error: unknown,
  extra: Record<string, unknown> = {},
  state: State | null = null,
): CommandResult {
  const errors = error instanceof UserError ? error.mistakes : [unexpected(context, error)]
  for (const mistake of errors) printLines(process.stderr, `error: ${context.redact(formatMistake(mistake))}`)
  const outputs = outputsOf(state, 'error', null)
  outputs.feature ??= context.feature
  return { code: EXIT_CODES.error, outputs, more: { errors, ...extra } }
}

function unexpected({ directory }: Context, error: unknown): Mistake {
  const disk = diskMistake(error, directory)
  if (disk !== null) return disk
  return {
    path: 'ralph',
    found: messageOf(error),
    expected: '',
    fix: 'run again: Ralph resumes from the last checkpoint',
  }
}
