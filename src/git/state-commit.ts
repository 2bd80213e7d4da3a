// The commit that holds a state: beside the green tree, so that against its parent it only adds.
import { stateText } from '../loop/stored.ts'
import type { State } from '../model/state.ts'
import { type CatFile, TREE } from './cat-file.ts'
import type { Git } from './git.ts'
import { commitBytes, type NewEntry, treeBytes } from './objects.ts'
import { screenshotEntries } from './screenshots.ts'

export const RALPH = { name: 'Ralph', email: 'ralph@localhost' }
const FOLDER = '.ralph-state'
/** Where the state stands in its commit. */
export const STATE_FILE = `${FOLDER}/state.json`

/** A new one on top of `parents`. The work that is kept for later attempts and pictures of pages hang on it, so that git keeps them, too. */
export async function commitState(
  git: Git,
  objects: CatFile,
  state: State,
  parents: readonly string[],
): Promise<string> {
  const tree = await objects.root(state.green)
  if (tree === null) throw new Error(`the green commit ${state.green} is not in this clone`)
  const writer = git.writer(tree)
  const folder = (entries: NewEntry[]): string => writer.add('tree', treeBytes(entries))
  const kept = Object.entries(state.kept).map(([id, { base, tree: work }]) => {
    const both = [
      { name: 'base', mode: TREE, oid: base },
      { name: 'work', mode: TREE, oid: work },
    ]
    return { name: id, mode: TREE, oid: folder(both) }
  })
  const text = writer.add('blob', Buffer.from(stateText(state)))
  const own = [{ name: 'state.json', mode: '100644', oid: text }]
  if (kept.length > 0) own.push({ name: 'kept', mode: TREE, oid: folder(kept) })
  const pictures = await screenshotEntries(objects, state)
  if (pictures.length > 0) own.push({ name: 'screenshots', mode: TREE, oid: folder(pictures) })
  const [green] = await objects.trees([tree])
  const entries = [...(green ?? [])].map(([name, entry]) => ({ name, ...entry }))
  const beside = entries.filter(({ name }) => name !== FOLDER)
  // One without `.github/workflows` would read as their deletion, which GitHub refuses from an App's token.
  const root = folder([...beside, { name: FOLDER, mode: TREE, oid: folder(own) }])
  const ids = Object.keys(state.attempts)
  const about = ids.length === 0 ? 'checkpoint' : `${ids.join(', ')} in work`
  const message = `ralph: iteration ${state.prd.run.iterations}, ${about}\n`
  const made = writer.add('commit', commitBytes(root, parents, RALPH, new Date(), message))
  await objects.prove(await writer.flush())
  return made
}
