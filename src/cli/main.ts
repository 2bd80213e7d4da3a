// `ralph`: the command table on a command line. Each command is imported when it is called.
import { statSync } from 'node:fs'
import { Command, CommanderError, Help, Option } from 'commander'
import { commandsOn, type ListedCommand } from '../engine/commands/command-table.ts'
import { VERSION } from '../engine/model/version.ts'
import type { FlagRow } from '../settings/describe.ts'
import { hostEnvironment } from '../settings/environment.ts'
import { UserError } from '../system/errors.ts'
import { exitAfterFlush } from '../system/exit-after-flush.ts'
import { nearest } from '../system/nearest.ts'
import { contextOf, type Flags, printLines, refuseTwoFeatures, runCommand } from './command-context.ts'
import { CLI_COMMANDS, type CliCommand, HELP_GROUPS, isListed } from './command-flags.ts'
import { olderLine } from './older-lines.ts'
import type { PROGRAMS } from './programs.ts'

// A reader that stops reading (`| head`) is not an error.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

/** What all commands share, loaded only when one of them runs: it takes longest to load. */
type LoadShared = () => Promise<{
  PROGRAMS: typeof PROGRAMS
  flagTable(): readonly FlagRow[]
  loadDemo(): Promise<{ demoAgent(env: ReturnType<typeof hostEnvironment>): Promise<number> }>
}>

const COMMANDS = commandsOn('cli')
const typed = process.argv.slice(2)
const older = olderLine(typed, (path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
const argv = older !== null && 'argv' in older ? older.argv : typed
/** The command that is called, such as `run` or `help run`: only its flags have to be known. */
const called = argv.filter((word) => !word.startsWith('-')).slice(0, 2)

/** Runs the command line of this process, and sets its exit code. */
export async function main(loadShared: LoadShared): Promise<void> {
  const program = rootCommand()
  program.command('demo-agent', { hidden: true }).action(async () => {
    const { demoAgent } = await (await loadShared()).loadDemo()
    process.exitCode = await demoAgent(hostEnvironment())
  })
  for (const [title, names] of HELP_GROUPS) {
    program.commandsGroup(title)
    for (const name of names) {
      const listed = COMMANDS.find((one) => one.name === name)
      if (listed !== undefined) await add(program, name, listed, loadShared)
    }
  }
  try {
    await parse(program)
  } catch (error) {
    process.exitCode = await exitCodeAfter(program, error)
  }
  // A handle that a command left open must not keep the process: everything is on disk by now.
  await exitAfterFlush()
}

/** `ralph` itself: its help, without some of commander's own behaviour. */
function rootCommand(): Command {
  const whole = new Help()
  const [lastGroup = ''] = HELP_GROUPS.at(-1) ?? []
  return new Command('ralph')
    .description(
      'Works through your user stories with a coding agent, and commits a story only when your tests pass.',
    )
    .version(VERSION)
    .showSuggestionAfterError()
    .exitOverride((error) => {
      throw error
    })
    .configureHelp({
      // The options of a command are in its own help; this list shows only the commands, the five to begin with first.
      subcommandTerm: (command) => [command.name(), ...command.aliases()].join('|'),
      visibleOptions: (command) => (command.parent === null ? [] : whole.visibleOptions(command)),
      minWidthToWrap: 20,
    })
    .usage('<command> [options]')
    .addHelpText(
      'after',
      '\nralph help <command> shows its options and an example.\nNew to Ralph? Try ralph demo, then ralph init in your own project.',
    )
    .configureOutput({ outputError: () => {} })
    .addHelpCommand(
      new Command('help')
        .helpGroup(lastGroup)
        .argument('[command]')
        .description('show this list, or the options of a command'),
    )
}

async function parse(program: Command): Promise<void> {
  if (older !== null && 'mistake' in older) throw new UserError(older.mistake)
  for (const note of older?.notes ?? []) printLines(process.stderr, note)
  const [first, second] = argv
  const isName = second !== undefined && !second.startsWith('-')
  if (first === 'help' && isName && program.commands.every((one) => !isNamed(one, second))) {
    const names = COMMANDS.map(({ name }) => name)
    const near = nearest(second, names)
    const suggestion = near === null ? '' : `\n(Did you mean ${near}?)`
    program.error(`error: unknown command '${second}'${suggestion}`, { code: 'commander.unknownCommand' })
  }
  const asksForList = argv.length === 0 || (first === 'help' && (second === '--help' || second === '-h'))
  await program.parseAsync(asksForList ? ['--help'] : argv, { from: 'user' })
}

async function add(
  program: Command,
  name: keyof typeof CLI_COMMANDS,
  listed: ListedCommand,
  loadShared: LoadShared,
): Promise<void> {
  const { takes, settings, options, exits }: CliCommand = CLI_COMMANDS[name]
  const command = program.command(listed.name).description(listed.meaning.replaceAll('`', ''))
  if (listed.also !== null) command.alias(listed.also)
  command.usage(`[options] ${listed.args}`.trim()).optionsGroup('Options:')
  if (takes === 'feature') command.argument('[feature]')
  if (takes === 'words') command.argument('[words...]')
  for (const [flags, description, isRepeatable = false] of options)
    command.addOption(repeated(new Option(flags, description), isRepeatable))
  command
    .option('--json', 'print exactly one line of JSON on stdout; everything else goes to stderr')
    .option('-C, --directory <path>', 'work in this folder')
  if (called.some((name) => isNamed(command, name))) {
    const { flagTable } = await loadShared()
    for (const flag of flagTable().filter(settings)) addSetting(command, flag)
  }
  const codes = exits.map(([code, meaning]) => `  ${String(code).padStart(3)}  ${meaning}`)
  command.addHelpText('after', `\nExample:\n  ${listed.example}\n\nExit codes:\n${codes.join('\n')}`)
  command.action(async (...typed: unknown[]) => {
    const words = typed
      .slice(0, -2)
      .flat()
      .filter((word) => typeof word === 'string')
    const flags = flagsOf(command)
    const feature = takes === 'feature' ? words[0] : undefined
    const context = contextOf(
      listed.name,
      flags,
      feature,
      takes === 'words' ? splitAtDashes(words) : undefined,
    )
    const { PROGRAMS } = await loadShared()
    process.exitCode = await runCommand(context, async () => {
      refuseTwoFeatures(context, feature)
      return PROGRAMS[name](context)
    })
  })
}

/** Words and the text after `--`, which commander gives as further words. */
function splitAtDashes(words: readonly string[]): { words: string[]; text: string } {
  const at = argv.indexOf('--')
  const before = at < 0 ? words.length : words.length - (argv.length - at - 1)
  const split = words.slice(0, before).flatMap((word) => word.split(/[\s,]+/))
  return { words: split.filter(Boolean), text: words.slice(before).join(' ') }
}

function addSetting(command: Command, flag: FlagRow): void {
  const { flag: name, takesValue, repeatable, description, defaultText, group } = flag
  const text = defaultText === '' ? description : `${description} (default: ${defaultText})`
  const option = repeated(new Option(takesValue ? `${name} <value>` : `${name} [value]`, text), repeatable)
  option.helpGroup(`Settings (${group}):`)
  if (!isListed(flag)) option.hideHelp()
  command.addOption(option)
  if (!takesValue) command.addOption(new Option(`--no-${name.slice(2)}`).hideHelp())
}

function repeated(option: Option, repeatable: boolean): Option {
  return repeatable
    ? option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value])
    : option
}

