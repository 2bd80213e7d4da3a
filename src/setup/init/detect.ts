// From the files of a repository to what `ralph init` proposes: one project, or several in one repository.
import { pluralize } from '../../report/figures.ts'
import { shellWord } from '../../system/shell-word.ts'
import { notesOnSubmodules, submodulesOf } from './ci/checked-submodules.ts'
import { type CiFacts, readCi } from './ci/ci-checks.ts'
import { serviceNotes } from './ci/ci-services.ts'
import { type ToolStep, toolchainOf, type WantedVersion } from './ci/toolchain.ts'
import { withCi } from './ci/with-ci.ts'
import { ECOSYSTEMS } from './ecosystems.ts'
import type { Alternatives, Ecosystem, Folder, Gates, Proposal } from './project.ts'
import { sourceLanguage } from './source-language.ts'
import { statedCommands } from './stated.ts'
import { TARGETS } from './targets/conventional.ts'

/** Files with `/`, relative to the top; and the text of one, '' if there is none. */
export type FileTree = { paths: readonly string[]; text(path: string): string }

export type DetectedProject = {
  languages: string[]
  managers: string[]
  /** One command line for all of them. */
  prepare: string | null
  /** Command lines that may replace `prepare` if it fails. */
  prepareInstead: string[]
  /** How each project is prepared, other command lines for it if that fails, and its gates. Empty if only one is prepared. */
  prepares: { run: string; instead: readonly string[]; gates: readonly string[] }[]
  /** Lines of a step of the workflow. */
  setups: string[]
  /** Steps of the workflow that use an action to set a tool up. */
  tools: ToolStep[]
  /** Versions of tools that CI or a file of the project asks for. */
  wanted: WantedVersion[]
  /** How CI checks out submodules, as the input of actions/checkout; null if it leaves them out. */
  submodules: 'true' | 'recursive' | null
  gates: Gates
  /** By gate: the gates whose files it uses. */
  needs: Readonly<Record<string, readonly string[]>>
  /** By gate: command lines that may replace it if it is red. */
  alternatives: Alternatives
  /** Gates that may run at the same time. */
  independent: string[]
  notes: string[]
}

/** The maximum number of projects of one repository that are proposed; with more, people name the gates. */
const MAX_PROJECTS = 8
/** Folder names that a workflow would read as an expression, or a shell not as one word. They are left out, with a note. */
const PLAIN_PATH = /^[\w@+.-]+(?:\/[\w@+.-]+)*$/

type Project = {
  path: string
  proposal: Proposal
  fillsIn: boolean
  independent: readonly string[]
  owns: RegExp | null
}

export function detect(tree: FileTree): DetectedProject {
  const marked = withoutRepeats(ECOSYSTEMS.flatMap((ecosystem) => projectsOf(ecosystem, tree)))
  const all = marked.length > 0 ? marked : projectsByTests(tree)
  const ci = readCi(folderOf(tree, ''))
  const plain = all.filter(({ path }) => path === '' || PLAIN_PATH.test(path))
  const supported = plain.filter(isInCi(all, ci, statedCommands(folderOf(tree, ''))))
  const projects = supported.slice(0, MAX_PROJECTS)
  const proposals = projects.map(({ proposal }) => proposal)
  const owners = projects.map(({ path, owns, proposal: { gates } }) => ({
    path,
    owns,
    gates,
  }))
  const { names, guesses, ...own } = gatesOf(projects)
  const { notProposed, proposedChecks, ...joined } = withCi(own, ci.checks, owners, tree.paths, guesses)
  const prepares = projects.flatMap(({ path, proposal }, at) => {
    const isPart = projects.length > 1
    const { prepare = null, prepareWith, prepareInstead = [] } = proposal
    const words = proposedChecks.filter(({ folder }) => folder === path).flatMap(({ installs }) => installs)
    const more = words.length === 0 ? null : (prepareWith?.(words) ?? null)
    const run = inFolder(path, more ?? prepare, isPart)
    const others = [...(more === null || prepare === null ? [] : [prepare]), ...prepareInstead]
    const instead = others.flatMap((line) => inFolder(path, line, isPart) ?? [])
    return run === null ? [] : [{ run, instead, gates: names[at] ?? [] }]
  })
  const setups = distinct(proposals.flatMap(({ setup }) => setup ?? []))
  const commands = [...Object.values(joined.gates), ...prepares.map(({ run }) => run)]
  const places = distinct(['', ...projects.map(({ path }) => path)])
  const tools = toolchainOf({
    places: places.map((path) => ({ path, folder: folderOf(tree, path) })),
    uses: ci.uses,
    setups,
    commands,
  })
  return {
    languages: languagesOf(proposals),
    managers: distinct(proposals.flatMap(({ manager }) => manager ?? [])),
    prepare: prepares.length === 0 ? null : prepares.map(({ run }) => run).join(' && '),
    prepares: prepares.length > 1 ? prepares : [],
    prepareInstead: prepares.length === 1 ? [...(prepares[0]?.instead ?? [])] : [],
    setups: tools.setups,
    tools: tools.steps,
    wanted: tools.wanted,
    submodules: submodulesOf(ci.uses),
    ...joined,
    notes: [
      ...notesOn(all.length - plain.length, supported.length),
      ...notesOnLeftOut(plain.filter((one) => !supported.includes(one))),
      ...notesOnCi(notProposed, ci.unread),
      ...noteWithoutTest(proposals, joined.gates, ci.elsewhere, tree.paths),
      ...tools.notes,
      ...serviceNotes(ci.services),
      ...notesOnSubmodules(tree),
    ],
  }
}

