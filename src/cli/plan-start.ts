// A plan whose run begins at once: whether it can, and what is done before.

import { oneLine } from '../engine/model/text.ts'
import { execute, gitEnv } from '../git/git-process.ts'
import { CONFIG } from '../setup/init/init-files.ts'
import { messageOf, UserError } from '../system/errors.ts'
import type { Context } from './command-context.ts'
import type { PlanSettings } from './init-questions.ts'
import type { PlanContext } from './plan.ts'

/** The context of `ralph run` for the planned feature, without the flags that only a plan takes. */
export function runContext(context: Context, feature: string): Context {
  const {
    from: _,
    as: _as,
    yes: _yes,
    replace: _replace,
    ask: _ask,
    stories: _stories,
    epic: _epic,
    ...flags
  } = context.flags
  return { ...context, command: 'run', flags, args: null, feature }
}

/** What *Start the run* does first; null where no run could begin, because there is no commit or the tree is not clean. */
export async function startHint(
  { clone, local }: PlanContext,
  { config }: PlanSettings,
): Promise<string | null> {
  if (clone.head === null || local === null) return null
  const dirt = await local.workspace.repository.uncommitted(clone.head)
  if (dirt.some(({ path }) => !path.startsWith('.ralph/'))) return null
  return config === null ? 'writes the files first' : `commits ${CONFIG} first`
}

/** Commits the configuration, since a run begins only on a clean tree. Uses the person's own git, so that their hooks run. */
export async function commitConfig(directory: string, env: Context['env']): Promise<void> {
  const options = { directory, env: gitEnv(env) }
  try {
    await execute(['add', '--', CONFIG], options)
    await execute(
      ['commit', '--quiet', '--message', 'chore: configure ralph', '--only', '--', CONFIG],
      options,
    )
  } catch (error) {
    const found = `git could not commit it: ${oneLine(messageOf(error), 300)}`
    const fix = `the plan is written: commit ${CONFIG} yourself, then ralph run`
    throw new UserError({ path: CONFIG, found, expected: '', fix })
  }
}
