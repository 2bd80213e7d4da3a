// The machine: its git, how far agent and gates can be kept apart on it, and the browser.
import { singleUseLoginWarnings } from '../../app/agents.ts'
import { SAME_USER_WARNING } from '../../app/isolation.ts'
import { laneMistakes } from '../../app/lane-work-trees.ts'
import { findChrome } from '../../gates/browser/find.ts'
import { runGitIn } from '../../git/git-process.ts'
import { canBeRoot } from '../../isolation/other-user.ts'
import type { Mistake } from '../../system/errors.ts'
import {
  type CheckResult,
  faultResult,
  okResult,
  type RunStart,
  type Subject,
  toFaults,
  warningResult,
} from './subject.ts'

/** `git merge-tree --write-tree` and `git cat-file --batch-command`. */
const LEAST_GIT = [2, 38] as const

export async function checkGitVersion({ directory, env }: Subject): Promise<CheckResult> {
  return gitResult(await runGitIn(['--version'], directory, env, {}).catch(() => null))
}

export function gitResult(said: string | null): CheckResult {
  if (said === null) return faultResult('git is not on the PATH', 'git', 'install git: https://git-scm.com')
  const version = /\d+\.\d+[\d.]*/.exec(said)?.[0] ?? said.trim()
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isNew = major > LEAST_GIT[0] || (major === LEAST_GIT[0] && minor >= LEAST_GIT[1])
  return isNew
    ? okResult(version)
    : faultResult(version, `git ${LEAST_GIT.join('.')} or newer`, 'install a newer git')
}

/** Isolation that is configured is really opened, and closed again; other levels are only described. */
export async function checkIsolation(subject: Subject): Promise<CheckResult> {
  const { settings } = subject
  const isAction = settings.surface === 'action'
  switch (settings.isolation) {
    case 'other-user': {
      const as = await subject.isolation()
      const network = settings.network === 'model' ? 'their network closed' : 'their network open'
      return okResult(`other-user: agent and gates run as ${as?.agent.name ?? 'another user'}, ${network}`)
    }
    case 'separate-job': {
      if (isAction) return okResult('separate-job: claim, work, gate and land are jobs of their own')
      const found = 'separate-job, whose four jobs are of CI: here agent and gates run as you'
      const fix = 'give --isolation other-user here, or --isolation same-user'
      return warningResult(found, 'an isolation that one machine can have', fix)
    }
    default:
      return isAction
        ? warningResult(SAME_USER_WARNING, 'isolation: other-user', 'leave isolation out')
        : okResult(`same-user: agent and gates run as you; ${await describeOtherUser()}`)
  }
}

async function describeOtherUser(): Promise<string> {
  if (process.platform !== 'linux') return 'other-user needs Linux'
  if (await canBeRoot()) return '--isolation other-user can be had here'
  return '--isolation other-user needs sudo without a password'
}

/** The browser, where pages are looked at. Throws UserError where there is none. */
export function checkBrowser({ env, settings }: Subject): CheckResult[] {
  if (settings.browser?.enabled !== true) return []
  return [okResult(findChrome(settings.browser.executablePath, env))]
}

/** Why stories cannot be worked on in parallel; empty where that is not configured, and in a job, which never does it. */
export function findLaneMistakes({ settings, checkout }: RunStart): Mistake[] {
  if (settings.surface === 'action' || settings.maxParallel === 1) return []
  return laneMistakes(settings, 'workspace' in checkout ? checkout.workspace.submodules.size : 0)
}

/** `isolation: separate-job` works on one story at a time. */
function isSerial({ surface, isolation }: Subject['settings']): boolean {
  return surface === 'action' && isolation === 'separate-job'
}

export function checkSideBySide(subject: Subject): CheckResult[] {
  const { maxParallel, surface } = subject.settings
  if (maxParallel === 1) return []
  if (isSerial(subject.settings))
    return [
      warningResult(
        `max-parallel ${maxParallel} with separate-job, which works on one story at a time`,
        'same-user or other-user where stories are worked on side by side',
        'change isolation, or leave max-parallel out',
      ),
    ]
  const logins = singleUseLoginWarnings(subject.settings, subject.env).map(({ found, fix }) =>
    warningResult(found, 'a key, which all sessions can use', fix),
  )
  if (surface === 'action') return logins
  const found = [...toFaults(findLaneMistakes(subject)), ...logins]
  return found.length > 0 ? found : [okResult(`${maxParallel} stories side by side`)]
}
