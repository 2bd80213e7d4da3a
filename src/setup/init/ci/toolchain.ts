// Steps that give the generated workflow the project's tools, with the versions of its CI or of its version files. Pure.
import type { Folder } from '../project.ts'
import type { CiFacts } from './ci-checks.ts'
import type { Values } from './expressions.ts'
import { compareVersions } from './workflow-jobs.ts'

/** A step that uses an action. `tag`: the version that the commit is of. */
export type ToolStep = { action: string; commit: string; tag: string; inputs: Values }

/** A version that CI has. `program`: what says its version on a machine. */
export type WantedVersion = { program: string; args: readonly string[]; version: string }

type ToolAction = {
  action: string
  commit: string
  tag: string
  /** Inputs that choose a version, the first also by the files. */
  version: string
  inputs: readonly string[]
  file: string | null
  /** Files that say the version, if no workflow does. */
  files: readonly (readonly [path: string, mark: RegExp])[]
  program: readonly [string, ...string[]]
  /** Lines of other set-up that this step makes unnecessary. */
  replaces: RegExp | null
}

const ANY = /\S/

/** Commits of releases, read from the repositories of the actions. */
const ACTIONS: readonly ToolAction[] = [
  {
    action: 'pnpm/action-setup',
    commit: 'fe02b34f77f8bc703788d5817da081398fad5dd2',
    tag: 'v4.0.0',
    version: 'version',
    inputs: ['package_json_file'],
    file: null,
    files: [],
    program: ['pnpm', '--version'],
    replaces: /^npm install --global pnpm@|^corepack enable$/,
  },
  {
    action: 'actions/setup-node',
    commit: '820762786026740c76f36085b0efc47a31fe5020',
    tag: 'v7.0.0',
    version: 'node-version',
    inputs: [],
    file: 'node-version-file',
    files: [
      ['.nvmrc', ANY],
      ['.node-version', ANY],
      ['.tool-versions', /^nodejs /m],
      ['package.json', /"engines"\s*:\s*\{[^}]*"node"/],
    ],
    program: ['node', '--version'],
    replaces: null,
  },
  {
    action: 'actions/setup-python',
    commit: '5fda3b95a4ea91299a34e894583c3862153e4b97',
    tag: 'v7.0.0',
    version: 'python-version',
    inputs: [],
    file: 'python-version-file',
    files: [
      ['.python-version', ANY],
      ['.tool-versions', /^python /m],
    ],
    program: ['python3', '--version'],
    replaces: null,
  },
  {
    action: 'actions/setup-go',
    commit: 'b7ad1dad31e06c5925ef5d2fc7ad053ef454303e',
    tag: 'v7.0.0',
    version: 'go-version',
    inputs: [],
    file: 'go-version-file',
    files: [['go.mod', /^go \d/m]],
    program: ['go', 'version'],
    replaces: null,
  },
  {
    action: 'actions/setup-java',
    commit: 'b6effb05e454b25005698d916606bdc6ffcbf961',
    tag: 'v5.7.0',
    version: 'java-version',
    inputs: ['distribution'],
    file: 'java-version-file',
    files: [],
    program: ['java', '--version'],
    replaces: null,
  },
  {
    action: 'astral-sh/setup-uv',
    commit: '20cfd1bf945f4377ade1205e4dbc17946fc9a30d',
    tag: 'v10.0.1',
    version: 'version',
    inputs: ['python-version'],
    file: null,
    files: [],
    program: ['uv', '--version'],
    replaces: /^pipx install uv$/,
  },
  {
    action: 'ruby/setup-ruby',
    commit: '0dafeac902942906541bc140009cdbf32665b601',
    tag: 'v1.315.0',
    version: 'ruby-version',
    inputs: ['bundler'],
    file: null,
    files: [],
    program: ['ruby', '--version'],
    replaces: null,
  },
  {
    action: 'shivammathur/setup-php',
    commit: 'f3e473d116dcccaddc5834248c87452386958240',
    tag: 'v2',
    version: 'php-version',
    inputs: ['extensions', 'tools', 'coverage'],
    file: null,
    files: [],
    program: ['php', '--version'],
    replaces: null,
  },
  {
    action: 'erlef/setup-beam',
    commit: '54075bcc5e249e4758d363f27d099f55d843f124',
    tag: 'v1.24.1',
    version: 'otp-version',
    inputs: ['elixir-version', 'rebar3-version', 'version-type'],
    file: 'version-file',
    files: [],
    program: ['elixir', '--version'],
    replaces: null,
  },
  {
    action: 'actions/setup-dotnet',
    commit: 'a98b56852c35b8e3190ac28c8c2271da59106c68',
    tag: 'v6.0.0',
    version: 'dotnet-version',
    inputs: [],
    file: 'global-json-file',
    files: [['global.json', /"sdk"/]],
    program: ['dotnet', '--version'],
    replaces: null,
  },
  {
    action: 'oven-sh/setup-bun',
    commit: '0c5077e51419868618aeaa5fe8019c62421857d6',
    tag: 'v2.2.0',
    version: 'bun-version',
    inputs: [],
    file: 'bun-version-file',
    files: [],
    program: ['bun', '--version'],
    replaces: /^npm install --global bun@/,
  },
]

