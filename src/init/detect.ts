// From the files of a repository to what `ralph init` proposes: one project, or several in one repository.
import { shellWord } from '../system/shell-word.ts'
import { ECOSYSTEMS, LAST_RESORT } from './ecosystems.ts'
import type { Ecosystem, Folder, Gates, Proposal } from './project.ts'

/** Files with `/`, relative to the top; and the text of one, '' where there is none. */
export type Tree = { paths: readonly string[]; text(path: string): string }

export type Detected = {
  languages: string[]
  managers: string[]
  /** One command line for all of them. */
  prepare: string | null
  /** Lines of a step of the workflow. */
  setups: string[]
  gates: Gates
  notes: string[]
}

/** So many projects of one repository are proposed; who has more names the gates. */
const MOST_PROJECTS = 8
/** What `${{ }}` would be in a workflow, or no shell reads as one word: such folders are left out, and told. */
const PLAIN_PATH = /^[\w@+.-]+(?:\/[\w@+.-]+)*$/

type Project = { path: string; proposal: Proposal }

export function detect(tree: Tree): Detected {
  const known = ECOSYSTEMS.flatMap((ecosystem) => projectsOf(ecosystem, tree))
  const all = known.length > 0 ? known : projectsOf(LAST_RESORT, tree).slice(0, 1)
  const plain = all.filter(({ path }) => path === '' || PLAIN_PATH.test(path))
  const projects = plain.slice(0, MOST_PROJECTS)
  const notes =
    plain.length > projects.length
      ? [`of ${plain.length} projects the gates of ${MOST_PROJECTS} are proposed`]
      : []
  const proposals = projects.map(({ proposal }) => proposal)
  const prepares = projects.flatMap(
    ({ path, proposal }) => inFolder(path, proposal.prepare, projects.length > 1) ?? [],
  )
  return {
    languages: distinct(proposals.map(({ language }) => language)),
    managers: distinct(proposals.flatMap(({ manager }) => manager ?? [])),
    prepare: prepares.length === 0 ? null : prepares.join(' && '),
    setups: distinct(proposals.flatMap(({ setup }) => setup ?? [])),
    gates: gatesOf(projects),
    notes,
  }
}

/** The projects of one ecosystem, the top first; what a workspace reaches is none of its own. */
function projectsOf(ecosystem: Ecosystem, tree: Tree): Project[] {
  const found: Project[] = []
  for (const path of foldersWith(ecosystem.marks, tree.paths)) {
    const isMember = found.some(({ path: above, proposal }) => proposal.isWorkspace && isBelow(path, above))
    if (!isMember) found.push({ path, proposal: ecosystem.propose(folderOf(tree, path)) })
  }
  // A file that only holds settings, such as the package.json of a formatter, proposes nothing.
  return found.filter(({ proposal }) => Object.keys(proposal.gates).length > 0 || found.length === 1)
}

function foldersWith(marks: readonly string[], paths: readonly string[]): string[] {
  const folders = paths.flatMap((path) => {
    const cut = path.lastIndexOf('/')
    return marks.includes(path.slice(cut + 1)) ? [path.slice(0, Math.max(cut, 0))] : []
  })
  return distinct(folders).sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1))
}

function depth(path: string): number {
  return path === '' ? 0 : path.split('/').length
}

function isBelow(path: string, above: string): boolean {
  return above === '' || path.startsWith(`${above}/`)
}

function folderOf(tree: Tree, path: string): Folder {
  const start = path === '' ? '' : `${path}/`
  const paths = tree.paths.filter((one) => one.startsWith(start)).map((one) => one.slice(start.length))
  const names = new Set(paths)
  return { paths, has: (name) => names.has(name), text: (name) => tree.text(start + name) }
}

/** Names as they are where one project has them, else with the folder's: `api-test`. */
function gatesOf(projects: readonly Project[]): Gates {
  const gates: Gates = {}
  for (const { path, proposal } of projects) {
    for (const [name, run] of Object.entries(proposal.gates)) {
      const place = (path === '' ? proposal.language : path)
        .replace(/[^A-Za-z0-9]+/g, '-')
        .replace(/^-|-$/g, '')
        .toLowerCase()
      const isAlone = projects.every(
        (one) => one.proposal === proposal || !Object.hasOwn(one.proposal.gates, name),
      )
      gates[isAlone ? name : `${place}-${name}`.slice(-60).replace(/^-/, '')] =
        inFolder(path, run, false) ?? run
    }
  }
  return gates
}

/** A command line in a folder; as one word of others in a shell of its own. */
function inFolder(path: string, run: string | null, isPart: boolean): string | null {
  if (run === null || path === '') return run
  const line = `cd ${shellWord(path)} && ${run}`
  return isPart ? `(${line})` : line
}

function distinct(words: readonly string[]): string[] {
  return [...new Set(words)]
}
