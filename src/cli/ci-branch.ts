// Finds the branch of a CI job by the variables of the CI. GitLab and Jenkins check out a commit without a branch.
import { branchNameFault } from '../engine/model/safe-names.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Variables that name the branch of the job, the first one wins. Of a merge request it is the branch that it will be merged into, as
 * CI often checks out a merge of the two. Variables that a tag can be in are left out, or guarded by `unless`.
 */
const BRANCH_VARIABLES: readonly { name: string; unless?: string }[] = [
  // GitLab: docs.gitlab.com/ci/variables/predefined_variables
  { name: 'CI_MERGE_REQUEST_TARGET_BRANCH_NAME' },
  { name: 'CI_COMMIT_BRANCH' },
  { name: 'CI_COMMIT_REF_NAME', unless: 'CI_COMMIT_TAG' },
  // Jenkins: BRANCH_NAME and CHANGE_TARGET of multibranch pipelines, the others of the Git plugin
  { name: 'CHANGE_TARGET' },
  { name: 'BRANCH_NAME', unless: 'TAG_NAME' },
  { name: 'GIT_LOCAL_BRANCH' },
  { name: 'GIT_BRANCH', unless: 'TAG_NAME' },
  // GitHub
  { name: 'GITHUB_BASE_REF' },
  { name: 'GITHUB_REF' },
  // Azure Pipelines
  { name: 'SYSTEM_PULLREQUEST_TARGETBRANCH' },
  { name: 'BUILD_SOURCEBRANCH' },
  // Bitbucket, Buildkite, CircleCI
  { name: 'BITBUCKET_PR_DESTINATION_BRANCH' },
  { name: 'BITBUCKET_BRANCH' },
  { name: 'BUILDKITE_BRANCH', unless: 'BUILDKITE_TAG' },
  { name: 'CIRCLE_BRANCH' },
]

/** Variables that name the repository's default branch. */
const DEFAULT_VARIABLES = ['CI_DEFAULT_BRANCH', 'BUILDKITE_PIPELINE_DEFAULT_BRANCH']

/** The branch that the CI job is for; null outside of CI, and for a tag. */
export function branchOfJob(env: Environment): string | null {
  for (const { name, unless } of BRANCH_VARIABLES) {
    if (unless !== undefined && (env[unless] ?? '') !== '') continue
    const branch = branchIn(env[name])
    if (branch !== null) return branch
  }
  return null
}

/** The default branch as the CI names it; null if it does not. */
export function defaultBranchOfJob(env: Environment): string | null {
  for (const name of DEFAULT_VARIABLES) {
    const branch = branchIn(env[name])
    if (branch !== null) return branch
  }
  return null
}

/** `main` of `main`, `origin/main` and `refs/heads/main`; null for a tag, a pull request's ref or an empty value. */
function branchIn(value = ''): string | null {
  const branch = value
    .trim()
    .replace(/^(?:refs\/)?(?:heads|remotes\/origin)\//, '')
    .replace(/^origin\//, '')
  return /^refs\//.test(branch) || branchNameFault(branch) !== null ? null : branch
}
