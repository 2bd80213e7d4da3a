// Command lines that a project's own files run: CI, tox, nox, Makefile, Taskfile, justfile. Only plain words are read: what
// needs a shell to be understood is left.
import { asObject, asObjects, asString, type Json } from '../../engine/model/json.ts'
import { yamlObject } from '../yaml-object.ts'
import type { Folder } from './project.ts'
import { tomlIn } from './toml.ts'

const WORKFLOW = /^\.github\/workflows\/[^/]+\.ya?ml$/
/** So many workflows are read. */
const MAX_WORKFLOWS = 20
const MAKEFILES = ['Makefile', 'makefile', 'GNUmakefile']
const TASKFILES = ['Taskfile.yml', 'Taskfile.yaml', 'taskfile.yml', 'taskfile.yaml']
const JUSTFILES = ['justfile', 'Justfile', '.justfile']
export const FILES_OF_TARGETS = [...MAKEFILES, ...TASKFILES, ...JUSTFILES]

/** Commands in the order of preference: those of CI first. */
export function statedCommands(folder: Folder): string[] {
  const recipes = findTargets(folder).flatMap(({ lines }) => lines)
  return [
    ...workflowLines(folder),
    ...testEnvironments(folder).flatMap(({ commands }) => commands),
    ...recipes,
    ...hookCommands(folder),
  ]
}

function workflowLines(folder: Folder): string[] {
  const files = folder.paths.filter((path) => WORKFLOW.test(path)).slice(0, MAX_WORKFLOWS)
  return files.flatMap((path) => {
    const jobs = Object.values(asObject(yamlObject(folder.text(path))?.jobs) ?? {})
    const steps = jobs.flatMap((job) => asObjects(asObject(job)?.steps))
    return steps.flatMap((step) => linesOf(asString(step.run) ?? ''))
  })
}