/** Values that are written into a workflow: no expression, no secret. */
const PLAIN = /^[\w@+*^~<>=.,:/\s|-]{1,200}$/

export function toolchainOf(
  folder: Folder,
  { uses }: Pick<CiFacts, 'uses'>,
  setups: readonly string[],
): { steps: ToolStep[]; setups: string[]; wanted: WantedVersion[] } {
  const rows = ACTIONS.flatMap((row) => {
    const step = stepOf(row, uses) ?? stepByFile(row, folder)
    return step === null ? [] : [{ row, step }]
  })
  const isReplaced = (line: string) => rows.some(({ row }) => row.replaces?.test(line) === true)
  const wanted = rows.flatMap(({ row, step }) => {
    const { version = '' } = { version: step.inputs[row.version] }
    const [program, ...args] = row.program
    return /^\d+(?:\.\d+)*/.test(version) ? [{ program, args, version: version.split(/\s/)[0] ?? '' }] : []
  })
  return { steps: rows.map(({ step }) => step), setups: setups.filter((line) => !isReplaced(line)), wanted }
}

/** The step as CI has it: with a version file, else the newest version of its jobs. */
function stepOf(row: ToolAction, uses: CiFacts['uses']): ToolStep | null {
  const own = uses.filter((step) => step.uses.replace(/@.*$/, '').toLowerCase() === row.action.toLowerCase())
  if (own.length === 0) return null
  const byFile = own.find(({ inputs }) => row.file !== null && inputs[row.file] !== undefined)
  const newest = [...own].sort((a, b) =>
    compareVersions(b.inputs[row.version] ?? '', a.inputs[row.version] ?? ''),
  )[0]
  const chosen = byFile ?? newest
  if (chosen === undefined) return null
  const names = [row.version, ...(row.file === null ? [] : [row.file]), ...row.inputs]
  const inputs = names.flatMap((name) => {
    const value = chosen.inputs[name]?.trim()
    return value !== undefined && PLAIN.test(value) ? [[name, value] as const] : []
  })
  const [, commit] = /@([0-9a-f]{40})$/.exec(chosen.uses) ?? []
  const pinned = commit === undefined ? row : { commit, tag: chosen.remark || row.tag }
  return { action: row.action, commit: pinned.commit, tag: pinned.tag, inputs: Object.fromEntries(inputs) }
}

/** A step by a file with the version, such as .nvmrc, if CI has no such step. */
function stepByFile({ action, commit, tag, file, files }: ToolAction, folder: Folder): ToolStep | null {
  const path = files.find(([name, mark]) => folder.has(name) && mark.test(folder.text(name)))?.[0]
  if (path === undefined || file === null) return null
  return { action, commit, tag, inputs: { [file]: path } }
}
