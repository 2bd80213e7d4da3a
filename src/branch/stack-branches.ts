// The branches of a stack of pull requests, in git: the history that they are cut from, and what each of them contains.
import type { BranchCommit } from '../engine/model/branch-commit.ts'
import type { State } from '../engine/model/state.ts'
import type { Git } from '../git/git.ts'
import { GitError } from '../git/git-process.ts'
import { recordMessage } from '../report/feature-files.ts'
import type { Repository } from './repository.ts'
import type { Store } from './store.ts'
import { storiesIn } from './story-commits.ts'

export type HistoryCommit = { commit: string; parents: readonly string[]; message: string }

export type StackBranches = ReturnType<typeof createStackBranches>

/** git's messages about a commit or ref that the remote does not have. Any other failure says nothing about that. */
const NOT_THERE = /\bnot our ref\b|\bcouldn't find remote ref\b/

type Tools = { git: Git; store: Store; repository: Pick<Repository, 'mergeFrom'> }

/** What a layer needs after the one below it was merged: `merged` is that layer's last commit, and `mergedAs` its commit on `base`. */
export type LayerMerge = { branch: string; head: string; base: string; merged: string; mergedAs: string }

export function createStackBranches({ git, store, repository }: Tools) {
  return {
    /** The branch as it is published, the oldest commit first. */
    async commits({ base, published, nonce }: State): Promise<BranchCommit[]> {
      if (published === null) return []
      // The checkout of a job has only the newest commits.
      await store.fetch([base.sha, published], 'whole')
      return ownCommits(await git.history(`${base.sha}..${published}`), published, nonce)
    },

    /** The newest of these commits (the oldest first) that `head` contains; null if it has none, or is not in the remote. */
    async newestIn(commits: readonly string[], head: string): Promise<string | null> {
      if (commits.includes(head)) return head
      try {
        await store.fetch([head], 'whole')
      } catch (error) {
        if (error instanceof GitError && NOT_THERE.test(error.stderr)) return null
        throw error
      }
      // Each commit contains those before it.
      let [contained, missing] = [-1, commits.length]
      while (missing - contained > 1) {
        const middle = Math.floor((contained + missing) / 2)
        if (await git.isAncestor(commits[middle] ?? '', head)) contained = middle
        else missing = middle
      }
      return commits[contained] ?? null
    },

    /** Creates branches at commits of the feature. The reason if the remote refused; null if they exist now. */
    create(branches: readonly { branch: string; commit: string }[]): Promise<string | null> {
      return store.moveBranches(branches.map(({ branch, commit }) => ({ branch, from: null, to: commit })))
    },

    /**
     * After a squash or a rebase, git does not know that the base has the commits of the merged layer. Then GitHub would show them again in
     * the next one. A merge of the base prevents that. `needless`: a merge commit, or Ralph has done it.
     */
    async merge(
      state: State,
      { branch, head, base, merged, mergedAs }: LayerMerge,
    ): Promise<{ kind: 'needless' | 'merged' | 'conflict' } | { kind: 'refused'; reason: string }> {
      await store.fetch([head, mergedAs], 'whole')
      if (await git.isAncestor(merged, mergedAs)) return { kind: 'needless' }
      if (await git.isAncestor(mergedAs, head)) return { kind: 'needless' }
      const message = recordMessage(state, `merge: ${base} into ${branch}`)
      const to = await repository.mergeFrom(merged, head, mergedAs, message)
      if (to === null) return { kind: 'conflict' }
      const reason = await store.moveBranches([{ branch, from: head, to }])
      return reason === null ? { kind: 'merged' } : { kind: 'refused', reason }
    },
  }
}

/** The commits from `head` back along first parents, the oldest first. `history`: parents come before their children. */
export function ownCommits(history: readonly HistoryCommit[], head: string, nonce: string): BranchCommit[] {
  const byId = new Map(history.map((one) => [one.commit, one]))
  const line: HistoryCommit[] = []
  for (let at = byId.get(head); at !== undefined; at = byId.get(at.parents[0] ?? '')) line.push(at)
  line.reverse()
  const seen = new Set(line.map(({ commit }) => commit))
  return line.map(({ commit, parents, message }) => {
    const stories = new Set<string>()
    const pending = [...parents]
    for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
      const merged = byId.get(id)
      if (merged === undefined || seen.has(id)) continue
      seen.add(id)
      for (const story of storiesIn(merged.message, nonce)) stories.add(story)
      pending.push(...merged.parents)
    }
    for (const story of storiesIn(message, nonce)) stories.add(story)
    const isRevert = message.startsWith('revert: drop ') && message.includes(`\nRalph-Run: ${nonce}`)
    return { commit, stories: [...stories], isRevert }
  })
}
