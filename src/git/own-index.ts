// The tree that Ralph's own index stands for, made in process: git would believe the objects that stand in its way.
import { type CatFile, TREE, type Tree } from './cat-file.ts'
import type { Git } from './git.ts'
import { type IndexTree, treesOf } from './index-file.ts'
import { holdSame } from './tree-walk.ts'

/** The trees of our index. Those that `base`, a commit or a tree, does not have are written. */
export async function treeOfIndex(git: Git, objects: CatFile, base: string): Promise<IndexTree> {
  const root = await objects.root(base)
  if (root === null) throw new Error(`the clone is damaged: there is no commit ${base} in it`)
  const top = treesOf(await git.readIndex(), root.length / 2)
  const writer = git.writer(root)
  let level: { folder: IndexTree; old: string | null }[] = [{ folder: top, old: root }]
  while (level.length > 0) {
    const fresh = level.filter(({ folder, old }) => folder.oid !== old)
    for (const { folder } of fresh) writer.add('tree', folder.bytes)
    const known = fresh.map(({ old }) => old).filter((one) => one !== null)
    const trees = new Map((await objects.trees(known)).map((tree, at) => [known[at], tree]))
    level = fresh.flatMap(({ folder, old }) =>
      folder.inside.map((one) => ({ folder: one, old: folderIn(trees.get(old ?? ''), one, folder) })),
    )
  }
  // Read back: git looks into packs first.
  await objects.trees(await writer.flush())
  return top
}

/** Whether our index holds the files of a commit or a tree. */
export async function indexHolds(git: Git, objects: CatFile, base: string): Promise<boolean> {
  const { oid } = await treeOfIndex(git, objects, base)
  return holdSame(objects, (await objects.root(base)) ?? base, oid)
}

/** The id that a folder had in the tree above it, or null. */
function folderIn(tree: Tree | undefined, { path }: IndexTree, above: IndexTree): string | null {
  const entry = tree?.get(path.slice(above.path.length, -1))
  return entry?.mode === TREE ? entry.oid : null
}

/** The paths of all folders of a tree, without the top. */
export function foldersOf(top: IndexTree): string[] {
  const found: string[] = []
  const left = [...top.inside]
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    found.push(Buffer.from(one.path, 'latin1').toString('utf8').slice(0, -1))
    left.push(...one.inside)
  }
  return found
}
