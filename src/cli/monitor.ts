// `ralph monitor`: shows the status of runs, live. Without a terminal it prints it once, as plain lines. Changes nothing.
import { openWorkspace } from '../app/workspace.ts'
import { type LiveView, liveJson, liveViewOf, type WatchedRun } from '../report/live-view.ts'
import { outputsOf } from '../report/outputs.ts'
import { frameLines, plainFrame } from '../report/terminal/dashboard.ts'
import { FullScreen, type Key } from '../report/terminal/full-screen.ts'
import type { Settings } from '../settings/read-settings.ts'
import { messageOf } from '../system/errors.ts'
import { type CommandResult, type Context, onSignals, settingsOf } from './command-context.ts'
import { chooseFolders, localSource, type Source } from './monitor-source.ts'

/** How often the clock and countdowns are drawn. Milliseconds. */
const TICK_MS = 1000

export async function monitor(context: Context): Promise<CommandResult> {
  const { settings } = await settingsOf(context)
  using source = await openSource(context, settings)
  const first = await source.look()
  const views = first.map((one) => liveViewOf(one, Date.now()))
  const [state] = first.map((one) => one.state)
  const answer = { code: 0, outputs: outputsOf(state ?? null, state?.prd.run.outcome ?? null, null) }
  const isScreen = process.stdout.isTTY && !context.json && context.env.TERM !== 'dumb'
  if (isScreen) await drawLive(source, views, context.env.NO_COLOR !== undefined)
  else context.print(plainFrame({ views, note: source.note() }).join('\n'))
  return context.json ? { ...answer, more: { features: views.map(liveJson) } } : answer
}

/** Draws until the person quits. */
async function drawLive(source: Source, first: readonly LiveView[], noColour: boolean): Promise<void> {
  let views = first
  const atWork = first.findIndex(({ isAtWork }) => isAtWork)
  let selected = Math.max(0, atWork)
  const stop = new AbortController()
  const release = onSignals(stop, () => {})
  let note = source.note()
  const input = process.stdin.isTTY ? process.stdin : null
  using screen = new FullScreen(process.stdout, input, {
    key: (key: Key) => {
      if (key === 'quit') stop.abort()
      selected = Math.max(0, Math.min(views.length - 1, selected + MOVES[key]))
      draw()
    },
    resize: () => draw(),
  })
  function draw(): void {
    const size = { ...screen.size, colour: !noColour, plain: false }
    const ticked = views.map((one) => ({ ...one, now: Date.now() }))
    screen.draw(frameLines({ views: ticked, selected, note }, size))
  }
  const timer = setInterval(draw, TICK_MS)
  try {
    draw()
    await follow(source, stop.signal, (watched, wrong) => {
      views = watched?.map((one) => liveViewOf(one, Date.now())) ?? views
      note = wrong || source.note()
      draw()
    })
  } finally {
    clearInterval(timer)
    release()
  }
}

const MOVES: Readonly<Record<Key, number>> = { quit: 0, up: -1, down: 1 }

/** The runs of this clone, or those in CI. Throws UserError if there is nothing to show. */
export async function openSource(context: Context, settings: Settings): Promise<Source> {
  const wanted = [...(context.args?.words ?? []), ...(context.feature === null ? [] : [context.feature])]
  const { env, directory, warn } = context
  const where = { settings, env, directory, remote: null, identity: null, submodules: false, warn } as const
  const workspace = await openWorkspace(where)
  const names = chooseFolders((await workspace.store.list()).keys(), wanted)
  const isHere = names.size > 0 && names.size >= wanted.length
  if (context.flags.remote !== true && isHere) return localSource(workspace, settings, wanted)
  const { openRemote } = await import(/* webpackChunkName: "cli" */ './monitor-remote.ts')
  const remote = await openRemote(context, settings, workspace, wanted)
  return remote ?? localSource(workspace, settings, wanted)
}

/** Looks whenever something has changed, until aborted. Calls `onLook` with the runs, or with null and the error's first line. */
export async function follow(
  source: Source,
  signal: AbortSignal,
  onLook: (watched: readonly WatchedRun[] | null, error: string) => void,
): Promise<void> {
  for (;;) {
    await source.changed(signal)
    if (signal.aborted) return
    try {
      onLook(await source.look(), '')
    } catch (error) {
      onLook(null, messageOf(error).split('\n')[0] ?? '')
    }
  }
}
