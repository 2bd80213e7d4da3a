// Actions that set a tool up, one row each. A row names the inputs that are taken from the project's CI, and files with a version.
import type { Values } from './expressions.ts'
import {
  javaVendor,
  javaVersion,
  miseFiles,
  nodeOfManifest,
  phpOfManifest,
  plainVersion,
  toolVersions,
  type VersionFile,
  versionAfter,
} from './version-files.ts'

/** `commit`: of the release `tag`, read from the repository of the action. It is written if CI names no commit. */
export type ToolAction = {
  action: string
  commit: string
  tag: string
  /** The input that chooses the version, and the one that takes a file instead. */
  version: string
  file?: string
  /** Further inputs that are taken from CI. */
  inputs?: readonly string[]
  /** Inputs for a step that has not got them. */
  defaults?: Values
  /**
   * Inputs that keep the action from saving a cache when the job ends: after the agent's work, and for every branch
   * (docs/how-to/caching.md). The input exists since this major version.
   */
  uncached?: { inputs: Values; since: number }
  /** Without an input for its version, the action only caches. */
  needsVersion?: true
  /** Files that say the version, if CI has no such step. */
  files?: readonly VersionFile[]
  /** Commands that need it, if no workflow and no file names it: hosted runners lack the program. */
  starts?: RegExp
  /** What says its version on a machine. */
  program: readonly [string, ...string[]]
  /** Lines of other set-up that this step makes unnecessary. */
  replaces?: RegExp
}

