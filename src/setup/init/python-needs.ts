// Where a Python project lists what its tests and tools need: groups, extras, requirements files, tox, nox.
import { asObject, asString, type Json } from '../../engine/model/json.ts'
import type { Folder } from './project.ts'
import { type Ini, parseIni, type TestEnvironment, testEnvironments } from './test-environments.ts'
import { tomlIn } from './toml.ts'

export type Source = {
  kind: 'group' | 'extra' | 'file' | 'environment' | 'poetry' | 'pipenv'
  name: string
  /** Of pip: what installs it, except for groups and extras. */
  installs: readonly string[]
  extras: readonly string[]
  groups: readonly string[]
  /** Names of the packages that are listed. */
  lists: readonly string[]
  /** What an environment runs. */
  commands: readonly string[]
}

export type PythonProject = {
  toml: Json
  /** Sections of setup.cfg, tox.ini and the like, those of the first that has them. */
  ini: Ini
  sources: readonly Source[]
}

const REQUIREMENTS =
  /^(?:(?:tests?\/)?(?:dev|tests?|ci)?[-_]?requirements(?:[-_](?:dev|tests?|ci))?|requirements\/[\w-]+)\.txt$/
const INIS = ['mypy.ini', '.mypy.ini', '.flake8', 'pytest.ini', 'tox.ini', 'setup.cfg']

export function readProject(folder: Folder): PythonProject {
  const toml = tomlIn(folder.text('pyproject.toml'))
  const inis = INIS.map((name) => parseIni(folder.text(name))).reverse()
  const ini = Object.assign({}, ...inis) as Ini
  const files = folder.paths.filter((path) => REQUIREMENTS.test(path)).sort()
  const sources = [
    ...groupsOf(toml),
    ...poetryGroupsOf(toml),
    ...pipenvPackages(folder.text('Pipfile')),
    ...extrasOf(toml, ini),
    ...files.map((path) => fileSource(path, folder.text(path))),
    ...testEnvironments(folder).map((one) => environmentSource(one, folder)),
  ]
  return { toml, ini, sources }
}

const NOTHING = { installs: [], extras: [], groups: [], lists: [], commands: [] } as const

function groupsOf(toml: Json): Source[] {
  const all = asObject(toml['dependency-groups']) ?? {}
  const listed = (name: string, depth = 0): string[] =>
    texts(all[name])
      .map(nameOf)
      .concat(
        depth > 5 || !Array.isArray(all[name])
          ? []
          : all[name].flatMap((one) => listed(asString(asObject(one)?.['include-group']) ?? '', depth + 1)),
      )
  return Object.keys(all).map((name) => ({
    ...NOTHING,
    kind: 'group',
    name,
    groups: [name],
    lists: listed(name),
  }))
}

/** Groups of poetry, and what hatch installs for its environments. */
function poetryGroupsOf(toml: Json): Source[] {
  const poetry = asObject(asObject(toml.tool)?.poetry) ?? {}
  const groups = Object.entries(asObject(poetry.group) ?? {}).map(
    ([name, group]) => [name, asObject(asObject(group)?.dependencies)] as const,
  )
  const older = [['dev', asObject(poetry['dev-dependencies'])] as const]
  const installed: Source[] = [...groups, ...older].map(([name, packages]) => ({
    ...NOTHING,
    kind: 'poetry',
    name,
    lists: Object.keys(packages ?? {}).map(nameOf),
  }))
  const hatch = asObject(asObject(asObject(toml.tool)?.hatch)?.envs) ?? {}
  const environments = Object.entries(hatch).map(([name, one]): Source => {
    const environment = asObject(one) ?? {}
    const installs = texts(environment.dependencies)
    const commands = Object.values(asObject(environment.scripts) ?? {}).flatMap((it) =>
      typeof it === 'string' ? [it] : texts(it),
    )
    return {
      ...NOTHING,
      kind: 'environment',
      name,
      installs,
      extras: texts(environment.features),
      lists: installs.map(nameOf),
      commands,
    }
  })
  return [...installed, ...environments].filter(({ lists, commands }) => lists.length + commands.length > 0)
}

