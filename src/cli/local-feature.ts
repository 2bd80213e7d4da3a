// A feature on this machine: the checkout, and its state as a run would find it.

import { hostname } from 'node:os'
import { join } from 'node:path'
import { freshState } from '../app/claim-feature.ts'
import { resolveFeature } from '../app/resolve-feature.ts'
import { openWorkspace, type Workspace } from '../app/workspace.ts'
import { applyCommand } from '../engine/commands/apply-commands.ts'
import { ownFiles } from '../engine/model/paths.ts'
import type { Lease, State } from '../engine/model/state.ts'
import { recordBranchContext } from '../engine/planning/plan-events.ts'
import { isWaitingPlan } from '../engine/planning/proposed-plan.ts'
import type { Remote } from '../git/git.ts'
import { openClone } from '../git/open-clone.ts'
import { pluralize } from '../report/figures.ts'
import type { Settings } from '../settings/read-settings.ts'
import { orUserError, UserError } from '../system/errors.ts'
import { readRegularFile } from '../system/files.ts'
import { endOrphansOfRun } from '../system/process.ts'
import { type Context, settingsOf } from './command-context.ts'
import { withEdits } from './edits.ts'
import { inboxQueue } from './inbox.ts'
import { baseOf, defaultBranchOf, detachedMistake } from './origin.ts'
import { pushRemote, secretsInAddress, shareState } from './push-remote.ts'

export type LocalRun = Awaited<ReturnType<typeof openLocal>>

/**
 * Opens the feature that the settings name. With `onlyLooks` it may also be the only word, as in `ralph why login`, and the current
 * branch decides between several.
 */
export async function openFeature(context: Context, onlyLooks = false): Promise<LocalRun> {
  return openLocal(context, (await settingsOf(context)).settings, context, onlyLooks)
}

export async function openLocal(
  context: Context,
  settings: Settings,
  warner: { warn(message: string): void } = context,
  prefersCurrentBranch = false,
) {
  const remote =
    context.flags.push === true
      ? await pushRemote(await openClone(context.directory, context.env), context.env)
      : null
  const workspace = await openWorkspace({
    settings,
    env: context.env,
    directory: context.directory,
    remote,
    isPersons: true,
    secrets: remote === null ? [] : secretsInAddress(remote),
    identity: null,
    warn: warner.warn,
  })
  const { clone } = workspace
  const base = await startOf(workspace, settings, context).catch((error: unknown) => {
    workspace[Symbol.dispose]()
    throw error
  })
  const formatName = (name: string) => namedIn(context, name)
  const word = context.args?.words.length === 1 ? context.args.words[0] : undefined
  const named = prefersCurrentBranch ? { formatName, branch: clone.branch, word } : { formatName }
  if (remote !== null) await shareLocalState(context, settings, workspace, remote)
  return {
    settings,
    workspace,
    base,
    /** The command line that names a feature. */
    formatName,
    /** Ends the processes that a dead run on this machine left behind. */
    async endOrphansOf(lease: Lease): Promise<void> {
      if (lease.host !== hostname()) return
      const ended = await endOrphansOfRun(lease.mark)
      if (ended === 0) return
      warner.warn(`ended ${pluralize(ended, 'process', 'processes')} that the previous run had left running`)
    },
    /**
     * The state as the next run will find it, with the commands that wait for it. Does not claim the feature. The state is made from
     * prd.json if no run has begun. Calls `onNote` with what was changed in reading that.
     */
    async look(onNote: (note: string) => void = () => {}): Promise<State> {
      const { state, notes } = await look(workspace, settings, base, named)
      for (const note of notes) onNote(note)
      const known = isWaitingPlan(state.plan)
        ? recordBranchContext(state, (await this.read(state, ownFiles(state).context)) ?? '')
        : state
      return (await inboxQueue(clone).read(known)).reduce((so, one) => applyCommand(so, one), known)
    },
    /** A file as the next session finds it: a run takes up people's uncommitted edits when it begins. */
    async read(state: State, path: string): Promise<string | null> {
      const { repository } = workspace
      const mayHoldEdits = state.published === null || clone.branch === state.branch
      const current = mayHoldEdits
        ? ((await readRegularFile(join(clone.workTree, path)))?.toString('utf8') ?? null)
        : null
      const isEdited =
        mayHoldEdits && clone.head !== null && current !== (await repository.read(clone.head, path))
      return isEdited ? current : repository.read(state.green, path)
    },
    [Symbol.dispose]: () => workspace[Symbol.dispose](),
  }
}

/** Pushes what only this clone knows of the feature, before the remote's state is the one that counts. */
async function shareLocalState(context: Context, settings: Settings, workspace: Workspace, remote: Remote) {
  const { push: _push, ...flags } = context.flags
  using local = await openLocal({ ...context, flags }, settings, { warn: () => {} })
  // A feature that only the remote knows, or one with mistakes: what follows says so.
  const state = await orUserError(() => local.look())
  if (!(state instanceof UserError)) await shareState(workspace, remote, state, settings.stateNamespace)
}

/** Where a run starts. Throws UserError if HEAD is detached and nothing names the branch. */
async function startOf(workspace: Workspace, settings: Settings, context: Context) {
  const start = await baseOf(workspace, settings, context.env)
  if (start === null) throw new UserError(await detachedMistake(workspace, context))
  return { ...start, ...(await defaultBranchOf(workspace, context.env)) }
}

/** The words of a command about stories. The name of the feature is not one of them, unless a story is called that. */
export function storyWords({ args }: Context, { feature, prd }: State): readonly string[] {
  const words = args?.words ?? []
  const isFeature =
    words.length === 1 && words[0] === feature && prd.userStories.every(({ id }) => id !== feature)
  return isFeature ? [] : words
}

/** The command line that was typed, with the feature named. */
function namedIn({ command, args }: Context, feature: string): string {
  if (args === null) return `ralph ${command} ${feature}`
  const more = args.words.length > 0 || args.text !== '' ? ' ...' : ''
  return `ralph ${command} --feature ${feature}${more}`
}

async function look(
  workspace: Workspace,
  settings: Settings,
  base: { branch: string; sha: string },
  named: { formatName: (name: string) => string; branch?: string | null; word?: string | undefined },
): Promise<{ state: State; notes: readonly string[] }> {
  const { clone } = workspace
  const place = { commit: clone.head ?? base.sha, workTree: clone.workTree }
  const { feature: requested, branchPrefix } = settings
  const { name, file, found } = await resolveFeature(workspace, place, {
    feature: requested,
    branchPrefix,
    ...named,
  })
  const notes = file?.notes ?? []
  const state = found?.state ?? null
  if (state === null) {
    if (file === null) throw new Error(`no prd.json of ${name}`)
    return { state: freshState(file, settings, base), notes }
  }
  if (file === null) return { state, notes }
  return { state: await withEdits(workspace, state, file.prd, clone.head), notes }
}
