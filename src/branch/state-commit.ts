// The commit of a state: the green tree and the state's folder, so that it only adds files to those of its parent.

import { attemptKey } from '../engine/model/attempt.ts'
import type { SavedWork } from '../engine/model/saved-work.ts'
import type { State } from '../engine/model/state.ts'
import { STATE_FOLDER, type StateFile, stateFiles } from '../engine/stored-state.ts'
import { type CatFile, TREE } from '../git/cat-file.ts'
import type { Git } from '../git/git.ts'
import { RALPH_IDENTITY } from '../git/git-process.ts'
import { commitBytes, type NewEntry, treeBytes } from '../git/objects.ts'
import { UserError } from '../system/errors.ts'
import { fileStamp } from '../system/files.ts'
import { shellWord } from '../system/shell-word.ts'
import { screenshotEntries } from './screenshot-blobs.ts'

/** The object of a file of the state, and the stamp of the object's file. While the stamp is the same, the object was not replaced. */
const storedFiles = new WeakMap<StateFile, { oid: string; stamp: string | null }>()

/** The blob of a file that an earlier save wrote; null if it has none, or if that was replaced. */
export function storedBlob(git: Git, file: StateFile): string | null {
  const known = storedFiles.get(file)
  if (known?.stamp == null) return null
  return known.stamp === fileStamp(git.writer(known.oid).fileOf(known.oid)) ? known.oid : null
}

/** The saved work of stories and of their failed candidates, each with a name. */
function savedWork({ kept, contests = {} }: State): [name: string, work: SavedWork][] {
  const ofCandidates = Object.values(contests).flatMap(({ done }) =>
    done.flatMap(({ attempt, kept }): [string, SavedWork][] =>
      kept === null ? [] : [[attemptKey(attempt), kept]],
    ),
  )
  return [...Object.entries(kept), ...ofCandidates]
}

/** Writes a commit of the state. Its tree also names saved work and pictures of pages, so that git does not collect them as garbage. */
export async function commitState(
  git: Git,
  objects: CatFile,
  state: State,
  parents: readonly string[],
): Promise<string> {
  const tree = await objects.root(state.green)
  if (tree === null) throw lostGreenError(git, state)
  const writer = git.writer(tree)
  const folder = (entries: NewEntry[]): string => writer.add('tree', treeBytes(entries))
  const kept = savedWork(state).map(([id, { base, tree: work }]) => {
    const entries = [
      { name: 'base', mode: TREE, oid: base },
      { name: 'work', mode: TREE, oid: work },
    ]
    return { name: id, mode: TREE, oid: folder(entries) }
  })
  const red = Object.entries(state.records).flatMap(([name, { redTree: oid }]) =>
    oid === undefined ? [] : [{ name, mode: TREE, oid }],
  )
  const { text, lists } = stateFiles(state)
  const files = [...lists].map(([name, file]) => {
    const known = storedBlob(git, file)
    return { name, file, isThere: known !== null, oid: known ?? writer.add('blob', Buffer.from(file.text)) }
  })
  const own = files.map(({ name, oid }) => ({ name, mode: '100644', oid }))
  own.push({ name: 'state.json', mode: '100644', oid: writer.add('blob', Buffer.from(text)) })
  if (kept.length > 0) own.push({ name: 'kept', mode: TREE, oid: folder(kept) })
  if (red.length > 0) own.push({ name: 'red', mode: TREE, oid: folder(red) })
  const pictures = await screenshotEntries(objects, state)
  if (pictures.length > 0) own.push({ name: 'screenshots', mode: TREE, oid: folder(pictures) })
  const entries = [...(await objects.tree(tree))].map(([name, entry]) => ({ name, ...entry }))
  const beside = entries.filter(({ name }) => name !== STATE_FOLDER)
  // A tree without `.github/workflows` would look like their deletion, which GitHub refuses from an App's token.
  const root = folder([...beside, { name: STATE_FOLDER, mode: TREE, oid: folder(own) }])
  const ids = Object.values(state.attempts).map(({ storyId }) => storyId)
  const about = ids.length === 0 ? 'checkpoint' : `${ids.join(', ')} in work`
  const message = `ralph: iteration ${state.prd.run.iterations}, ${about}\n`
  const made = writer.add('commit', commitBytes(root, parents, RALPH_IDENTITY, new Date(), message))
  await writer.flush()
  for (const { file, isThere, oid } of files)
    if (!isThere) storedFiles.set(file, { oid, stamp: fileStamp(writer.fileOf(oid)) })
  return made
}

function lostGreenError({ clone, shared }: Git, { green, folder }: State): UserError {
  const ref = `refs/ralph/${folder.replace(/^\.ralph\//, '')}`
  const remove = `git update-ref -d ${ref} && git --git-dir=${shellWord(shared)} update-ref -d ${ref}`
  return new UserError({
    path: clone.workTree,
    found: `the run's newest commit ${green} is not in this clone. \`git gc --prune=now\` may have removed it.`,
    expected: '',
    fix: `fetch the commit from where it was pushed, or continue from the branch: ${remove}. That forgets attempts, hints and raised limits since the branch's last commit`,
  })
}
