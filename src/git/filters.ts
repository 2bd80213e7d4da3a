// Refuses work trees with files that a filter rewrote at checkout (Git LFS), because Ralph's git runs no filters.

import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { UserError } from '../system/errors.ts'
import { displayPath, fsPath } from '../system/path-text.ts'
import type { CatFile } from './cat-file.ts'
import type { Git } from './git.ts'

/** Throws UserError if the work tree has files that a filter rewrote. Pointer files of Git LFS are accepted like any other file. */
export async function refuseFiltered(git: Git, objects: CatFile): Promise<void> {
  const { config, head, workTree } = git.clone
  const names = new Set<string>()
  for (const key of config.keys()) {
    const name = /^filter\.(.+)\.(clean|smudge|process)$/.exec(key)?.[1]
    if (name !== undefined) names.add(name)
  }
  for (const name of names) {
    const listed = await git.runOnClone(['ls-files', '-z', '--', `:(attr:filter=${name})`], { accept: [128] })
    for (const path of listed.stdout.split('\0').filter(Boolean)) {
      const file = await lstat(fsPath(join(workTree, path))).catch(() => null)
      const blob = await objects.info(`${head}:${path}`)
      // A filter that rewrote the file changed its size.
      if (file?.isFile() !== true || blob === null || file.size === blob.size) continue
      throw new UserError({
        path: displayPath(path),
        found: `a file that the filter ${name} has rewritten`,
        expected: 'files as they are committed: Ralph runs no filters of the repository',
        fix: 'check out without it (actions/checkout: lfs: false; here: git lfs uninstall --local, then git checkout .)',
      })
    }
  }
}
