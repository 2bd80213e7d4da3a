import type { Feature } from '../branch/find-features.ts'
import { UserError } from '../system/errors.ts'
import type { ClaimRequest } from './claim-feature.ts'
import { findFeatures } from './resolve-feature.ts'
import type { Workspace } from './workspace.ts'

type Request = { base: ClaimRequest['base']; branchPrefix: string }
type BranchTools = Pick<Workspace, 'git' | 'objects' | 'store'>

/**
 * The branch of a feature that has no state, and its head; null if the branch does not exist yet. `before`: the branch of an
 * older run of the feature. Throws UserError if the branch was made by something other than Ralph.
 */
export async function chooseBranch(
  file: Feature,
  before: string | null,
  tools: BranchTools,
  request: Request,
): Promise<{ branch: string; head: string | null }> {
  const defaultName = `${request.branchPrefix}${file.name}`
  const branch = file.prd.branchName === '' ? defaultName : file.prd.branchName
  refuseShared(branch, `${file.path}: branchName`, request.base)
  const head = await tools.store.head(branch)
  const isOurs =
    head === null ||
    branch === defaultName ||
    branch === before ||
    (await isMadeByRun(branch, head, file, tools, request))
  if (!isOurs) throw foreignBranchError(branch, file, request)
  return { branch, head }
}

/**
 * Throws UserError if the branch is the base or the default branch: Ralph never commits to those. `MAIN` is `main` on file systems that
 * ignore case.
 */
export function refuseShared(branch: string, path: string, base: Request['base']): void {
  const shared = [base.defaultBranch, base.branch].find((one) => one?.toLowerCase() === branch.toLowerCase())
  if (shared == null) return
  const same = shared === branch ? '' : ` (on file systems that ignore case it is ${shared})`
  const found = `Ralph cannot work on ${branch}${same}, because other people share this branch.`
  const fix =
    shared === base.defaultBranch
      ? 'leave branchName out, or name another branch'
      : `switch to the branch that the run should start from (git switch ${base.defaultBranch ?? '<branch>'}), or name another branchName`
  throw new UserError({ path, found, expected: '', fix })
}

/**
 * Whether a run of this feature made the branch, although its state is lost. Then its prd.json names the branch and the run, and a
 * commit beyond the base names that run. The prd.json by itself is not a proof, because it may have come by a merge.
 */
async function isMadeByRun(
  branch: string,
  head: string,
  { name }: Feature,
  { git, objects, store }: BranchTools,
  { base, branchPrefix }: Request,
): Promise<boolean> {
  await store.fetch([head], 'tip')
  const { features } = await findFeatures(objects, { commit: head, workTree: null }, branchPrefix)
  const prd = features.find((feature) => feature.name === name)?.prd
  const nonce = prd?.run.control.nonce
  if (prd?.branchName !== branch || typeof nonce !== 'string' || !/^[0-9a-f-]{36}$/.test(nonce)) return false
  await store.fetch([head, base.sha], 'whole')
  return git.hasMessage(`Ralph-Run: ${nonce}`, `${base.sha}..${head}`)
}

function foreignBranchError(branch: string, file: Feature, { branchPrefix }: Request): UserError {
  return new UserError({
    path: `${file.path}: branchName`,
    found: `the branch ${branch} already exists, but no run of ${file.name} created it.`,
    expected: '',
    fix: `leave branchName out (then the branch is ${branchPrefix}${file.name}), or name another branch`,
  })
}
