// Changes to what a gate is made of: the scripts that its command names, and the configuration of the tools it runs.
//
// Gate commands come from the trusted side, but `npm test` is what package.json says it is. Such a change may well be
// wanted; it is shown, and refused only by `protected-paths`.

import { type Lookup, type Reached, reachedBy } from './gate-commands.ts'
import { iniSettings, tomlSettings } from './sections.ts'

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
  const sources = readSources(relevant)
  const lookup: Lookup = (kind, name) => sources[kind](name)
  const pins: Pin[] = []
  const changed = relevant.filter((file) => file.before !== file.after)
  const settings = new Map(changed.map((file) => [file, configsOf(file.path)]))
  const gates = gateCommands.map((gate) => ({ gate, reached: reachedBy(gate, lookup) }))
  // What stood before comes first: any number of new files must not hide what became of it.
  for (const isNew of [false, true]) {
    for (const { gate, reached } of gates) {
      for (const file of changed.filter((it) => (it.before === null) === isNew)) {
        if (pins.length >= MAX_PINS) return pins.slice(0, MAX_PINS)
        const texts = changesIn(file, settings.get(file) ?? [], gate, reached)
        for (const text of texts) pins.push({ path: file.path, gate, text: oneLine(text) })
      }
    }
  }
  return pins.slice(0, MAX_PINS)
}

/** Names of scripts that the gates lead to and that are not among the files, whether they are there or not. */
export function namedElsewhere(files: PinnedFile[], gateCommands: string[]): string[] {
  const sources = readSources(files)
  const known = new Set(files.flatMap((file) => namesOf(file.path)))
  const named = gateCommands.flatMap((gate) => [
    ...reachedBy(gate, (kind, name) => sources[kind](name)).files,
  ])
  return [...new Set(named)].filter((name) => !known.has(name))
}

function changesIn(file: PinnedFile, settings: Config[], gate: string, reached: Reached): string[] {
  if (namesOf(file.path).some((name) => reached.files.has(name)))
    return [`${baseName(file.path)}, which the gate runs, was ${whatHappened(file)}`]
  const name = baseName(file.path).toLowerCase()
  if (name === 'package.json') return packageChanges(file, gate, reached)
  if (isMakefile(file.path)) return makeChanges(file, reached)
  return configChanges(file, settings, gate, reached)
}

// ---------------------------------------------------------------- looking up names

type Sources = Record<'scripts' | 'targets' | 'files', (name: string) => string[]>

function readSources(files: PinnedFile[]): Sources {
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
  const makefiles = files
    .filter((it) => isMakefile(it.path))
    .flatMap(texts)
    .map(readMakefile)
  return {
    scripts: (name) => {
      const fits = nameMatcher(name)
      return packages.flatMap((it) => [...it.scripts].filter(([key]) => fits(key)).map(([, text]) => text))
    },
    targets: (name) => makefiles.flatMap((it) => ruleTexts(it, name)),
    files: (name) => (byName.get(name) ?? []).flatMap(texts).map((text) => (isShell(name, text) ? text : '')),
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
    if (uses(reached, tools) || mayUse(gate, reached, kindOfKey(key)))
      changes.push(`"${key}" was ${happened(before.own.get(key), after.own.get(key))}`)
  }
  return changes
}

function kindOfKey(key: string): Kind {
  return /^(?:eslint|xo|standard|prettier|stylelint)/.test(key) ? 'lint' : 'test'
}

function said(text: string | undefined): string {
  if (text === undefined) return 'nothing'
  return JSON.stringify(text.length > 120 ? `${text.slice(0, 117)}...` : text)
}

// ---------------------------------------------------------------- Makefile

type Rule = { targets: string[]; needs: string[]; recipe: string[] }
type Makefile = { rules: Rule[]; variables: Map<string, string>; other: string[] }

function isMakefile(path: string): boolean {
  return /(?:^|\/)(?:GNUm|[mM])akefile$|\.mk$/.test(path)
}

