// Writes commits: of a tree, and of Ralph's own files without a story.

import { ownFiles } from '../engine/model/paths.ts'
import type { State } from '../engine/model/state.ts'
import { DONE } from '../engine/prd/done.ts'
import { parsePrd } from '../engine/prd/parse.ts'
import type { CatFile, TreeEntry } from '../git/cat-file.ts'
import { addEdited } from '../git/compare-trees.ts'
import { editTree, type MovedFolder } from '../git/edit-tree.ts'
import type { Git } from '../git/git.ts'
import { commitBytes, type Identity } from '../git/objects.ts'
import type { Signer } from '../git/sign-commit.ts'
import { archiveFile, planFiles, prdFile, progressFile, recordMessage } from '../report/feature-files.ts'
import { listNames } from '../report/figures.ts'
import { DamagedClone } from '../system/errors.ts'
import { quotedPath } from '../system/path-text.ts'
import { type FolderMove, freeFile, planArchive } from './run-archive.ts'
import { type DocumentEdit, type DocumentSetEdit, editDocuments } from './write-documents.ts'

export type CommitOptions = {
  /** Redacts the text of Ralph's own files before they are committed. */
  redact(text: string): string
  identity: Identity
  /** Signs the commits of the branch; null with `sign-commits: false`. */
  sign: Signer | null
  /** Whether further state commits are made after the first (`commits.prdChanges`). */
  stateCommits: boolean
  /** The subject of state commits (`commits.message`); null for the subject that the loop gives. */
  stateSubject: string | null
  /** The template of the subject of a story's commit (`commits.story`); the default if it is left out. */
  storySubject?: string
  /** Edits of people's documents in the commit that ends a run. */
  onOutcome(state: State): (DocumentEdit | DocumentSetEdit)[]
  warn(message: string): void
}

const EXECUTABLE = '100755'

export class Commits {
  readonly #git: Git
  readonly #objects: CatFile
  readonly #options: CommitOptions

  constructor(git: Git, objects: CatFile, options: CommitOptions) {
    this.#git = git
    this.#objects = objects
    this.#options = options
  }

  /** The template of the subject of a story's commit; undefined for the default. */
  get storySubject(): string | undefined {
    return this.#options.storySubject
  }

