// The tests as they were: which files of a change are put back so that the gates can be run once more on it. They are files of tests,
// and what gates are made of: scripts that their commands lead to, data that these name, and settings of the tools that they run.
// Of other code what switches a check off is left out.
import type { Change } from '../../engine/model/change.ts'
import { asObject, jsonObject } from '../../engine/model/json.ts'
import { isTooLong } from '../../system/files.ts'
import type { FileChange } from './changed-tests.ts'
import { changedGateDefinitions, followed, namedIn } from './gate-definitions.ts'
import { PACKAGE_KEYS } from './gate-files.ts'
import { gateSources, type Objects, READ, small } from './sources.ts'
import { withoutNewSuppressions } from './suppressions.ts'
import { isTestSupport } from './test-files.ts'

/** What is to stand at a path: a blob of the base, a text, or nothing. */
export type Held = { mode: string; oid: string } | { mode: string; text: string } | null

/** What packages are installed, by a tool that resolved them: the code as it is now needs them as they are now. */
const LOCKFILES =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?|deno\.lock|go\.(?:sum|work\.sum)|Cargo\.lock|(?:poetry|pdm|uv)\.lock|Pipfile\.lock|gradle\.lockfile)$/
const PACKAGE = /(?:^|\/)package\.json$/
/** By path: settings, lists and the like. Code that a script names may be the product itself. */
const DATA =
  /(?:^|\/)\.[^/]+$|(?:^|\/)[^./]+$|\.(?:json[c5]?|ya?ml|toml|ini|cfg|conf|config|properties|xml|env|txt|li?st)$/
/** Code of others in the tree, which tests may be made with: what a change does to it there. */
const FOREIGN = /(?:^|\/)(?:vendor|third[_-]party)\//
/** Where a linter, a type checker or a coverage tool can be switched off by a comment. */
const CODE =
  /\.(?:[cm]?[jt]sx?|vue|svelte|pyi?|go|rs|java|kts?|scala|groovy|cs|swift|php|rb|sh|bash|s?css|html?)$/
/** Links and files; a submodule is another repository. */
const FILE = /^1[02]0/

/**
 * The files of a change that are to stand as they were in `base`, by path; empty where the change touches none that stood there
 * and switches no check off.
 * With the first of them go files that came: tests of the change's own, which say nothing of what was expected before, and
 * settings that a tool would find. `own`: how the change's own files changed since the gates were red on them: tests of that
 * attempt stand as they were in it.
 */
export async function filesAsTheyWere(
  changes: readonly Change[],
  objects: Objects,
  base: string,
  gateCommands: readonly string[],
  own: readonly Change[] = [],
): Promise<Map<string, Held>> {
  const files = await gateSources(changes, objects, base, [...gateCommands])
  const defined = new Set([
    ...changedGateDefinitions(files, [...gateCommands]).map(({ path }) => path),
    ...(await namedData(changes, files, objects, base, [...gateCommands])),
  ])
  const read = changes.filter(
    ({ status, path, oldMode, newMode }) =>
      !LOCKFILES.test(path) &&
      (defined.has(path) || isTestSupport(path) || (status !== 'A' && FOREIGN.test(path))) &&
      [oldMode, newMode].every((mode) => FILE.test(mode) || mode === '000000'),
  )
  const isTouched = read.some(
    ({ status, path }) => status !== 'A' || (defined.has(path) && !PACKAGE.test(path)),
  )
  const held = await withoutSuppressions(changes, objects)
  const ownTests = own.filter(
    (one) => one.status !== 'A' && isTestSupport(one.path) && FILE.test(one.oldMode),
  )
  if (isTouched) putBack(read, files, held)
  for (const { path, oldMode, oldOid } of ownTests) held.set(path, { mode: oldMode, oid: oldOid })
  return held
}

/** Adds each of these files of a change as it was. */
function putBack(read: readonly Change[], files: readonly FileChange[], held: Map<string, Held>) {
  for (const { path, status, oldMode, oldOid } of read) {
    if (PACKAGE.test(path) && status === 'M') {
      const text = scriptsAsTheyWere(files.find((file) => file.path === path))
      if (text !== null) held.set(path, { mode: oldMode, text })
    } else held.set(path, status === 'A' ? null : { mode: oldMode, oid: oldOid })
  }
}

/** Code that switches a check off for itself, as the check would see it otherwise. */
async function withoutSuppressions(changes: readonly Change[], objects: Objects): Promise<Map<string, Held>> {
  const found = new Map<string, Held>()
  let left = READ
  for (const { path, status, oldOid, newOid, newMode } of changes) {
    if (left <= 0) break
    if (status === 'D' || isTooLong(path) || !FILE.test(newMode) || !CODE.test(path)) continue
    const before = status === 'A' ? '' : ((await small(oldOid, objects)) ?? '')
    const after = (await small(newOid, objects)) ?? ''
    left -= before.length + after.length
    const text = withoutNewSuppressions(before, after)
    if (text !== null) found.set(path, { mode: newMode, text })
  }
  return found
}

/** Data of the change that a command of the gates, or a script which it leads to, named in `base`. */
async function namedData(
  changes: readonly Change[],
  files: FileChange[],
  objects: Objects,
  base: string,
  gateCommands: string[],
): Promise<string[]> {
  const data = changes.map(({ path }) => path).filter((path) => DATA.test(path) && !PACKAGE.test(path))
  if (data.length === 0) return []
  const { texts, paths } = followed(files, gateCommands)
  for (const path of paths) texts.push((await small(`${base}:${path}`, objects)) ?? '')
  return namedIn(texts, data)
}

/** package.json with the scripts and the settings of tools that it had; its dependencies are those of the change. */
function scriptsAsTheyWere(file: FileChange | undefined): string | null {
  const [before, after] = [jsonObject(file?.before ?? ''), jsonObject(file?.after ?? '')]
  if (before === null || after === null) return file?.before ?? null
  const made: Record<string, unknown> = { ...after }
  for (const key of Object.keys(PACKAGE_KEYS)) {
    if (key in before) made[key] = before[key]
    else delete made[key]
  }
  const scripts = { ...asObject(after.scripts), ...asObject(before.scripts) }
  return `${JSON.stringify({ ...made, scripts }, null, 2)}\n`
}
