// `ralph worktree`: a work tree next to this one for a further feature, so that two runs on one machine do not share a checkout.
import { existsSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { execute, GitError, gitEnv } from '../git/git-process.ts'
import { outputsOf } from '../report/outputs.ts'
import { UserError } from '../system/errors.ts'
import { shellWord } from '../system/shell-word.ts'
import type { CommandResult, Context } from './command-context.ts'
import { openFeature } from './local-feature.ts'

/** Makes the work tree at the base branch, on no branch: the run makes its own. One that is there already is named again. */
export async function worktree(context: Context): Promise<CommandResult> {
  const { directory, env, print } = context
  using local = await openFeature(context)
  const { feature, base } = await local.look()
  const { workTree } = local.workspace.clone
  const path = join(dirname(workTree), `${basename(workTree)}-${feature}`)
  const shown = shellWord(relative(directory, path))
  const inCheckout = { directory: workTree, env: gitEnv(env) }
  const isListed = (await workTreesOf(inCheckout)).includes(path)
  if (isListed && existsSync(path)) print(`${shown} already exists`)
  else {
    await addWorkTree(path, { commit: base.sha, isListed }, inCheckout)
    print(`created ${shown} at ${base.branch} (${base.sha.slice(0, 7)})`)
  }
  print(`Next: cd ${shown} && ralph run ${feature} --base-branch ${shellWord(base.branch)}`)
  print(`After the merge: git worktree remove ${shown}`)
  return { code: 0, outputs: outputsOf(null, null, null), more: { path } }
}

async function workTreesOf(options: Parameters<typeof execute>[1]): Promise<string[]> {
  const { stdout } = await execute(['worktree', 'list', '--porcelain', '-z'], options)
  return stdout.split('\0').flatMap((line) => (line.startsWith('worktree ') ? [line.slice(9)] : []))
}

/** With the person's own configuration, as the checkout has its files. git still lists a work tree whose folder was deleted. */
async function addWorkTree(
  path: string,
  { commit, isListed }: { commit: string; isListed: boolean },
  options: Parameters<typeof execute>[1],
): Promise<void> {
  const again = isListed ? ['--force'] : []
  try {
    await execute(['worktree', 'add', '--quiet', '--detach', ...again, path, commit], options)
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    const found = `git could not create the work tree: ${error.stderr.trim()}`
    throw new UserError({
      path: 'ralph worktree',
      found,
      expected: '',
      fix: 'fix what git reports, then run it again',
    })
  }
}
