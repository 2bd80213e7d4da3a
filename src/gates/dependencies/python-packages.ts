// Lockfiles and manifests of Python.
import { parse as parseToml } from 'smol-toml'
import { asObject, asObjects, asString, type Json } from '../../engine/model/json.ts'
import { jsonFile } from './javascript-packages.ts'
import {
  MAX_JSON_BYTES,
  MAX_LINES_BYTES,
  MAX_TOML_BYTES,
  PackageCollector,
  type PackageFacts,
  type PackageFormat,
  type PackageList,
} from './package-list.ts'

export const PYTHON: readonly PackageFormat[] = [
  {
    file: /^(?:.*[-_.])?requirements(?:[-_.].*)?\.(?:txt|in)$/i,
    ecosystem: 'PyPI',
    maxBytes: MAX_LINES_BYTES,
    read: readRequirements,
  },
  { file: /^pyproject\.toml$/, ecosystem: 'PyPI', maxBytes: MAX_TOML_BYTES, read: readPyproject },
  { file: /^(?:poetry|uv|pdm)\.lock$/, ecosystem: 'PyPI', maxBytes: MAX_TOML_BYTES, read: readTomlLock },
  { file: /^pylock(?:\..+)?\.toml$/, ecosystem: 'PyPI', maxBytes: MAX_TOML_BYTES, read: readTomlLock },
  { file: /^Pipfile\.lock$/, ecosystem: 'PyPI', maxBytes: MAX_JSON_BYTES, read: readPipfileLock },
  { file: /^Pipfile$/, ecosystem: 'PyPI', maxBytes: MAX_TOML_BYTES, read: readPipfile },
]

/** PyPI treats these names as one: `Foo.Bar`, `foo-bar`, `foo_bar`. */
function normalName(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, '-')
}

function addRequirement(line: string, found: PackageCollector): void {
  const [, name = '', rest = ''] = /^\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*(.*)$/.exec(line) ?? []
  if (name === '' || !/^(?:$|[=<>!~(;@#\\]|--)/.test(rest)) return
  const version = /^\(?={2,3}\s*([^\s;,)\\]+)/.exec(rest)?.[1] ?? null
  const from = /^@\s*(\S+)/.exec(rest)?.[1]
  if (from?.startsWith('file:') === true) return
  found.add(normalName(name), version, { direct: true, ...(from === undefined ? {} : { from }) })
}

function readRequirements(text: string): PackageList {
  const found = new PackageCollector()
  for (const line of text.split(/\r?\n/)) addRequirement(line.slice(0, 1000), found)
  return found.packages
}

export function tomlFile(text: string): Json {
  const json = asObject(parseToml(text))
  if (json === null) throw new Error('it is not a TOML table')
  return json
}

function readPyproject(text: string): PackageList {
  const json = tomlFile(text)
  const found = new PackageCollector()
  const project = asObject(json.project)
  const lists = [
    project?.dependencies,
    ...Object.values(asObject(project?.['optional-dependencies']) ?? {}),
    ...Object.values(asObject(json['dependency-groups']) ?? {}),
  ]
  for (const list of lists)
    for (const one of Array.isArray(list) ? list : [])
      if (typeof one === 'string') addRequirement(one.slice(0, 1000), found)
  const poetry = asObject(asObject(json.tool)?.poetry)
  const groups = Object.values(asObject(poetry?.group) ?? {}).map((group) => asObject(group)?.dependencies)
  for (const table of [poetry?.dependencies, poetry?.['dev-dependencies'], ...groups]) addTable(table, found)
  return found.packages
}

/** A table of names and versions, as Poetry and Pipfile have it. */
function addTable(table: unknown, found: PackageCollector): void {
  for (const [name, value] of Object.entries(asObject(table) ?? {})) {
    const entry = asObject(value)
    if (name === 'python' || entry?.path !== undefined) continue
    const from = asString(entry?.git) ?? asString(entry?.url)
    found.add(normalName(name), asString(value) ?? entry?.version, {
      direct: true,
      ...(from === null ? {} : { from }),
    })
  }
}

function readTomlLock(text: string): PackageList {
  const json = tomlFile(text)
  const found = new PackageCollector()
  for (const entry of [...asObjects(json.package), ...asObjects(json.packages)]) {
    const source = asObject(entry.source)
    const isLocal = ['editable', 'virtual', 'directory', 'path'].some((key) => source?.[key] !== undefined)
    if (isLocal || source?.type === 'directory' || entry.directory !== undefined) continue
    found.add(normalName(asString(entry.name) ?? ''), entry.version, sourceOf(source))
  }
  return found.packages
}

function sourceOf(source: Json | null): Pick<PackageFacts, 'from'> {
  const from = asString(source?.git) ?? (source?.type === 'git' ? asString(source.url) : null)
  return from === null ? {} : { from }
}

function readPipfileLock(text: string): PackageList {
  const json = jsonFile(text)
  const found = new PackageCollector()
  for (const section of ['default', 'develop'])
    for (const [name, value] of Object.entries(asObject(json[section]) ?? {}))
      found.add(normalName(name), asString(asObject(value)?.version)?.replace(/^==/, ''))
  return found.packages
}

function readPipfile(text: string): PackageList {
  const json = tomlFile(text)
  const found = new PackageCollector()
  for (const section of ['packages', 'dev-packages']) addTable(json[section], found)
  return found.packages
}