function readMakefile(text: string): Makefile {
  const made: Makefile = { rules: [], variables: new Map(), other: [] }
  let rule: Rule | null = null
  for (const line of text.replace(/\\\r?\n[ \t]*/g, ' ').split(/\r?\n/)) {
    if (line.startsWith('\t')) {
      rule?.recipe.push(line.trim())
      continue
    }
    const plain = line.replace(/(?:^|\s)#.*$/, '').trim()
    if (plain === '') continue
    const variable = /^(?:export\s+|override\s+)*([\w.-]+)\s*(?::{1,3}|[?+!])?=(.*)$/.exec(plain)
    const head = /^([^:=#]+)::?(?!=)([^;]*)(?:;(.*))?$/.exec(plain)
    if (variable !== null) {
      const name = variable[1] as string
      made.variables.set(name, `${made.variables.get(name) ?? ''}${plain}\n`)
      rule = null
    } else if (head !== null) {
      rule = {
        targets: words(head[1]),
        needs: words(head[2]?.replace('|', ' ')),
        recipe: head[3] === undefined ? [] : [head[3].trim()],
      }
      made.rules.push(rule)
    } else {
      made.other.push(plain)
      rule = null
    }
  }
  return made
}

function words(text: string | undefined): string[] {
  return (text ?? '')
    .trim()
    .split(/\s+/)
    .filter((it) => it !== '')
}

function rulesFor({ rules }: Makefile, target: string): Rule[] {
  const first = rules.find((it) => !it.targets[0]?.startsWith('.'))
  return target === ''
    ? first === undefined
      ? []
      : [first]
    : rules.filter((it) => it.targets.includes(target))
}

/** The recipes of a target as shell text; its prerequisites as calls of make, so that they are followed. */
function ruleTexts(makefile: Makefile, target: string): string[] {
  const rules = rulesFor(makefile, target)
  if (rules.length === 0) return []
  const recipe = rules.flatMap((it) => it.recipe).join('\n')
  const names = rules
    .flatMap((it) => it.needs)
    .filter((it) => makefile.rules.some((rule) => rule.targets.includes(it)))
  const calls = names.map((it) => `make ${it}`).join('\n')
  const plain = recipe.replace(/^[-@+\s]+/gm, '').replace(/\$\(MAKE\)|\$\{MAKE\}/g, 'make')
  const used = [...makefile.variables].filter(
    ([name]) => plain.includes(`$(${name})`) || plain.includes(`\${${name}}`),
  )
  // The first word of a recipe is often a variable with the tool in it.
  const resolved = used.reduce((text, [name, line]) => {
    const value = line.slice(line.indexOf('=') + 1).trim()
    return text.replaceAll(`$(${name})`, value).replaceAll(`\${${name}}`, value)
  }, plain)
  return [`${calls}\n${resolved}`]
}

function makeChanges(file: PinnedFile, reached: Reached): string[] {
  if (reached.targets.size === 0) return []
  const before = readMakefile(file.before ?? '')
  const after = readMakefile(file.after ?? '')
  const changes: string[] = []
  let recipes = ''
  for (const target of reached.targets) {
    const [old, now] = [rulesFor(before, target), rulesFor(after, target)]
    recipes += [...old, ...now].flatMap((it) => [...it.needs, ...it.recipe]).join('\n')
    if (JSON.stringify(old) !== JSON.stringify(now)) {
      changes.push(`target ${target === '' ? '(the first)' : target} was ${happened(old[0], now[0])}`)
    }
  }
  for (const name of new Set([...before.variables.keys(), ...after.variables.keys()])) {
    if (before.variables.get(name) === after.variables.get(name)) continue
    const everywhere = /^(?:SHELL|MAKEFLAGS|PATH|\.SHELLFLAGS|\.RECIPEPREFIX|\.DEFAULT_GOAL)$/.test(name)
    if (everywhere || recipes.includes(`$(${name})`) || recipes.includes(`\${${name}}`))
      changes.push(`variable ${name} was changed`)
  }
  // `include`, conditions, pattern definitions: what they do is not followed.
  if (before.other.join('\n') !== after.other.join('\n'))
    changes.push('directives such as `include` were changed')
  return changes
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
  const used = settings.filter((it) => uses(reached, it.tools) || mayUse(gate, reached, it.kind))
  const changed = used.some(
    (it) => relevantText(file.path, file.before, it) !== relevantText(file.path, file.after, it),
  )
  return changed ? [`${baseName(file.path)} was ${whatHappened(file)}`] : []
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
function relevantText(path: string, text: string | null, { only, lines }: Config): string | null {
  if (text === null) return null
  if (only === undefined && lines === undefined) return text.replace(/\s+/g, '')
  const kept = only === undefined ? text.split('\n').map((it) => it.trim()) : settingsOf(path, text, only)
  const counted = kept.filter((it) => it !== '' && !it.startsWith('#') && (lines?.test(it) ?? true))
  // Without any line that counts it is the same as no file.
  return counted.length === 0 ? null : counted.join('\n').replace(/[ \t\r]+/g, '')
}

function settingsOf(path: string, text: string, only: RegExp): string[] {
  const all = /\.toml$|(?:^|\/)pipfile$/i.test(path) ? tomlSettings(text) : iniSettings(text)
  // A name with an escape may be any.
  return all
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
