// What `ralph init` finds in a repository, as data. Pure: the table of ecosystems reads folders, and runs nothing.

/** A folder of the repository as an ecosystem sees it. Names and paths are relative to it, with `/`. */
export type Folder = {
  /** Files in it, however deep. */
  paths: readonly string[]
  /** Whether it holds a file of this name itself. */
  has(name: string): boolean
  /** The text of a file, '' if there is none. */
  text(path: string): string
}

/** Gate names to command lines, in the order in which they run. */
export type Gates = Record<string, string>

/** Gate names to command lines that may stand in for the gate's own, the best first. */
export type Alternatives = Readonly<Record<string, readonly string[]>>

/** What an ecosystem proposes for a folder: only commands that the project itself uses. */
export type Proposal = {
  language: string
  /** Package manager or build tool; left out if the language's own tool is all. */
  manager?: string
  /** Installs what the gates need. */
  prepare?: string | null
  /** `prepare` that also installs what these words for pip name, for checks of CI; left out if its manager cannot. */
  prepareWith?: (words: readonly string[]) => string
  /** Other ways of its manager, tried in this order if `prepare` fails. */
  prepareInstead?: readonly string[]
  /** A line of a workflow's step that installs what a hosted runner does not have (https://github.com/actions/runner-images). */
  setup?: string | null
  gates: Gates
  /** Gates that no file of the project runs. If CI tests the project, only what CI runs is proposed. */
  guesses?: readonly string[]
  /** By gate: the gates whose files it uses, if that is certain. */
  needs?: Readonly<Record<string, readonly string[]>>
  /** By gate: commands that prove less, for a gate that is red on the unchanged project. */
  alternatives?: Alternatives
  /** Its commands reach the folders of the same ecosystem below: a workspace. */
  isWorkspace?: boolean
}

/** A kind of project: one row in ecosystems.ts. */
export type Ecosystem = {
  /** A folder that holds one of these files is one of its projects. `*.sln`: any file that ends so. */
  marks: readonly string[]
  /** If nothing marks a project of any kind, such a file makes the top one. */
  tests?: RegExp
  /** It only fills in what no other row has found in the same folder. */
  fillsIn?: true
  /** Names of gates that write nothing which another of them reads or locks: they may run at the same time. */
  independent?: readonly string[]
  /** Commands of CI, without what only starts them, that its own gates stand for. */
  owns?: RegExp
  propose(folder: Folder): Proposal
}

/** The first of the names that the folder holds. */
export function firstOf(folder: Folder, names: readonly string[]): string | null {
  return names.find((name) => folder.has(name)) ?? null
}

/** The gates that are not null, in the given order. */
export function gatesFrom(entries: Readonly<Record<string, string | null>>): Gates {
  return Object.fromEntries(
    Object.entries(entries).filter((entry): entry is [string, string] => entry[1] !== null),
  )
}

/** Whether a path in the folder, however deep, is like this. */
export function hasPath(folder: Folder, pattern: RegExp): boolean {
  return folder.paths.some((path) => pattern.test(path))
}
