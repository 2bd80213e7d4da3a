// The tests as they were: which files of a change are put back so that the gates can be run once more on it. They are files of tests,
// and what gates are made of: scripts that their commands lead to, data that these name, and settings of the tools that they run.
import type { Change } from '../model/change.ts'
import { jsonObject, object } from '../model/json.ts'
import { PACKAGE_KEYS } from './gate-files.ts'
import { changedGateDefinitions, followed, namedIn } from './pins.ts'
import { gateSources, type Objects, small } from './sources.ts'
import { isTestSupport } from './test-files.ts'
import type { FileChange } from './weakened.ts'

/** What is to stand at a path: a blob of the base with its mode, a text, or nothing. */
export type Held = { mode: string; oid: string } | { text: string } | null

/** What packages are installed, by a tool that resolved them: the code as it is now needs them as they are now. */
const LOCKFILES =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?|deno\.lock|go\.(?:sum|work\.sum)|Cargo\.lock|(?:poetry|pdm|uv)\.lock|Pipfile\.lock|gradle\.lockfile)$/
const PACKAGE = /(?:^|\/)package\.json$/
/** By path: settings, lists and the like. Code that a script names may be the product itself. */
const DATA =
  /(?:^|\/)\.[^/]+$|(?:^|\/)[^./]+$|\.(?:json[c5]?|ya?ml|toml|ini|cfg|conf|config|properties|xml|env|txt|li?st)$/
/** Code of others in the tree, which tests may be made with: what a change does to it there. */
const FOREIGN = /(?:^|\/)(?:vendor|third[_-]party)\//
/** Links and files; a submodule is another repository. */
const FILE = /^1[02]0/

/**
 * The files of a change that are to stand as they were in `base`, by path; empty where the change touches none that stood there.
 * With the first of them go files that came: tests of the change's own, which say nothing of what was expected before, and
 * settings that a tool would find.
 */
export async function filesAsTheyWere(
  changes: readonly Change[],
  objects: Objects,
  base: string,
  gateCommands: readonly string[],
): Promise<Map<string, Held>> {
  const held = new Map<string, Held>()
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
  if (!isTouched) return held
  for (const { path, status, oldMode, oldOid } of read) {
    if (PACKAGE.test(path) && status === 'M') {
      const text = scriptsAsTheyWere(files.find((file) => file.path === path))
      if (text !== null) held.set(path, { text })
    } else held.set(path, status === 'A' ? null : { mode: oldMode, oid: oldOid })
  }
  return held
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
  const scripts = { ...object(after.scripts), ...object(before.scripts) }
  return `${JSON.stringify({ ...made, scripts }, null, 2)}\n`
}
