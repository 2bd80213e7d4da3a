// What well-known actions run: linters as command lines, one row each. Pure.
import type { Values } from './expressions.ts'

type Row = readonly [action: RegExp, command: (inputs: Values) => string | null]

const args = (text: string | undefined) =>
  text === undefined || text.trim() === '' ? '' : ` ${text.trim().replace(/\s+/g, ' ')}`

const ACTIONS: readonly Row[] = [
  [/^golangci\/golangci-lint-action$/, (inputs) => `golangci-lint run${args(inputs.args)}`],
  [/^dominikh\/staticcheck-action$/, () => 'staticcheck ./...'],
  [/^pre-commit\/action$/, (inputs) => `pre-commit run${args(inputs.extra_args ?? '--all-files')}`],
  [
    /^j178\/prek-action$/,
    (inputs) => `prek run${args(inputs['extra-args'] ?? inputs.extra_args ?? '--all-files')}`,
  ],
  [/^crate-ci\/typos$/, (inputs) => `typos${args(inputs.files)}`],
  [/^codespell-project\/actions-codespell$/, () => 'codespell'],
  [
    /^(?:astral-sh|chartboost)\/ruff-action$/,
    (inputs) => `ruff${args(inputs.args ?? 'check')}${args(inputs.src)}`,
  ],
  [/^psf\/black$/, (inputs) => `black${args(inputs.options ?? '--check')}${args(inputs.src ?? '.')}`],
  [/^isort\/isort-action$/, () => 'isort --check .'],
  [/^jakebailey\/pyright-action$/, () => 'pyright'],
  [
    /^actions-rs\/(?:cargo|clippy-check)$/,
    (inputs) => `cargo ${inputs.command ?? 'clippy'}${args(inputs.args)}`,
  ],
  [/^actions-rust-lang\/rustfmt$/, () => 'cargo fmt --all --check'],
  [/^DavidAnson\/markdownlint-cli2-action$/, (inputs) => `markdownlint-cli2${args(inputs.globs ?? '*.md')}`],
  [/^ibiqlik\/action-yamllint$/, (inputs) => `yamllint${args(inputs.file_or_dir ?? '.')}`],
  [
    /^gradle\/gradle-build-action$/,
    (inputs) => (inputs.arguments === undefined ? null : `gradle${args(inputs.arguments)}`),
  ],
  [/^(?:rhysd|raven-actions)\/actionlint$/, () => 'actionlint'],
  [/^swift-actions\/swiftlint$/, () => 'swiftlint'],
  [/^erlef\/mix-task$/, () => null],
]

/** The command line of the action `owner/name@ref`; null if it is none of these. */
export function commandOfAction(uses: string, inputs: Values): string | null {
  const name = uses.replace(/@.*$/, '')
  const row = ACTIONS.find(([action]) => action.test(name))
  const command = row?.[1](inputs) ?? null
  // Nothing of an action's inputs may be evaluated by a shell.
  return command !== null && /^[\w@%+=:,./*!?"'{}~ -]+$/.test(command) ? command : null
}
