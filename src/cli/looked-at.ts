// The commit that gates, a judge or a planner look at, noted beside the clone while they do: where a run is killed then, what differs
// from it is nobody's work. An agent may write the note, too: what it does to the tree by that, the guard sees as all that it leaves.
import { join } from 'node:path'
import type { Workspace } from '../app/workspace.ts'
import type { Git } from '../git/git.ts'
import { placeFile } from '../git/own-index.ts'
import type { Observer } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import type { Step } from '../model/step.ts'
import { readRegularNow, removeNow } from '../system/files.ts'

/** Mark of the lease, HEAD as long as nobody but Ralph moves it, and the commit. */
const NOTE = /^(\S+) ([0-9a-f]+) ([0-9a-f]+)$/

export function lookNotes(git: Git): Observer {
  return {
    async step(step, { lease, published, base, green }) {
      const commit = lookedAt(step, green)
      if (commit === null || lease === null) return
      placeFile(git, `${lease.mark} ${published === null ? base.sha : green} ${commit}`, noteOf(git))
    },
    event: async () => removeNow(noteOf(git)),
  }
}

function lookedAt(step: Step, green: string): string | null {
  if (step.kind === 'gates' || step.kind === 'judge') return step.attempt.candidate.commit
  return step.kind === 'baseline' || step.kind === 'verify' || step.kind === 'plan' ? green : null
}

/** The commit that a holder which is gone looked at when it was killed; null where there is none, or people went on from there. */
export async function commitLookedAt(
  { git, clone, objects }: Workspace,
  { lease, branch, published }: State,
): Promise<string | null> {
  const text = readRegularNow(noteOf(git), 1000)?.toString('utf8') ?? ''
  const [, mark, head, commit = ''] = NOTE.exec(text) ?? []
  const isThere = mark === lease?.mark && head === clone.head
  if (!isThere || (published !== null && clone.branch !== branch)) return null
  return (await objects.root(commit)) === null ? null : commit
}

/** Puts the tree back to it. What is thrown away is told, and how to get it: a person may have gone on there. */
export async function throwAway(
  { git, repository }: Workspace,
  commit: string,
  warn: (message: string) => void,
): Promise<void> {
  const paths = (await repository.dirt(commit)).map(({ path }) => path)
  if (paths.length > 0) {
    // What git cannot read is put nowhere.
    const aside = await repository.adopt(commit, paths, 'left in the work tree').catch(() => null)
    const mend = aside === null ? '' : ` Were they yours? git restore --source=${aside} -- <path>`
    const what = `${paths.length} changes were left by what looked at ${commit.slice(0, 7)} when the run was killed`
    warn(`${what}, and are taken away.${mend}`)
    await repository.checkOut(commit, null)
  }
  removeNow(noteOf(git))
}

function noteOf({ own }: Git): string {
  return join(own, 'looked-at')
}
