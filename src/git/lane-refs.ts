// Refs and stash of a lane's own. git shares `refs/stash` between the work trees of a clone, so sessions side by side would pop each
// other's work. A lane's git sees its own common directory instead, with a copy of the clone's refs and the clone's objects.
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { readRegularFile, removeSync } from '../system/files.ts'
import { HELD } from './clone.ts'
import { cloneRefs } from './clone-refs.ts'
import type { Git } from './git.ts'
import { HIDDEN_STASH } from './hidden-stash.ts'
import type { Clone } from './open-clone.ts'
import { quoted } from './own-directory.ts'
import { SYMBOLIC_PREFIX } from './refs.ts'

/** Files that git reads in a common directory, besides configuration and refs. */
const COPIED = ['info/exclude', 'info/attributes', 'shallow']

/**
 * Makes `folder` the common directory of the linked work tree at `top`, with the clone's refs as they are now. `git`: of the clone that the
 * work tree is linked to. `states`: the prefix of refs with states of runs, which no session needs.
 */
export async function giveOwnRefs(git: Git, top: string, folder: string, states: string): Promise<void> {
  const { clone } = git
  for (const name of ['refs', 'packed-refs', 'logs']) removeSync(join(folder, name))
  for (const name of ['info', 'objects/info', 'refs']) await mkdir(join(folder, name), { recursive: true })
  await writeFile(join(folder, 'HEAD'), 'ref: refs/heads/ralph-unborn\n')
  await writeFile(join(folder, 'config'), configOf(clone))
  await writeFile(join(folder, 'objects/info/alternates'), `${join(clone.commonDir, 'objects')}\n`)
  for (const name of COPIED) {
    const isThere = (await readRegularFile(join(clone.commonDir, name))) !== null
    if (isThere) await copyFile(join(clone.commonDir, name), join(folder, name))
  }
  const refs = [...(await cloneRefs(git))].filter(
    ([ref, at]) => isCopied(ref, states) && !at.startsWith(SYMBOLIC_PREFIX),
  )
  const input = refs.map(([ref, at]) => `create ${ref}\0${at}\0`).join('')
  await git.run(['update-ref', '--stdin', '-z'], { input, env: { GIT_DIR: folder } })
  const link = (await readRegularFile(join(top, '.git')))?.toString('utf8') ?? ''
  const gitDir = resolve(top, link.replace(/^gitdir: /, '').trimEnd())
  await writeFile(join(gitDir, 'commondir'), `${folder}\n`)
  removeSync(join(gitDir, 'logs'))
}

/** Copies the commits that a session made into the clone's objects: the message of its commit may become the story's. */
export async function takeCommits(git: Git, headBefore: Buffer): Promise<void> {
  const { workTree, gitDir } = git.clone
  const head = await readRegularFile(join(gitDir, 'HEAD'))
  if (head === null || head.equals(headBefore)) return
  const fetch = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', workTree, 'HEAD']
  // A session can leave a repository that git cannot read. Its files are what counts.
  await git.run(fetch, { accept: [1, 128], env: { GIT_NO_LAZY_FETCH: '1' } })
}

/** The clone's settings count as well. What says how its objects and refs are stored has to be in this file. */
function configOf({ commonDir, head }: Clone): string {
  const format = head?.length === 64 ? '[extensions]\n\tobjectFormat = sha256\n' : ''
  return `[core]
	repositoryformatversion = 1
	hooksPath = ${quoted(join(commonDir, 'hooks'))}
${format}[include]
	path = ${quoted(join(commonDir, 'config'))}
`
}

function isCopied(ref: string, states: string): boolean {
  return ref !== 'refs/stash' && ![HIDDEN_STASH, HELD, states].some((prefix) => ref.startsWith(prefix))
}
