// Node.js: scripts of package.json, by the package manager whose lock file is there.
import { asObject, type Json, jsonObject } from '../../engine/model/json.ts'
import { type Ecosystem, type Folder, firstOf, gatesFrom, hasPath } from './project.ts'

/** Command lines of a package manager; `NAME` stands for a script's name. */
type Manager = {
  lock: readonly string[]
  install: string
  /** Without a lock file, and without making one: it would be part of the first story. */
  installFresh: string
  script: string
  /** A script of all members of a workspace that have it. */
  everywhere: string
  /** Before a program that the project has installed. */
  binary: string
  /** `VERSION` stands for its own. */
  setup?: string
}

const MANAGERS: Readonly<Record<string, Manager>> = {
  pnpm: {
    lock: ['pnpm-lock.yaml'],
    install: 'pnpm install --frozen-lockfile',
    installFresh: 'pnpm install --no-lockfile',
    script: 'pnpm run NAME',
    everywhere: 'pnpm --recursive run NAME',
    binary: 'pnpm exec',
    setup: 'npm install --global pnpm@VERSION',
  },
  yarn: {
    lock: ['yarn.lock'],
    install: 'yarn install --frozen-lockfile',
    installFresh: 'yarn install --no-lockfile',
    script: 'yarn run NAME',
    everywhere: 'yarn workspaces run NAME',
    binary: 'yarn run',
  },
  bun: {
    lock: ['bun.lock', 'bun.lockb'],
    install: 'bun install --frozen-lockfile',
    installFresh: 'bun install --no-save',
    script: 'bun run NAME',
    everywhere: "bun run --filter '*' NAME",
    binary: 'bunx',
    setup: 'npm install --global bun@VERSION',
  },
  npm: {
    lock: ['package-lock.json', 'npm-shrinkwrap.json'],
    install: 'npm ci',
    installFresh: 'npm install --no-package-lock',
    script: 'npm run NAME',
    everywhere: 'npm run NAME --workspaces --if-present',
    binary: 'npx --no-install',
  },
}
const BERRY: Partial<Manager> = {
  install: 'yarn install --immutable',
  everywhere: 'yarn workspaces foreach --all run NAME',
  setup: 'corepack enable',
}

/** A gate and the names that its script has in the wild, the usual one first. */
const SCRIPTS = {
  format: ['format:check', 'check:format', 'format-check', 'fmt:check', 'prettier:check', 'check-format'],
  typecheck: ['typecheck', 'type-check', 'check-types', 'check:types', 'types', 'tsc'],
  lint: ['lint', 'lint:check', 'check:lint'],
  test: ['test', 'test:ci', 'test:unit'],
  build: ['build'],
}
/** Scripts that never end, and the placeholder of `npm init`. */
const UNUSABLE = /--watch(?!\s*=?\s*false)|\bwatch\b|no test specified/
/** What `node --test` runs by itself (https://nodejs.org/api/test.html#running-tests-from-the-command-line). */
const TEST_FILE = /[._-]test\.[cm]?js$|(?:^|\/)test\/.*\.[cm]?js$/

export const node: Ecosystem = {
  marks: ['package.json'],
  independent: ['typecheck', 'lint', 'test'],
  propose(folder) {
    const pack = jsonObject(folder.text('package.json')) ?? {}
    const { name, version } = managerOf(folder, pack)
    const manager = manage(folder, name, version)
    const isWorkspace = pack.workspaces !== undefined || folder.has('pnpm-workspace.yaml')
    const scripts = textsIn(pack)
    const scriptNames = Object.keys(scripts)
    const members = isWorkspace ? memberScripts(folder) : []
    const isTyped = folder.has('tsconfig.json') || hasPath(folder, /\.tsx?$/)
    const run = (script: string): string => {
      const line = script === 'test' && name === 'npm' ? 'npm test' : manager.script.replace('NAME', script)
      return name === 'npm' ? withoutAudit(line, script, scripts) : line
    }
    const gate = (names: readonly string[]): string | null => {
      const script = names.find((one) => scriptNames.includes(one))
      if (script !== undefined) return run(script)
      const shared = names.find((one) => members.includes(one))
      return shared === undefined ? null : manager.everywhere.replace('NAME', shared)
    }
    const lists = ['dependencies', 'devDependencies', 'workspaces']
    const installFresh = lists.some((key) => pack[key] !== undefined) ? manager.installFresh : null
    const build = gate(SCRIPTS.build)
    const test = gate(SCRIPTS.test) ?? builtInTest(folder, name)
    const typecheck = gate(SCRIPTS.typecheck)
    // A script that runs what the other one writes comes after it.
    const needsBuild = build !== null && runsBuild(folder, scripts)
    return {
      language: isTyped ? 'TypeScript' : 'JavaScript',
      manager: name,
      prepare: firstOf(folder, manager.lock) === null ? installFresh : manager.install,
      prepareInstead: firstOf(folder, manager.lock) === null ? [] : [manager.installFresh],
      setup: manager.setup?.replace('VERSION', version) ?? null,
      gates: gatesFrom({
        format: gate(SCRIPTS.format),
        typecheck: typecheck ?? compiler(folder, pack, manager),
        lint: gate(SCRIPTS.lint),
        ...(needsBuild ? { build, test } : { test, build }),
      }),
      ...(needsBuild ? { needs: { test: ['build'] } } : {}),
      ...(typecheck === null ? { guesses: ['typecheck'] } : {}),
      alternatives: { test: partsOfTest(scripts, run, manager) },
      isWorkspace,
    }
  },
}

