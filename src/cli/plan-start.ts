// A plan whose run begins at once: whether it can, and what goes before it.

import { oneLine } from '../engine/model/text.ts'
import { execute, gitEnv } from '../git/git-process.ts'
import { CONFIG } from '../setup/init/init-files.ts'
import { messageOf, UserError } from '../system/errors.ts'
import type { Context } from './command-context.ts'
import type { Chosen } from './init-questions.ts'
import type { PlanContext } from './plan.ts'

/** As `ralph run` would have been typed; of what the plan was made from, and which part, the run knows nothing. */
export function runContext(context: Context, feature: string): Context {
  const { from: _, as: _as, yes: _yes, ask: _ask, stories: _stories, epic: _epic, ...flags } = context.flags
  return { ...context, command: 'run', flags, given: null, feature }
}

/** What starting the run would do beside writing the plan; null where a run could not begin, because the tree is not clean. */
export async function startHint({ clone, local }: PlanContext, { config }: Chosen): Promise<string | null> {
  if (clone.head === null || local === null) return null
  const dirt = await local.workspace.repository.dirt(clone.head)
  if (dirt.some(({ path }) => !path.startsWith('.ralph/'))) return null
  return config === null ? 'writes the files first' : `commits ${CONFIG} first`
}

/** By the person's own git, with their hooks: a run begins on a clean tree. */
export async function commitConfig(directory: string, env: Context['env']): Promise<void> {
  const options = { directory, env: gitEnv(env) }
  try {
    await execute(['add', '--', CONFIG], options)
    await execute(
      ['commit', '--quiet', '--message', 'chore: configure ralph', '--only', '--', CONFIG],
      options,
    )
  } catch (error) {
    const found = oneLine(messageOf(error), 300)
    const fix = `the plan is written: commit ${CONFIG} yourself, then ralph run`
    throw new UserError({ path: CONFIG, found, expected: 'a commit of it', fix })
  }
}
