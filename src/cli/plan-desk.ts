// What the parts of `ralph plan` share: where it works, by which settings, whom it can ask, and what it says.
import { type Clone, openClone } from '../git/git.ts'
import type { Settings } from '../settings/index.ts'
import { type Asking, asking, outputOf } from './ask.ts'
import { type Context, settingsOf, tell } from './context.ts'
import { type LocalRun, openLocal } from './local.ts'
import { createPlanner, type Planner } from './plan-session.ts'
import { finishWriting } from './plan-write.ts'

/** What was typed. */
export type Wanted = { feature: string | null; sentence: string; from: readonly string[]; yes: boolean }

export type Desk = Disposable & {
  context: Context
  settings: Settings
  clone: Clone
  /** Null in a repository without a commit: it can be planned for, but no session and no run begins there. */
  local: LocalRun | null
  planner: Planner
  /** Today, as folders are dated. */
  today: string
  /** Null where nobody can be asked, or `--yes` has answered. */
  ask: Asking | null
  /** Columns of a terminal; null in a pipe, where nothing is cut. */
  width: number | null
  say(lines: readonly string[]): void
  warn(text: string): void
}

export async function openDesk(context: Context, mayAsk: boolean): Promise<Desk> {
  const output = outputOf(context)
  const warn = (text: string) => tell(process.stderr, `warning: ${text}`)
  const { settings, notes } = await settingsOf(context)
  for (const note of notes) warn(note)
  const clone = await openClone(context.directory, context.env)
  const local = clone.head === null ? null : await openLocal(context, settings, { warn })
  if (local === null) await finishWriting(clone)
  return {
    context,
    settings,
    clone,
    local,
    planner: createPlanner(context, local),
    today: new Date().toISOString().slice(0, 10),
    ask: mayAsk ? asking(context) : null,
    width: output.isTTY === true ? Math.min(100, output.columns) : null,
    say: (lines) => tell(output, lines.join('\n')),
    warn,
    [Symbol.dispose]: () => local?.[Symbol.dispose](),
  }
}
