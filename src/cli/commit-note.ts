// While gates, a judge or a planner look at a commit in the checkout, its id is noted in Ralph's git directory. If the run is killed
// meanwhile, the next one discards what they changed. An agent may forge the note; the guard looks at the result as at any change.

import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Workspace } from '../app/workspace.ts'
import { isChosen, isInLane } from '../engine/model/attempt.ts'
import type { Observer } from '../engine/model/ports.ts'
import type { State } from '../engine/model/state.ts'
import { type AttemptStep, STEPS, type Step } from '../engine/model/step.ts'
import type { Git } from '../git/git.ts'
import { renameIntoPlace } from '../git/own-directory.ts'
import { pluralize } from '../report/figures.ts'
import { clearPathTo, readRegularFileSync, removeSync } from '../system/files.ts'
import { fsPath } from '../system/path-text.ts'

/** The lease's mark, HEAD (if only Ralph moves it, it is the same later), and the commit that the step looks at. */
const NOTE = /^(\S+) ([0-9a-f]+) ([0-9a-f]+)$/

export function currentCommitNotes(git: Git): Observer {
  return {
    async step(step, { lease, published, base, green }) {
      const commit = commitCheckedBy(step, green)
      if (commit === null || lease === null) return
      renameIntoPlace(git, `${lease.mark} ${published === null ? base.sha : green} ${commit}`, noteFile(git))
    },
    event: async () => removeSync(noteFile(git)),
  }
}

function commitCheckedBy(step: Step, green: string): string | null {
  // The candidate of another work tree, or one that was chosen among several, comes into the checkout to land.
  const isFromElsewhere = (one: AttemptStep['attempt']) => isInLane(one) || isChosen(one)
  if (step.kind === 'accept' && isFromElsewhere(step.attempt)) return step.attempt.candidate.commit
  // Steps of an attempt that has its own work tree look at that one.
  if ('attempt' in step && isInLane(step.attempt)) return null
  const { looksAt } = STEPS[step.kind]
  if (looksAt === 'green') return green
  return looksAt === 'candidate' && 'attempt' in step ? candidateOf(step.attempt) : null
}

function candidateOf(attempt: AttemptStep['attempt']): string | null {
  return 'candidate' in attempt ? attempt.candidate.commit : null
}

/** The commit that a killed run was checking; null if it checked none, or if people have committed since. */
export async function interruptedCheck(
  { git, clone, objects }: Workspace,
  { lease, branch, published }: State,
): Promise<string | null> {
  const text = readRegularFileSync(noteFile(git), 1000)?.toString('utf8') ?? ''
  const [, mark, head, commit = ''] = NOTE.exec(text) ?? []
  const isThere = mark === lease?.mark && head === clone.head
  if (!isThere || (published !== null && clone.branch !== branch)) return null
  return (await objects.root(commit)) === null ? null : commit
}

/**
 * Takes away what was changed alongside the commit that was looked at, and leaves the tree of `goesOnFrom`. Warns of what is moved away,
 * and to where: a person may have worked there.
 */
export async function discardChanges(
  workspace: Workspace,
  commit: string,
  goesOnFrom: string,
  warn: (message: string) => void,
): Promise<void> {
  const { git, repository } = workspace
  const paths = (await repository.uncommitted(commit)).map(({ path }) => path)
  const howToRestore = paths.length === 0 ? null : await saveChanges(workspace, commit, paths)
  if (howToRestore !== null) {
    const count = pluralize(paths.length, 'change')
    const what = `the killed run left ${count} in the work tree while it checked ${commit.slice(0, 7)}`
    warn(
      `${what}. Ralph removed ${paths.length === 1 ? 'it' : 'them'}. To get your own work back: ${howToRestore}`,
    )
  }
  if (howToRestore !== null || commit !== goesOnFrom) await repository.checkOut(goesOnFrom, null)
  removeSync(noteFile(git))
}

/** Saves the changes, and returns how to restore them; null if they could not be saved, and stay where they are. */
async function saveChanges(
  { clone, repository }: Workspace,
  commit: string,
  paths: readonly string[],
): Promise<string | null> {
  const saved = await repository.adopt(commit, paths, 'left in the work tree').catch(() => null)
  if (saved !== null) return `git restore --source=${saved} -- <path>`
  // A path that git cannot read, such as a repository, is moved unchanged.
  const folder = join(clone.gitDir, 'ralph', `left-${Date.now()}`)
  let moved = 0
  for (const path of paths) {
    const to = join(folder, path)
    await clearPathTo(clone.gitDir, to)
    await rename(fsPath(join(clone.workTree, path)), fsPath(to)).then(
      () => (moved += 1),
      () => {},
    )
  }
  return moved === 0 ? null : `look in ${folder}`
}

function noteFile({ own }: Git): string {
  return join(own, 'looked-at')
}
