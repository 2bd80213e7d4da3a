// Tools that a line of the workflow installs instead of an action: Rust by rustup, which hosted runners have, and programs by pipx. Pure.
import { shellWord } from '../../../system/shell-word.ts'
import type { Folder } from '../project.ts'
import type { CiFacts } from './ci-checks.ts'
import type { Values } from './expressions.ts'
import { RUST_FILES, versionIn } from './version-files.ts'
import { compareVersions } from './workflow-jobs.ts'

type Uses = CiFacts['uses']

/** A program that pipx installs. `version`: the input of the action that chooses it. */
type PipxTool = { action: RegExp; version: string; package: string; only?: (inputs: Values) => boolean }

const PIPX_TOOLS: readonly PipxTool[] = [
  { action: /^snok\/install-poetry$/i, version: 'version', package: 'poetry' },
  { action: /^abatilo\/actions-poetry$/i, version: 'poetry-version', package: 'poetry' },
  { action: /^Gr1N\/setup-poetry$/i, version: 'poetry-version', package: 'poetry' },
  { action: /^pypa\/hatch$/i, version: 'version', package: 'hatch' },
  { action: /^extractions\/setup-just$/i, version: 'just-version', package: 'rust-just' },
  {
    action: /^taiki-e\/install-action$/i,
    version: '',
    package: 'rust-just',
    only: ({ tool = '' }) => /(?:^|,\s*)just\b/.test(tool),
  },
  { action: /^(?:arduino|go-task)\/setup-task$/i, version: 'version', package: 'go-task-bin' },
]

/** Programs that hosted runners lack, by the commands that start them. */
const STARTED: readonly (readonly [command: RegExp, name: string])[] = [
  [/(?:^|&& )just /, 'rust-just'],
  [/(?:^|&& )task /, 'go-task-bin'],
  [/(?:^|&& )hatch /, 'hatch'],
  [/(?:^|&& )tox\b/, 'tox'],
  [/(?:^|&& )nox\b/, 'nox'],
  [/(?:^|&& )pipenv /, 'pipenv'],
  [/(?:^|&& )(?:pre-commit) /, 'pre-commit'],
]

/** The lines with those of pipx: with the version that CI has, and for the programs that gates start. */
export function withPipxTools(setups: readonly string[], uses: Uses, commands: readonly string[]): string[] {
  const versions = new Map<string, string>()
  for (const { action, version, package: name, only } of PIPX_TOOLS) {
    const step = uses.find((one) => action.test(nameOf(one.uses)) && only?.(one.inputs) !== false)
    if (step === undefined) continue
    const exact = /^v?(\d+\.\d+\.\d+)$/.exec(step.inputs[version] ?? '')?.[1]
    versions.set(name, exact === undefined ? '' : `==${exact}`)
  }
  for (const [command, name] of STARTED)
    if (!versions.has(name) && commands.some((run) => command.test(run))) versions.set(name, '')
  const own = setups.map((line) => {
    const name = /^pipx install ([\w-]+)$/.exec(line)?.[1] ?? ''
    const version = versions.get(name) ?? ''
    versions.delete(name)
    return `${line}${version}`
  })
  return [...own, ...[...versions].map(([name, version]) => `pipx install ${name}${version}`)]
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
  return RUST_ACTIONS.test(name) || PIPX_TOOLS.some(({ action }) => action.test(name))
}

function nameOf(uses: string): string {
  return uses.replace(/@.*$/, '')
}
