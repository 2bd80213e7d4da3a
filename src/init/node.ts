// Node.js: scripts of package.json, by the package manager whose lock file is there.
import { type Ecosystem, type Folder, firstOf, gatesFrom, hasLike } from './project.ts'

type Manager = {
  lock: readonly string[]
  install: string
  /** Without a lock file, and without making one: it would be part of the first story. */
  installFresh: string
  script(name: string): string
  /** A script of all members of a workspace that have it. */
  everywhere(name: string): string
  binary(command: string): string
  setup(version: string): string | null
}

const MANAGERS: Readonly<Record<string, Manager>> = {
  pnpm: {
    lock: ['pnpm-lock.yaml'],
    install: 'pnpm install --frozen-lockfile',
    installFresh: 'pnpm install --no-lockfile',
    script: (name) => `pnpm run ${name}`,
    everywhere: (name) => `pnpm --recursive run ${name}`,
    binary: (command) => `pnpm exec ${command}`,
    setup: (version) => `npm install --global pnpm@${version}`,
  },
  yarn: {
    lock: ['yarn.lock'],
    install: 'yarn install --frozen-lockfile',
    installFresh: 'yarn install --no-lockfile',
    script: (name) => `yarn run ${name}`,
    everywhere: (name) => `yarn workspaces run ${name}`,
    binary: (command) => `yarn run ${command}`,
    setup: () => null,
  },
  bun: {
    lock: ['bun.lock', 'bun.lockb'],
    install: 'bun install --frozen-lockfile',
    installFresh: 'bun install --no-save',
    script: (name) => `bun run ${name}`,
    everywhere: (name) => `bun run --filter '*' ${name}`,
    binary: (command) => `bunx ${command}`,
    setup: (version) => `npm install --global bun@${version}`,
  },
  npm: {
    lock: ['package-lock.json', 'npm-shrinkwrap.json'],
    install: 'npm ci',
    installFresh: 'npm install --no-package-lock',
    script: (name) => (name === 'test' ? 'npm test' : `npm run ${name}`),
    everywhere: (name) => `npm run ${name} --workspaces --if-present`,
    binary: (command) => `npx --no-install ${command}`,
    setup: () => null,
  },
}
const BERRY: Partial<Manager> = {
  install: 'yarn install --immutable',
  everywhere: (name) => `yarn workspaces foreach --all run ${name}`,
  setup: () => 'corepack enable',
}

/** A gate and the names that its script has in the wild, the usual one first. */
const SCRIPTS = {
  typecheck: ['typecheck', 'type-check', 'check-types', 'check:types', 'types', 'tsc'],
  lint: ['lint', 'lint:check', 'check:lint'],
  test: ['test', 'test:ci', 'test:unit'],
  build: ['build'],
}
/** What never ends, and what `npm init` writes. */
const UNUSABLE = /--watch(?!\s*=?\s*false)|\bwatch\b|no test specified/
/** What `node --test` runs by itself (https://nodejs.org/api/test.html#running-tests-from-the-command-line). */
const TEST_FILE = /[._-]test\.[cm]?js$|(?:^|\/)test\/.*\.[cm]?js$/

export const node: Ecosystem = {
  name: 'Node.js',
  marks: ['package.json'],
  propose(folder) {
    const pack = object(folder.text('package.json'))
    const { name, version } = managerOf(folder, pack)
    const manager = manage(folder, name, version)
    const isWorkspace = pack.workspaces !== undefined || folder.has('pnpm-workspace.yaml')
    const own = scriptsIn(pack)
    const members = isWorkspace ? memberScripts(folder) : []
    const isTyped = folder.has('tsconfig.json') || hasLike(folder, /\.tsx?$/)
    const gate = (names: readonly string[]): string | null => {
      const script = names.find((one) => own.includes(one))
      if (script !== undefined) return manager.script(script)
      const shared = names.find((one) => members.includes(one))
      return shared === undefined ? null : manager.everywhere(shared)
    }
    const hasDependencies = ['dependencies', 'devDependencies', 'workspaces'].some(
      (key) => pack[key] !== undefined,
    )
    const hasLock = firstOf(folder, manager.lock) !== null
    return {
      language: isTyped ? 'TypeScript' : 'JavaScript',
      manager: name,
      prepare: hasLock ? manager.install : hasDependencies ? manager.installFresh : null,
      setup: manager.setup(version),
      gates: gatesFrom({
        typecheck: gate(SCRIPTS.typecheck) ?? compiler(folder, pack, manager),
        lint: gate(SCRIPTS.lint),
        test: gate(SCRIPTS.test) ?? builtInTest(folder, name),
        build: gate(SCRIPTS.build),
      }),
      isWorkspace,
    }
  },
}

type Pack = Readonly<Record<string, unknown>>

/** By `packageManager`, else by the lock file, else npm. */
function managerOf(folder: Folder, pack: Pack): { name: string; version: string } {
  const [, named = '', version = ''] = /^(\w+)@([\w.+-]+)/.exec(String(pack.packageManager ?? '')) ?? []
  if (Object.hasOwn(MANAGERS, named)) return { name: named, version: version.replace(/\+.*/, '') }
  const locked = Object.entries(MANAGERS).find(([, { lock }]) => firstOf(folder, lock) !== null)
  return { name: locked?.[0] ?? (folder.has('pnpm-workspace.yaml') ? 'pnpm' : 'npm'), version: 'latest' }
}

function manage(folder: Folder, name: string, version: string): Manager {
  const manager = MANAGERS[name] ?? (MANAGERS.npm as Manager)
  const isBerry = name === 'yarn' && (folder.has('.yarnrc.yml') || /^[2-9]/.test(version))
  return isBerry ? { ...manager, ...BERRY } : manager
}

function scriptsIn(pack: Pack): string[] {
  return Object.entries(objectOf(pack.scripts)).flatMap(([name, script]) =>
    typeof script === 'string' && !UNUSABLE.test(script) ? [name] : [],
  )
}

/** Scripts of the members, which are taken to be the projects below. */
function memberScripts(folder: Folder): string[] {
  const members = folder.paths.filter((path) => /^(?:[^/]+\/){1,3}package\.json$/.test(path))
  return members.flatMap((path) => scriptsIn(object(folder.text(path))))
}

/** The compiler that the project has installed, where no script runs it. */
function compiler(folder: Folder, pack: Pack, manager: Manager): string | null {
  const isInstalled = ['dependencies', 'devDependencies'].some((key) => 'typescript' in objectOf(pack[key]))
  return isInstalled && folder.has('tsconfig.json') ? manager.binary('tsc --noEmit') : null
}

function builtInTest(folder: Folder, manager: string): string | null {
  if (manager === 'bun' && hasLike(folder, /[._-]test\.[cm]?[jt]sx?$/)) return 'bun test'
  return hasLike(folder, TEST_FILE) ? 'node --test' : null
}

function object(text: string): Pack {
  try {
    return objectOf(JSON.parse(text))
  } catch {
    return {}
  }
}

function objectOf(value: unknown): Pack {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}
