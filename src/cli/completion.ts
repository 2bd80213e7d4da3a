// `ralph completion`: prints a shell's completion script, made from the same tables as the help.
import { type CommandName, commandsOn } from '../engine/commands/command-table.ts'
import { outputsOf } from '../report/outputs.ts'
import { flagTable } from '../settings/read-settings.ts'
import { joinWithOr } from '../settings/show.ts'
import { UserError } from '../system/errors.ts'
import { nearest } from '../system/nearest.ts'
import type { CommandResult, Context } from './command-context.ts'
import { CLI_COMMANDS, isListed } from './command-flags.ts'
import {
  bashScript,
  type CompletedCommand,
  type CompletedOption,
  fishScript,
  zshScript,
} from './completion-scripts.ts'

const SHELLS: Readonly<Record<string, (commands: readonly CompletedCommand[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

export async function completion({ args, print }: Context): Promise<CommandResult> {
  const [shell = '', ...more] = args?.words ?? []
  const script = Object.hasOwn(SHELLS, shell) && more.length === 0 ? SHELLS[shell] : undefined
  if (script === undefined) {
    const found = shell === '' ? 'no shell' : `"${[shell, ...more].join(' ')}"`
    const fix = `ralph completion ${nearest(shell, Object.keys(SHELLS)) ?? 'bash'}`
    throw new UserError({ path: 'ralph completion', found, expected: joinWithOr(Object.keys(SHELLS)), fix })
  }
  const text = script(completedCommands())
  print(text)
  return { code: 0, outputs: outputsOf(null, null, null), more: { shell, script: text } }
}

/** Flags whose value is a file or a folder. */
const FILES = new Set(['--from', '--output', '--config-file'])
const FOLDERS = new Set(['--directory', '--working-directory'])

function completedCommands(): CompletedCommand[] {
  const commands = commandsOn('cli').map((listed) => ({
    names: listed.also === null ? [listed.name] : [listed.name, listed.also],
    meaning: listed.meaning.replaceAll('`', ''),
    words: wordsOf(listed.name),
    options: listed.name === 'help' ? [] : optionsOf(listed.name),
  }))
  const names = commands.flatMap((command) => command.names)
  return commands.map((command) => (command.names.includes('help') ? { ...command, words: names } : command))
}

function wordsOf(name: CommandName): CompletedCommand['words'] {
  if (name === 'help') return []
  if (name === 'completion') return Object.keys(SHELLS)
  const takesFeature = CLI_COMMANDS[name].takes === 'feature' || ['plan', 'monitor', 'serve'].includes(name)
  return takesFeature ? 'features' : []
}

function optionsOf(name: Exclude<CommandName, 'help'>): CompletedOption[] {
  const { options, settings } = CLI_COMMANDS[name]
  const commandOptions = options.map(([flags, meaning]) => completedOption(flags, meaning))
  const settingOptions = flagTable()
    .filter((flag) => isListed(flag) && settings(flag))
    .flatMap(({ flag, takesValue, description: meaning, values }) => {
      if (takesValue) return [{ flag, meaning, value: completedValue(flag, values) }]
      const opposite = { flag: `--no-${flag.slice(2)}`, meaning: 'the opposite', value: null }
      return [{ flag, meaning, value: null }, opposite]
    })
  return [
    ...commandOptions,
    completedOption('--json', 'print exactly one line of JSON on stdout'),
    completedOption('--directory <path>', 'work in this folder'),
    ...settingOptions,
    completedOption('--help', 'show the options and an example'),
  ]
}

/** `flags` as commander writes them: `--port <number>`. */
function completedOption(flags: string, meaning: string): CompletedOption {
  const [flag = '', value] = flags.split(' ')
  return { flag, meaning, value: value === undefined ? null : completedValue(flag, []) }
}

function completedValue(flag: string, values: readonly string[]): CompletedOption['value'] {
  if (FILES.has(flag)) return 'file'
  return FOLDERS.has(flag) ? 'folder' : values
}
