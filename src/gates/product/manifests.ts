// The files that say which packages a project installs.
import type { Change } from '../../engine/model/change.ts'
import { asObject, jsonObject } from '../../engine/model/json.ts'
import { type ObjectReader, readSmallBlob } from './object-reader.ts'

const MANIFEST =
  /(?:^|\/)(?:package\.json|pyproject\.toml|Pipfile|[^/]*requirements[^/]*\.(?:txt|in)|Cargo\.toml|go\.(?:mod|work)|Gemfile|composer\.json|pom\.xml|[^/]*\.gradle(?:\.kts)?|mix\.exs|Package\.swift|[^/]+\.[cf]sproj)$/
const LOCKFILE =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?|deno\.lock|go\.(?:sum|work\.sum)|Cargo\.lock|(?:poetry|pdm|uv)\.lock|Pipfile\.lock|Gemfile\.lock|composer\.lock|gradle\.lockfile|mix\.lock|Package\.resolved|packages\.lock\.json|pubspec\.lock|pylock(?:\.[^/]+)?\.toml|requirements\.txt)$/

export function isPackageManifest(path: string): boolean {
  return MANIFEST.test(path) || isLockfile(path)
}

/** Whether `prepare` has to run again if the file changed: it names what is installed, to the version. */
export function isLockfile(path: string): boolean {
  return LOCKFILE.test(path)
}

/** Fields of package.json that say what is installed. */
const DEPENDENCIES = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies']

/**
 * The earlier package.json with the packages of the change: scripts and settings of tools are as they were. Null for other manifests,
 * which keep their change whole.
 */
export async function packageWithNewDependencies(
  { path, status, oldOid, newOid }: Change,
  objects: ObjectReader,
): Promise<string | null> {
  if (!/(?:^|\/)package\.json$/.test(path) || status !== 'M') return null
  const [before, after] = await Promise.all([readSmallBlob(oldOid, objects), readSmallBlob(newOid, objects)])
  const [old, now] = [jsonObject(before ?? ''), jsonObject(after ?? '')]
  if (old === null || now === null) return null
  const fields: Record<string, unknown> = { ...old }
  for (const key of DEPENDENCIES) {
    const named = Object.entries(asObject(now[key]) ?? {}).filter(
      ([, version]) => typeof version === 'string',
    )
    if (named.length > 0) fields[key] = Object.fromEntries(named)
  }
  return `${JSON.stringify(fields, null, 2)}\n`
}
