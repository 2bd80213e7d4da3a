// The store of a clone, as a process opens it.

import { createStore } from '../../src/branch/store.ts'
import { CatFile } from '../../src/git/cat-file.ts'
import { takeSnapshot } from '../../src/git/clone.ts'
import { Git, openClone } from '../../src/git/git.ts'

export async function openStore(top: string) {
  const env = { PATH: process.env.PATH ?? '', HOME: top }
  const git = await Git.open(await openClone(top, env), env)
  const objects = new CatFile(git)
  const snapshot = await takeSnapshot(git, false)
  const places = { namespace: 'refs/ralph', remote: null, publishRemote: null, snapshot, leaseMs: 1000 }
  return { store: createStore(git, objects, places), close: () => objects[Symbol.dispose]() }
}
