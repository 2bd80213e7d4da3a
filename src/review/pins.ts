// Changes to what a gate is made of: the scripts that its command names, and the configuration of the tools it runs.
//
// Gate commands come from the trusted side, but `npm test` is what package.json says it is. Such a change may well be
// wanted; it is shown, and refused only by `protected-paths`.

import { type Lookup, MOST_NAMES, type Reached, reachedBy } from './gate-commands.ts'
import {
  isMakefile,
  joined,
  type Make,
  type Makefile,
  makefileChanges,
  readMakefile,
  targetTexts,
  type Used,
  usedVariables,
} from './makefile.ts'
import { iniSettings, type Setting, tomlSettings } from './sections.ts'

/** `before` and `after` are null where there is no such file. Files that did not change help to look up names. */
export type PinnedFile = { path: string; before: string | null; after: string | null }

/** A change of `path` to the definition of the gate with that command. `text` is one bounded line, not trusted. */
export type Pin = { path: string; gate: string; text: string }

const MAX_PINS = 100

/** Whether the text of a file with that name says more than that it changed; for others any two texts will do. */
export function isReadForPins(path: string): boolean {
  const name = baseName(path)
  return (
    name === 'package.json' ||
    isMakefile(path) ||
    !name.slice(1).includes('.') ||
    /\.(?:ba|z)?sh$/.test(name) ||
    configsOf(path).length > 0
  )
}

/**
 * The changes, at most 100, to what the gates' commands run: package.json scripts (with `pre` and `post`, and those
 * that they call), Makefile targets, scripts named in the commands, and test, lint and type configuration. A gate
 * that leads to a script which is not among the files may use any tool of its kind.
 */
