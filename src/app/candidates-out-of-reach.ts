// A candidate's session finds no logs and no ignored files of the others: `grep -r` in the checkout also reads `.git/ralph`. They are
// outside the checkout while the session runs. In a lane there is nothing to move, because Ralph's folder is outside its tree.
import { createHash } from 'node:crypto'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Attempt, slotOf } from '../engine/model/attempt.ts'
import type { AgentPort } from '../engine/model/ports.ts'
import { hideCandidateRefs } from '../git/clone.ts'
import { FileStash } from '../git/file-stash.ts'
import type { Environment } from '../isolation/untrusted-env.ts'
import { messageOf } from '../system/errors.ts'
import { isFolderSync, removeSync } from '../system/files.ts'
import type { PortOptions } from './port-options.ts'
import { workTreesFolder } from './work-trees-folder.ts'

type Place = Pick<PortOptions, 'env' | 'workspace' | 'run' | 'folder' | 'warn'>

/** Puts back what a killed run left outside the checkout. */
export async function restoreCandidates(place: Place): Promise<void> {
  const { workspace, env } = place
  const outside = outsideFolder(workspace.clone.gitDir, env)
  if (workspace.git.clone.hasOwnRefs === true || !isFolderSync(outside)) return
  await stashIn(outside).putBack('', ralphFolder(place), false)
  removeSync(outside)
}

/** The agent, with what other candidates left hidden while a candidate's session runs. */
export function withoutOtherCandidates(agent: AgentPort, place: Place): AgentPort {
  if (place.workspace.git.clone.hasOwnRefs === true) return agent
  async function hidden<T>(attempt: Attempt, session: () => Promise<T>): Promise<T> {
    if (slotOf(attempt) === undefined) return session()
    try {
      await warnOnError(hideCandidates(attempt.storyId, place), place)
      await hideCandidateRefs(place.workspace.git, place.workspace.snapshot)
      return await session()
    } finally {
      await warnOnError(restoreCandidates(place), place)
    }
  }
  return {
    ...agent,
    work: (state, attempt, ...more) => hidden(attempt, () => agent.work(state, attempt, ...more)),
    setUp: (state, attempt, ...more) => hidden(attempt, () => agent.setUp(state, attempt, ...more)),
  }
}

/** A full disk, or a cache folder that cannot be written to, does not end the run. */
async function warnOnError(act: Promise<void>, { env, warn }: Place): Promise<void> {
  await act.catch((error: unknown) => {
    warn(
      `Ralph could not move the logs and ignored files of candidates (${workTreesFolder(env)}): ${messageOf(error)}`,
    )
  })
}

async function hideCandidates(storyId: string, place: Place): Promise<void> {
  const outside = outsideFolder(place.workspace.clone.gitDir, place.env)
  const top = ralphFolder(place)
  await mkdir(outside, { recursive: true, mode: 0o700 })
  const stash = stashIn(outside)
  for (const kind of ['transcripts', 'logs', 'screenshots']) {
    const folder = join(kind, place.run ?? '')
    const names = await readdir(join(top, folder)).catch(() => [])
    for (const name of names.filter((one) => one.startsWith(`${storyId}-`)))
      await stash.take(join(top, folder, name), join(folder, name))
  }
  // Ignored files of sessions and of gates.
  await stash.take(join(top, 'aside'), 'aside')
}

function ralphFolder({ folder, workspace }: Place): string {
  return folder ?? join(workspace.clone.gitDir, 'ralph')
}

function outsideFolder(gitDir: string, env: Environment): string {
  const hash = createHash('sha256').update(gitDir).digest('hex').slice(0, 8)
  return join(workTreesFolder(env), `candidates-${hash}`)
}

function stashIn(outside: string): FileStash {
  return new FileStash(outside, 'candidates')
}
