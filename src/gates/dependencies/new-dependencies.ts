// Finds the packages that a change adds, from its lockfiles and manifests only. Nothing is asked of a registry.
import type { Change } from '../../engine/model/change.ts'
import type { DependencyFinding } from '../../engine/model/dependency.ts'
import { oneLine } from '../../engine/model/text.ts'
import { messageOf } from '../../system/errors.ts'
import type { ObjectReader } from '../product/object-reader.ts'
import { JAVASCRIPT } from './javascript-packages.ts'
import { OTHER_LANGUAGES } from './other-packages.ts'
import type { Ecosystem, PackageFacts, PackageFormat, PackageList } from './package-list.ts'
import { PYTHON } from './python-packages.ts'
import { resembles } from './well-known.ts'

const FORMATS: readonly PackageFormat[] = [...JAVASCRIPT, ...PYTHON, ...OTHER_LANGUAGES]

/** Findings that are kept; further packages are only counted. */
const MAX_FINDINGS = 60
/** Files that are read for one change, and their bytes. Large monorepos change fewer. */
const MAX_FILES = 100
const MAX_TOTAL_BYTES = 64 * 1024 * 1024

/** What one changed file says. `why`: it could not be compared. */
type FileResult =
  | { kind: 'compared'; ecosystem: Ecosystem; before: PackageList; after: PackageList }
  | { kind: 'unread'; path: string; why: string }

function formatOf(path: string): PackageFormat | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return name.length > 200 ? undefined : FORMATS.find(({ file }) => file.test(name))
}

/** The packages that the change adds, those that need attention first. */
export async function findNewDependencies(
  changes: readonly Change[],
  objects: ObjectReader,
): Promise<DependencyFinding[]> {
  const results: FileResult[] = []
  let bytes = 0
  for (const change of changes) {
    const format = isFile(change) ? formatOf(change.path) : undefined
    if (format === undefined) continue
    const limit = results.length >= MAX_FILES ? 0 : Math.min(format.maxBytes, MAX_TOTAL_BYTES - bytes)
    const sizes = [await sizeOf(change.newOid, objects), await sizeBefore(change, objects)]
    const largest = Math.max(...sizes)
    if (largest > limit) results.push({ kind: 'unread', path: change.path, why: tooLarge(largest, limit) })
    else {
      bytes += sizes.reduce((sum, size) => sum + size, 0)
      results.push(await compare(change, format, objects))
    }
  }
  return findingsOf(results)
}

function isFile({ status, newMode }: Change): boolean {
  return status !== 'D' && newMode.startsWith('100')
}

async function sizeOf(oid: string, objects: ObjectReader): Promise<number> {
  return (await objects.info(oid))?.size ?? 0
}

async function sizeBefore({ status, oldOid }: Change, objects: ObjectReader): Promise<number> {
  return status === 'A' ? 0 : sizeOf(oldOid, objects)
}

function tooLarge(bytes: number, limit: number): string {
  const megabytes = (count: number) => `${Math.ceil(count / 1024 / 1024)} MB`
  return limit <= 0
    ? 'the change has too many such files'
    : `it is ${megabytes(bytes)}, but Ralph reads at most ${megabytes(limit)}`
}

async function compare(change: Change, format: PackageFormat, objects: ObjectReader): Promise<FileResult> {
  const { path, status, oldOid, newOid, oldMode } = change
  const { ecosystem } = format
  try {
    const after = await listOf(newOid, format, objects)
    const isNew = status === 'A' || !oldMode.startsWith('100')
    const before = isNew ? new Map() : await listOf(oldOid, format, objects)
    return { kind: 'compared', ecosystem, before, after }
  } catch (error) {
    // The message may quote the file, over several lines.
    return { kind: 'unread', path, why: oneLine(messageOf(error), 160) || 'it is not valid' }
  }
}

async function listOf(oid: string, format: PackageFormat, objects: ObjectReader): Promise<PackageList> {
  const text = Buffer.from((await objects.contents(oid)) ?? '').toString('utf8')
  if (/^(?:<{7}|>{7}) /m.test(text)) throw new Error('it has the conflict markers of a merge')
  return format.read(text)
}

type NewPackage = Extract<DependencyFinding, { kind: 'package' }>

/** A package that another changed file named before, is not new. */
function findingsOf(results: readonly FileResult[]): DependencyFinding[] {
  const known = new Set<string>()
  const added = new Map<string, PackageFacts & { ecosystem: Ecosystem; name: string }>()
  for (const result of results)
    if (result.kind === 'compared')
      for (const name of result.before.keys()) known.add(`${result.ecosystem} ${name}`)
  for (const result of results) {
    if (result.kind !== 'compared') continue
    const { ecosystem } = result
    for (const [name, facts] of result.after) {
      const key = `${ecosystem} ${name}`
      if (!known.has(key)) added.set(key, { ...joined(added.get(key), facts), ecosystem, name })
    }
  }
  const packages = [...added.values()].map(toFinding).sort(byAttention)
  const unread = results.flatMap((result): DependencyFinding[] => {
    if (result.kind !== 'unread') return []
    return [{ kind: 'unread', path: oneLine(result.path, 200), why: result.why }]
  })
  const all = [...unread, ...packages]
  if (all.length <= MAX_FINDINGS) return all
  return [...all.slice(0, MAX_FINDINGS), { kind: 'more', count: all.length - MAX_FINDINGS }]
}

/** A manifest has a range, a lockfile the version itself. */
function joined(one: PackageFacts | undefined, other: PackageFacts): PackageFacts {
  if (one === undefined) return other
  const versions = [one, other].map(({ version }) => version)
  const version = versions.find((stated) => /^\d/.test(stated ?? '')) ?? versions.find(Boolean) ?? null
  return { ...one, ...other, version }
}

function toFinding({
  ecosystem,
  name,
  version,
  ...facts
}: PackageFacts & { ecosystem: Ecosystem; name: string }): NewPackage {
  const { license, from } = facts
  const like = resembles(name, ecosystem)
  return {
    kind: 'package',
    ecosystem,
    name: oneLine(name, 200),
    version: version === null || version === '' ? null : oneLine(version, 60),
    ...(license === undefined ? {} : { license: oneLine(license, 60) }),
    ...(facts.installScript === true ? { installScript: true } : {}),
    ...(like === null ? {} : { resembles: like }),
    ...(from === undefined ? {} : { from: oneLine(from, 200) }),
    ...(facts.direct === true ? { direct: true } : {}),
  }
}

function byAttention(a: NewPackage, b: NewPackage): number {
  return attention(b) - attention(a) || (a.name < b.name ? -1 : 1)
}

function attention({ resembles: like, installScript, from, direct }: NewPackage): number {
  const counts = [like !== undefined, installScript === true, from !== undefined, direct === true]
  return counts.reduce((sum, isSo, at) => sum + (isSo ? 2 ** (3 - at) : 0), 0)
}
