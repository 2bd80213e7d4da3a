// `ralph monitor`: how runs stand, live. One frame of plain lines where there is no terminal. Changes nothing.
import { type Dashboard, dashboardOf } from '../report/monitor.ts'
import { outputsOf } from '../report/outputs.ts'
import { messageOf } from '../system/errors.ts'
import { frameLines } from '../terminal/dashboard.ts'
import { plainFrame } from '../terminal/dashboard-plain.ts'
import { FullScreen, type Key } from '../terminal/full-screen.ts'
import { type Answer, type Context, settingsOf, tell } from './context.ts'
import { openSource } from './monitor-open.ts'
import { latest, type Source } from './monitor-source.ts'
import { onSignals } from './signals.ts'

/** Of the clock and what counts down. Milliseconds. */
const TICK_MS = 1000

export async function monitor(context: Context): Promise<Answer> {
  if (context.flags.web === true)
    return (await import(/* webpackChunkName: "monitor" */ './serve.ts')).serve(context)
  const { settings } = await settingsOf(context)
  using source = await openSource(context, settings)
  const first = await source.look()
  const dashboards = first.map((one) => dashboardOf(one, Date.now()))
  const [state] = first.map((one) => one.state)
  const answer = { code: 0, outputs: outputsOf(state ?? null, state?.prd.run.outcome ?? null, null) }
  const isScreen = process.stdout.isTTY && !context.json && context.env.TERM !== 'dumb'
  if (isScreen) await live(source, dashboards, context.env.NO_COLOR !== undefined)
  else
    for (const line of plainFrame({ dashboards, note: source.note() }))
      tell(context.json ? process.stderr : process.stdout, line)
  return context.json ? { ...answer, more: { features: dashboards } } : answer
}

/** Draws until a person has seen enough. */
async function live(source: Source, first: readonly Dashboard[], noColour: boolean): Promise<void> {
  let dashboards = first
  let selected = Math.max(
    0,
    first.findIndex(({ status }) => status.outcome === null && status.title === 'AT WORK'),
  )
  const stop = new AbortController()
  const ended = new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve()))
  const release = onSignals(stop, () => {})
  let note = source.note()
  const input = process.stdin.isTTY ? process.stdin : null
  using screen = new FullScreen(process.stdout, input, {
    key: (key: Key) => {
      if (key === 'quit') stop.abort()
      selected = Math.max(0, Math.min(dashboards.length - 1, selected + MOVES[key]))
      draw()
    },
    resize: () => draw(),
  })
  function draw(): void {
    const size = { ...screen.size, colour: !noColour, plain: false }
    screen.draw(frameLines({ dashboards: dashboards.map(ticked), selected, note }, size))
  }
  const looks = latest(async () => {
    try {
      dashboards = (await source.look()).map((one) => dashboardOf(one, Date.now()))
      note = source.note()
    } catch (error) {
      note = messageOf(error).split('\n')[0] ?? ''
    }
    draw()
  })
  const timer = setInterval(draw, TICK_MS)
  try {
    draw()
    source.follow(looks)
    await ended
  } finally {
    clearInterval(timer)
    release()
  }
}

const MOVES: Readonly<Record<Key, number>> = { quit: 0, up: -1, down: 1 }

/** What counts, at this moment. */
function ticked(one: Dashboard): Dashboard {
  return { ...one, now: Date.now() }
}
