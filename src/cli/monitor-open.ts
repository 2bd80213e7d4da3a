// Which runs `ralph monitor` and `ralph serve` show: those of this clone, else those in CI.
import { openWorkspace } from '../app/workspace.ts'
import type { Settings } from '../settings/index.ts'
import { type Context, tell } from './context.ts'
import { LocalSource, localRuns, type Source } from './monitor-source.ts'

/** Throws UserError where there is nothing that could be shown. */
export async function openSource(context: Context, settings: Settings): Promise<Source> {
  const wanted = [...(context.given?.words ?? []), ...(context.feature === null ? [] : [context.feature])]
  const { env, directory } = context
  const warn = (text: string) => tell(process.stderr, `warning: ${text}`)
  const workspace = await openWorkspace({
    settings,
    env,
    directory,
    remote: null,
    identity: null,
    submodules: false,
    warn,
  })
  const isLocal = context.flags.remote !== true && (await localRuns(workspace, wanted)) !== null
  if (isLocal) return new LocalSource(workspace, settings, wanted)
  const { openRemote } = await import(/* webpackChunkName: "monitor" */ './monitor-remote.ts')
  const remote = await openRemote(context, settings, workspace, wanted)
  return remote ?? new LocalSource(workspace, settings, wanted)
}
