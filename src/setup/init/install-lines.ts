// How to install a program that no language brings with it, on a person's machine and in a job: hosted runners lack these programs. A row
// for each of them. Pure.

type Installer = 'go' | 'pipx' | 'npm' | 'cargo'

/** `package`: as its installer names it. */
export type Program = { name: string; installer: Installer; package: string }

const PROGRAMS: readonly Program[] = [
  ...of('go', {
    'golangci-lint': 'github.com/golangci/golangci-lint/v2/cmd/golangci-lint',
    gofumpt: 'mvdan.cc/gofumpt',
    goimports: 'golang.org/x/tools/cmd/goimports',
    gotestsum: 'gotest.tools/gotestsum',
    staticcheck: 'honnef.co/go/tools/cmd/staticcheck',
  }),
  ...of('pipx', { just: 'rust-just', task: 'go-task-bin' }),
  ...of(
    'pipx',
    same('codespell', 'hatch', 'nox', 'pdm', 'pipenv', 'poetry', 'pre-commit', 'tox', 'uv', 'yamllint'),
  ),
  ...of('npm', same('bun', 'pnpm', 'yarn')),
  ...of('cargo', { typos: 'typos-cli', ...same('cargo-hack', 'cargo-nextest') }),
]

export function findProgram(name: string): Program | null {
  return PROGRAMS.find((one) => one.name === name) ?? null
}

/** The command that installs a program here; null if no row has it. */
export function installLine(name: string): string | null {
  const program = findProgram(name)
  return program === null ? null : lineFor(program, '')
}

/** `wanted`: an exact version, the first two numbers of one, or '' for the newest. Only go takes the newest that begins with two numbers. */
export function lineFor({ installer, package: name }: Program, wanted: string): string {
  const version = installer === 'go' || /^\d+\.\d+\.\d+$/.test(wanted) ? wanted : ''
  if (installer === 'pipx') return `pipx install ${name}${version === '' ? '' : `==${version}`}`
  if (installer === 'npm') return `npm install --global ${name}${version === '' ? '' : `@${version}`}`
  if (installer === 'cargo')
    return `cargo install --locked ${name}${version === '' ? '' : ` --version ${version}`}`
  // The first version of a Go module has no number in its path (https://go.dev/ref/mod#major-version-suffixes).
  const path = version.startsWith('1.') ? name.replace('/v2/', '/') : name
  return `go install ${path}@${version === '' ? 'latest' : `v${version}`}`
}

/** The same in a job. The program goes into a folder of the system, because the user of gates may not read the installer's own. */
export function jobLineFor(program: Program, version: string): string {
  const line = lineFor(program, version)
  if (program.installer === 'go')
    return `${line} && sudo install "$(go env GOPATH)/bin/${program.name}" /usr/local/bin/`
  if (program.installer === 'cargo')
    return `${line} && sudo install "$HOME/.cargo/bin/${program.name}" /usr/local/bin/`
  return line
}

/** The programs with a row that a command starts: `cargo hack` starts `cargo-hack`. Package managers of Node.js are set up otherwise. */
export function programsIn(run: string): Program[] {
  const names = run.split(' && ').flatMap((part) => {
    const [first = '', second = ''] = part.split(/\s+/).filter((word) => !/^\w+=/.test(word))
    return first === 'cargo' ? `cargo-${second}` : first
  })
  return PROGRAMS.filter(({ name, installer }) => installer !== 'npm' && names.includes(name))
}

function of(installer: Installer, packages: Readonly<Record<string, string>>): Program[] {
  return Object.entries(packages).map(([name, value]) => ({ name, installer, package: value }))
}

function same(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, name]))
}
