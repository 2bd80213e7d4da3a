// Command lines that a project's own files run: CI, tox, nox, Makefile, Taskfile, justfile. Only plain words are read: what
// needs a shell to be understood is left.
import { asObject, asObjects, asString } from '../../engine/model/json.ts'
import { yamlObject } from '../yaml-object.ts'
import { isPackage } from './ci/pip-installs.ts'
import type { Folder } from './project.ts'
import { linesOf } from './targets/target.ts'
import { findTargets } from './targets/target-sources.ts'
import { testEnvironments } from './test-environments.ts'

const WORKFLOW = /^\.github\/workflows\/[^/]+\.ya?ml$/
/** So many workflows are read. */
const MAX_WORKFLOWS = 20

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

/** Prefixes that start a tool in the project's environment. */
const STARTERS =
  /^(?:(?:uv|poetry|hatch|pdm|pipenv) run (?:-\S+ )*|(?:\S*\/)?python3? -m |coverage run (?:-\S+ )*-m )+/
/** Words that mean the same to every shell. */
const PLAIN = /^[\w@%+=:,./* -]+$/

/** The arguments with which the project itself runs a tool, if they are plain words: each list once, in their order. */
export function statedArguments(commands: readonly string[], tool: string): string[] {
  const found = commands.flatMap((command) => {
    const line = command.replace(STARTERS, '')
    if (line === tool) return ['']
    const rest = line.startsWith(`${tool} `) ? line.slice(tool.length).trim() : null
    return rest !== null && PLAIN.test(rest) && !/--(?:version|help)\b/.test(rest) ? [rest] : []
  })
  return [...new Set(found)]
}

/** The version of a tool that uv.lock has, pre-commit runs or CI installs, as `==1.2.3` for pip; '' if none has one. */
export function findPin(folder: Folder, tool: string): string {
  const [, locked] =
    new RegExp(`^name = "${tool}"\nversion = "([\\w.]+)"$`, 'm').exec(folder.text('uv.lock')) ?? []
  if (locked !== undefined) return `==${locked}`
  return pinnedByPreCommit(folder, tool) || pinnedByCi(folder, tool)
}

/** The version that a line of CI names: `pip install ruff==0.4.1`, `uvx ruff@0.4.1`, `pipx run 'black==24.1'`. */
function pinnedByCi(folder: Folder, tool: string): string {
  const pin = new RegExp(`(?:^|[\\s"'])${tool}(?:==|@)(\\d+(?:\\.\\d+)*)(?=$|[\\s"'])`)
  const [version] = workflowLines(folder).flatMap((line) => pin.exec(line)?.[1] ?? [])
  return version === undefined ? '' : `==${version}`
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

/** The packages that pre-commit installs next to a tool, such as stubs for mypy (https://pre-commit.com/#config-additional_dependencies). */
export function hookPackages(folder: Folder, tool: string): string[] {
  const repos = asObjects(yamlObject(folder.text('.pre-commit-config.yaml'))?.repos)
  const hook = repos.flatMap(({ hooks }) => asObjects(hooks)).find(({ id }) => isOf(tool, id))
  const listed = hook?.additional_dependencies
  return Array.isArray(listed) ? listed.map((one) => String(one).replaceAll(' ', '')).filter(isPackage) : []
}

/** Hooks are named as their tool, or by what it does: `ruff`, `ruff-check`. */
function isOf(tool: string, id: unknown): boolean {
  return id === tool || String(id).startsWith(`${tool}-`)
}
