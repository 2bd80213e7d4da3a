// Sessions in a person's checkout find no stash. In a job's checkout there is none to protect, and a lane has its own.
import type { AgentPort } from '../engine/model/ports.ts'
import { cloneRef } from '../git/clone-refs.ts'
import { removeLostEdits } from '../git/edit-tree.ts'
import { hideStash, restoreStash } from '../git/hidden-stash.ts'
import type { Workspace } from './workspace.ts'

/**
 * Removes the index files that a killed run left, and restores the stash that it left hidden. The stash is part of the clone as Ralph found
 * it, so it does not count as a ref that an agent moved.
 */
export async function restoreAfterKill({
  git,
  snapshot,
}: Pick<Workspace, 'git' | 'snapshot'>): Promise<void> {
  removeLostEdits(git)
  if (snapshot.whole || git.clone.hasOwnRefs === true) return
  await restoreStash(git)
  const stash = await cloneRef(git, 'refs/stash')
  if (stash !== null) snapshot.people.refs.set('refs/stash', stash)
}

/** The agent, with the person's stash hidden while a session runs. */
export function withoutStash(
  agent: AgentPort,
  { git, snapshot }: Pick<Workspace, 'git' | 'snapshot'>,
): AgentPort {
  if (snapshot.whole || git.clone.hasOwnRefs === true) return agent
  async function hidden<T>(session: () => Promise<T>): Promise<T> {
    await hideStash(git)
    try {
      return await session()
    } finally {
      await restoreStash(git)
    }
  }
  const { afterwards, ask } = agent
  return {
    work: (...given) => hidden(() => agent.work(...given)),
    setUp: (...given) => hidden(() => agent.setUp(...given)),
    judge: (...given) => hidden(() => agent.judge(...given)),
    plan: (...given) => hidden(() => agent.plan(...given)),
    ...(ask === undefined ? {} : { ask: (...given) => hidden(() => ask(...given)) }),
    ...(afterwards === undefined ? {} : { afterwards: (...given) => hidden(() => afterwards(...given)) }),
  }
}
