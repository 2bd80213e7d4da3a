// Rebases a candidate on the commits that landed since it was built, by git's three-way merge. Ralph's own files are written again.
import { agentSummary } from '../engine/attempts/attempt-outcome.ts'
import type { Candidate, Failure } from '../engine/model/attempt.ts'
import { ownFiles } from '../engine/model/paths.ts'
import type { State } from '../engine/model/state.ts'
import { storyMessage } from '../report/feature-files.ts'
import { displayPath } from '../system/path-text.ts'
import { type CandidateTools, ownFileContents } from './candidate.ts'

/** The maximum characters of each side's patch for the next session. */
const PATCH_LENGTH = 3000
/** The maximum number of conflicting paths that are named. */
const MAX_PATHS = 20

/**
 * The candidate of an attempt, rebuilt on `state.green`; or the conflict, with the patches of both sides. `state` is the run's state
 * with that commit landed.
 */
export async function rebase(
  tools: CandidateTools,
  state: State,
  attempt: Parameters<typeof ownFileContents>[2] & { candidate: Candidate },
): Promise<{ candidate: Candidate } | { conflict: Failure }> {
  const { tree, commits, redact } = tools
  const { git } = tree
  const { base, candidate, storyId, iteration } = attempt
  const onto = await tree.treeOf(state.green)
  const work = await withOldOwnFiles(tools, state, base, candidate.commit)
  // Both sides get a common parent as their merge base.
  const root = await commits.helperCommit(await tree.treeOf(base), [], 'base')
  const landed = await commits.helperCommit(onto, [root], 'landed')
  const built = await commits.helperCommit(work, [root], 'candidate')
  const merged = await git.mergeTree(landed, built)
  if (merged.conflicts.length > 0)
    return { conflict: await conflictOf(tools, { base: root, landed, built }, merged.conflicts) }
  const texts = [...(await ownFileContents(tools, state, attempt, { ...candidate, empty: false }))]
  const own = texts.map(([path, bytes]) => [path, { mode: '100644', text: bytes.toString('utf8') }] as const)
  const candidateTree = await commits.withEntries(merged.tree, new Map(own))
  const words = agentSummary(attempt, candidate)
  const message = storyMessage(state, storyId, iteration, redact, words, commits.storySubject)
  const commit = await commits.commit(candidateTree, [state.green], message)
  const { wasRed: _otherBase, ...rest } = candidate
  return {
    candidate: {
      ...rest,
      commit,
      empty: candidate.empty || merged.tree === onto,
      entries: state.progress.length,
    },
  }
}

/** The tree of a candidate, with Ralph's own files of the commit that it was built on. */
export async function withOldOwnFiles(
  { tree, commits }: CandidateTools,
  state: State,
  base: string,
  commit: string,
): Promise<string> {
  const { prd, progress } = ownFiles(state)
  const before = [prd, progress].map(async (path) => {
    const text = await tree.objects.text(`${base}:${path}`)
    return [path, text === null ? null : { mode: '100644', text }] as const
  })
  return commits.withEntries(await tree.treeOf(commit), new Map(await Promise.all(before)))
}

async function conflictOf(
  { tree: { git }, redact }: CandidateTools,
  { base, landed, built }: { base: string; landed: string; built: string },
  conflicts: readonly string[],
): Promise<Failure> {
  const paths = conflicts.slice(0, MAX_PATHS)
  const shown = paths.map((path) => displayPath(redact(path)))
  const patchOf = async (to: string) => {
    const patch = redact(await git.patchOf(base, to, paths))
    return patch.length > PATCH_LENGTH ? `${patch.slice(0, PATCH_LENGTH)}\n[cut]` : patch
  }
  const [landedPatch, ownPatch] = [await patchOf(landed), await patchOf(built)]
  return {
    kind: 'conflict',
    summary: `it conflicts with a story that landed before it: both change the same lines of ${shown.join(', ')}`,
    detail: `Landed meanwhile:\n${landedPatch}\n\nYour work:\n${ownPatch}\n\nBring both together.`,
  }
}
