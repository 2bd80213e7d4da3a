// Lockfiles and manifests of JavaScript: npm, Yarn, pnpm, Bun and Deno.
import { asObject, asString, type Json } from '../../engine/model/json.ts'
import {
  MAX_JSON_BYTES,
  MAX_LINES_BYTES,
  PackageCollector,
  type PackageFormat,
  type PackageList,
  refuseVersion,
} from './package-list.ts'

export const JAVASCRIPT: readonly PackageFormat[] = [
  { file: /^package\.json$/, ecosystem: 'npm', maxBytes: MAX_JSON_BYTES, read: readPackageJson },
  {
    file: /^(?:package-lock|npm-shrinkwrap)\.json$/,
    ecosystem: 'npm',
    maxBytes: MAX_JSON_BYTES,
    read: readNpmLock,
  },
  { file: /^yarn\.lock$/, ecosystem: 'npm', maxBytes: MAX_LINES_BYTES, read: readYarnLock },
  { file: /^pnpm-lock\.yaml$/, ecosystem: 'npm', maxBytes: MAX_LINES_BYTES, read: readPnpmLock },
  { file: /^bun\.lock$/, ecosystem: 'npm', maxBytes: MAX_JSON_BYTES, read: readBunLock },
  {
    file: /^bun\.lockb$/,
    ecosystem: 'npm',
    maxBytes: MAX_LINES_BYTES,
    read: () => {
      throw new Error('the file is binary (`bun install --save-text-lockfile` writes a text file)')
    },
  },
  { file: /^deno\.lock$/, ecosystem: 'npm', maxBytes: MAX_JSON_BYTES, read: readDenoLock },
]

export function jsonFile(text: string): Json {
  const json = asObject(JSON.parse(text.trim()))
  if (json === null) throw new Error('it is not a JSON object')
  return json
}

