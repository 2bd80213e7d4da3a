// The machine: what runs Ralph, and how far agent and gates can be kept apart on it.
import { SAME_USER_WARNING } from '../app/isolation.ts'
import { runPlain } from '../git/process.ts'
import { canBeRoot } from '../system/other-user.ts'
import { fault, fine, type Result, warning } from './result.ts'
import type { Subject } from './subject.ts'

const LEAST_NODE = 20
/** `git merge-tree --write-tree` and `git cat-file --batch-command`. */
const LEAST_GIT = [2, 38] as const

export function nodeVersion(): Result {
  return nodeResult(process.version)
}

export function nodeResult(version: string): Result {
  if (Number(version.slice(1).split('.')[0]) >= LEAST_NODE) return fine(version)
  return fault(version, `Node ${LEAST_NODE} or newer`, 'install a newer Node: https://nodejs.org')
}

export async function gitVersion({ directory, env }: Subject): Promise<Result> {
  return gitResult(await runPlain(['--version'], directory, env, {}).catch(() => null))
}

export function gitResult(said: string | null): Result {
  if (said === null) return fault('git is not on the PATH', 'git', 'install git: https://git-scm.com')
  const version = /\d+\.\d+[\d.]*/.exec(said)?.[0] ?? said.trim()
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isNew = major > LEAST_GIT[0] || (major === LEAST_GIT[0] && minor >= LEAST_GIT[1])
  return isNew ? fine(version) : fault(version, `git ${LEAST_GIT.join('.')} or newer`, 'install a newer git')
}

/** What was asked for is tried for real, and put back; what was not is only told. */
export async function isolation(subject: Subject): Promise<Result> {
  const { settings } = subject
  const isAction = settings.surface === 'action'
  switch (settings.isolation) {
    case 'other-user': {
      const as = await subject.isolation()
      const network = settings.network === 'model' ? 'their network closed' : 'their network open'
      return fine(`other-user: agent and gates run as ${as?.agent.name ?? 'another user'}, ${network}`)
    }
    case 'separate-job':
      if (isAction) return fine('separate-job: claim, work, gate and land are jobs of their own')
      return warning(
        'separate-job, whose four jobs are of CI: here agent and gates run as you',
        'an isolation that one machine can have',
        'give --isolation other-user here, or --isolation same-user',
      )
    default:
      return isAction
        ? warning(SAME_USER_WARNING, 'isolation: other-user', 'leave isolation out')
        : fine(`same-user: agent and gates run as you; ${await couldBe()}`)
  }
}

async function couldBe(): Promise<string> {
  if (process.platform !== 'linux') return 'other-user needs Linux'
  if (await canBeRoot()) return '--isolation other-user can be had here'
  return '--isolation other-user needs sudo without a password'
}