function pipenvPackages(text: string): Source[] {
  const { packages, 'dev-packages': dev } = tomlIn(text)
  const lists = [packages, dev].flatMap((one) => Object.keys(asObject(one) ?? {}).map(nameOf))
  return lists.length === 0 ? [] : [{ ...NOTHING, kind: 'pipenv', name: 'Pipfile', lists }]
}

function extrasOf(toml: Json, ini: Ini): Source[] {
  const inToml = Object.entries(asObject(asObject(toml.project)?.['optional-dependencies']) ?? {})
  const inIni = Object.entries(ini['options.extras_require'] ?? {}).map(
    ([name, lines]) => [name, lines.split('\n')] as const,
  )
  return [...inToml, ...inIni].map(([name, list]) => ({
    ...NOTHING,
    kind: 'extra',
    name,
    extras: [name],
    lists: texts(list).map(nameOf),
  }))
}

function fileSource(path: string, text: string): Source {
  return { ...NOTHING, kind: 'file', name: path, installs: ['-r', path], lists: namesIn(text) }
}

const namesIn = (text: string) => text.split('\n').map(nameOf).filter(Boolean)

function environmentSource(
  { name, installs, extras, groups, commands }: TestEnvironment,
  folder: Folder,
): Source {
  const words = installs.flatMap((line) => {
    const [, option, file] = /^(-[rc])\s*(\S+)$/.exec(line) ?? []
    if (option !== undefined && file !== undefined) return [option, file]
    return line.startsWith('-') ? [] : [line]
  })
  const inFiles = words.flatMap((word, at) =>
    words[at - 1] === '-r' && folder.has(word) ? namesIn(folder.text(word)) : [],
  )
  const lists = [...installs.map(nameOf).filter(Boolean), ...inFiles]
  return { kind: 'environment', name, installs: words, extras, groups, lists, commands }
}

function texts(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : []
}

/** Markers of what is not installed by a current Python on Linux. */
const OTHER_PYTHON =
  /;.*(?:python_version\s*<=?\s*["']3\.(?:\d|1[0-2])["']|(?:sys_platform|platform_system|os_name)\s*==\s*["'](?:win|darwin|Windows|Darwin|nt|cygwin)|implementation\w*\s*==\s*["'](?:pypy|PyPy))/

/** The package that a requirement names, as an index writes it. */
function nameOf(requirement: string): string {
  if (OTHER_PYTHON.test(requirement)) return ''
  return (/^\s*([A-Za-z0-9][\w.-]*)/.exec(requirement)?.[1] ?? '').toLowerCase().replace(/[_.]/g, '-')
}

/** Names that stand for tests, the clearest first. */
const TEST_NAMES = [/^(?:tests?|testing)$/, /^testenv$|\btests?\b|testing/, /^dev|^ci$/]

function rank({ name }: Source): number {
  const at = TEST_NAMES.findIndex((pattern) => pattern.test(name))
  return at < 0 ? TEST_NAMES.length : at
}

/** The list of the tests' packages: one with the runner in it or run by it; else one with such a name. */
export function testSource(sources: readonly Source[], runner: string): Source | null {
  const runs = ({ commands }: Source) => commands.some((line) => new RegExp(`\\b${runner}\\b`).test(line))
  const best = (some: readonly Source[]) => [...some].sort((a, b) => rank(a) - rank(b))[0] ?? null
  return (
    best(sources.filter(({ lists }) => lists.includes(runner))) ??
    best(sources.filter(runs)) ??
    best(sources.filter((one) => rank(one) < 2 && one.kind !== 'environment'))
  )
}

/** Where the project lists a tool that is not a test runner. */
export function toolSource(sources: readonly Source[], tool: string): Source | null {
  const runs = ({ commands }: Source) => commands.some((line) => line.split(' ').includes(tool))
  return sources.find(({ lists }) => lists.includes(tool)) ?? sources.find(runs) ?? null
}
