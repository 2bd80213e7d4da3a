// The machine: its git, how far agent and gates can be kept apart on it, and the browser.
import { singleUseLoginWarnings } from '../../app/agents.ts'
import { SAME_USER_WARNING } from '../../app/isolation.ts'
import { laneRoomMistake, laneRoomWarning, measureLaneRoom } from '../../app/lane-room.ts'
import { laneMistakes } from '../../app/lane-work-trees.ts'
import { limitsOf } from '../../app/loop-limits.ts'
import { findChrome } from '../../gates/browser/find.ts'
import { askGitVersion, gitMistake, versionOf } from '../../git/git-version.ts'
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

export async function checkGitVersion({ env }: Subject): Promise<CheckResult> {
  return gitResult(await askGitVersion(env))
}

export function gitResult(output: string | null): CheckResult {
  const mistake = gitMistake(output)
  if (mistake !== null) return faultResult(mistake.found, mistake.expected, mistake.fix)
  return okResult(versionOf(output ?? ''))
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
      if (isAction) return okResult('separate-job: claim, work, gate and land are separate jobs')
      const found = 'separate-job works only in CI; on this machine, agent and gates run as you'
      const fix = 'use --isolation other-user or --isolation same-user here'
      return warningResult(found, '', fix)
    }
    default:
      return isAction
        ? warningResult(SAME_USER_WARNING, '', 'leave isolation out, or write other-user')
        : okResult(`same-user: agent and gates run as you; ${await describeOtherUser()}`)
  }
}

async function describeOtherUser(): Promise<string> {
  if (process.platform !== 'linux') return 'other-user needs Linux'
  if (await canBeRoot()) return '--isolation other-user is available here'
  return '--isolation other-user needs sudo without a password'
}

/** The browser, if pages are looked at. Throws UserError if there is none. */
export function checkBrowser({ env, settings }: Subject): CheckResult[] {
  if (settings.browser?.enabled !== true) return []
  return [okResult(findChrome(settings.browser.executablePath, env))]
}

/** Why stories cannot be worked on in parallel; empty if that is not configured, and in a job, which never does it. */
export async function findLaneMistakes(start: RunStart): Promise<Mistake[]> {
  const { settings, checkout, env } = start
  if (settings.surface === 'action' || settings.maxParallel === 1) return []
  if (!('workspace' in checkout)) return laneMistakes(settings, 0)
  const { workspace, commit } = checkout
  const room = await measureLaneRoom(workspace, commit, { env, prepare: false })
  const noRoom = laneRoomMistake(lanesOf(start), room)
  return [...laneMistakes(settings, workspace.submodules.size), ...(noRoom === null ? [] : [noRoom])]
}

/** What is allowed when stories are worked on in parallel, and may end the run nevertheless. */
export async function findLaneWarnings(start: RunStart): Promise<Omit<Mistake, 'path'>[]> {
  const { settings, checkout, env } = start
  const logins = singleUseLoginWarnings(settings, env)
  if (settings.surface === 'action' || settings.maxParallel === 1 || !('workspace' in checkout)) return logins
  const prepare = settings.prepare !== null
  const room = await measureLaneRoom(checkout.workspace, checkout.commit, { env, prepare })
  const noRoom = laneRoomWarning(lanesOf(start), room)
  return noRoom === null ? logins : [...logins, noRoom]
}

/** How many work trees there can be at a time: no more than there are open stories, except for candidates. */
function lanesOf({ settings, features: { states } }: RunStart): number {
  const { maxParallel } = settings
  if (states.length === 0 || limitsOf(settings).candidates !== undefined) return maxParallel
  const stories = states.flatMap(({ prd }) => prd.userStories)
  return Math.min(maxParallel, stories.filter(({ passes, skipped }) => !passes && !skipped).length)
}

export async function checkSideBySide(subject: Subject): Promise<CheckResult[]> {
  const { maxParallel, surface } = subject.settings
  if (maxParallel === 1) return []
  const warnings = (await findLaneWarnings(subject)).map(({ found, expected, fix }) =>
    warningResult(found, expected, fix),
  )
  if (surface === 'action') return warnings
  const found = [...toFaults(await findLaneMistakes(subject)), ...warnings]
  return found.length > 0 ? found : [okResult(`${maxParallel} stories side by side`)]
}
