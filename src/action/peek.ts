// Reads the features' states from the remote without a checkout, for jobs that only answer.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { State } from '../engine/model/state.ts'
import { readState } from '../engine/stored-state.ts'
import { GitError, runGitIn } from '../git/git-process.ts'
import { type ActionContext, remoteOf, tokenOf } from './action-context.ts'

/** Every feature's state by folder name. Fetches one commit for each, into a folder that is removed again. */
export async function peekStates(context: ActionContext, namespace: string): Promise<Map<string, State>> {
  const remote = remoteOf(context.place, tokenOf(context))
  const directory = await mkdtemp(join(context.env.RUNNER_TEMP ?? tmpdir(), 'ralph-peek-'))
  const git = (...args: string[]) => runGitIn(args, directory, context.env, remote.env)
  try {
    await git('init', '-q', '--bare', '.')
    const refs = `+${namespace}/*:refs/peek/*`
    await git('fetch', '-q', '--depth=1', '--no-tags', remote.url, refs).catch((error: unknown) => {
      // A fetch with a depth ends with 1 and no message where no ref matches.
      if (!(error instanceof GitError) || error.code !== 1 || error.stderr !== '') throw error
    })
    const states = new Map<string, State>()
    const found = await git('for-each-ref', '--format=%(refname)', 'refs/peek/')
    for (const ref of found.split('\n').filter(Boolean).sort()) {
      const state = await readState((file) => git('show', `${ref}:${file}`).catch(() => null))
      // A null state: something else made this ref.
      if (state !== null) states.set(ref.slice('refs/peek/'.length), state)
    }
    return states
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
