// action.yml: what the runner reads of an action's manifest.
import { existsSync } from 'node:fs'
import { cp, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'
import type { Json } from '../model.ts'
import { interpolateText, type Scope } from './expressions.ts'

/** Which `uses:` stands for an action that is really run, and the folder that it lies in. */
export interface ActionSource {
  match: RegExp
  path: string
  /** Run where it lies, and not from the machine's own copy: for compiled code, which Node keeps by its path. */
  inPlace?: boolean
}
export interface Manifest {
  inputs: Record<string, { default: unknown }>
  main: string
  post: string | null
  postIf: unknown
}

/** Reads a JavaScript action's manifest. Rejects what the stand-in can not run. */
export async function readManifest(folder: string): Promise<Manifest> {
  const file = ['action.yml', 'action.yaml']
    .map((name) => join(folder, name))
    .find((path) => existsSync(path))
  if (file === undefined) throw new Error(`Can't find 'action.yml' or 'action.yaml' under '${folder}'.`)
  const raw = parse(await readFile(file, 'utf8')) as Json
  const runs = (raw.runs ?? {}) as Json
  if (runs.using !== 'node24' && runs.using !== 'node20')
    throw new Error(`runs.using: ${runs.using} is not simulated`)
  const inputs = Object.entries((raw.inputs ?? {}) as Record<string, Json | null>).map(([name, spec]) => [
    name.toLowerCase(),
    { default: spec?.default ?? '' },
  ])
  return {
    inputs: Object.fromEntries(inputs),
    main: String(runs.main),
    post: runs.post === undefined ? null : String(runs.post),
    postIf: runs['post-if'] ?? 'always()',
  }
}

/**
 * The action's own folder on the machine, `_actions/owner/name/ref`: like the rest of the runner, its user's to write
 * (https://github.com/actions/runner/blob/main/src/Runner.Worker/ActionManager.cs).
 */
export async function downloadAction(
  { path, inPlace }: ActionSource,
  uses: string,
  actions: string,
): Promise<string> {
  if (inPlace === true || uses.startsWith('./')) return path
  const folder = join(actions, ...uses.split(/[/@]/))
  if (existsSync(folder)) return folder
  const { main, post } = await readManifest(path)
  const parts = [
    'action.yml',
    'action.yaml',
    ...[main, post ?? main].map((file) => file.split('/')[0] ?? file),
  ]
  for (const name of new Set(parts))
    if (existsSync(join(path, name))) await cp(join(path, name), join(folder, name), { recursive: true })
  return folder
}

/** `uses: ./folder` is an action of the checked out repository. */
export function localAction(uses: string, workspace: string): ActionSource | null {
  return uses.startsWith('./') ? { match: /^\.\//, path: resolve(workspace, uses) } : null
}

/** Every input of the action as INPUT_*: upper case, spaces become `_`, hyphens stay, unset is empty (facts 1.3). */
export function inputEnvironment(
  manifest: Manifest,
  given: Record<string, string>,
  scope: Scope,
): Record<string, string> {
  const defaults = Object.entries(manifest.inputs).map(([name, input]) => [
    name,
    interpolateText(input.default, scope),
  ])
  const all = { ...Object.fromEntries(defaults), ...given } as Record<string, string>
  const pairs = Object.entries(all).map(([name, value]) => [
    `INPUT_${name.replaceAll(' ', '_').toUpperCase()}`,
    value,
  ])
  return Object.fromEntries(pairs)
}
/** The runner's warning about inputs that the action does not know; null when there are none. */
export function unexpectedInputs(manifest: Manifest, given: Record<string, string>): string | null {
  const quoted = (names: string[]): string => names.map((name) => `'${name}'`).join(', ')
  const unexpected = Object.keys(given).filter((name) => !(name in manifest.inputs))
  if (unexpected.length === 0) return null
  return `Unexpected input(s) ${quoted(unexpected)}, valid inputs are [${quoted(Object.keys(manifest.inputs))}]`
}