export function changedGateDefinitions(files: PinnedFile[], gateCommands: string[]): Pin[] {
  const relevant = files.filter((file) => !/(?:^|\/)node_modules\//.test(file.path))
  const makes = readMakefiles(relevant)
  const sources = readSources(relevant, makes)
  const lookup: Lookup = (kind, name) => sources[kind](name)
  const pins: Pin[] = []
  const changed = relevant.filter((file) => file.before !== file.after)
  const settings = new Map(changed.map((file) => [file, changedConfigsOf(file)]))
  const gates = gateCommands.map((gate) => {
    const reached = reachedBy(gate, lookup)
    return { gate, reached, used: usedVariables(makes.sides, reached.targets) }
  })
  // What stood before comes first: any number of new files must not hide what became of it.
  for (const isNew of [false, true]) {
    for (const { gate, reached, used } of gates) {
      for (const file of changed.filter((it) => (it.before === null) === isNew)) {
        if (pins.length >= MAX_PINS) return pins.slice(0, MAX_PINS)
        const texts = isMakefile(file.path)
          ? changesOfMake(file, makes, reached, used)
          : changesIn(file, settings.get(file) ?? [], gate, reached)
        for (const text of texts) pins.push({ path: file.path, gate, text: oneLine(text) })
      }
    }
  }
  return pins.slice(0, MAX_PINS)
}

/** Names of scripts that the gates lead to and that are not among the files, whether they are there or not. */
export function namedElsewhere(files: PinnedFile[], gateCommands: string[]): string[] {
  const sources = readSources(files, readMakefiles(files))
  const known = new Set(files.flatMap((file) => namesOf(file.path)))
  const named = gateCommands.flatMap((gate) => {
    const { files: run, read } = reachedBy(gate, (kind, name) => sources[kind](name))
    return [...run, ...read]
  })
  return [...new Set(named)].filter((name) => !known.has(name))
}

function changesIn(file: PinnedFile, settings: Config[], gate: string, reached: Reached): string[] {
  const name = baseName(file.path).toLowerCase()
  const names = namesOf(file.path)
  // What counts of a file for many things is said where its settings are.
  const isPart =
    name === 'package.json' ||
    configsOf(file.path).some((it) => it.only !== undefined || it.lines !== undefined)
  // `-r ./test/setup` is setup.js, while `--import tsx` is no file.
  const isRead = names
    .filter((it) => it.includes('/') || it === file.path)
    .some((it) => reached.read.has(it.replace(/\.[cm]?[jt]sx?$/, '')))
  const isNamed = isRead || names.some((it) => reached.read.has(it))
  if (names.some((it) => reached.files.has(it)))
    return [`${baseName(file.path)}, which the gate runs, was ${whatHappened(file)}`]
  if (isNamed && !isPart) return [`${baseName(file.path)} was ${whatHappened(file)}`]
  if (name === 'package.json') return packageChanges(file, gate, reached)
  return configChanges(file, settings, gate, reached)
}

// ---------------------------------------------------------------- looking up names

type Sources = Record<'scripts' | 'targets' | 'files', (name: string) => string[]>

function readSources(files: PinnedFile[], makes: Makefiles): Sources {
  const texts = (file: PinnedFile): string[] =>
    [file.before, file.after].filter((it): it is string => it !== null)
  const packages = files
    .filter((it) => baseName(it.path) === 'package.json')
    .flatMap(texts)
    .map(readPackage)
  const byName = new Map<string, PinnedFile[]>()
  for (const file of files) {
    for (const name of namesOf(file.path)) {
      const own = byName.get(name)
      if (own === undefined) byName.set(name, [file])
      else own.push(file)
    }
  }
  return {
    scripts: (name) => {
      const fits = nameMatcher(name)
      return packages.flatMap((it) => [...it.scripts].filter(([key]) => fits(key)).map(([, text]) => text))
    },
    targets: (name) => makes.sides.flatMap((it) => targetTexts(it, name)),
    files: (name) =>
      (byName.get(name) ?? []).flatMap((file) =>
        isMakefile(file.path)
          ? (makes.read.get(file) ?? []).map((it) => `include ${it?.includes.join(' ') ?? ''}`)
          : texts(file).map((text) => (isShell(name, text) ? text : '')),
      ),
  }
}

/** Only shell scripts are read on: other languages name what they run in other ways. */
function isShell(name: string, text: string): boolean {
  return /\.(?:ba|z)?sh$/.test(name) || /^#!.*\b(?:ba|z|da|k)?sh\b/.test(text.slice(0, 200))
}

/** How a command may name the file: from the root or from any folder; only a folder or a dot then says enough. */
function namesOf(path: string): string[] {
  const names = [path]
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    const rest = path.slice(at + 1)
    if (/[/.]/.test(rest)) names.push(rest)
  }
  return names
}

/** `test:*` is how npm-run-all names several scripts. */
function nameMatcher(name: string): (key: string) => boolean {
  if (!name.includes('*')) return (key) => key === name
  const [start = '', end = ''] = [name.slice(0, name.indexOf('*')), name.slice(name.lastIndexOf('*') + 1)]
  return (key) => key.startsWith(start) && key.endsWith(end) && key.length >= start.length + end.length
}

// ---------------------------------------------------------------- makefiles

/** Each as it was and as it is, and all of them together. */
type Makefiles = { read: Map<PinnedFile, [Makefile | null, Makefile | null]>; sides: [Make, Make] }

function readMakefiles(files: PinnedFile[]): Makefiles {
  const own = files.filter((it) => isMakefile(it.path))
  const read = new Map(
    own.map((it) => {
      const before = it.before === null ? null : readMakefile(it.before)
      const after = it.after === it.before ? before : it.after === null ? null : readMakefile(it.after)
      return [it, [before, after] as [Makefile | null, Makefile | null]]
    }),
  )
  const side = (index: 0 | 1): Make => {
    const [main, included] = [false, true].map((isIncluded) =>
      own
        .filter((it) => it.path.endsWith('.mk') === isIncluded)
        .map((it) => read.get(it)?.[index])
        .filter((it): it is Makefile => it !== null && it !== undefined),
    )
    return joined(main ?? [], included ?? [])
  }
  return { read, sides: [side(0), side(1)] }
}