function isNamed(command: Command, name: string): boolean {
  return command.name() === name || command.aliases().includes(name) || name === 'help'
}

/** The flags that were typed. Commander's camelCase names are the settings' keys. */
function flagsOf(command: Command): Flags {
  const typedOptions = Object.entries(command.opts()).filter(
    ([name]) => command.getOptionValueSource(name) !== 'default',
  )
  const textOf = (value: unknown) => (typeof value === 'boolean' ? value : String(value))
  return Object.fromEntries(
    typedOptions.map(([name, value]) => [name, Array.isArray(value) ? value.map(String) : textOf(value)]),
  )
}

/** The exit code after an error: 64 for wrong usage, with the JSON line if `--json` was typed. */
async function exitCodeAfter(program: Command, error: unknown): Promise<number> {
  if (error instanceof UserError)
    return runCommand(contextOf('help', { json: argv.includes('--json') }, undefined), () =>
      Promise.reject(error),
    )
  const code = error instanceof CommanderError ? error.code : ''
  if (code === 'commander.helpDisplayed' || code === 'commander.version' || code === 'commander.help')
    return 0
  const message = error instanceof Error ? error.message.replace(/^error: /, '') : String(error)
  const [found = '', near = ''] = message.split('\n')
  const command = program.commands.find((one) => called.includes(one.name()))
  const suggestion = suggestLonger(command, found) ?? near.replace(/^\(D(.*)\)$/, 'd$1 ')
  const isUnknown = code === 'commander.unknownCommand'
  const usage = command === undefined ? '<command> [options]' : `${command.name()} ${command.usage()}`
  const mistake = {
    path: 'command line',
    found: `${isUnknown ? found.replace(/^unknown command/, 'there is no command') : found}.`,
    expected: '',
    fix: isUnknown
      ? `${suggestion}ralph help lists the commands. To work on a feature: ralph run <feature>`
      : `${suggestion}write it as ralph ${usage}; ralph help${command === undefined ? '' : ` ${command.name()}`} explains it`,
  }
  const context = contextOf('help', { json: argv.includes('--json') }, undefined)
  return runCommand(context, () => Promise.reject(new UserError(mistake)))
}

/** The options that begin with the unknown one: `--max-cost` is nearer to `--max-jobs` than to `--max-cost-usd`, but means that. */
function suggestLonger(command: Command | undefined, message: string): string | null {
  const typed = /^unknown option '(--[^'=]+)/.exec(message)?.[1]
  const longer = (command?.options ?? []).flatMap(({ long }) => (long?.startsWith(`${typed}-`) ? [long] : []))
  return longer.length === 0 ? null : `did you mean ${longer.slice(0, 3).join(' or ')}? `
}
