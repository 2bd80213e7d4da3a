// Moves folders of a tree and replaces its entries by git commands, on an index file that nothing else uses.
import { join } from 'node:path'
import { entriesSync, removeSync } from '../system/files.ts'
import type { Edits } from './compare-trees.ts'
import type { Git } from './git.ts'

/** A folder of the tree (its object id) that is put at `to`. `from` is removed if it is not null. */
export type MovedFolder = { oid: string; from: string | null; to: string }

/** The number of edits in this process: each has its own index file. */
let count = 0
const EDIT = 'edit-'

/** Removes the index files that a killed run left. Call it before this process edits a tree. */
export function removeLostEdits({ own }: Pick<Git, 'own'>): void {
  for (const { name } of entriesSync(own)) if (/^edit-\d+(?:\.lock)?$/.test(name)) removeSync(join(own, name))
}

/** The id of the new tree. Folders that become empty are removed. */
export async function editTree(
  git: Git,
  base: string,
  edits: Edits,
  moves: readonly MovedFolder[] = [],
): Promise<string> {
  count += 1
  const file = join(git.own, `${EDIT}${count}`)
  const run = (args: string[], input = '') => git.run(args, { input, env: { GIT_INDEX_FILE: file } })
  try {
    removeSync(file)
    await run(['read-tree', base])
    for (const { oid, from, to } of moves) {
      if (from !== null) await run(['rm', '-r', '-q', '-f', '--cached', '--', from])
      await run(['read-tree', `--prefix=${to}/`, oid])
    }
    const none = '0'.repeat(base.length)
    const lines = [...edits].map(([path, entry]) => `${entry?.mode ?? '0'} ${entry?.oid ?? none}\t${path}\0`)
    await run(['update-index', '-z', '--index-info'], lines.join(''))
    return (await run(['write-tree'])).stdout.trim()
  } finally {
    removeSync(file)
  }
}
