// How many states of features the remote keeps, and how much room those in this clone take.
import type { Git } from '../../git/git.ts'
import { type CheckResult, okResult, requireCheckout, type Subject, warningResult } from './subject.ts'

/** With more states than this, each job that answers a comment fetches too many. */
const MANY = 100

export async function checkStates(subject: Subject): Promise<CheckResult[]> {
  const { workspace } = requireCheckout(subject)
  const { github, settings } = subject
  if (github === null) return []
  const { api, repo } = github
  const ref = `${settings.stateNamespace.replace(/^refs\//, '')}/`
  const { length: count } = (await api.rest.git.listMatchingRefs({ ...repo, ref })).data
  if (count === 0) return []
  const bytes = await sizeHere(workspace.git, settings.stateNamespace)
  const size = bytes === 0 ? '' : `; those in this clone take ${(bytes / 1e6).toFixed(1)} MB`
  const found = `${count} on origin${size}`
  if (count <= MANY) return [okResult(found)]
  const fix =
    'run `ralph archive --prune`, or add `contents: write` to the permissions of the job in ralph-resume.yml: then that job deletes old states'
  return [warningResult(`${found}. More than ${MANY} states slow down jobs that answer comments`, '', fix)]
}

/** The bytes that only the states need, as git stores them; 0 if they are not here, or git is older than 2.31. */
async function sizeHere(git: Git, namespace: string): Promise<number> {
  const args = [
    'rev-list',
    '--disk-usage',
    '--objects',
    `--glob=${namespace}/*`,
    '--not',
    '--branches',
    '--remotes',
  ]
  const { stdout } = await git.runOnClone(args).catch(() => ({ stdout: '' }))
  return Number.parseInt(stdout, 10) || 0
}
