// What the readers of documents share: a file as it came, a story as one file has it, a format as one row of the table.
import type { Prd } from '../engine/model/feature.ts'
import type { Raw } from '../engine/prd/migrate.ts'
import type { Mistake } from '../system/errors.ts'
import type { OpenDocument } from './open-document.ts'

/** What a person says that a file is, whatever it looks like. */
export type RequestedUse = 'stories' | 'background'

/**
 * A document as it was found; `path` is relative to the repository, with `/`. `isNamed`: a person named this very file, not only
 * a folder of it; `isDiscovered`: nobody named it. `part`: of a file with several plans the one that is wanted, such as a tag of Task Master.
 */
export type DocumentFile = {
  path: string
  text: string
  isNamed?: boolean
  isDiscovered?: boolean
  as?: RequestedUse
  part?: string
}

/** Where a story was read; `line` is 1-based. */
export type Source = { path: string; line: number; format: string; storyId: string }

export type Documents = {
  /** Stories with stable ids, project, description, learnings; `done` in a document is an imported pass. */
  prd: Prd
  /** For context.md: overview, architecture, sprint; bounded; empty where the documents say none. */
  context: string
  sources: Source[]
  /** Files that hold words and no stories: for an agent to plan from. */
  prose: DocumentFile[]
  /** What each file was taken as, in the order of the files. */
  taken: DocumentUse[]
  /** What old configurations say of gates (name -> command): a proposal for people, never run from here. */
  gates: Record<string, string>
  /** What a person should know of the reading, each with its place. */
  notes: string[]
}

/** What a document was taken as; `what` says what kind of document it is, `boxes` how many of its boxes are no stories. */
export type DocumentUse = {
  path: string
  as: 'stories' | 'background' | 'left out'
  what: string
  stories: number
  boxes: number
}

/** Where a document says that a story is done: what is written there when a story has passed. Lines are 1-based. */
export type Mark =
  /**
   * A box is ticked. `whenAll`: only where the boxes on these lines are ticked. `tick`: with this letter. `withCommit`: the short id
   * of the commit is put behind the line. `task`: only where the story, as it was planned, has these words.
   */
  | {
      kind: 'box'
      line: number
      whenAll?: readonly number[]
      tick?: 'X'
      withCommit?: true
      task?: string
    }
  /** A scalar of YAML, of JSON or of the front matter. */
  | { kind: 'value'; at: readonly (string | number)[]; value: string | boolean }
  /** The words of this line, without a label such as `Status:` before them. */
  | { kind: 'words'; line: number; value: string; whenAll?: readonly number[] }

/**
 * How much a document has to say of a story: what works it out in full wins over a prd.json, which a tool made from a plan; that
 * over the plan, and the plan over what only lists it.
 */
export type Rank = 'listed' | 'planned' | 'made' | 'detailed'

/** A story as its format found it. */
export type ParsedStory = {
  line: number
  /** Fields as prd.json calls them, unchecked; an `id` that is missing is given by the place in the list. */
  raw: Raw
  /** 0 comes first. Decides the order where no priority is written; 1 where nothing is said. */
  urgency?: number
  /** It keeps the books of what is done: it knows best. */
  isTracked?: boolean
  /** The place of the story, or of one of its fields, for a mistake; where it is not told, path and line. */
  place?: (key?: string) => string
  /** A heading or a box without criteria stands by its words; a prd.json without them is a mistake. */
  mayLackCriteria?: boolean
  /** Where the document is brought up to date when the story has passed. */
  marks?: readonly Mark[]
}

/** A story as one document has it. */
export type DocumentStory = Required<ParsedStory> & { path: string; format: string; rank: Rank }

/** A part of context.md. */
export type Passage = { about: 'overview' | 'architecture' | 'specification' | 'sprint'; text: string }

/** One of several plans that lie side by side and are each a feature of its own: `Spec Kit feature`, `specs/001-sign-in`. */
export type Unit = {
  of: string
  name: string
  /** The ids of its stories carry its name: named together, several are one feature. */
  hasOwnIds?: boolean
}

/** What one document gives. */
export type Reading<S = ParsedStory> = {
  /** Fields of the feature, as prd.json calls them, unchecked. */
  root: Raw
  stories: S[]
  context: Passage[]
  gates: Record<string, string>
  /** Without the path: it is put before each. */
  notes: string[]
  mistakes: Mistake[]
  /**
   * `only`: words and nothing else. `background`: words that an agent needs only where nobody wrote stories. `unknown`: data
   * in no format that is known here.
   */
  prose: 'none' | 'background' | 'only' | 'unknown'
  /** The kind of document, where the format's name does not say it. */
  what: string | null
  /** Boxes and the like that are no stories here. */
  boxes: number
  unit: Unit | null
  /** A list of boxes that says nothing of its place among plans: it counts only where there is no other plan. */
  isLoose: boolean
}

/** One row of the table of formats: how a file is recognized, and how it is read. */
export type Format = {
  name: string
  rank?: Rank
  /** Where such a file stands in a repository, so that it is found by itself; null: only where it is named. */
  discoveryPath: RegExp | null
  matches(document: OpenDocument, documents: DocumentSet): boolean
  read(document: OpenDocument, documents: DocumentSet): Partial<Reading>
}

/** The documents that are read together: a plan of several files is read by one of them. */
export type DocumentSet = {
  /** The document of this path, or null. */
  at(path: string): OpenDocument | null
  all: readonly OpenDocument[]
}

// The folders of BMAD (its versions 4 to 6), of the Ralph loops, and the repository itself.
const FOLDERS = [
  '',
  ...['docs/', 'docs/planning/', 'docs/sprint-artifacts/', 'docs/stories/'],
  ...['_bmad-output/', '_bmad-output/planning-artifacts/', '_bmad-output/implementation-artifacts/'],
  ...['.ralph/', 'ralph/', 'scripts/ralph/', 'tasks/', 'plans/', 'specs/', '.ralph-tui/', '.ralphy/'],
]

/** Paths of such files (a regular expression) where plans are kept, and further ones. */
export function planAt(name: string, ...others: string[]): RegExp {
  const folders = FOLDERS.map((folder) => folder.replaceAll('.', '\\.')).join('|')
  return new RegExp([`^(?:${folders})(?:${name})$`, ...others].join('|'), 'i')
}
