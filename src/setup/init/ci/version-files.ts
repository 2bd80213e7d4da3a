// Versions of tools that files of a project ask for: .nvmrc, .tool-versions, mise.toml, go.mod and the like. Pure.
import { asObject, asString, jsonObject } from '../../../engine/model/json.ts'
import type { Folder } from '../project.ts'
import { tomlIn } from '../toml.ts'
import type { Values } from './expressions.ts'

/**
 * A file that may say a tool's version. `as`: how the setup action gets it: the name of the file, or the version. `itself`: the action
 * finds the file without an input. `more`: inputs that this file needs.
 */
export type VersionFile = {
  path: string
  read(text: string): string | null
  as: 'file' | 'version' | 'itself'
  more?(text: string): Values
}

export type FoundVersion = { file: VersionFile; version: string }

/** The first of these files that says a version. */
export function versionIn(folder: Folder, files: readonly VersionFile[]): FoundVersion | null {
  for (const file of files) {
    const version = folder.has(file.path) ? file.read(folder.text(file.path)) : null
    if (version !== null) return { file, version }
  }
  return null
}

/** The first line that is not a comment. */
export function plainVersion(text: string): string | null {
  const lines = text.split('\n').map((line) => line.replace(/#.*/, '').trim())
  return lines.find((line) => line !== '') ?? null
}

/** The version after a word, such as `go 1.22` in go.mod. */
export function versionAfter(pattern: RegExp): (text: string) => string | null {
  return (text) => pattern.exec(text)?.[1] ?? null
}

/** asdf's file, which mise reads as well. */
export function toolVersions(as: VersionFile['as'], ...names: string[]): VersionFile {
  const read = versionAfter(new RegExp(`^[ \\t]*(?:${names.join('|')})[ \\t]+(\\S+)`, 'm'))
  return { path: '.tool-versions', read, as }
}

/** The files of mise at the top of a project: what its table `tools` says. */
export function miseFiles(as: VersionFile['as'], ...names: string[]): VersionFile[] {
  return MISE_FILES.map((path) => ({ path, read: (text) => miseVersion(text, names), as }))
}

export const MISE_FILES = ['mise.toml', '.mise.toml']

function miseVersion(text: string, names: readonly string[]): string | null {
  const tools = asObject(tomlIn(text).tools) ?? {}
  const value = names.map((name) => tools[name]).find((one) => one !== undefined)
  const first: unknown = Array.isArray(value) ? value[0] : value
  return asString(first) ?? asString(asObject(first)?.version)
}

const channelOfToml = versionAfter(/^\s*channel\s*=\s*["']([^"']+)["']/m)
/** Files that name the toolchain of Rust; rustup finds the first two itself. */
export const RUST_FILES: readonly VersionFile[] = [
  { path: 'rust-toolchain.toml', read: channelOfToml, as: 'itself' },
  { path: 'rust-toolchain', read: (text) => channelOfToml(text) ?? plainVersion(text), as: 'itself' },
  toolVersions('version', 'rust'),
  ...miseFiles('version', 'rust'),
]

/** What package.json says about Node.js, in the order of actions/setup-node. */
export function nodeOfManifest(text: string): string | null {
  const { volta, devEngines, engines } = jsonObject(text) ?? {}
  const runtime = asObject(asObject(devEngines)?.runtime)
  return (
    asString(asObject(volta)?.node) ??
    (runtime?.name === 'node' ? asString(runtime.version) : null) ??
    asString(asObject(engines)?.node)
  )
}

/** The PHP that composer resolves for. */
export function phpOfManifest(text: string): string | null {
  const manifest = jsonObject(text)
  const platform = asObject(asObject(manifest?.config)?.platform)?.php
  return /^\d+\.\d+/.exec(asString(platform) ?? '')?.[0] ?? null
}

/** Vendors of a JDK, as .tool-versions and .sdkmanrc name them, and as actions/setup-java does. */
const JAVA_VENDORS: Readonly<Record<string, string>> = {
  tem: 'temurin',
  temurin: 'temurin',
  zulu: 'zulu',
  amzn: 'corretto',
  corretto: 'corretto',
  librca: 'liberica',
  liberica: 'liberica',
  ms: 'microsoft',
  microsoft: 'microsoft',
  sem: 'semeru',
  semeru: 'semeru',
  graalce: 'graalvm',
  graalvm: 'graalvm',
}

/** The number of a JDK; its vendor is in `javaVendor`. */
export function javaVersion(read: (text: string) => string | null): (text: string) => string | null {
  return (text) => /\d+(?:\.\d+)*/.exec(read(text) ?? '')?.[0] ?? null
}

/** setup-java takes no version without a vendor. */
export function javaVendor(read: (text: string) => string | null): (text: string) => Values {
  return (text) => {
    const words = (read(text) ?? '').toLowerCase().match(/[a-z]+/g) ?? []
    const vendor = words.map((word) => JAVA_VENDORS[word]).find((one) => one !== undefined)
    return { distribution: vendor ?? 'temurin' }
  }
}

/** A version that a machine must have: `isLeast` if newer ones are good as well. */
export type Wish = { version: string; isLeast: boolean }

/** What a version or range asks for, as far as one number says it; null for names such as `lts/*` and for choices. */
export function wishOf(text: string): Wish | null {
  const trimmed = text.trim()
  const [, least] = /^>= *v?(\d+(?:\.\d+)*)$/.exec(trimmed) ?? []
  if (least !== undefined) return { version: least, isLeast: true }
  const [, major] = /^\^ *v?([1-9]\d*)/.exec(trimmed) ?? []
  if (major !== undefined) return { version: major, isLeast: false }
  const [, minor] = /^~>? *v?(\d+\.\d+)/.exec(trimmed) ?? []
  if (minor !== undefined) return { version: minor, isLeast: false }
  const [, exact] = /^(?:[a-z]+-)?v?(\d+(?:\.\d+)*)(?:\.[x*])?(?:[-+][\w.]+)?$/.exec(trimmed) ?? []
  return exact === undefined ? null : { version: exact, isLeast: false }
}
