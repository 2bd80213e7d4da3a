// Reads states from the remote without a checkout: what a comment's run needs to know, and nothing more.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PATCH_ENV, patchArguments } from '../git/patch.ts'
import { GitError, runPlain } from '../git/process.ts'
import { keptIn, STATE_FILE } from '../git/state-commit.ts'
import { stateFrom } from '../loop/stored.ts'
import type { State } from '../model/state.ts'
import { type ActionContext, remoteOf, tokenOf } from './context.ts'

type Run = (args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<string>

/** Every feature's state by folder name. Fetches one commit a feature, into a folder that is removed again. */
export function peekStates(context: ActionContext, namespace: string): Promise<Map<string, State>> {
  return peeked(context, namespace, '*', async (git, refs) => {
    const states = new Map<string, State>()
    for (const ref of refs) {
      const text = await git(['show', `${ref}:${STATE_FILE}`]).catch(() => null)
      if (text === null) continue // a ref of somebody else's
      states.set(ref.slice('refs/peek/'.length), stateFrom(text))
    }
    return states
  })
}

/** What the rejected attempts of a story left, as a diff, and the commit and folder that hold it; null where it is too much to read. */
export function peekKept(
  context: ActionContext,
  namespace: string,
  { folder }: State,
  storyId: string,
): Promise<{ commit: string; folder: string; patch: string } | null> {
  return peeked(context, namespace, folder.replace(/^\.ralph\//, ''), async (git, [ref = '']) => {
    const { base, work } = keptIn(storyId)
    const commit = (await git(['rev-parse', ref])).trim()
    const range = [`${commit}:${base}`, `${commit}:${work}`]
    const patch = await git(patchArguments(...range), PATCH_ENV).catch(() => null)
    return patch === null ? null : { commit, folder: work, patch }
  })
}

async function peeked<T>(
  context: ActionContext,
  namespace: string,
  folder: string,
  look: (git: Run, refs: readonly string[]) => Promise<T>,
): Promise<T> {
  const remote = remoteOf(context.place, tokenOf(context))
  const directory = await mkdtemp(join(context.env.RUNNER_TEMP ?? tmpdir(), 'ralph-peek-'))
  const git: Run = (args, env) => runPlain(args, directory, context.env, { ...remote.env, ...env })
  try {
    await git(['init', '-q', '--bare', '.'])
    const refs = `+${namespace}/${folder}:refs/peek/${folder}`
    await git(['fetch', '-q', '--depth=1', '--no-tags', remote.url, refs]).catch((error: unknown) => {
      // Where no ref is of that name, a fetch with a depth ends so, without a word.
      if (!(error instanceof GitError) || error.code !== 1 || error.stderr !== '') throw error
    })
    const found = await git(['for-each-ref', '--format=%(refname)', 'refs/peek/'])
    return await look(git, found.split('\n').filter(Boolean).sort())
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
