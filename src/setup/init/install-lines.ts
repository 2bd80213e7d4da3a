// How a program is installed that a gate needs and this machine lacks: a row for each that no language brings itself. Pure.

/** Programs by the command that installs them; NAME stands for the program. */
const INSTALLERS: readonly (readonly [line: string, programs: Readonly<Record<string, string>>])[] = [
  [
    'go install NAME@latest',
    {
      'golangci-lint': 'github.com/golangci/golangci-lint/v2/cmd/golangci-lint',
      gofumpt: 'mvdan.cc/gofumpt',
      goimports: 'golang.org/x/tools/cmd/goimports',
      gotestsum: 'gotest.tools/gotestsum',
      staticcheck: 'honnef.co/go/tools/cmd/staticcheck',
    },
  ],
  [
    'pipx install NAME',
    {
      just: 'rust-just',
      task: 'go-task-bin',
      ...same('codespell', 'hatch', 'nox', 'pdm', 'pipenv', 'poetry', 'pre-commit', 'tox', 'uv', 'yamllint'),
    },
  ],
  ['npm install --global NAME', same('bun', 'pnpm', 'yarn')],
  [
    'cargo install NAME',
    { typos: 'typos-cli', 'cargo-nextest': 'cargo-nextest --locked', ...same('cargo-hack') },
  ],
]

/** The command that installs a program; null if no row has it. */
export function installLine(program: string): string | null {
  for (const [line, programs] of INSTALLERS) {
    const name = Object.hasOwn(programs, program) ? programs[program] : undefined
    if (name !== undefined) return line.replace('NAME', name)
  }
  return null
}

function same(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, name]))
}
