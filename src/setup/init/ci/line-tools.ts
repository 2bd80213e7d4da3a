// Tools that a line of the workflow installs instead of an action: Rust by rustup, which hosted runners have, and single programs. Pure.
import { shellWord } from '../../../system/shell-word.ts'
import { findProgram, jobLineFor, lineFor, type Program, programsIn } from '../install-lines.ts'
import type { Folder } from '../project.ts'
import type { CiFacts } from './ci-checks.ts'
import type { Values } from './expressions.ts'
import { RUST_FILES, versionIn } from './version-files.ts'
import { compareVersions } from './workflow-jobs.ts'

type Uses = CiFacts['uses']

/** An action that installs a program. `version`: the input that chooses which, '' if none does. */
type ProgramAction = {
  action: RegExp
  version: string
  program: string
  only?: (inputs: Values) => boolean
}

const PROGRAM_ACTIONS: readonly ProgramAction[] = [
  { action: /^snok\/install-poetry$/i, version: 'version', program: 'poetry' },
  { action: /^abatilo\/actions-poetry$/i, version: 'poetry-version', program: 'poetry' },
  { action: /^Gr1N\/setup-poetry$/i, version: 'poetry-version', program: 'poetry' },
  { action: /^pypa\/hatch$/i, version: 'version', program: 'hatch' },
  { action: /^extractions\/setup-just$/i, version: 'just-version', program: 'just' },
  {
    action: /^taiki-e\/install-action$/i,
    version: '',
    program: 'just',
    only: ({ tool = '' }) => /(?:^|,\s*)just\b/.test(tool),
  },
  { action: /^(?:arduino|go-task)\/setup-task$/i, version: 'version', program: 'task' },
  { action: /^golangci\/golangci-lint-action$/i, version: 'version', program: 'golangci-lint' },
]

/** The lines with those for programs that commands start, each with the version that an action of CI installs. */
export function withPrograms(setups: readonly string[], uses: Uses, commands: readonly string[]): string[] {
  const versions = new Map<string, string>()
  for (const { action, version, program, only } of PROGRAM_ACTIONS) {
    const step = uses.find((one) => action.test(nameOf(one.uses)) && only?.(one.inputs) !== false)
    const [, numbers = ''] = /^v?(\d+(?:\.\d+){1,2})$/.exec(step?.inputs[version] ?? '') ?? []
    if (step !== undefined) versions.set(program, numbers)
  }
  const inJob = (program: Program) => jobLineFor(program, versions.get(program.name) ?? '')
  const known = [...versions.keys()].flatMap((name) => findProgram(name) ?? [])
  const withVersion = new Map(known.map((program) => [lineFor(program, ''), inJob(program)]))
  const started = [...new Set(commands.flatMap(programsIn))]
  const more = started.filter((program) => !setups.includes(lineFor(program, '')))
  return [...setups.map((line) => withVersion.get(line) ?? line), ...more.map(inJob)]
}

const RUST_ACTIONS =
  /^(?:dtolnay\/rust-toolchain|actions-rust-lang\/setup-rust-toolchain|actions-rs\/toolchain)$/i

const CHANNEL = /^(?:stable|beta|nightly(?:-\d{4}-\d\d-\d\d)?|\d+\.\d+(?:\.\d+)?)$/

/**
 * The toolchain of Rust as a line: of CI, or of a file. rustup reads rust-toolchain.toml itself, but gates of another user may not
 * install what it names. `version`: null if the project takes any.
 */
export function rustLine(folder: Folder, uses: Uses): { line: string; version: string | null } | null {
  const file = versionIn(folder, RUST_FILES)
  if (file !== null && file.file.as === 'itself')
    return { line: 'rustup toolchain install', version: file.version }
  const steps = uses.filter((one) => RUST_ACTIONS.test(nameOf(one.uses)))
  const channel = channelOf(steps) ?? file?.version ?? null
  if (channel === null || !CHANNEL.test(channel)) return null
  const words = (...names: string[]) => [
    ...new Set(steps.flatMap(({ inputs }) => names.flatMap((name) => listIn(inputs[name])))),
  ]
  const flags = [
    ...words('components').map((one) => ` --component ${shellWord(one)}`),
    ...words('targets', 'target').map((one) => ` --target ${shellWord(one)}`),
  ].join('')
  const line = `rustup toolchain install ${channel} --profile minimal${flags} && rustup default ${channel}`
  return { line, version: channel }
}

/** Of the channels that jobs use: stable, else the newest number, else the first. */
function channelOf(steps: Uses): string | null {
  const channels = steps.flatMap(({ uses, inputs, remark }) => {
    const [, ref = ''] = /@(.+)$/.exec(uses) ?? []
    const named = inputs.toolchain?.split(',')[0]?.trim() ?? (/^v?\d+$/.test(ref) ? 'stable' : ref)
    const channel = CHANNEL.test(named) ? named : CHANNEL.test(remark) ? remark : 'stable'
    return [channel]
  })
  const numbers = channels.filter((one) => /^\d/.test(one)).sort((a, b) => compareVersions(b, a))
  return channels.find((one) => one === 'stable') ?? numbers[0] ?? channels[0] ?? null
}

function listIn(text: string | undefined): string[] {
  return (text ?? '').split(/[\s,]+/).filter((word) => /^[\w-]+$/.test(word))
}

/** Whether one of the rows above stands for this action. */
export function isLineTool(uses: string): boolean {
  const name = nameOf(uses)
  return RUST_ACTIONS.test(name) || PROGRAM_ACTIONS.some(({ action }) => action.test(name))
}

function nameOf(uses: string): string {
  return uses.replace(/@.*$/, '')
}
