// The machine: what runs Ralph, how far agent and gates can be kept apart on it, and whether what they need is there.
import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { isModelKey } from '../agents/registry.ts'
import { SAME_USER_WARNING } from '../app/isolation.ts'
import { findChrome } from '../browser/find.ts'
import { lookFor, takenBy, takenWords } from '../gates/ready.ts'
import { runPlain } from '../git/process.ts'
import type { Service } from '../model/service.ts'
import { canBeRoot } from '../system/other-user.ts'
import { gateEnv } from '../system/untrusted-env.ts'
import { fault, fine, type Result, type Subject, warning } from './subject.ts'

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
    case 'separate-job': {
      if (isAction) return fine('separate-job: claim, work, gate and land are jobs of their own')
      const found = 'separate-job, whose four jobs are of CI: here agent and gates run as you'
      const fix = 'give --isolation other-user here, or --isolation same-user'
      return warning(found, 'an isolation that one machine can have', fix)
    }
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

/** Services before anything is started: whether their programs are there, and nobody at their ports. */
export async function services(subject: Subject): Promise<Result[]> {
  const look = async (service: Service) => ({
    name: `service ${service.name}`,
    ...(await serviceResult(service, subject)),
  })
  return Promise.all(subject.settings.services.map(look))
}

/** For one that somebody else runs. */
const ANSWER_MS = 5000

async function serviceResult({ start, ready }: Service, subject: Subject): Promise<Result> {
  if (start === null) {
    const why = await lookFor(ready, async () => null)?.(ANSWER_MS, subject.signal)
    if (why == null) return fine('answers; somebody else runs it')
    const fix = 'start it before a run, or write its `start`'
    return warning(`does not answer: ${why}`, 'somebody who runs it', fix)
  }
  const missing = await missingProgram(start, subject)
  if (missing !== null) {
    const isOwn = missing.includes('/')
    const fix = isOwn ? 'make it before a run, such as by `prepare`' : 'install it, or mend `start`'
    return (isOwn ? warning : fault)(`there is no program ${missing}`, 'what `start` calls', fix)
  }
  const taken = await takenBy(ready)
  if (taken === null) return fine('its program is there, and nobody is in its way')
  return fault(takenWords(taken), 'nobody who could be taken for it', 'end that, or use another port')
}

/** The first word of the command, as bash would look it up; null where that is there, or more than a name. */
async function missingProgram(start: string, { settings, env, directory }: Subject): Promise<string | null> {
  const word = /^\s*(?:exec\s+)?(?:[A-Za-z_]\w*=[\w./:-]*\s+)*([\w./+-]+)(?=\s|$)/.exec(start)?.[1]
  if (word === undefined) return null
  const seen = gateEnv(env, { extra: settings.gateEnv, isModelKey }).env
  const cwd = resolve(directory, settings.workingDirectory)
  const ask = ['--noprofile', '--norc', '-c', 'type -t -- "$1"', 'bash', word]
  return promisify(execFile)('bash', ask, { cwd, env: seen }).then(
    () => null,
    () => word,
  )
}

/** The browser, where pages are looked at: started for real, as the user who would look. */
export async function browser(subject: Subject, signal: AbortSignal): Promise<Result[]> {
  const { env, settings, mark } = subject
  if (settings.browser?.enabled !== true) return []
  const { executablePath, headless } = settings.browser
  const executable = findChrome(executablePath, env)
  const as = (await subject.isolation())?.gates ?? null
  const { tryChrome } = await import(/* webpackChunkName: "browser" */ '../browser/check.ts')
  const seen = await tryChrome({
    ...{ executable, headless, hosts: [], mark, as, timeoutMs: 60_000, signal },
    env: gateEnv(env, { extra: settings.gateEnv, isModelKey }).env,
  })
  if ('version' in seen) return [fine(`${seen.version}: ${executable}`)]
  const fix =
    'start it by hand as that user, and install what it lacks; or name another as browser.executablePath'
  return [fault(`${executable}: ${seen.why}`, 'a browser that starts', fix)]
}
