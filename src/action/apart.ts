// The users that agent and gates of a job run as, and what is warned of where they are not kept apart.
import * as core from '@actions/core'
import { type Isolation, openIsolation, SAME_USER_WARNING } from '../app/isolation.ts'
import { UNGATED_WARNING } from '../app/limits.ts'
import type { Workspace } from '../app/workspace.ts'
import { refusedWords } from '../report/network.ts'
import type { Settings } from '../settings/index.ts'
import type { ActionContext } from './context.ts'
import { remember } from './runner.ts'

/** Settings with which a run means less than it seems to. */
export function warnOfLess({ ungated, isolation }: Settings): void {
  if (ungated) core.warning(UNGATED_WARNING)
  if (isolation === 'same-user') core.warning(SAME_USER_WARNING)
}

type Given = { context: ActionContext; settings: Settings; workspace: Workspace }

/** Does `act` with them (null: they are the job's own), then says what they were refused on the network, and lets them go. */
export async function keptApart<T>(
  { context, settings, workspace: { clone, redactor } }: Given,
  act: (as: Isolation | null) => Promise<T>,
): Promise<T> {
  const as = await openIsolation({ settings, env: context.env, clone, say: core.notice })
  if (as !== null) remember({ otherUser: as.gates.before })
  try {
    return await act(as)
  } finally {
    const refused = refusedBy(as)
    if (refused !== null) core.warning(redactor.redact(refused))
    await as?.close()
  }
}

export function refusedBy(as: Isolation | null): string | null {
  return as === null ? null : refusedWords(as.refused())
}
