// Steps that give the generated workflow the project's tools, with the versions of its CI or of its version files. Pure.
import { stringify } from 'yaml'
import type { Folder } from '../project.ts'
import type { CiFacts } from './ci-checks.ts'
import type { Values } from './expressions.ts'
import { isLineTool, rustLine, withPrograms } from './line-tools.ts'
import { TOOL_ACTIONS, type ToolAction } from './tool-actions.ts'
import { MISE_FILES, versionIn, type Wish, wishOf } from './version-files.ts'
import { compareVersions } from './workflow-jobs.ts'

/** A step that uses an action. `tag`: the version that the commit is of. */
export type ToolStep = { action: string; commit: string; tag: string; inputs: Values }

/** A version that the project asks for. `program`: what says its version on a machine. */
export type WantedVersion = Wish & { name: string; program: string; args: readonly string[] }

export type Toolchain = {
  steps: ToolStep[]
  /** Lines of a step. */
  setups: string[]
  wanted: WantedVersion[]
  notes: string[]
}

/** Values that are written into a workflow: no expression, no secret. */
const PLAIN = /^[\w@+*^~<>=.,:/\s|-]{1,200}$/

type Found = { row: ToolAction; step: ToolStep; version: string }

/** A folder of the repository that holds a project. `path`: '' for the top. */
export type Place = { path: string; folder: Folder }

type Needs = {
  /** The top first. */
  places: readonly Place[]
  uses: CiFacts['uses']
  /** Lines that projects need. */
  setups: readonly string[]
  /** The gates, and `prepare`. */
  commands: readonly string[]
}

export function toolchainOf({ places, uses, setups, commands }: Needs): Toolchain {
  const ofMise = uses.some((one) => isAction(one.uses, 'jdx/mise-action'))
  const byFile = (row: ToolAction) => places.flatMap((place) => stepByFile(row, place, ofMise) ?? [])[0]
  const found = TOOL_ACTIONS.flatMap(
    (row) => stepOf(row, uses) ?? byFile(row) ?? stepByCommand(row, commands) ?? [],
  )
  const rust = places[0] === undefined ? null : rustLine(places[0].folder, uses)
  const lines = withPrograms(setups, uses, commands)
  const isReplaced = (line: string) => found.some(({ row }) => row.replaces?.test(line) === true)
  return {
    steps: found.map(({ step }) => step),
    setups: [...(rust === null ? [] : [rust.line]), ...lines.filter((line) => !isReplaced(line))],
    wanted: withoutRepeats([...found.flatMap(wantedOf), ...wantedRust(rust?.version ?? null)]),
    notes: unknownSetups(uses),
  }
}

function withoutRepeats(wanted: readonly WantedVersion[]): WantedVersion[] {
  return [...new Map(wanted.map((one) => [one.name, one])).values()]
}

function wantedOf({ row, version }: Found): WantedVersion[] {
  const wish = wishOf(version.split('\n')[0] ?? '')
  const [program, ...args] = row.program
  return wish === null ? [] : [{ ...wish, name: program, program, args }]
}

/** rustup has several toolchains: the version that is asked for is called by its name, which installs nothing. */
function wantedRust(version: string | null): WantedVersion[] {
  const wish = version === null ? null : wishOf(version)
  if (wish === null) return []
  return [{ ...wish, name: 'rust', program: 'rustup', args: ['run', wish.version, 'rustc', '--version'] }]
}

function isAction(uses: string, action: string): boolean {
  return uses.replace(/@.*$/, '').toLowerCase() === action.toLowerCase()
}