const ruby = versionAfter(/^ruby\s+["'](?:~>|>=)?\s*(\d+(?:\.\d+)*)["']/m)
const asdfJava = toolVersions('version', 'java')
const miseJava = miseFiles('version', 'java')
const sdkmanJava = versionAfter(/^java\s*=\s*(\S+)/m)
const withVendor = (file: VersionFile): VersionFile => ({
  ...file,
  read: javaVersion(file.read),
  more: javaVendor(file.read),
})

export const TOOL_ACTIONS: readonly ToolAction[] = [
  {
    action: 'jdx/mise-action',
    commit: '3c2e0cf82a5b2e5249f0d3635a4d83d0ae861518',
    tag: 'v4.2.5',
    version: 'version',
    inputs: ['install', 'install_args', 'experimental', 'working_directory'],
    uncached: { inputs: { cache: 'false' }, since: 1 },
    starts: /(?:^|&& )mise /,
    program: ['mise', '--version'],
  },
  {
    action: 'pnpm/action-setup',
    commit: 'fe02b34f77f8bc703788d5817da081398fad5dd2',
    tag: 'v4.0.0',
    version: 'version',
    inputs: ['package_json_file'],
    files: miseFiles('version', 'pnpm'),
    program: ['pnpm', '--version'],
    replaces: /^npm install --global pnpm@|^corepack enable$/,
  },
  {
    action: 'actions/setup-node',
    commit: '820762786026740c76f36085b0efc47a31fe5020',
    tag: 'v7.0.0',
    version: 'node-version',
    file: 'node-version-file',
    uncached: { inputs: { 'package-manager-cache': 'false' }, since: 5 },
    files: [
      { path: '.nvmrc', read: plainVersion, as: 'file' },
      { path: '.node-version', read: plainVersion, as: 'file' },
      toolVersions('file', 'nodejs', 'node'),
      ...miseFiles('version', 'node', 'nodejs'),
      { path: 'package.json', read: nodeOfManifest, as: 'file' },
    ],
    program: ['node', '--version'],
  },
  {
    action: 'actions/setup-python',
    commit: '5fda3b95a4ea91299a34e894583c3862153e4b97',
    tag: 'v7.0.0',
    version: 'python-version',
    file: 'python-version-file',
    files: [
      { path: '.python-version', read: plainVersion, as: 'file' },
      toolVersions('file', 'python'),
      ...miseFiles('version', 'python'),
    ],
    program: ['python3', '--version'],
  },
  {
    action: 'pdm-project/setup-pdm',
    commit: '94a823180e06fcde4ad29308721954a521c96ed0',
    tag: 'v4.4',
    version: 'python-version',
    file: 'python-version-file',
    inputs: ['version'],
    program: ['python3', '--version'],
    replaces: /^pipx install pdm\b/,
  },
  {
    action: 'actions/setup-go',
    commit: 'b7ad1dad31e06c5925ef5d2fc7ad053ef454303e',
    tag: 'v7.0.0',
    version: 'go-version',
    file: 'go-version-file',
    uncached: { inputs: { cache: 'false' }, since: 2 },
    files: [
      { path: 'go.mod', read: goVersion, as: 'file' },
      { path: 'go.work', read: goVersion, as: 'file' },
      { path: '.go-version', read: plainVersion, as: 'file' },
      toolVersions('file', 'golang', 'go'),
      ...miseFiles('version', 'go', 'golang'),
    ],
    program: ['go', 'version'],
  },
  {
    action: 'actions/setup-java',
    commit: 'b6effb05e454b25005698d916606bdc6ffcbf961',
    tag: 'v5.7.0',
    version: 'java-version',
    file: 'java-version-file',
    inputs: ['distribution'],
    defaults: { distribution: 'temurin' },
    files: [
      { path: '.java-version', read: javaVersion(plainVersion), as: 'file', more: javaVendor(plainVersion) },
      { path: '.sdkmanrc', read: javaVersion(sdkmanJava), as: 'version', more: javaVendor(sdkmanJava) },
      withVendor(asdfJava),
      ...miseJava.map(withVendor),
    ],
    program: ['java', '--version'],
  },
  {
    action: 'gradle/actions/setup-gradle',
    commit: '9c971963bec38e04b3d30dcc455b5382be2fdbfb',
    tag: 'v6.3.0',
    version: 'gradle-version',
    uncached: { inputs: { 'cache-disabled': 'true' }, since: 3 },
    needsVersion: true,
    files: [toolVersions('version', 'gradle'), ...miseFiles('version', 'gradle')],
    program: ['gradle', '--version'],
  },
  {
    action: 'astral-sh/setup-uv',
    commit: '20cfd1bf945f4377ade1205e4dbc17946fc9a30d',
    tag: 'v10.0.1',
    version: 'version',
    inputs: ['python-version'],
    uncached: { inputs: { 'enable-cache': 'false' }, since: 1 },
    files: [toolVersions('version', 'uv'), ...miseFiles('version', 'uv')],
    program: ['uv', '--version'],
    replaces: /^pipx install uv\b/,
  },
  {
    action: 'ruby/setup-ruby',
    commit: '0dafeac902942906541bc140009cdbf32665b601',
    tag: 'v1.315.0',
    version: 'ruby-version',
    inputs: ['bundler'],
    files: [
      { path: '.ruby-version', read: plainVersion, as: 'itself' },
      toolVersions('itself', 'ruby'),
      ...miseFiles('itself', 'ruby').filter(({ path }) => path === 'mise.toml'),
      { path: 'Gemfile', read: ruby, as: 'version' },
    ],
    program: ['ruby', '--version'],
  },
  {
    action: 'shivammathur/setup-php',
    commit: 'f3e473d116dcccaddc5834248c87452386958240',
    tag: 'v2',
    version: 'php-version',
    file: 'php-version-file',
    inputs: ['extensions', 'tools', 'coverage'],
    files: [
      { path: '.php-version', read: plainVersion, as: 'itself' },
      toolVersions('version', 'php'),
      ...miseFiles('version', 'php'),
      { path: 'composer.json', read: phpOfManifest, as: 'version' },
    ],
    program: ['php', '--version'],
  },
  {
    action: 'erlef/setup-beam',
    commit: '54075bcc5e249e4758d363f27d099f55d843f124',
    tag: 'v1.24.1',
    version: 'elixir-version',
    file: 'version-file',
    inputs: ['otp-version', 'gleam-version', 'rebar3-version', 'version-type'],
    files: [toolVersions('file', 'elixir'), ...miseFiles('file', 'elixir')].map((file) => ({
      ...file,
      more: () => ({ 'version-type': 'strict' }),
    })),
    program: ['elixir', '--short-version'],
  },
  {
    action: 'actions/setup-dotnet',
    commit: 'a98b56852c35b8e3190ac28c8c2271da59106c68',
    tag: 'v6.0.0',
    version: 'dotnet-version',
    file: 'global-json-file',
    files: [
      { path: 'global.json', read: versionAfter(/"sdk"\s*:\s*\{[^}]*"version"\s*:\s*"([^"]+)"/), as: 'file' },
    ],
    program: ['dotnet', '--version'],
  },
  {
    action: 'oven-sh/setup-bun',
    commit: '0c5077e51419868618aeaa5fe8019c62421857d6',
    tag: 'v2.2.0',
    version: 'bun-version',
    file: 'bun-version-file',
    uncached: { inputs: { 'no-cache': 'true' }, since: 2 },
    files: [
      { path: '.bun-version', read: plainVersion, as: 'file' },
      toolVersions('file', 'bun'),
      ...miseFiles('version', 'bun'),
    ],
    program: ['bun', '--version'],
    replaces: /^npm install --global bun@/,
  },
  {
    action: 'denoland/setup-deno',
    commit: '667a34cdef165d8d2b2e98dde39547c9daac7282',
    tag: 'v2.0.4',
    version: 'deno-version',
    file: 'deno-version-file',
    files: [
      { path: '.dvmrc', read: plainVersion, as: 'file' },
      toolVersions('file', 'deno'),
      ...miseFiles('version', 'deno'),
    ],
    starts: /(?:^|&& )deno /,
    program: ['deno', '--version'],
  },
  {
    action: 'swift-actions/setup-swift',
    commit: '7ca6abe6b3b0e8b5421b88be48feee39cbf52c6a',
    tag: 'v2.4.0',
    version: 'swift-version',
    files: [
      { path: '.swift-version', read: plainVersion, as: 'version' },
      toolVersions('version', 'swift'),
      ...miseFiles('version', 'swift'),
    ],
    program: ['swift', '--version'],
  },
]

/** The line `go` of go.mod and go.work: newer versions are good as well. */
function goVersion(text: string): string | null {
  const version = /^go (\d+(?:\.\d+)*)/m.exec(text)?.[1]
  return version === undefined ? null : `>=${version}`
}
