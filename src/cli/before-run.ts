// What a run would begin with, and all mistakes that keep it from beginning: the same checks for `run`, `next` and `validate`.

import type { State } from '../engine/model/state.ts'
import type { Settings, SettingsResult } from '../settings/read-settings.ts'
import { findBlockingMistakes } from '../setup/checks/check-table.ts'
import type { OpenCheckout, RunStart } from '../setup/checks/subject.ts'
import { orUserError, UserError } from '../system/errors.ts'
import type { Context } from './command-context.ts'
import { type LocalRun, openLocal } from './local-feature.ts'

type Warner = { warn(message: string): void }

/** Opens checkout and state as far as that works. If `local` or `state` is null, the mistakes say why. */
export async function checkBeforeRun(
  context: Context,
  read: SettingsResult,
  warner: Warner,
  onNote?: (note: string) => void,
) {
  const opened = await orUserError(() => openLocal(context, read.settings, warner))
  const local = opened instanceof UserError ? null : opened
  const found = local === null ? null : await orUserError(() => local.look(onNote))
  const state = found instanceof UserError ? null : found
  const checkout = opened instanceof UserError ? opened.mistakes : checkoutOf(opened, state)
  const start: RunStart = {
    ...startOf(context, read.settings, checkout),
    mistakes: read.ok ? [] : read.mistakes,
    features: {
      states: state === null ? [] : [state],
      mistakes: found instanceof UserError ? found.mistakes : [],
    },
  }
  const mistakes = await findBlockingMistakes(start)
  return { local, state, start, mistakes, [Symbol.dispose]: () => local?.[Symbol.dispose]() }
}

/** The same, but throws UserError with every mistake. */
export async function openForRun(...args: Parameters<typeof checkBeforeRun>) {
  const { local, state, start, mistakes } = await checkBeforeRun(...args)
  if (mistakes.length === 0 && local !== null && state !== null) return { local, state, start }
  local?.[Symbol.dispose]()
  throw new UserError(mistakes)
}

/** The part of a run's start that does not depend on a feature. */
export function startOf(
  { env, directory, flags }: Context,
  settings: Settings,
  checkout: RunStart['checkout'],
): RunStart {
  const features = { states: [], mistakes: [] }
  return { env, directory, settings, mistakes: [], checkout, features, anew: flags.force === true }
}

/** A checkout as checks see it; the commit is the one that a run continues from. */
export function checkoutOf({ workspace, base, read }: LocalRun, state: State | null): OpenCheckout {
  const commit = state?.green ?? workspace.clone.head ?? base.sha
  const readThere = (path: string) => workspace.repository.read(commit, path)
  return { workspace, base, commit, read: state === null ? readThere : (path) => read(state, path) }
}