function changesOfMake(file: PinnedFile, makes: Makefiles, reached: Reached, used: Used): string[] {
  const [before, after] = makes.read.get(file) ?? []
  if (reached.targets.size === 0) return []
  const none = readMakefile('')
  const isEvery = reached.targets.size >= MOST_NAMES
  return makefileChanges(before ?? none, after ?? none, makes.sides, reached.targets, isEvery, used)
}

// ---------------------------------------------------------------- package.json

type Package = { scripts: Map<string, string>; own: Map<string, string> }

/** Settings of tools in package.json, and the tools that read them. */
const PACKAGE_KEYS: Record<string, RegExp> = {
  jest: /^(?:jest|react-scripts)$/,
  mocha: /^mocha$/,
  ava: /^ava$/,
  tap: /^tap$/,
  c8: /^c8$/,
  nyc: /^nyc$/,
  eslintConfig: /^(?:eslint|react-scripts|next)$/,
  eslintIgnore: /^eslint$/,
  xo: /^xo$/,
  standard: /^standard$/,
  prettier: /^prettier$/,
  stylelint: /^stylelint$/,
  vitest: /^vitest$/,
  babel: /^(?:jest|react-scripts)$/,
  packageManager: /^(?:pnpm|yarn|corepack)$/,
  workspaces: /^(?:workspaces|turbo|lerna|nx)$/,
  wireit: /^(?:npm|pnpm|yarn|wireit)$/,
}

function readPackage(text: string): Package {
  const empty: Package = { scripts: new Map(), own: new Map() }
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return empty
  }
  if (typeof json !== 'object' || json === null) return empty
  const entries = Object.entries(json)
  const scripts = entries.find(([key]) => key === 'scripts')?.[1]
  const pairs: [string, unknown][] =
    typeof scripts === 'object' && scripts !== null ? Object.entries(scripts) : []
  return {
    scripts: new Map(pairs.filter((pair): pair is [string, string] => typeof pair[1] === 'string')),
    own: new Map(
      entries
        .filter(([key]) => Object.hasOwn(PACKAGE_KEYS, key))
        .map(([key, value]) => [key, JSON.stringify(value)]),
    ),
  }
}

function packageChanges(file: PinnedFile, gate: string, reached: Reached): string[] {
  const before = readPackage(file.before ?? '{}')
  const after = readPackage(file.after ?? '{}')
  const changes: string[] = []
  const matchers = [...reached.scripts].map(nameMatcher)
  for (const key of new Set([...before.scripts.keys(), ...after.scripts.keys()])) {
    const [old, now] = [before.scripts.get(key), after.scripts.get(key)]
    if (old !== now && matchers.some((fits) => fits(key)))
      changes.push(`scripts.${key}: ${said(old)} -> ${said(now)}`)
  }
  for (const [key, tools] of Object.entries(PACKAGE_KEYS)) {
    if (before.own.get(key) === after.own.get(key)) continue
    if (key === 'workspaces' && !hasLost(before.own.get(key), after.own.get(key))) continue
    if (uses(reached, tools) || mayUse(gate, reached, kindOfKey(key)))
      changes.push(`"${key}" was ${happened(before.own.get(key), after.own.get(key))}`)
  }
  return changes
}

