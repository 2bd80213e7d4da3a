// Types that all formats share: a document, a story of one document, a format.
import type { Prd } from '../engine/model/feature.ts'
import type { Raw } from '../engine/prd/migrate.ts'
import type { Mistake } from '../system/errors.ts'
import type { OpenDocument } from './open-document.ts'

/** How a person wants a file to be used (`--as`), whatever its content looks like. */
export type RequestedUse = 'stories' | 'background'

/**
 * A document before it is read; `path` is relative to the repository, with `/`. `isNamed`: a person named this file itself, not only
 * its folder; `isDiscovered`: Ralph found it by its path. `part`: which plan of a file with several, such as a tag of Task Master.
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
  /** Stories with stable ids, project, description, learnings. A story that a document says is done counts as an imported pass. */
  prd: Prd
  /** What the documents call the feature, by their folder, tag or file; null if they do not. */
  name: string | null
  /** The text of context.md: overview, architecture, sprint; limited in size; empty if the documents have none of these. */
  context: string
  sources: Source[]
  /** Files with text but without stories, for an agent to plan from. */
  prose: DocumentFile[]
  /** How each file was used, in the order of the files. */
  taken: DocumentUse[]
  /** Commands by name that configurations of other tools propose as gates. They are only shown to people. */
  gates: Record<string, string>
  /** Notes for people on how the documents were read, each with its place. */
  notes: string[]
}

/** How a document was used. `what`: its kind; `boxes`: how many of its boxes are not stories. */
export type DocumentUse = {
  path: string
  as: 'stories' | 'background' | 'left out'
  what: string
  stories: number
  boxes: number
}

/** The place at which a document shows whether a story is done, and what to write there when it has passed. Lines are 1-based. */
export type Mark =
  /**
   * A box to tick. `whenAll`: only if the boxes on these lines are ticked. `tick`: with this letter. `withCommit`: also writes the
   * short id of the commit at the end of the line. `task`: only if the story was planned with these words.
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
 * How detailed a document's stories are; the more detailed document wins. From least to most: a list, a plan, a prd.json (which a tool
 * made from the plan), a file of one story.
 */
export type Rank = 'listed' | 'planned' | 'made' | 'detailed'

/** A story as its format parsed it. */
export type ParsedStory = {
  line: number
  /** Fields with their names in prd.json, not validated. A missing `id` is made from the position in the list. */
  raw: Raw
  /** The order of stories without a priority: 0 comes first; 1 by default. */
  urgency?: number
  /** Ids of stories that depend on this one, by its own document. */
  blocks?: readonly string[]
  /** Whether its id is a number that counts only within its own file, such as that of `Task 1`. */
  isNumbered?: boolean
  /** Whether a status in the document says that it was removed. */
  isRemoved?: boolean
  /** From a tracker, whose status wins over other documents. */
  isTracked?: boolean
  /** Formats the place of the story, or of one of its fields, for a mistake; by default path and line. */
  place?: (key?: string) => string
  /** Whether criteria may be missing: the text of a heading or a box is enough, but a prd.json without criteria is a mistake. */
  mayLackCriteria?: boolean
  /** How detailed the story is, if not all stories of its format are alike. */
  rank?: Rank
  /** What to mark in the document when the story has passed. */
  marks?: readonly Mark[]
}

/** A story in one document. */
export type DocumentStory = Required<ParsedStory> & { path: string; format: string; rank: Rank }

/** A part of context.md. */
export type Passage = { about: 'overview' | 'architecture' | 'specification' | 'sprint'; text: string }

/** One of several plans side by side that are separate features: `Spec Kit feature` (`of`), `specs/001-sign-in` (`name`). */
export type Unit = {
  of: string
  name: string
  /** Whether the ids of its stories contain its name, so that several such plans can be one feature if a person names all of them. */
  hasOwnIds?: boolean
  /** Whether people keep such plans after the work is done: then several of them give way to any other plan. */
  yields?: boolean
}

/** The result of reading one document. */
export type Reading<S = ParsedStory> = {
  /** Fields of the feature with their names in prd.json, not validated. */
  root: Raw
  stories: S[]
  context: Passage[]
  gates: Record<string, string>
  /** Notes for people, without the path, which is added later. */
  notes: string[]
  /** What cannot be read. It costs this document or one of its stories, and is a notice if anything else can be planned. */
  mistakes: Mistake[]
  /** A choice that only a person can make: each answer would work on another feature. Nothing is planned before. */
  choices: Mistake[]
  /**
   * `only`: text without stories. `background`: text that an agent needs only if there are no stories. `unknown`: data in no known
   * format.
   */
  prose: 'none' | 'background' | 'only' | 'unknown'
  /** The kind of document, if it differs from the name of the format. */
  what: string | null
  /** How many boxes were not read as stories. */
  boxes: number
  unit: Unit | null
  /** What the document calls its feature, such as a tag. */
  name: string | null
  /** The path of the page that the stories of this document were made from. */
  madeFrom: string | null
  /** A list of boxes that may not be a plan, and is only used if there is no other plan. */
  isLoose: boolean
}

/** One row of the table of formats: how a file is recognized, and how it is read. */
export type Format = {
  name: string
  rank?: Rank
  /** Paths where Ralph finds such a file by itself; null if a person has to name it. */
  discoveryPath: RegExp | null
  matches(document: OpenDocument, documents: DocumentSet): boolean
  read(document: OpenDocument, documents: DocumentSet): Partial<Reading>
}

/** The documents that are read together. For a plan of several files, the format of one of them reads the others here. */
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

/** An expression for files with this name (an expression as well) in folders where plans are kept, and for further paths. */
export function planPaths(name: string, ...others: string[]): RegExp {
  const folders = FOLDERS.map((folder) => folder.replaceAll('.', '\\.')).join('|')
  return new RegExp([`^(?:${folders})(?:${name})$`, ...others].join('|'), 'i')
}
