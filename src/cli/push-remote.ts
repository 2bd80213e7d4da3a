// `ralph run --push`: the remote that state and branch are pushed to, with the login that the person's own git has.

import type { Workspace } from '../app/workspace.ts'
import type { State } from '../engine/model/state.ts'
import type { Remote } from '../git/git.ts'
import { execute, gitEnv } from '../git/git-process.ts'
import type { Clone } from '../git/open-clone.ts'
import { readRef, refsBelow } from '../git/refs.ts'
import { describeRefusal, push, remoteRefs } from '../git/remote.ts'
import { UserError } from '../system/errors.ts'
import type { Context } from './command-context.ts'

/** Settings of the person's git that reach and log in to a remote. Ralph's own git reads no configuration of people. */
const LOGIN_SETTINGS = /^(?:credential\.|http\.|ssh\.|core\.sshcommand$|core\.askpass$)/
const LOGIN_VARIABLES = ['GIT_ASKPASS', 'GIT_SSH_COMMAND', 'GIT_SSH', 'SSH_ASKPASS']

/** The remote `origin`, read before any agent runs. Throws UserError if there is none. */
export async function pushRemote(clone: Clone, env: Context['env']): Promise<Remote> {
  if (!clone.config.has('remote.origin.url'))
    throw new UserError({
      path: '--push',
      found: 'this clone has no remote `origin` to push to.',
      expected: '',
      fix: 'add it (git remote add origin URL), or leave out --push',
    })
  // git applies `url.<base>.insteadOf`.
  const asked = await execute(['ls-remote', '--get-url', 'origin'], {
    directory: clone.workTree,
    env: gitEnv(env),
  })
  const settings = [...clone.config].filter(([key]) => LOGIN_SETTINGS.test(key))
  const given = LOGIN_VARIABLES.flatMap((name) =>
    env[name] === undefined ? [] : [[name, env[name]] as const],
  )
  return {
    url: clone.config.get('remote.origin.pushurl') ?? asked.stdout.trim(),
    env: {
      ...Object.fromEntries(given),
      GIT_CONFIG_COUNT: String(settings.length),
      ...Object.fromEntries(
        settings.flatMap(([key, value], at) => [
          [`GIT_CONFIG_KEY_${at}`, key],
          [`GIT_CONFIG_VALUE_${at}`, value],
        ]),
      ),
    },
  }
}

/** The password in the address of a remote, as CI puts a token there; it must appear nowhere. */
export function secretsInAddress({ url }: Remote): string[] {
  const password = URL.canParse(url) ? new URL(url).password : ''
  return password === '' ? [] : [password, decodeURIComponent(password)]
}

/**
 * Pushes the state and branch that earlier runs without `--push` left only in this clone. Throws UserError if the remote has a state
 * that this clone's does not continue.
 */
export async function shareState(
  { git, store }: Pick<Workspace, 'git' | 'store'>,
  remote: Remote,
  { folder, branch, published }: State,
  namespace: string,
): Promise<void> {
  const ref = `${namespace}/${folder.replace(/^\.ralph\//, '')}`
  const mine = readRef(git.shared, ref)
  if (mine === null || !refsBelow(git.shared, `${namespace}/`).has(ref)) return
  const branchRef = `refs/heads/${branch}`
  const there = await remoteRefs(git, remote, [ref, branchRef])
  const theirs = there.get(ref) ?? null
  if (theirs === mine) return
  if (theirs !== null) {
    await store.fetch([theirs], 'whole')
    if (await git.isAncestor(mine, theirs)) return
    if (!(await git.isAncestor(theirs, mine))) throw divergedError(ref)
  }
  const head = there.get(branchRef) ?? null
  const movesBranch =
    published !== null && head !== published && (head === null || (await isBehind(git, head, published)))
  const pushed = await push(git, remote, [
    { ref, from: theirs, to: mine },
    ...(movesBranch ? [{ ref: branchRef, from: head, to: published }] : []),
  ])
  if (pushed.kind !== 'pushed')
    throw new UserError({
      path: '--push',
      found: describeRefusal(pushed.answer, ref),
      expected: '',
      fix: 'check that `git push` works here, or leave out --push',
    })
}

/** Whether the commit is here and before the other one. */
async function isBehind(git: Workspace['git'], head: string, published: string): Promise<boolean> {
  return git.isAncestor(head, published).catch(() => false)
}

function divergedError(ref: string): UserError {
  return new UserError({
    path: '--push',
    found: `the remote and this clone have different states of this feature (${ref}), because runs worked on both.`,
    expected: '',
    fix: `to continue from the remote's state: git update-ref -d ${ref} && git --git-dir .git/ralph/git update-ref -d ${ref}, then run again. This discards the attempts that only this clone has`,
  })
}
