// `ralph archive --prune`: deletes the states on origin whose pull request was merged or closed a month ago.
import { deleteStates, readStates } from '../branch/remote-states.ts'
import { openClone } from '../git/git.ts'
import { GitError } from '../git/git-process.ts'
import { describeRefusal } from '../git/remote.ts'
import { connect } from '../github/client.ts'
import { findOldStates } from '../github/old-states.ts'
import { pluralize } from '../report/figures.ts'
import { outputsOf } from '../report/outputs.ts'
import { UserError } from '../system/errors.ts'
import { type CommandResult, type Context, settingsOf } from './command-context.ts'
import { tokenFor } from './github-token.ts'
import { remoteOf } from './origin.ts'
import { pushRemote } from './push-remote.ts'

export async function pruneStates(context: Context): Promise<CommandResult> {
  const { env, warn } = context
  const { stateNamespace } = (await settingsOf(context)).settings
  const clone = await openClone(context.directory, env)
  const { server, place } = remoteOf(clone, env)
  const token = place === null ? null : await tokenFor(server, env)
  if (place === null || token === null)
    throw new UserError({
      path: '--prune',
      found: `Ralph cannot look up pull requests: ${place === null ? `origin is not a repository at ${server}` : `there is no token for ${server}`}.`,
      expected: '',
      fix: 'run it in a clone of the repository, after `gh auth login` or with GH_TOKEN',
    })
  const remote = await pushRemote(clone, env)
  const stored = await readStates(remote, env, stateNamespace)
  const old = await findOldStates(connect({ ...place, defaultBranch: '' }, token, warn), stored, Date.now())
  if (old.size > 0)
    await deleteStates(remote, env, stateNamespace, old).catch((error: unknown) => {
      if (!(error instanceof GitError)) throw error
      const found = `Ralph could not delete every old state: ${describeRefusal(error.stderr, stateNamespace)}.`
      const fix = 'check that you have push access to origin, and run it again'
      throw new UserError({ path: '--prune', found, expected: '', fix })
    })
  const kept = stored.size - old.size
  for (const folder of old.keys()) context.print(`deleted: ${stateNamespace}/${folder}`)
  context.print(
    `${pluralize(old.size, 'old state')} deleted, ${kept} kept. A state counts as old 30 days after its pull request was merged or closed`,
  )
  return { code: 0, outputs: outputsOf(null, null, null), more: { deleted: [...old.keys()], kept } }
}
