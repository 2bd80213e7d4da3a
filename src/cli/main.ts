import { Command, Option } from 'commander'
import { flagTable, hostEnvironment } from '../settings.ts'
// `ralph`: the command table. Each command is imported when it is called.
import { leave } from '../system/leave.ts'
import { answer, contextOf, type Flags, tell } from './context.ts'

// A reader that has seen enough (`| head`) is no error of ours.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

const program = new Command('ralph')
  .description(
    'Hands a list of user stories to coding agents, believes only gates, and gives back a branch you can trust.',
  )
  .version(VERSION())
  .showSuggestionAfterError()
  .exitOverride((error) => {
    throw error
  })
  .configureOutput({ writeErr: (text) => tell(process.stderr, text.trimEnd()) })

function withSettings(command: Command): Command {
  for (const { flag, takesValue, repeatable, description } of flagTable()) {
    if (flag === '--feature') continue
    const option = new Option(takesValue ? `${flag} <value>` : `${flag} [value]`, description)
    if (repeatable)
      option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value])
    command.addOption(option)
    if (!takesValue) command.addOption(new Option(`--no-${flag.slice(2)}`).hideHelp())
  }
  return command
    .option('--json', 'exactly one line of JSON on stdout; everything else goes to stderr')
    .option('-C, --directory <path>', 'work there')
}

function add(
  name: string,
  description: string,
  configure: (command: Command) => Command,
  act: (flags: Flags, ...args: (string | string[] | undefined)[]) => Promise<number>,
) {
  const command = configure(withSettings(program.command(name).description(description)))
  command.action(async (...given: unknown[]) => {
    const args = given
      .slice(0, -2)
      .map((arg) => (Array.isArray(arg) ? arg.map(String) : typeof arg === 'string' ? arg : undefined))
    process.exitCode = await act(flagsOf(command), ...args)
  })
}

const one = (value: string | string[] | undefined) => (typeof value === 'string' ? value : undefined)

program
  .command('demo')
  .description('a complete run on a sample project, with a scripted agent; no network, no key')
  .option('--json', 'one line of JSON')
  .action(async (flags: Flags) => {
    const context = contextOf(flags, undefined)
    process.exitCode = await answer(context, async () => (await import('./demo.ts')).demo(context))
  })

program.command('demo-agent', { hidden: true }).action(async () => {
  process.exitCode = await (await import('./demo-agent.ts')).demoAgent(hostEnvironment())
})

add(
  'run',
  'work on a feature until an outcome',
  (command) =>
    command
      .argument('[feature]')
      .option('--once', 'one iteration')
      .option('--dry-run', 'print the decision and touch nothing'),
  (flags, feature) => {
    const context = contextOf(flags, one(feature))
    return answer(context, async () => (await import('./run.ts')).run(context))
  },
)

for (const [name, description] of [
  ['status', 'how a feature stands'],
  ['next', 'which story comes next'],
  ['validate', 'check prd.json and the configuration'],
] as const) {
  add(
    name,
    description,
    (command) => command.argument('[feature]'),
    (flags, feature) => {
      const context = contextOf(flags, one(feature))
      return answer(context, async () => (await import('./look.ts'))[name](context))
    },
  )
}

for (const name of ['retry', 'redo', 'skip', 'note', 'pause'] as const) {
  add(
    name,
    `as the comment /ralph ${name}; a text stands behind --`,
    (command) => command.argument('[stories...]').option('--feature <name>', 'the feature'),
    (flags, stories) => {
      const context = contextOf(flags, undefined)
      const args = Array.isArray(stories) ? stories : []
      return answer(context, async () => (await import('./steer.ts')).steer(context, name, args))
    },
  )
}

/** Commander's camelCase names are the settings' keys; only what was given counts. */
function flagsOf(command: Command): Flags {
  const flags: Record<string, string | boolean | readonly string[] | undefined> = {}
  for (const [name, value] of Object.entries(command.opts())) {
    if (command.getOptionValueSource(name) === 'default') continue
    flags[name] = Array.isArray(value)
      ? value.map(String)
      : typeof value === 'boolean'
        ? value
        : String(value)
  }
  return flags
}

function VERSION(): string {
  return '1.0.0'
}

try {
  await program.parseAsync(process.argv)
} catch (error) {
  process.exitCode = await failed(error)
}

// Whatever a command left open must not hold the terminal: everything is on disk by now.
await leave()

/** Wrong usage is bad input: exit 64, with the JSON line where it was asked for. */
async function failed(error: unknown): Promise<number> {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  if (code === 'commander.helpDisplayed' || code === 'commander.version' || code === 'commander.help')
    return 0
  const message = error instanceof Error ? error.message.replace(/^error: /, '') : String(error)
  if (process.argv.includes('--json')) {
    const { outputsOf } = await import('../report/outputs.ts')
    const errors = [
      {
        path: 'command line',
        found: message,
        expected: 'a command of `ralph help`',
        fix: 'see `ralph help <command>`',
      },
    ]
    const { mutedJson } = await import('../system/voice.ts')
    process.stdout.write(`${mutedJson({ ...outputsOf(null, 'error', null), errors })}\n`)
  }
  return 64
}
