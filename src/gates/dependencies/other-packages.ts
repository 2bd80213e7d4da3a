// Lockfiles and manifests of Rust, Go, Ruby, PHP, .NET, Java and Dart.
import { parse as parseYaml } from 'yaml'
import { asObject, asObjects, asString } from '../../engine/model/json.ts'
import { jsonFile } from './javascript-packages.ts'
import {
  type Ecosystem,
  MAX_JSON_BYTES,
  MAX_LINES_BYTES,
  MAX_TOML_BYTES,
  MAX_YAML_BYTES,
  PackageCollector,
  type PackageFacts,
  type PackageFormat,
  type PackageList,
  refuseVersion,
} from './package-list.ts'
import { tomlFile } from './python-packages.ts'

export const OTHER_LANGUAGES: readonly PackageFormat[] = [
  { file: /^Cargo\.lock$/, ecosystem: 'crates.io', maxBytes: MAX_TOML_BYTES, read: readCargoLock },
  { file: /^Cargo\.toml$/, ecosystem: 'crates.io', maxBytes: MAX_TOML_BYTES, read: readCargoToml },
  lines(/^go(?:\.work)?\.sum$/, 'Go', /^(\S+) v([^\s/]+)(?:\/go\.mod)? h1:/),
  lines(/^go\.mod$/, 'Go', /^(?:require\s+|\t)([\w.-]+\.[\w.-]+\/\S+) v(\S+)(?!.*\/\/ indirect)/, {
    direct: true,
  }),
  lines(/^Gemfile\.lock$/, 'RubyGems', /^ {4}([\w.-]+) \(([^)]+)\)/),
  { file: /^composer\.lock$/, ecosystem: 'Packagist', maxBytes: MAX_JSON_BYTES, read: readComposerLock },
  { file: /^composer\.json$/, ecosystem: 'Packagist', maxBytes: MAX_JSON_BYTES, read: readComposerJson },
  { file: /^packages\.lock\.json$/, ecosystem: 'NuGet', maxBytes: MAX_JSON_BYTES, read: readNugetLock },
  lines(/^gradle\.lockfile$/, 'Maven', /^([^:\s#]+:[^:\s]+):([^=\s]+)=/),
  { file: /^pubspec\.lock$/, ecosystem: 'Pub', maxBytes: MAX_YAML_BYTES, read: readPubspecLock },
]

/** A format with one package on a line: its name and its version are the pattern's groups. */
function lines(
  file: RegExp,
  ecosystem: Ecosystem,
  line: RegExp,
  facts: Partial<PackageFacts> = {},
): PackageFormat {
  const read = (text: string) => {
    const found = new PackageCollector()
    for (const one of text.split(/\r?\n/)) {
      const [, name = '', version] = line.exec(one.slice(0, 1000)) ?? []
      found.add(name, version, facts)
    }
    return found.packages
  }
  return { file, ecosystem, maxBytes: MAX_LINES_BYTES, read }
}

function readCargoLock(text: string): PackageList {
  const json = tomlFile(text)
  refuseVersion(json.version, [undefined, 1, 2, 3, 4])
  const found = new PackageCollector()
  for (const { name, version, source } of asObjects(json.package)) {
    const from = asString(source)
    // A package without a source is one of the workspace.
    if (from === null) continue
    found.add(asString(name) ?? '', version, from.startsWith('git+') ? { from } : {})
  }
  return found.packages
}

const CARGO_SECTIONS = ['dependencies', 'dev-dependencies', 'build-dependencies']

function readCargoToml(text: string): PackageList {
  const json = tomlFile(text)
  const holders = [json, json.workspace, ...Object.values(asObject(json.target) ?? {})]
  const found = new PackageCollector()
  for (const holder of holders)
    for (const section of CARGO_SECTIONS)
      for (const [key, value] of Object.entries(asObject(asObject(holder)?.[section]) ?? {})) {
        const entry = asObject(value)
        if (entry?.path !== undefined || entry?.workspace === true) continue
        const from = asString(entry?.git)
        found.add(asString(entry?.package) ?? key, asString(value) ?? entry?.version, {
          direct: true,
          ...(from === null ? {} : { from }),
        })
      }
  return found.packages
}

function readComposerLock(text: string): PackageList {
  const json = jsonFile(text)
  const found = new PackageCollector()
  for (const { name, version, license } of [
    ...asObjects(json.packages),
    ...asObjects(json['packages-dev']),
  ]) {
    const licenses = Array.isArray(license) ? license.filter((one) => typeof one === 'string') : []
    found.add(asString(name) ?? '', version, licenses.length === 0 ? {} : { license: licenses.join(' or ') })
  }
  return found.packages
}

function readComposerJson(text: string): PackageList {
  const json = jsonFile(text)
  const found = new PackageCollector()
  // Names without a slash are PHP itself and its extensions.
  for (const section of ['require', 'require-dev'])
    for (const [name, version] of Object.entries(asObject(json[section]) ?? {}))
      if (name.includes('/')) found.add(name, version, { direct: true })
  return found.packages
}

function readNugetLock(text: string): PackageList {
  const json = jsonFile(text)
  refuseVersion(json.version, [1, 2])
  const found = new PackageCollector()
  for (const framework of Object.values(asObject(json.dependencies) ?? {}))
    for (const [name, value] of Object.entries(asObject(framework) ?? {})) {
      const entry = asObject(value)
      if (entry?.type === 'Project') continue
      found.add(name, entry?.resolved, entry?.type === 'Direct' ? { direct: true } : {})
    }
  return found.packages
}

function readPubspecLock(text: string): PackageList {
  const found = new PackageCollector()
  for (const [name, value] of Object.entries(asObject(asObject(parseYaml(text, YAML))?.packages) ?? {})) {
    const entry = asObject(value)
    if (entry?.source === 'path' || entry?.source === 'sdk') continue
    const isDirect = asString(entry?.dependency)?.startsWith('direct') === true
    found.add(name, entry?.version, isDirect ? { direct: true } : {})
  }
  return found.packages
}

/** An alias costs nothing to write and much to expand; lockfiles have none. */
const YAML = { maxAliasCount: 0, logLevel: 'silent' } as const
