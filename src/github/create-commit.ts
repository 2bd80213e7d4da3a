// Commits that GitHub makes and signs. It signs those of Apps and of the job's token, if author and committer are left out. Those of
// personal tokens stay unsigned. Source: docs.github.com, "Signature verification for bots"; the OpenAPI description does not say it.
import { type GitHub, githubMessage } from './client.ts'

/** `message` without the line end that git adds. */
export type NewCommit = { tree: string; parents: readonly string[]; message: string }

/** `refused`: GitHub's words. `unsigned`: its reason; the commit exists, and nothing names it. */
export type CreatedCommit =
  | { kind: 'signed'; sha: string }
  | { kind: 'unsigned'; reason: string }
  | { kind: 'refused'; reason: string }

/** Tree and parents have to be at GitHub already. No ref moves. */
export async function createSignedCommit(
  { api, repo }: GitHub,
  { tree, parents, message }: NewCommit,
): Promise<CreatedCommit> {
  try {
    const { data } = await api.rest.git.createCommit({ ...repo, message, tree, parents: [...parents] })
    if (data.tree.sha !== tree || data.parents.map(({ sha }) => sha).join() !== parents.join())
      return { kind: 'refused', reason: 'GitHub created a commit with a different tree or different parents' }
    const { verified, reason } = data.verification
    return verified ? { kind: 'signed', sha: data.sha } : { kind: 'unsigned', reason }
  } catch (error) {
    return { kind: 'refused', reason: githubMessage(error) }
  }
}