/**
 * Whether CI runs something of a project, if it tests the top. A project that it leaves out may not even build by itself. A step that
 * cannot be read may run anything. `stated`: commands of the files that CI may start, such as those of a Makefile.
 */
function isInCi(
  all: readonly Project[],
  { checks, unread }: CiFacts,
  stated: readonly string[],
): (project: Project) => boolean {
  const hasTop = all.some(({ path }) => path === '')
  const testsTop = checks.some(({ kind, folder }) => kind === 'test' && folder === '')
  if (!hasTop || !testsTop || unread.length > 0) return () => true
  return ({ path }) =>
    path === '' ||
    checks.some(({ folder, run }) => folder === path || isBelow(folder, path) || mentions(run, path)) ||
    stated.some((run) => mentions(run, path))
}

/** Whether a command has the path, or one below it, as a word or in one. */
function mentions(run: string, path: string): boolean {
  return run.split(/[\s"'=]+/).some((word) => `${word.replace(/^\.\//, '')}/`.startsWith(`${path}/`))
}

/** Targets stand for a language only if no other is known. */
function languagesOf(proposals: readonly Proposal[]): string[] {
  const all = distinct(proposals.map(({ language }) => language))
  return all.length > 1 ? all.filter((language) => language !== TARGETS) : all
}

function projectsByTests(tree: FileTree): Project[] {
  const ecosystems = ECOSYSTEMS.filter(({ tests }) => tree.paths.some((path) => tests?.test(path)))
  return ecosystems.map((ecosystem) => projectIn('', ecosystem, tree))
}

function projectIn(path: string, ecosystem: Ecosystem, tree: FileTree): Project {
  const { fillsIn = false, independent = [], owns = null } = ecosystem
  return { path, proposal: ecosystem.propose(folderOf(tree, path)), fillsIn, independent, owns }
}

/** Removes gates of `fillsIn` rows that another row has in the same folder. */
function withoutRepeats(projects: readonly Project[]): Project[] {
  const rows = projects.filter(({ fillsIn }) => !fillsIn)
  return projects.flatMap((project) => {
    if (!project.fillsIn) return [project]
    const sameFolder = rows.filter(({ path }) => path === project.path).map(({ proposal }) => proposal)
    const isNew = ([name]: [string, string]) => !sameFolder.some(({ gates }) => Object.hasOwn(gates, name))
    const gates = Object.fromEntries(Object.entries(project.proposal.gates).filter(isNew))
    return Object.keys(gates).length === 0 ? [] : [{ ...project, proposal: { ...project.proposal, gates } }]
  })
}

function notesOn(unread: number, count: number): string[] {
  const leftOutNote = `init ignores ${pluralize(unread, 'folder')} with unusual characters in the name`
  const limitNote = `there are ${count} projects, and init proposes gates for ${MAX_PROJECTS} of them`
  return [...(unread > 0 ? [leftOutNote] : []), ...(count > MAX_PROJECTS ? [limitNote] : [])]
}

function notesOnLeftOut(projects: readonly Project[]): string[] {
  if (projects.length === 0) return []
  const paths = distinct(projects.map(({ path }) => path))
  return [
    `your CI runs nothing in ${paths.join(', ')}, so these folders have no gates. --gate NAME=COMMAND adds one`,
  ]
}

function notesOnCi(notProposed: readonly string[], unread: readonly string[]): string[] {
  const steps = distinct(unread.filter((name) => name !== ''))
  return [
    ...(notProposed.length > 0
      ? [`CI also runs: ${notProposed.join('; ')}. To add one: --gate NAME=COMMAND`]
      : []),
    ...(steps.length > 0 ? [`init cannot tell what these steps of CI run: ${steps.join('; ')}`] : []),
  ]
}

/** The maximum number of commands that are named. */
const MAX_NAMED = 3

/** What CI tests in a way that `init` cannot propose, if it proposes no test. */
function noteWithoutTest(
  proposals: readonly Proposal[],
  gates: Gates,
  elsewhere: readonly string[],
  paths: readonly string[],
): string[] {
  const hasTest = Object.keys(gates).some((name) => /(?:^|-)test(?:-|$)/.test(name))
  if (hasTest || elsewhere.length === 0) return []
  const known = proposals.map(({ language }) => language).find((one) => one !== TARGETS)
  const language = sourceLanguage(paths) ?? 'the language of this project'
  const subject =
    known === undefined ? `init does not know how to test ${language}` : `init found no ${known} test`
  const runs = distinct(elsewhere)
    .slice(0, MAX_NAMED)
    .map((run) => `\`${run}\``)
  return [`${subject}. CI runs ${runs.join(', ')}. Name the command that runs the tests: --gate test=COMMAND`]
}

/** The projects of one ecosystem, the top first. Members of a workspace are not separate projects. */
function projectsOf(ecosystem: Ecosystem, tree: FileTree): Project[] {
  const found: Project[] = []
  for (const path of foldersWith(ecosystem.marks, tree.paths)) {
    const isMember = found.some(
      ({ path: above, proposal }) => proposal.isWorkspace === true && isBelow(path, above),
    )
    if (!isMember) found.push(projectIn(path, ecosystem, tree))
  }
  // A file that only holds settings, such as the package.json of a formatter, proposes nothing.
  return found.filter(({ proposal }) => Object.keys(proposal.gates).length > 0 || found.length === 1)
}

/** Folders of test data, examples, documentation and measurements. */
const SAMPLES =
  /(?:^|\/)_?(?:tests?|__tests__|fixtures?|testdata|examples?|samples?|docs?|templates?|bench(?:es|marks?)?|fuzz)(?:\/|$)/i

function foldersWith(marks: readonly string[], paths: readonly string[]): string[] {
  const folders = paths.flatMap((path) => {
    const cut = path.lastIndexOf('/')
    const name = path.slice(cut + 1)
    const isMark = marks.some((mark) => (mark.startsWith('*') ? name.endsWith(mark.slice(1)) : name === mark))
    return isMark ? [path.slice(0, Math.max(cut, 0))] : []
  })
  return distinct(folders)
    .filter((folder) => !SAMPLES.test(folder))
    .sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1))
}

