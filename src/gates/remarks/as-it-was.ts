// The tests as they were: which files of a change are restored before the gates run once more on it. These are files of tests and
// whatever defines a gate: scripts that its command leads to, data that these scripts name, and settings of the tools that it runs.
// Other code keeps its change, without the comments that switch a check off.
import type { Change } from '../../engine/model/change.ts'
import { asObject, jsonObject } from '../../engine/model/json.ts'
import { isTooLong } from '../../system/files.ts'
import type { FileChange } from './changed-tests.ts'
import { changedGateDefinitions, collectGateTexts, pathsNamedIn } from './gate-definitions.ts'
import { PACKAGE_KEYS } from './gate-files.ts'
import { gateSources, MAX_TEXT, type ObjectReader, readSmallBlob } from './sources.ts'
import { withoutNewSuppressions } from './suppressions.ts'
import { isTestSupport } from './test-files.ts'

/** What a path holds in the second run: a blob of the repository, a text, or null for no file. */
export type RestoredFile = { mode: string; oid: string } | { mode: string; text: string } | null

/** Never restored: the changed code needs the packages that the changed lockfile installs. */
const LOCKFILES =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?|deno\.lock|go\.(?:sum|work\.sum)|Cargo\.lock|(?:poetry|pdm|uv)\.lock|Pipfile\.lock|gradle\.lockfile)$/
const PACKAGE = /(?:^|\/)package\.json$/
/** Settings, lists and the like. Code is not among them: the code that a script names may be the product itself. */
const DATA =
  /(?:^|\/)\.[^/]+$|(?:^|\/)[^./]+$|\.(?:json[c5]?|ya?ml|toml|ini|cfg|conf|config|properties|xml|env|txt|li?st)$/
/** Third-party code in the tree. Tests may depend on it, so a change of it is restored. */
const FOREIGN = /(?:^|\/)(?:vendor|third[_-]party)\//
/** Files in which a comment can switch off a linter, a type checker or a coverage tool. */
const CODE =
  /\.(?:[cm]?[jt]sx?|vue|svelte|pyi?|go|rs|java|kts?|scala|groovy|cs|swift|php|rb|sh|bash|s?css|html?)$/
/** Modes of files and links, but not of a submodule, which is another repository. */
const FILE = /^1[02]0/

/**
 * The files of a change that are restored as they were in `base`, by path. Empty where the change touches no test or gate file of
 * `base` and switches no check off.
 * Where one is restored, new tests and new settings of tools are removed as well: new tests do not show what was expected before, and
 * a tool would read the new settings. `sinceRed`: what changed since an attempt with red gates; tests of that attempt are
 * restored as it had them.
 */
export async function filesAsTheyWere(
  changes: readonly Change[],
  objects: ObjectReader,
  base: string,
  gateCommands: readonly string[],
  sinceRed: readonly Change[] = [],
): Promise<Map<string, RestoredFile>> {
  const files = await gateSources(changes, objects, base, [...gateCommands])
  const defined = new Set([
    ...changedGateDefinitions(files, [...gateCommands]).map(({ path }) => path),
    ...(await namedData(changes, files, objects, base, [...gateCommands])),
  ])
  const candidates = changes.filter(
    ({ status, path, oldMode, newMode }) =>
      !LOCKFILES.test(path) &&
      (defined.has(path) || isTestSupport(path) || (status !== 'A' && FOREIGN.test(path))) &&
      [oldMode, newMode].every((mode) => FILE.test(mode) || mode === '000000'),
  )
  const isTouched = candidates.some(
    ({ status, path }) => status !== 'A' || (defined.has(path) && !PACKAGE.test(path)),
  )
  const restored = await withoutSuppressions(changes, objects)
  const testsSinceRed = sinceRed.filter(
    (one) => one.status !== 'A' && isTestSupport(one.path) && FILE.test(one.oldMode),
  )
  if (isTouched) addOriginals(candidates, files, restored)
  for (const { path, oldMode, oldOid } of testsSinceRed) restored.set(path, { mode: oldMode, oid: oldOid })
  return restored
}

/** Adds each of these files of a change as it was before. */
function addOriginals(
  candidates: readonly Change[],
  files: readonly FileChange[],
  restored: Map<string, RestoredFile>,
) {
  for (const { path, status, oldMode, oldOid } of candidates) {
    if (PACKAGE.test(path) && status === 'M') {
      const text = packageWithOldScripts(files.find((file) => file.path === path))
      if (text !== null) restored.set(path, { mode: oldMode, text })
    } else restored.set(path, status === 'A' ? null : { mode: oldMode, oid: oldOid })
  }
}

/** Changed code, without the comments by which it newly switches a check off. */
async function withoutSuppressions(
  changes: readonly Change[],
  objects: ObjectReader,
): Promise<Map<string, RestoredFile>> {
  const found = new Map<string, RestoredFile>()
  let left = MAX_TEXT
  for (const { path, status, oldOid, newOid, newMode } of changes) {
    if (left <= 0) break
    if (status === 'D' || isTooLong(path) || !FILE.test(newMode) || !CODE.test(path)) continue
    const before = status === 'A' ? '' : ((await readSmallBlob(oldOid, objects)) ?? '')
    const after = (await readSmallBlob(newOid, objects)) ?? ''
    left -= before.length + after.length
    const text = withoutNewSuppressions(before, after)
    if (text !== null) found.set(path, { mode: newMode, text })
  }
  return found
}

/** Changed data files that a gate's command, or a script that it leads to, named in `base`. */
async function namedData(
  changes: readonly Change[],
  files: FileChange[],
  objects: ObjectReader,
  base: string,
  gateCommands: string[],
): Promise<string[]> {
  const data = changes.map(({ path }) => path).filter((path) => DATA.test(path) && !PACKAGE.test(path))
  if (data.length === 0) return []
  const { texts, paths } = collectGateTexts(files, gateCommands)
  for (const path of paths) texts.push((await readSmallBlob(`${base}:${path}`, objects)) ?? '')
  return pathsNamedIn(texts, data)
}

/** package.json with its former scripts and settings of tools, and with the dependencies of the change. */
function packageWithOldScripts(file: FileChange | undefined): string | null {
  const [before, after] = [jsonObject(file?.before ?? ''), jsonObject(file?.after ?? '')]
  if (before === null || after === null) return file?.before ?? null
  const fields: Record<string, unknown> = { ...after }
  for (const key of Object.keys(PACKAGE_KEYS)) {
    if (key in before) fields[key] = before[key]
    else delete fields[key]
  }
  const scripts = { ...asObject(after.scripts), ...asObject(before.scripts) }
  return `${JSON.stringify({ ...fields, scripts }, null, 2)}\n`
}
