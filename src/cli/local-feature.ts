// A feature on this machine: the checkout, and its state as a run would find it.
import { hostname } from 'node:os'
import { join } from 'node:path'
import { freshState } from '../app/claim-feature.ts'
import { resolveFeature } from '../app/resolve-feature.ts'
import { openWorkspace, type Workspace } from '../app/workspace.ts'
import { applyCommand } from '../engine/commands/apply-commands.ts'
import { ownFiles } from '../engine/model/paths.ts'
import type { Lease, State } from '../engine/model/state.ts'
import { readPlan } from '../engine/planning/plan-events.ts'
import { isWaitingPlan } from '../engine/planning/proposed-plan.ts'
import type { Settings } from '../settings/read-settings.ts'
import { DETACHED } from '../setup/checks/check-repository.ts'
import { UserError } from '../system/errors.ts'
import { readRegularFile } from '../system/files.ts'
import { endOrphansOfRun } from '../system/process.ts'
import { type Context, settingsOf } from './command-context.ts'
import { withEdits } from './edits.ts'
import { inboxQueue } from './inbox.ts'
import { baseOf, defaultBranchOf } from './origin.ts'

export type LocalRun = Awaited<ReturnType<typeof openLocal>>

/** Opens the feature that the settings name. With `onlyLooks`, the branch that is checked out decides between several. */
export async function openFeature(context: Context, onlyLooks = false): Promise<LocalRun> {
  return openLocal(context, (await settingsOf(context)).settings, context, onlyLooks)
}

export async function openLocal(
  context: Context,
  settings: Settings,
  voice: { warn(message: string): void } = context,
  meansBranch = false,
) {
  const workspace = await openWorkspace({
    settings,
    env: context.env,
    directory: context.directory,
    remote: null,
    identity: null,
    warn: voice.warn,
  })
  const { clone } = workspace
  if (clone.branch === null) {
    workspace[Symbol.dispose]()
    throw new UserError(DETACHED)
  }
  const start = await baseOf(workspace, settings, clone.branch, clone.head ?? '')
  const base = { ...start, ...(await defaultBranchOf(workspace)) }
  const formatName = (name: string) => namedIn(context, name)
  const named = { formatName, branch: meansBranch ? clone.branch : null }
  return {
    settings,
    workspace,
    base,
    /** The command line that names a feature. */
    formatName,
    /** Ends what a dead holder on this machine has left running. */
    async endOrphansOf(lease: Lease): Promise<void> {
      if (lease.host !== hostname()) return
      const ended = await endOrphansOfRun(lease.mark)
      if (ended === 0) return
      const were =
        ended === 1 ? '1 process of the run before was' : `${ended} processes of the run before were`
      voice.warn(`${were} still there: ended`)
    },
    /**
     * The state as the next job will find it, without taking anything: with the commands that wait for it, and made from
     * prd.json where no run has begun. Hears what reading that changed.
     */
    async look(hear: (note: string) => void = () => {}): Promise<State> {
      const { state, notes } = await look(workspace, settings, base, named)
      for (const note of notes) hear(note)
      const known = isWaitingPlan(state.plan)
        ? readPlan(state, (await this.read(state, ownFiles(state).context)) ?? '')
        : state
      return (await inboxQueue(clone).read(known)).reduce(applyCommand, known)
    },
    /** A file of people as the next session finds it: what they have not committed is taken up when a run begins. */
    async read(state: State, path: string): Promise<string | null> {
      const { repository } = workspace
      const mayHoldEdits = state.published === null || clone.branch === state.branch
      const now = mayHoldEdits
        ? ((await readRegularFile(join(clone.workTree, path)))?.toString('utf8') ?? null)
        : null
      const isEdited =
        mayHoldEdits && clone.head !== null && now !== (await repository.read(clone.head, path))
      return isEdited ? now : repository.read(state.green, path)
    },
    [Symbol.dispose]: () => workspace[Symbol.dispose](),
  }
}

/** The same command for one feature by its name. */
function namedIn({ command, given }: Context, feature: string): string {
  if (given === null) return `ralph ${command} ${feature}`
  const more = given.words.length > 0 || given.text !== '' ? ' ...' : ''
  return `ralph ${command} --feature ${feature}${more}`
}

async function look(
  workspace: Workspace,
  settings: Settings,
  base: { branch: string; sha: string },
  named: { formatName: (name: string) => string; branch: string | null },
): Promise<{ state: State; notes: readonly string[] }> {
  const { clone } = workspace
  const place = { commit: clone.head ?? base.sha, workTree: clone.workTree }
  const { feature: wanted, branchPrefix } = settings
  const { name, file, found } = await resolveFeature(workspace, place, {
    feature: wanted,
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