  /** A commit for the branch, signed if the settings say so. */
  commit(tree: string, parents: readonly string[], message: string): Promise<string> {
    const { identity, sign } = this.#options
    return writeCommit(this.#git, identity, tree, parents, message, sign)
  }

  /** A commit that only git's merges read. */
  helperCommit(tree: string, parents: readonly string[], message: string): Promise<string> {
    return writeCommit(this.#git, this.#options.identity, tree, parents, message)
  }

  /** A tree with some files replaced (null: removed), and some folders moved. Executable files stay executable. */
  async withFiles(
    base: string,
    files: ReadonlyMap<string, string | null>,
    moves: readonly FolderMove[] = [],
  ): Promise<string> {
    const moved: MovedFolder[] = []
    for (const { from, to, isCopied } of moves) {
      const oid = await this.#objects.folder(base, from)
      if (oid !== null) moved.push({ oid, from: isCopied ? null : from, to })
    }
    const entries = [...files].map(async ([path, text]) => {
      if (text === null) return [path, null] as const
      const before = await this.#objects.entry(base, path)
      return [path, { mode: before?.mode === EXECUTABLE ? EXECUTABLE : '100644', text }] as const
    })
    return this.withEntries(base, new Map(await Promise.all(entries)), moved)
  }

  /** A tree with some entries replaced by existing blobs or by texts, or removed. */
  async withEntries(
    base: string,
    entries: ReadonlyMap<string, TreeEntry | { mode: string; text: string } | null>,
    moves: readonly MovedFolder[] = [],
  ): Promise<string> {
    const writer = this.#git.writer(base)
    const edits = new Map<string, TreeEntry | null>()
    for (const [path, entry] of entries) {
      const isText = entry !== null && 'text' in entry
      const oid = isText ? writer.add('blob', Buffer.from(entry.text)) : ''
      edits.set(path, isText ? { mode: entry.mode, oid } : entry)
    }
    if (edits.size === 0 && moves.length === 0) return base
    if (moves.length > 0) {
      await writer.flush()
      return editTree(this.#git, base, edits, moves)
    }
    const root = await this.#objects.root(base)
    if (root === null) throw new DamagedClone(`there is no tree ${base} in it`)
    const edited = await addEdited(this.#objects, writer, root, edits)
    await writer.flush()
    return edited
  }

  /**
   * Commits prd.json and progress.txt as the state has them, on top of `state.green`; the commit is null if nothing changed. `documents`:
   * the paths of people's documents in it. `unmarked`: the ids of stories that could not be marked there; left out if no document was
   * examined.
   */
  async record(
    state: State,
    subject: string,
  ): Promise<{ commit: string | null; documents: string[]; unmarked?: string[] }> {
    const { redact, stateCommits, stateSubject, onOutcome, warn } = this.#options
    const files = ownFiles(state)
    const before = await this.#objects.text(`${state.green}:${files.prd}`)
    const text = prdFile(state, redact)
    const isFirst = state.published === null
    const begins = isFirst || state.control.anew
    // People read the plan on the branch before they approve it.
    const isPlanned = (state.plan?.context ?? '') !== ''
    const edits = begins ? [] : onOutcome(state)
    const unmarked: string[] = []
    const warnRedacted = (text: string) => warn(redact(text))
    const documents = await editDocuments(this.#objects, state.green, edits, warnRedacted, unmarked)
    const nothing = { commit: null, documents: [], ...(edits.length === 0 ? {} : { unmarked }) }
    if (!begins && !stateCommits && !isPlanned) {
      const paths = documents.map(([path]) => quotedPath(path))
      if (paths.length > 0)
        warnRedacted(`Ralph did not update ${listNames(paths)}, because commits.prdChanges is false`)
      return nothing
    }
    const done = archiveFile(state, redact)
    // Compared last: parsing both files is slow with thousands of stories.
    if (
      !begins &&
      !isPlanned &&
      documents.length === 0 &&
      done === null &&
      state.progress.length === 0 &&
      before !== null &&
      comparablePrd(before) === comparablePrd(text)
    )
      return nothing
    const progress = state.control.anew ? null : await this.#objects.text(`${state.green}:${files.progress}`)
    const archive = begins ? await planArchive(this.#objects, state) : null
    const changed = new Map<string, string | null>([
      [files.prd, text],
      [files.progress, progressFile(state, progress, redact)],
      ...documents,
      ...(archive?.files ?? []),
    ])
    if (done !== null) changed.set(await freeFile(this.#objects, state.green, state.folder, DONE), done)
    for (const [path, file] of planFiles(state, redact)) changed.set(path, file)
    if (isFirst) {
      changed.set('.ralph/.gitattributes', '* linguist-generated=true\n')
      if (state.importedFrom !== null) changed.set(state.importedFrom, null)
    }
    const green = await this.#objects.root(state.green)
    if (green === null) throw new DamagedClone(`there is no commit ${state.green} in it`)
    const tree = await this.withFiles(green, changed, archive?.moves)
    if (tree === green) return nothing
    // The first commit includes what people had not committed yet, so its parent is the fork point itself.
    const parent = isFirst ? state.base.sha : state.green
    const commit = await this.commit(tree, [parent], recordMessage(state, stateSubject ?? subject))
    return { ...nothing, commit, documents: documents.map(([path]) => path) }
  }
}

export async function writeCommit(
  git: Git,
  who: Identity,
  tree: string,
  parents: readonly string[],
  message: string,
  sign: Signer | null = null,
): Promise<string> {
  const writer = git.writer(tree)
  const bytes = commitBytes(tree, parents, who, new Date(), message)
  const oid = writer.add('commit', sign === null ? bytes : await sign(bytes))
  await writer.flush()
  return oid
}

/** prd.json without what changes in every job, to decide whether a state commit is needed. */
function comparablePrd(text: string): string {
  const parsed = parsePrd(text, 'prd.json')
  if (!parsed.ok) return text
  const { run, ...rest } = parsed.prd
  const stories = rest.userStories.map((story) => ({
    ...story,
    lastResult: story.lastResult === null ? null : 'passed',
  }))
  return JSON.stringify({ ...rest, userStories: stories, outcome: run.outcome, learnings: run.learnings })
}