const SECTIONS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']
/** Packages of the project itself. */
const LOCAL = /^(?:workspace|file|link|portal|catalog):/
const ADDRESS = /^(?:git|https?|ssh|github|gitlab|bitbucket)[+:]|^[\w.-]+\/[\w.-]+(?:#|$)/

function readPackageJson(text: string): PackageList {
  const json = jsonFile(text)
  const found = new PackageCollector()
  for (const section of SECTIONS)
    for (const [key, value] of Object.entries(asObject(json[section]) ?? {})) {
      const range = asString(value)
      if (range === null || (LOCAL.test(range) && !range.startsWith('catalog:'))) continue
      const { name, version } = withoutAlias(key, range)
      found.add(name, version, { direct: true, ...(ADDRESS.test(range) ? { from: range } : {}) })
    }
  return found.packages
}

/** `"a": "npm:b@1"` installs b. */
function withoutAlias(key: string, range: string): { name: string; version: string } {
  if (!range.startsWith('npm:')) return { name: key, version: range }
  return nameAndVersion(range.slice(4))
}

/** `@scope/name@1.2.3` in two parts. */
function nameAndVersion(text: string): { name: string; version: string } {
  const at = text.indexOf('@', 1)
  return at === -1 ? { name: text, version: '' } : { name: text.slice(0, at), version: text.slice(at + 1) }
}

function readNpmLock(text: string): PackageList {
  const json = jsonFile(text)
  refuseVersion(json.lockfileVersion, [1, 2, 3])
  const found = new PackageCollector()
  const packages = asObject(json.packages)
  if (packages === null) addNested(json, found)
  for (const [path, value] of Object.entries(packages ?? {})) {
    const entry = asObject(value)
    const start = path.lastIndexOf('node_modules/')
    if (entry === null || start === -1 || entry.link === true) continue
    const license = asString(entry.license)
    found.add(asString(entry.name) ?? path.slice(start + 'node_modules/'.length), entry.version, {
      ...(license === null ? {} : { license }),
      ...(entry.hasInstallScript === true ? { installScript: true as const } : {}),
    })
  }
  return found.packages
}

/** Version 1 nests the packages of a package in its entry. */
function addNested(json: Json, found: PackageCollector): void {
  const open = [asObject(json.dependencies)]
  for (let at = open.pop(); at !== undefined; at = open.pop())
    for (const [name, value] of Object.entries(at ?? {})) {
      const entry = asObject(value)
      found.add(name, entry?.version)
      if (entry?.dependencies !== undefined) open.push(asObject(entry.dependencies))
    }
}

/** Both forms of yarn.lock: an entry begins with its ranges at the start of a line, and its fields are indented. */
function readYarnLock(text: string): PackageList {
  if (!/^# yarn lockfile v1$/m.test(text) && !/^__metadata:$/m.test(text))
    throw new Error('it is not a lockfile of Yarn 1 or later')
  const found = new PackageCollector()
  let name = ''
  let version = ''
  const finish = () => found.add(name, version)
  for (const line of text.split('\n')) {
    if (/^["\w@]/.test(line)) {
      finish()
      name = yarnName(line)
      version = ''
      continue
    }
    const [, field, value = ''] = /^ {2}(version|resolution):? "?([^"\r]*)"?/.exec(line) ?? []
    if (field === 'version') version = value
    if (field === 'resolution') name = value.includes('@workspace:') ? '' : nameAndVersion(value).name
  }
  finish()
  return found.packages
}

function yarnName(header: string): string {
  const [first = ''] = header.replaceAll('"', '').split(',', 1)
  if (first.startsWith('__metadata')) return ''
  const { name, version } = nameAndVersion(first.trim().replace(/:$/, ''))
  return withoutAlias(name, /^npm:@?[a-z]/i.test(version) ? version : '').name
}

/**
 * Reads the lines of `packages:`, each with two spaces and the key of a package, and its fields below. pnpm writes no other form, and a
 * parser of YAML would need ten seconds for a large project.
 */
function readPnpmLock(text: string): PackageList {
  const version = /^lockfileVersion: ['"]?([\d.]+)/m.exec(text)?.[1]
  refuseVersion(version, ['5.3', '5.4', '6', '6.0', '6.1', '9', '9.0'])
  const found = new PackageCollector()
  let section = ''
  let name = ''
  for (const line of text.split(/\r?\n/)) {
    const [, top, inline = ''] = /^([^\s#][^:]*):\s*(.*)$/.exec(line.slice(0, 1000)) ?? []
    if (top !== undefined) {
      section = top.replace(/^['"]|['"]$/g, '')
      if (section === 'packages' && inline !== '' && inline !== '{}') throw new Error(OTHER_FORM)
    } else if (section === 'packages' && line.trim() !== '') {
      const [, key] = /^ {2}'?([^\s'][^']*?)'?:$/.exec(line.slice(0, 1000)) ?? []
      if (key !== undefined) {
        const entry = pnpmPackage(key, version?.startsWith('5') === true)
        name = entry.name
        found.add(name, entry.version)
      } else if (!/^ {4,}/.test(line)) throw new Error(OTHER_FORM)
      else if (/^ {4}requiresBuild: true/.test(line)) found.add(name, undefined, { installScript: true })
    }
  }
  return found.packages
}

const OTHER_FORM = 'the file does not have the form that pnpm writes'

/** Version 5 writes `/name/1.0.0_peer`, later ones `name@1.0.0(peer)`. */
function pnpmPackage(key: string, isOld: boolean): { name: string; version: string } {
  const plain = key.replace(/^\//, '').replace(/\(.*/, '')
  if (!isOld) return nameAndVersion(plain)
  const end = plain.lastIndexOf(
    '/',
    plain.includes('_') ? plain.indexOf('_', plain.indexOf('/') + 1) : undefined,
  )
  return { name: plain.slice(0, end), version: plain.slice(end + 1).replace(/_.*/, '') }
}

/** It is JSON with a comma after the last entry. */
function readBunLock(text: string): PackageList {
  const json = jsonFile(text.replace(/,(\s*[}\]])/g, '$1'))
  refuseVersion(json.lockfileVersion, [0, 1])
  const found = new PackageCollector()
  for (const value of Object.values(asObject(json.packages) ?? {})) {
    const [first] = Array.isArray(value) ? value : []
    const { name, version } = nameAndVersion(asString(first) ?? '')
    if (!LOCAL.test(version)) found.add(name, version)
  }
  return found.packages
}

function readDenoLock(text: string): PackageList {
  const json = jsonFile(text)
  refuseVersion(String(json.version), ['3', '4', '5'])
  const found = new PackageCollector()
  for (const holder of [json, asObject(json.packages) ?? {}])
    for (const registry of ['npm', 'jsr'])
      for (const key of Object.keys(asObject(holder[registry]) ?? {})) {
        const { name, version } = nameAndVersion(key)
        found.add(name, version.replace(/_.*/, ''))
      }
  return found.packages
}