function depth(path: string): number {
  return path === '' ? 0 : path.split('/').length
}

function isBelow(path: string, above: string): boolean {
  return above === '' || path.startsWith(`${above}/`)
}

function folderOf(tree: FileTree, path: string): Folder {
  const start = path === '' ? '' : `${path}/`
  const paths = tree.paths.filter((one) => one.startsWith(start)).map((one) => one.slice(start.length))
  const names = new Set(paths)
  return { paths, has: (name) => names.has(name), text: (name) => tree.text(start + name) }
}

/** Names as they are at the top, and if only one project has them; else with the folder's (`api-test`) or language's. */
function gatesOf(projects: readonly Project[]): Pick<
  DetectedProject,
  'gates' | 'needs' | 'alternatives' | 'independent'
> & {
  names: string[][]
  guesses: string[]
} {
  const namesOfAll: string[][] = []
  const guesses: string[] = []
  const gates: Gates = {}
  const independent: string[] = []
  const alternatives: Record<string, string[]> = {}
  const needs: Record<string, string[]> = {}
  for (const project of projects) {
    const { path, proposal } = project
    const names = new Map<string, string>()
    for (const [name, run] of Object.entries(proposal.gates)) {
      const namesakes = projects.filter((one) => one !== project && Object.hasOwn(one.proposal.gates, name))
      const isFirst = projects.find((one) => Object.hasOwn(one.proposal.gates, name)) === project
      const isPlain =
        namesakes.length === 0 || (path === '' && (isFirst || !namesakes.some((one) => one.path === '')))
      const wantedName = isPlain ? name : `${slug(path === '' ? proposal.language : path)}-${name}`
      const free = freeName(wantedName, gates)
      const inProject = (line: string) => inFolder(path, line, false) ?? line
      gates[free] = inProject(run)
      names.set(name, free)
      if (project.independent.includes(name)) independent.push(free)
      if (proposal.guesses?.includes(name) === true) guesses.push(free)
      const rest = (proposal.alternatives?.[name] ?? []).map(inProject)
      if (rest.length > 0) alternatives[free] = rest
      const needed = (proposal.needs?.[name] ?? []).flatMap((one) => names.get(one) ?? [])
      if (needed.length > 0) needs[free] = needed
    }
    namesOfAll.push([...names.values()])
  }
  return { gates, needs, alternatives, independent, names: namesOfAll, guesses }
}

function slug(path: string): string {
  const words = path.toLowerCase().match(/[a-z0-9]+/g) ?? []
  return words.join('-').slice(-40).replace(/^-/, '')
}

function freeName(wantedName: string, taken: Gates): string {
  let name = wantedName
  for (let count = 2; Object.hasOwn(taken, name); count += 1) name = `${wantedName}-${count}`
  return name
}

/** The command line in a folder. `isPart`: in a subshell, so that further commands may follow. */
function inFolder(path: string, run: string | null, isPart: boolean): string | null {
  if (run === null || path === '') return run
  const line = `cd ${shellWord(path)} && ${run}`
  return isPart ? `(${line})` : line
}

function distinct(words: readonly string[]): string[] {
  return [...new Set(words)]
}
