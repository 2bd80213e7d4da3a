// Puts a person's stash out of reach while a session runs in their checkout. An agent's well-meant `git stash pop` would apply it, and
// Ralph would commit it. Each entry stays a ref, so no garbage collection removes it, and a later run restores it after a kill.
import { cloneRef, cloneRefs } from './clone-refs.ts'
import type { Git } from './git.ts'
import { updateCloneRefs } from './update-refs.ts'

/** Refs of hidden entries: `refs/ralph-stash/1767222000000-0001`, the newest last. */
export const HIDDEN_STASH = 'refs/ralph-stash/'
const STASH = 'refs/stash'

/** Hides all entries of the stash. */
export async function hideStash(git: Git): Promise<void> {
  if ((await cloneRef(git, STASH)) === null) return
  const entries = await stashEntries(git)
  const at = String(Date.now()).padStart(14, '0')
  const refs = entries.map((oid, index) => ({
    ref: `${HIDDEN_STASH}${at}-${String(index).padStart(4, '0')}`,
    from: null,
    to: oid,
  }))
  await updateCloneRefs(git, refs)
  await git.runOnClone(['stash', 'clear'])
}

/** Restores hidden entries below those that were made since. Does nothing if none are hidden. */
export async function restoreStash(git: Git): Promise<void> {
  if ((await cloneRefs(git, HIDDEN_STASH)).size === 0) return
  // Newer entries are hidden first, so that a kill loses none of them.
  await hideStash(git)
  const hidden = [...(await cloneRefs(git, HIDDEN_STASH))].sort(([one], [other]) => (one < other ? -1 : 1))
  for (const oid of new Set(hidden.map(([, at]) => at))) await storeEntry(git, oid)
  await updateCloneRefs(
    git,
    hidden.map(([ref, oid]) => ({ ref, from: oid, to: null })),
  )
}

/** Adds an entry with the text, the author and the time that it had: git keeps all of them in the entry's commit as well. */
async function storeEntry(git: Git, oid: string): Promise<void> {
  const { stdout } = await git.runOnClone(['log', '-1', '--format=%cn%x00%ce%x00%cI%x00%s', oid])
  const [name = '', email = '', date = '', text = ''] = stdout.trimEnd().split('\0')
  const env = { GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email, GIT_COMMITTER_DATE: date }
  await git.runOnClone(['stash', 'store', '-q', '-m', text, oid], { env })
}

/** The entries of the stash, the oldest first. */
async function stashEntries(git: Git): Promise<string[]> {
  if ((await cloneRef(git, STASH)) === null) return []
  const { stdout } = await git.runOnClone(['reflog', 'show', '--format=%H', STASH])
  return stdout.split('\n').filter(Boolean).reverse()
}
