// Types that all formats share: a document, a story of one document, a format.
import type { Prd } from '../engine/model/feature.ts'
import type { Raw } from '../engine/prd/migrate.ts'
import type { Mistake } from '../system/errors.ts'
import type { OpenDocument } from './open-document.ts'

/** How a person wants a file to be used (`--as`), whatever its content looks like. */
export type RequestedUse = 'stories' | 'background'

/**
 * A document as it was found; `path` is relative to the repository, with `/`. `isNamed`: a person named this very file, not only
 * a folder of it; `isDiscovered`: it was found, not named. `part`: of a file with several plans the one that is wanted, such as a tag of Task Master.
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
  /** How each file was used, in the order of the files. */
  taken: DocumentUse[]
  /** What old configurations say of gates (name -> command): a proposal for people, never run from here. */
  gates: Record<string, string>
  /** Notes for people on how the documents were read, each with its place. */
  notes: string[]
}

/** How a document was used. `what`: its kind; `boxes`: how many of its boxes are no stories. */
export type DocumentUse = {
  path: string
  as: 'stories' | 'background' | 'left out'
  what: string
  stories: number
  boxes: number
}

/** A place where a document says whether a story is done, and what is written there when it has passed. Lines are 1-based. */
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
  /** The text of this line, without a label such as `Status:`. */
  | { kind: 'words'; line: number; value: string; whenAll?: readonly number[] }

/**
 * How detailed a document's stories are. A story file wins over a prd.json, which a tool made from a plan; a prd.json wins
 * over the plan, and the plan over a list.
 */
export type Rank = 'listed' | 'planned' | 'made' | 'detailed'

/** A story as its format parsed it. */
export type ParsedStory = {
  line: number
  /** Fields as prd.json calls them, unchecked; an `id` that is missing is given by the place in the list. */
  raw: Raw
  /** 0 comes first; the default is 1. Decides the order where no priority is written. */
  urgency?: number
  /** From a tracker, whose status wins over other documents. */
  isTracked?: boolean
  /** Formats the place of the story, or of one of its fields, for a mistake; by default path and line. */
  place?: (key?: string) => string
  /** A heading or box may lack criteria: its text is enough. A prd.json without them is a mistake. */
  mayLackCriteria?: boolean
  /** Where the document is marked when the story has passed. */
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
  /** Without the path, which is added to each later. */
  notes: string[]
  mistakes: Mistake[]
  /**
   * `only`: words and nothing else. `background`: words that an agent needs only where there are no stories. `unknown`: data
   * in no format that is known here.
   */
  prose: 'none' | 'background' | 'only' | 'unknown'
  /** The kind of document, where it differs from the format's name. */
  what: string | null
  /** Boxes and the like that are no stories here. */
  boxes: number
  unit: Unit | null
  /** A list of boxes that may be no plan: it counts only where there is no other plan. */
  isLoose: boolean
}

/** One row of the table of formats: how a file is recognized, and how it is read. */
export type Format = {
  name: string
  rank?: Rank
  /** Paths where such a file is found without being named; null: only a person can name it. */
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