function linesOf(text: string): string[] {
  return text
    .replace(/\\\n\s*/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
}

/** Prefixes that start a tool in the project's environment. */
const STARTERS =
  /^(?:(?:uv|poetry|hatch|pdm|pipenv) run (?:-\S+ )*|(?:\S*\/)?python3? -m |coverage run (?:-\S+ )*-m )+/
/** Words that mean the same to every shell. */
const PLAIN = /^[\w@%+=:,./* -]+$/

/** The arguments with which the project itself runs a tool, where they are plain words: each list once, in their order. */
export function statedArguments(commands: readonly string[], tool: string): string[] {
  const found = commands.flatMap((command) => {
    const line = command.replace(STARTERS, '')
    if (line === tool) return ['']
    const rest = line.startsWith(`${tool} `) ? line.slice(tool.length).trim() : null
    return rest !== null && PLAIN.test(rest) && !/--(?:version|help)\b/.test(rest) ? [rest] : []
  })
  return [...new Set(found)]
}

/** An environment of tox or nox: what it installs and what it runs. */
export type TestEnvironment = {
  name: string
  installs: string[]
  extras: string[]
  groups: string[]
  commands: string[]
}

export function testEnvironments(folder: Folder): TestEnvironment[] {
  const ini = parseIni(folder.text('tox.ini'))
  const tox = Object.entries(ini).flatMap(([name, keys]) =>
    /^testenv(?::|$)/.test(name) ? [toxEnvironment(name, { ...keys })] : [],
  )
  return [...tox, ...toxTables(folder), ...sessionsOf(folder.text('noxfile.py'))]
}

/** Environments of tox in TOML: `env_run_base` and `env.NAME`, in their own file or in pyproject.toml. */
function toxTables(folder: Folder): TestEnvironment[] {
  const own = tomlIn(folder.text('tox.toml'))
  const tox = asObject(asObject(tomlIn(folder.text('pyproject.toml')).tool)?.tox) ?? own
  const environments = { testenv: tox.env_run_base, ...asObject(tox.env) }
  return Object.entries(environments).flatMap(([name, value]) => {
    const keys = asObject(value)
    if (keys === null) return []
    const words = (list: unknown) =>
      Array.isArray(list) ? list.filter((one) => typeof one === 'string') : []
    const commands = Array.isArray(keys.commands) ? keys.commands.map((line) => words(line).join(' ')) : []
    const extras = words(keys.extras)
    return [{ name, installs: words(keys.deps), extras, groups: words(keys.dependency_groups), commands }]
  })
}

export type Ini = Readonly<Record<string, Readonly<Record<string, string>>>>

/** Sections with their keys; a line that is indented continues with the one above. */
export function parseIni(text: string): Ini {
  const sections: Record<string, Record<string, string>> = {}
  let section: Record<string, string> = {}
  let key: string | null = null
  for (const line of text.split('\n')) {
    const [, head] = /^\[([^\]]+)\]/.exec(line) ?? []
    const [, name, value = ''] = /^([\w.:-]+)\s*[=:]\s*(.*)$/.exec(line) ?? []
    if (/^\s*[#;]/.test(line)) continue
    if (head !== undefined) {
      section = {}
      sections[head] = section
      key = null
    } else if (name !== undefined) {
      key = name
      section[key] = value
    } else if (key !== null && /^\s+\S/.test(line)) section[key] += `\n${line.trim()}`
  }
  return sections
}

/** `py38,mypy: command`: only for the environments that have these factors in their names. */
const FACTORS = /^[\w{},.!-]+:\s+/

function toxEnvironment(name: string, keys: Readonly<Record<string, string>>): TestEnvironment {
  const list = (key: string) => linesOf(keys[key] ?? '')
  // A line such as `py38: mock` is for these environments only.
  const shared = (key: string) => list(key).filter((line) => !FACTORS.test(line))
  const words = (key: string) => shared(key).flatMap((line) => line.split(/[\s,]+/).filter(Boolean))
  const installs = shared('deps').filter((line) => !/[{}]/.test(line))
  const commands = linesOf(keys.commands ?? '').map((line) =>
    line
      .replace(FACTORS, '')
      .replace(/^-\s*/, '')
      .replace(/\{posargs(?::([^{}]*))?\}/g, '$1')
      .replace(/\s+/g, ' ')
      .trim(),
  )
  return { name, installs, commands, extras: words('extras'), groups: words('dependency_groups') }
}

const QUOTED = /(["'])((?:(?!\1)[^\\\n])*)\1/g

/** Sessions of nox, as far as they are written out: what `session.install` and `session.run` are given as texts. */
function sessionsOf(text: string): TestEnvironment[] {
  return text
    .split(/^(?=@nox\.session)/m)
    .filter((part) => part.startsWith('@nox'))
    .map((part) => {
      const calls = (method: string) =>
        [...part.matchAll(new RegExp(`session\\.${method}\\(([^()]*)\\)`, 'g'))].map(([, args = '']) =>
          [...args.matchAll(QUOTED)].map(([, , word = '']) => word),
        )
      const installs = calls('install')
        .flat()
        .filter((word) => word !== '')
      const commands = calls('run').map((words) => words.join(' '))
      const name = /^def (\w+)/m.exec(part)?.[1] ?? ''
      const packages = installs.filter((word) => word !== '-e' && !/^\.(?:\[|$)/.test(word))
      const extras = installs.flatMap((word) => /^\.\[([\w,-]+)\]/.exec(word)?.[1]?.split(',') ?? [])
      return { name, installs: packages, extras, groups: [], commands }
    })
}

/** A target of a Makefile, Taskfile or justfile: the command that starts it, and the lines that it runs. */
export type Target = { name: string; start: string; lines: string[] }

export function findTargets(folder: Folder): Target[] {
  const text = (names: readonly string[]) => folder.text(names.find((name) => folder.has(name)) ?? '')
  return [
    ...recipesIn(text(MAKEFILES), MAKE).map((it) => ({ ...it, start: `make ${it.name}` })),
    ...tasksIn(text(TASKFILES)),
    ...recipesIn(text(JUSTFILES), JUST).map((it) => ({ ...it, start: `just ${it.name}` })),
  ]
}

/** How a target is named, and a line of what it runs. */
type Recipes = { name: RegExp; line: RegExp }
const MAKE: Recipes = { name: /^([\w-]+)(?: [\w ./-]*)?\s*::?(?!=)/, line: /^\t(.*)$/ }
const JUST: Recipes = { name: /^@?([\w-]+)(?: [^:]*)?:(?!=)/, line: /^[ \t]+(.*)$/ }

function recipesIn(text: string, recipes: Recipes): Omit<Target, 'start'>[] {
  const found: Omit<Target, 'start'>[] = []
  for (const line of text.replace(/\\\n\s*/g, ' ').split('\n')) {
    const [, name] = recipes.name.exec(line) ?? []
    const [, run] = recipes.line.exec(line) ?? []
    if (run !== undefined) found.at(-1)?.lines.push(run.replace(/^[@+-]+/, '').trim())
    else if (name !== undefined) found.push({ name, lines: [] })
  }
  return found
}

function tasksIn(text: string): Target[] {
  const tasks = asObject(yamlObject(text)?.tasks) ?? {}
  return Object.entries(tasks).map(([name, task]) => ({
    name,
    start: `task ${name}`,
    lines: taskLines(task),
  }))
}

function taskLines(task: unknown): string[] {
  if (typeof task === 'string') return linesOf(task)
  const fields: Json = asObject(task) ?? {}
  const list: unknown[] = Array.isArray(task) ? task : Array.isArray(fields.cmds) ? fields.cmds : [fields.cmd]
  return list.flatMap((one) => linesOf(asString(one) ?? asString(asObject(one)?.cmd) ?? ''))
}

/** The version of a tool that uv.lock has, or pre-commit runs, as `==1.2.3` for pip; '' where neither has one. */
export function findPin(folder: Folder, tool: string): string {
  const [, locked] =
    new RegExp(`^name = "${tool}"\nversion = "([\\w.]+)"$`, 'm').exec(folder.text('uv.lock')) ?? []
  return locked === undefined ? pinnedByPreCommit(folder, tool) : `==${locked}`
}

/** What hooks of pre-commit run, by their ids. */
const HOOKS: Readonly<Record<string, string>> = {
  ruff: 'ruff check .',
  'ruff-check': 'ruff check .',
  'ruff-format': 'ruff format .',
  black: 'black .',
  'black-jupyter': 'black .',
  isort: 'isort .',
  flake8: 'flake8',
}

/** The tools that pre-commit runs on a pull request, on the whole tree. */
function hookCommands(folder: Folder): string[] {
  const repos = asObjects(yamlObject(folder.text('.pre-commit-config.yaml'))?.repos)
  const ids = repos.flatMap(({ hooks }) => asObjects(hooks).map(({ id }) => String(id)))
  return ids.flatMap((id) => (Object.hasOwn(HOOKS, id) ? [HOOKS[id] ?? ''] : []))
}

function pinnedByPreCommit(folder: Folder, tool: string): string {
  const repos = asObjects(yamlObject(folder.text('.pre-commit-config.yaml'))?.repos)
  const named = repos.find(({ hooks }) => asObjects(hooks).some(({ id }) => isOf(tool, id)))
  const [, version] = /^v?(\d+(?:\.\d+)+)$/.exec(asString(named?.rev) ?? '') ?? []
  return version === undefined ? '' : `==${version}`
}

/** Hooks are named as their tool, or by what it does: `ruff`, `ruff-check`. */
function isOf(tool: string, id: unknown): boolean {
  return id === tool || String(id).startsWith(`${tool}-`)
}