/** By `packageManager`, else by the lock file, else npm. */
function managerOf(folder: Folder, pack: Json): { name: string; version: string } {
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

function textsIn(pack: Json): Record<string, string> {
  const usable = Object.entries(asObject(pack.scripts) ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && !UNUSABLE.test(entry[1]),
  )
  return Object.fromEntries(usable)
}

/** Audits ask a registry for advisories: they become red without a change of the code. */
const AUDIT = /\b(?:aud|audit|audit-ci|snyk)\b/

/** npm runs `pretest` and `posttest` with `test`. If one of them asks for advisories, only the script is run. */
function withoutAudit(line: string, script: string, scripts: Readonly<Record<string, string>>): string {
  const [before, after] = [`pre${script}`, `post${script}`].map((name) => scripts[name] ?? '')
  if (!AUDIT.test(`${before} ${after}`)) return line
  const isNeeded = before !== '' && !AUDIT.test(before ?? '') && !LINT.test(before ?? '')
  return `${isNeeded ? `npm run pre${script} && ` : ''}${line} --ignore-scripts`
}

/** Linters are their own gate. */
const LINT = /^npm run (?:lint|-s lint|--silent lint)$/
/** Runners of tests that a script of several commands may name, and a file of tests that is a program. */
const RUNNER = /^(?:c8 |nyc )?(?:tap|tape|mocha|jest|vitest|ava|borp|uvu|jasmine|node --test)\b/
const TEST_PROGRAM = /^node (?:-\S+ )*[\w./-]*test[\w./-]*$/
const PLAIN_WORDS = /^[\w ./*'"{},=:@-]*$/
/** Formatters of test output, behind a pipe: the exit code is that of the formatter, and it may be missing. */
const FORMATTER = /\s*\|\s*[\w-]+(?: --?[\w-]+)*$/

/** Alternatives if `test` runs more than tests: only the tests, by their own script or as `test` calls them. */
function partsOfTest(
  scripts: Readonly<Record<string, string>>,
  run: (script: string) => string,
  { binary }: Manager,
): string[] {
  const parts = (scripts.test ?? '').split('&&').map((part) => part.trim().replace(FORMATTER, ''))
  const called = parts.flatMap(
    (part) => /^(?:npm|yarn|pnpm|bun) run (?:-s )?([\w:.-]+)$/.exec(part)?.[1] ?? [],
  )
  const named = [...OTHER_TESTS, ...called.filter((name) => TEST_SCRIPT.test(name))]
  const own = [...new Set(named)].filter((name) => name in scripts).map(run)
  const lines = parts.length > 1 || FORMATTER.test(scripts.test ?? '') ? parts : []
  const runners = lines
    .filter((part) => PLAIN_WORDS.test(part))
    .flatMap((part) => {
      if (TEST_PROGRAM.test(part) || part.startsWith('node --test')) return [part]
      return RUNNER.test(part) ? [`${binary} ${part}`] : []
    })
  return [...own, ...runners]
}

const OTHER_TESTS = ['tests-only', 'test:unit', 'unit', 'test:node', 'test:js', 'test:src', 'mocha', 'jest']
/** Scripts for tests of what the code does. */
const TEST_SCRIPT = /^(?!.*(?:lint|types?|tsd|format|audit|size)).*(?:test|spec|unit|mocha|jest|tap)/

/** Scripts of the members, which are taken to be the projects below. */
function memberScripts(folder: Folder): string[] {
  const members = folder.paths.filter((path) => /^(?:[^/]+\/){1,3}package\.json$/.test(path))
  return members.flatMap((path) => Object.keys(textsIn(jsonObject(folder.text(path)) ?? {})))
}

/** The compiler that the project has installed, if no script runs it. */
function compiler(folder: Folder, pack: Json, manager: Manager): string | null {
  const isInstalled = ['dependencies', 'devDependencies'].some(
    (key) => 'typescript' in (asObject(pack[key]) ?? {}),
  )
  return isInstalled && folder.has('tsconfig.json') ? `${manager.binary} tsc --noEmit` : null
}

const BUILT = /^["']?(?:\.\/)?(dist|build|lib|out)\/\S/
const BUILDS = /\b(?:build|compile|tsc)\b(?!\/)/

/** Whether `test` runs what only another script makes: files of a folder that git does not have. */
function runsBuild({ paths }: Folder, scripts: Readonly<Record<string, string>>): boolean {
  const name = SCRIPTS.test.find((one) => one in scripts) ?? ''
  if (BUILDS.test(`${scripts[`pre${name}`] ?? ''} ${scripts[name] ?? ''}`)) return false
  const runners = (scripts[name] ?? '').split('&&').map((part) => part.trim().split(/\s+/))
  return runners.some(([program = '', ...words]) => {
    if (program !== 'node' && !RUNNER.test(program)) return false
    // The value of a flag may as well be what is left out.
    const named = words.filter((_, at) => /^(?!-)|^--test$/.test(words[at - 1] ?? ''))
    const folders = named.flatMap((word) => BUILT.exec(word)?.[1] ?? [])
    return folders.some((folder) => !paths.some((path) => path.startsWith(`${folder}/`)))
  })
}

function builtInTest(folder: Folder, manager: string): string | null {
  if (manager === 'bun' && hasPath(folder, /[._-]test\.[cm]?[jt]sx?$/)) return 'bun test'
  return hasPath(folder, TEST_FILE) ? 'node --test' : null
}