/** A package more is tested with the others; fewer, or one that is taken out, are not. */
function hasLost(old: string | undefined, now: string | undefined): boolean {
  const [before, after] = [old, now].map((it) => new Set(it?.match(/"(?:\\.|[^"\\])*"/g)))
  const hasAll = [...(before ?? [])].every((it) => after?.has(it))
  return !hasAll || [...(after ?? [])].some((it) => it.startsWith('"!') && !before?.has(it))
}

function kindOfKey(key: string): Kind {
  return /^(?:eslint|xo|standard|prettier|stylelint)/.test(key) ? 'lint' : 'test'
}

function said(text: string | undefined): string {
  if (text === undefined) return 'nothing'
  return JSON.stringify(text.length > 120 ? `${text.slice(0, 117)}...` : text)
}

// ---------------------------------------------------------------- configuration of tools

type Kind = 'test' | 'lint' | 'types'

/** `only`: the settings that count in a file that holds other things too; `lines`: the lines that do. */
type Config = { files: RegExp; tools: RegExp; kind: Kind; only?: RegExp; lines?: RegExp }

const PYTHON_TESTS = /^(?:pytest|py\.test|tox|nox|coverage|unittest|nose2?|trial|hatch|behave)$/
const PYTHON_LINTS = /^(?:ruff|flake8|pylint|black|isort|bandit|pydocstyle|pre-commit)$/
const PYTHON_TYPES = /^(?:mypy|dmypy|pyright|basedpyright|pyre|ty)$/

/** Matched against the path in lower case. */
const CONFIGS: Config[] = [
  {
    files:
      /(?:^|\/)vitest[.-](?:config|workspace|setup|shims|global)[\w.-]*$|(?:^|\/)vite\.config\.[cm]?[jt]s$/,
    tools: /^vitest$/,
    kind: 'test',
  },
  {
    files: /(?:^|\/)jest[\w-]*\.(?:config|setup|preset)[\w.-]*$|(?:^|\/)jest[.-]setup[\w.-]*$/,
    tools: /^(?:jest|react-scripts)$/,
    kind: 'test',
  },
  { files: /(?:^|\/)playwright[\w.-]*\.config\.[cm]?[jt]s$/, tools: /^playwright$/, kind: 'test' },
  { files: /(?:^|\/)cypress\.(?:config\.[cm]?[jt]s|json)$/, tools: /^cypress$/, kind: 'test' },
  { files: /(?:^|\/)\.mocharc[\w.]*$|(?:^|\/)mocha\.opts$/, tools: /^_?mocha$/, kind: 'test' },
  { files: /(?:^|\/)ava\.config\.[cm]?js$/, tools: /^ava$/, kind: 'test' },
  { files: /(?:^|\/)\.taprc$/, tools: /^tap$/, kind: 'test' },
  { files: /(?:^|\/)(?:\.nycrc[\w.]*|nyc\.config\.[cm]?js)$/, tools: /^nyc$/, kind: 'test' },
  { files: /(?:^|\/)\.c8rc[\w.]*$/, tools: /^c8$/, kind: 'test' },
  { files: /(?:^|\/)karma\.conf[\w.]*$/, tools: /^(?:karma|ng)$/, kind: 'test' },
  { files: /(?:^|\/)wdio[\w.]*\.conf[\w.]*$/, tools: /^wdio$/, kind: 'test' },
  { files: /(?:^|\/)jasmine\.(?:json|m?js)$/, tools: /^jasmine$/, kind: 'test' },
  { files: /(?:^|\/)bunfig\.toml$/, tools: /^bun$/, kind: 'test' },
  { files: /(?:^|\/)node\.config\.json$/, tools: /^node$/, kind: 'test' },
  { files: /(?:^|\/)deno\.jsonc?$/, tools: /^deno$/, kind: 'test' },
  { files: /(?:^|\/)(?:turbo|nx|lerna|project)\.json$/, tools: /^(?:turbo|nx|lerna)$/, kind: 'test' },
  {
    files: /(?:^|\/)\.(?:npmrc|yarnrc(?:\.yml)?)$/,
    tools: /^(?:npm|pnpm|yarn|npx)$/,
    kind: 'test',
    lines: /script-?shell|ignore-?scripts|node-?options|yarn-?path|plugins|^- /i,
  },
  {
    files: /(?:^|\/)pnpm-workspace\.yaml$/,
    tools: /^pnpm$/,
    kind: 'test',
    lines: /^- |packages:|script-?shell|ignore-?scripts|node-?options|shell-?emulator/i,
  },
  { files: /(?:^|\/)\.pnpmfile\.[cm]?js$/, tools: /^pnpm$/, kind: 'test' },
  {
    files: /(?:^|\/)(?:babel\.config\.\w+|\.babelrc(?:\.\w+)?|\.swcrc)$/,
    tools: /^(?:jest|react-scripts)$/,
    kind: 'test',
  },
  { files: /(?:^|\/)web-test-runner\.config\.[cm]?[jt]s$/, tools: /^(?:wtr|web-test-runner)$/, kind: 'test' },
  { files: /(?:^|\/)cucumber\.(?:[cm]?js|json|ya?ml)$/, tools: /^cucumber(?:-js)?$/, kind: 'test' },
  { files: /(?:^|\/)angular\.json$/, tools: /^ng$/, kind: 'test' },
  { files: /(?:^|\/)\.?lefthook(?:-local)?\.(?:ya?ml|toml|json)$/, tools: /^lefthook$/, kind: 'test' },
  { files: /(?:^|\/)\.?mise(?:\.[\w-]+)?\.toml$/, tools: /^mise$/, kind: 'test' },
  {
    files: /(?:^|\/)tsconfig[\w.-]*\.json$/,
    tools: /^(?:tsc|vue-tsc|svelte-check|astro|tsgo|ts-jest|tsd)$/,
    kind: 'types',
  },
  { files: /(?:^|\/)\.flowconfig$/, tools: /^flow$/, kind: 'types' },
  {
    files: /(?:^|\/)(?:\.eslintrc[\w.]*|\.eslintignore|eslint[\w.-]*\.config\.[cm]?[jt]s)$/,
    tools: /^(?:eslint|next|react-scripts)$/,
    kind: 'lint',
  },
  { files: /(?:^|\/)(?:\.?biome|rome)\.jsonc?$/, tools: /^(?:biome|rome)$/, kind: 'lint' },
  {
    files: /(?:^|\/)(?:\.prettierrc[\w.]*|\.prettierignore|prettier\.config\.[cm]?[jt]s)$/,
    tools: /^prettier$/,
    kind: 'lint',
  },
  {
    files: /(?:^|\/)(?:\.stylelintrc[\w.]*|\.stylelintignore|stylelint\.config\.[cm]?js)$/,
    tools: /^stylelint$/,
    kind: 'lint',
  },
  {
    files: /(?:^|\/)(?:\.oxlintrc\.json|\.xo-config[\w.]*|\.jshintrc)$/,
    tools: /^(?:oxlint|xo|jshint)$/,
    kind: 'lint',
  },

  {
    files: /(?:^|\/)(?:\.?pytest\.(?:ini|toml)|conftest\.py|\.coveragerc)$/,
    tools: PYTHON_TESTS,
    kind: 'test',
  },
  { files: /(?:^|\/)(?:tox\.(?:ini|toml)|noxfile\.py)$/, tools: /^(?:tox|nox)$/, kind: 'test' },
  {
    files: /(?:^|\/)tox\.ini$/,
    tools: PYTHON_TESTS,
    kind: 'test',
    only: /^(?:pytest|coverage)/,
  },
  {
    files: /(?:^|\/)setup\.cfg$/,
    tools: PYTHON_TESTS,
    kind: 'test',
    only: /^(?:tool:pytest|tox|testenv|coverage|aliases|behave)/,
  },
  {
    files: /(?:^|\/)setup\.cfg$/,
    tools: PYTHON_LINTS,
    kind: 'lint',
    only: /^(?:flake8|pylint|isort|pycodestyle|pydocstyle|bandit)/,
  },
  { files: /(?:^|\/)setup\.cfg$/, tools: PYTHON_TYPES, kind: 'types', only: /^(?:mypy|pyright)/ },
  {
    files: /(?:^|\/)pyproject\.toml$/,
    tools: PYTHON_TESTS,
    kind: 'test',
    only: /^tool\.(?:pytest|coverage|tox|nox|hatch\.envs|behave|django)\b/,
  },
  {
    files: /(?:^|\/)pyproject\.toml$/,
    tools: PYTHON_LINTS,
    kind: 'lint',
    only: /^tool\.(?:ruff|flake8|pylint|black|isort|bandit|pydocstyle)\b/,
  },
  {
    files: /(?:^|\/)pyproject\.toml$/,
    tools: PYTHON_TYPES,
    kind: 'types',
    only: /^tool\.(?:mypy|pyright|basedpyright|pyre|ty)\b/,
  },
  {
    files: /(?:^|\/)pyproject\.toml$/,
    tools: /^(?:poe|task|pdm|hatch|rye|poetry)$/,
    kind: 'test',
    only: /^tool\.(?:poe|taskipy|pdm\.scripts|hatch\.envs|rye\.scripts|poetry\.scripts)\b/,
  },
  {
    files: /(?:^|\/)(?:\.?ruff\.toml|\.flake8|\.?pylintrc|\.isort\.cfg)$/,
    tools: PYTHON_LINTS,
    kind: 'lint',
  },
  { files: /(?:^|\/)(?:\.?mypy\.ini|pyrightconfig\.json)$/, tools: PYTHON_TYPES, kind: 'types' },
  // A module of the project's own with that name is what python finds first.
  {
    files:
      /(?:^|\/)(?:sitecustomize|usercustomize)\.py$|^(?:pytest|_pytest|unittest|tox|nox|coverage)(?:\.py|\/__init__\.py)$/,
    tools: PYTHON_TESTS,
    kind: 'test',
  },
  { files: /(?:^|\/)\.pre-commit-config\.yaml$/, tools: /^pre-commit$/, kind: 'lint' },
  { files: /(?:^|\/)hatch\.toml$/, tools: /^hatch$/, kind: 'test' },
  { files: /(?:^|\/)pipfile$/, tools: /^pipenv$/, kind: 'test', only: /^scripts/ },

  { files: /(?:^|\/)\.golangci[\w.-]*$/, tools: /^golangci-lint$/, kind: 'lint' },
  { files: /(?:^|\/)go\.work$/, tools: /^go$/, kind: 'test' },
  {
    files: /(?:^|\/)go\.mod$/,
    tools: /^go$/,
    kind: 'test',
    lines: /^(?:go|toolchain|godebug|ignore|tool)\b|=>|^replace\b/,
  },
  {
    files: /(?:^|\/)cargo\.toml$/,
    tools: /^cargo$/,
    kind: 'test',
    only: /^(?:test\b|lib\.|(?:bin|example)\.(?:test|harness|doctest)$|workspace\.(?:members|default-members|exclude|lints)\b|profile\.(?:test|dev)\b|lints\b|package\.(?:auto|build$|workspace$))/,
  },
  {
    files:
      /(?:^|\/)\.cargo\/config(?:\.toml)?$|(?:^|\/)\.config\/nextest\.toml$|(?:^|\/)rust-toolchain(?:\.toml)?$/,
    tools: /^(?:cargo|cross)$/,
    kind: 'test',
  },
  { files: /(?:^|\/)cargo\.toml$/, tools: /^cargo-bench$/, kind: 'test', only: /^bench\b/ },
  { files: /(?:^|\/)\.?clippy\.toml$/, tools: /^cargo-clippy$/, kind: 'lint' },
  { files: /(?:^|\/)\.?rustfmt\.toml$/, tools: /^(?:cargo-fmt|rustfmt)$/, kind: 'lint' },
  { files: /^(?!(?:.*\/)?src\/)(?:.*\/)?build\.rs$/, tools: /^cargo$/, kind: 'test' },
  { files: /(?:^|\/)\.mvn\//, tools: /^(?:mvnw?|mvnd)$/, kind: 'test' },
  { files: /(?:^|\/)gradle\/wrapper\//, tools: /^gradlew$/, kind: 'test' },
  {
    files: /(?:^|\/)pom\.xml$/,
    tools: /^(?:mvnw?|mvnd)$/,
    kind: 'test',
    lines: /test|surefire|failsafe|skip|exclude|ignore|checkstyle|spotbugs|pmd/i,
  },
  {
    files: /\.gradle(?:\.kts)?$|(?:^|\/)gradle\.properties$/,
    tools: /^gradlew?$/,
    kind: 'test',
    lines: /test(?!implementation|runtimeonly|compileonly)|skip|exclude|ignore|check|enabled|onlyif/i,
  },
  { files: /(?:^|\/)\.?justfile$/, tools: /^just$/, kind: 'test' },
  { files: /(?:^|\/)taskfile(?:\.dist)?\.ya?ml$/, tools: /^(?:task|go-task)$/, kind: 'test' },
]

function configsOf(path: string): Config[] {
  const lower = path.toLowerCase()
  return CONFIGS.filter((it) => it.files.test(lower))
}

function configChanges(file: PinnedFile, settings: Config[], gate: string, reached: Reached): string[] {
  const isUsed = settings.some((it) => uses(reached, it.tools) || mayUse(gate, reached, it.kind))
  return isUsed ? [`${baseName(file.path)} was ${whatHappened(file)}`] : []
}

type Side = { text: string | null; settings?: Setting[] }

/** Those for which it is another one than it was. */
function changedConfigsOf(file: PinnedFile): Config[] {
  const [before, after]: [Side, Side] = [{ text: file.before }, { text: file.after }]
  return configsOf(file.path).filter(
    (it) => relevantText(file.path, before, it) !== relevantText(file.path, after, it),
  )
}

function uses(reached: Reached, tools: RegExp): boolean {
  return [...reached.tools].some((tool) => tools.test(tool))
}

const KIND_WORDS: Record<Kind, RegExp> = {
  lint: /lint|style|format|fmt|prettier/i,
  types: /type|tsc|mypy/i,
  test: /test|spec|e2e|unit|integration|cover|ci\b/i,
}

/** Whether a gate leads to unknown scripts that may use tools of that kind: by its names, or when they say nothing. */
function mayUse(gate: string, reached: Reached, kind: Kind): boolean {
  if (reached.unknown.size === 0) return false
  const names = [gate, ...reached.unknown].join(' ')
  const kinds = (['lint', 'types', 'test'] as const).filter((it) => KIND_WORDS[it].test(names))
  return kinds.length === 0 || kinds.includes(kind)
}

/** What of the file counts, without blanks; null for no file. */
function relevantText(path: string, side: Side, { only, lines }: Config): string | null {
  const { text } = side
  if (text === null) return null
  if (only === undefined && lines === undefined) return text.replace(/\s+/g, '')
  const kept =
    only === undefined ? text.split('\n').map((it) => it.trim()) : settingsOf(path, text, side, only)
  const counted = kept.filter((it) => it !== '' && !it.startsWith('#') && (lines?.test(it) ?? true))
  // Without any line that counts it is the same as no file.
  return counted.length === 0 ? null : counted.join('\n').replace(/[ \t\r]+/g, '')
}

function settingsOf(path: string, text: string, side: Side, only: RegExp): string[] {
  side.settings ??= /\.toml$|(?:^|\/)pipfile$/i.test(path) ? tomlSettings(text) : iniSettings(text)
  // A name with an escape may be any.
  return side.settings
    .filter((it) => [it.path, ...it.inner].some((name) => only.test(name) || name.includes('\\')))
    .map((it) => it.text)
}

// ---------------------------------------------------------------- words

function happened(old: unknown, now: unknown): string {
  return old === undefined ? 'added' : now === undefined ? 'removed' : 'changed'
}

function whatHappened(file: PinnedFile): string {
  return file.before === null ? 'added' : file.after === null ? 'removed' : 'changed'
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function oneLine(text: string): string {
  const line = text.replace(/[\p{C}\s]+/gu, ' ').trim()
  return line.length > 300 ? `${line.slice(0, 297)}...` : line
}
