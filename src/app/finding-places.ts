// The places in the code that gates reported for stories: GitHub shows them alongside the diff.

import { type Annotation, isRed } from '../engine/model/gate.ts'
import type { State } from '../engine/model/state.ts'
import { annotationsFrom, selectAnnotations } from '../gates/annotations.ts'
import { createResolver } from '../gates/resolver.ts'
import type { Git } from '../git/git.ts'

/**
 * By story id: annotations in files of the story's saved work, or of the branch if none is saved. Files that the story changed come first.
 */
export async function annotationsByStory(
  git: Git,
  state: State,
): Promise<Readonly<Record<string, readonly Annotation[]>>> {
  const found: Record<string, readonly Annotation[]> = {}
  const listPaths = async (...args: string[]) =>
    new Set((await git.run(args)).stdout.split('\0').filter(Boolean))
  const changedIn = (from: string, to: string) =>
    listPaths('diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to)
  for (const [id, { gates, commit }] of Object.entries(state.records)) {
    const reported = gates.flatMap((gate) => gate.annotations ?? [])
    const output = gates.filter(isRed).map((gate) => gate.output)
    if (reported.length + output.length === 0) continue
    const savedWork = state.kept[id]
    const tree = savedWork?.tree ?? commit ?? state.green
    const paths = await listPaths('ls-tree', '-r', '-z', '--name-only', tree)
    // A shallow clone may lack the commit before: then no file counts as changed.
    const before = savedWork?.base ?? (commit === null ? tree : `${commit}^`)
    const changed = await changedIn(before, tree).catch(() => new Set<string>())
    // Line numbers of a story that passed are wrong if a later story changed the file.
    const changedLater = savedWork === undefined ? await changedIn(tree, state.green) : new Set()
    const all = [...reported, ...annotationsFrom(output.join('\n'), createResolver(paths))]
    const current = all.filter(({ path }) => paths.has(path) && !changedLater.has(path))
    found[id] = selectAnnotations(current, (path) => changed.has(path))
  }
  return found
}
