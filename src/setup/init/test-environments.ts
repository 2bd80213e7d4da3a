// Environments of tox and sessions of nox: what they install, and what they run.
import { asObject } from '../../engine/model/json.ts'
import type { Folder } from './project.ts'
import { linesOf } from './targets/target.ts'
import { tomlIn } from './toml.ts'

/** An environment of tox or nox: what it installs and what it runs. */
export type TestEnvironment = {
  name: string
  installs: string[]
  extras: string[]
  groups: string[]
  commands: string[]
}

export function testEnvironments(folder: Folder): TestEnvironment[] {
  return [...toxEnvironments(folder), ...noxSessions(folder.text('noxfile.py'))]
}

export function toxEnvironments(folder: Folder): TestEnvironment[] {
  const ini = parseIni(folder.text('tox.ini'))
  const tox = Object.entries(ini).flatMap(([name, keys]) =>
    /^testenv(?::|$)/.test(name) ? [toxEnvironment(name, { ...keys })] : [],
  )
  return [...tox, ...toxTables(folder)]
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
export function noxSessions(text: string): TestEnvironment[] {
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
