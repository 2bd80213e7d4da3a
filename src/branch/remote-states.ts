// The states of a remote without a checkout: reads all of them, and deletes those that nothing needs.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { State } from '../engine/model/state.ts'
import { readState } from '../engine/stored-state.ts'
import type { Remote } from '../git/git.ts'
import { type Environment, GitError, runGitIn } from '../git/git-process.ts'

/** A state with the commit that its ref names. */
export type StoredState = { state: State; commit: string }

/** Every feature's state by folder name. Fetches one commit for each, into a folder that is removed again. */
export function readStates(
  remote: Remote,
  env: Environment,
  namespace: string,
): Promise<Map<string, StoredState>> {
  return inBareFolder(remote, env, async (git) => {
    const refs = `+${namespace}/*:refs/peek/*`
    await git('fetch', '-q', '--depth=1', '--no-tags', remote.url, refs).catch((error: unknown) => {
      // A fetch with a depth ends with 1 and no message if no ref matches.
      if (!(error instanceof GitError) || error.code !== 1 || error.stderr !== '') throw error
    })
    const states = new Map<string, StoredState>()
    const found = await git('for-each-ref', '--format=%(objectname) %(refname)', 'refs/peek/')
    const byName = (one: string, other: string) => (one.slice(41) < other.slice(41) ? -1 : 1)
    for (const line of found.split('\n').filter(Boolean).sort(byName)) {
      const [commit = '', ref = ''] = line.split(' ')
      const state = await readState((file) => git('show', `${commit}:${file}`).catch(() => null))
      // The state is null if something other than Ralph made the ref.
      if (state !== null) states.set(ref.slice('refs/peek/'.length), { state, commit })
    }
    return states
  })
}

/** Deletes refs that still name these commits, in one push. Throws GitError if the remote refuses one; the others are deleted. */
export function deleteStates(
  remote: Remote,
  env: Environment,
  namespace: string,
  commits: ReadonlyMap<string, string>,
): Promise<void> {
  return inBareFolder(remote, env, async (git) => {
    const refs = [...commits].map(([folder, commit]) => ({ ref: `${namespace}/${folder}`, commit }))
    // A run that began meanwhile has moved its ref, and keeps it.
    const leases = refs.map(({ ref, commit }) => `--force-with-lease=${ref}:${commit}`)
    await git('push', '-q', ...leases, remote.url, ...refs.map(({ ref }) => `:${ref}`))
  })
}

async function inBareFolder<T>(
  remote: Remote,
  env: Environment,
  act: (git: (...args: string[]) => Promise<string>) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(env.RUNNER_TEMP ?? tmpdir(), 'ralph-peek-'))
  const git = (...args: string[]) => runGitIn(args, directory, env, remote.env)
  try {
    await git('init', '-q', '--bare', '.')
    return await act(git)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