/** The step as CI has it: with a version file, else the newest version of its jobs. */
function stepOf(row: ToolAction, uses: CiFacts['uses']): Found | null {
  const own = uses.filter((step) => isAction(step.uses, row.action))
  const { file } = row
  const byFile = own.find(({ inputs }) => file !== undefined && inputs[file] !== undefined)
  const newest = [...own].sort((a, b) =>
    compareVersions(b.inputs[row.version] ?? '', a.inputs[row.version] ?? ''),
  )[0]
  const chosen = byFile ?? newest
  if (chosen === undefined) return null
  const names = [row.version, ...(file === undefined ? [] : [file]), ...(row.inputs ?? [])]
  const inputs = Object.fromEntries(
    names.flatMap((name) => {
      const value = chosen.inputs[name]?.trim()
      return value !== undefined && PLAIN.test(value) ? [[name, value] as const] : []
    }),
  )
  if (row.needsVersion === true && inputs[row.version] === undefined) return null
  const [, commit] = /@([0-9a-f]{40})$/.exec(chosen.uses) ?? []
  const pin = commit === undefined ? row : { commit, tag: chosen.remark || row.tag }
  return { row, step: stepWith(row, inputs, pin), version: inputs[row.version] ?? '' }
}

/**
 * A step by a file with the version, such as .nvmrc, if CI has no such step. mise installs what its own files name. An action finds a
 * file without an input only at the top.
 */
function stepByFile(row: ToolAction, { path: place, folder }: Place, ofMise: boolean): Found | null {
  const { file, version: input, files = [] } = row
  const isRead = ({ path }: { path: string }) => !(ofMise && [...MISE_FILES, '.tool-versions'].includes(path))
  const found = versionIn(folder, files.filter(isRead))
  if (found === null) return null
  const { path, as, more } = found.file
  const isByFile = as === 'file' && file !== undefined
  const value = isByFile ? [place, path].filter((part) => part !== '').join('/') : found.version
  if (!PLAIN.test(value)) return null
  const isFound = as === 'itself' && place === ''
  const chosen = isFound ? {} : { [isByFile ? file : input]: value }
  const inputs = { ...chosen, ...more?.(folder.text(path)) }
  return { row, step: stepWith(row, inputs, row), version: found.version }
}

function stepByCommand(row: ToolAction, commands: readonly string[]): Found | null {
  const { starts } = row
  if (starts === undefined || !commands.some((run) => starts.test(run))) return null
  return { row, step: stepWith(row, {}, row), version: '' }
}

/** The step, so that the action saves no cache. */
function stepWith(
  { action, defaults, uncached }: ToolAction,
  inputs: Values,
  { commit, tag }: Pick<ToolStep, 'commit' | 'tag'>,
): ToolStep {
  const major = Number(/^v?(\d+)/.exec(tag)?.[1] ?? Number.POSITIVE_INFINITY)
  const cacheInputs = uncached !== undefined && major >= uncached.since ? uncached.inputs : {}
  return { action, commit, tag, inputs: { ...defaults, ...inputs, ...cacheInputs } }
}

const SETUP =
  /^(?!(?:docker|sigstore|azure|aws-actions|google-github-actions)\/).*[/-](?:setup|install)(?:[/-]|$)/i
/** The maximum number of names in a message. */
const MAX_UNKNOWN = 3

/** Actions of CI that set up a tool for which there is no row, each with the step to add. */
function unknownSetups(uses: CiFacts['uses']): string[] {
  const unknown = new Map<string, CiFacts['uses'][number]>()
  for (const step of uses) {
    const name = step.uses.replace(/@.*$/, '')
    const isKnown = TOOL_ACTIONS.some(({ action }) => isAction(step.uses, action)) || isLineTool(step.uses)
    if (SETUP.test(name) && !isKnown && !unknown.has(name)) unknown.set(name, step)
  }
  return [...unknown.values()].slice(0, MAX_UNKNOWN).map(({ uses: action, inputs }) => {
    const plain = Object.entries(inputs).filter(([, value]) => PLAIN.test(value))
    const given = plain.length === 0 ? {} : { with: Object.fromEntries(plain) }
    const line = stringify([{ uses: action, ...given }], { collectionStyle: 'flow', lineWidth: 0 })
    return `CI sets up a tool with ${action}, and init does not know which commit to pin. If a gate needs the tool, add this step to ralph.yml before ralph/action: - ${line.trim().slice(1, -1).trim()}`
  })
}
