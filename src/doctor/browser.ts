// The browser, where pages are looked at: started for real, as the user who would look.
import { isModelKey } from '../agents/registry.ts'
import { findChrome } from '../browser/find.ts'
import { gateEnv } from '../system/untrusted-env.ts'
import { fault, fine, type Result } from './result.ts'
import type { Subject } from './subject.ts'

const START_MS = 60_000

export async function browser(subject: Subject, signal: AbortSignal): Promise<Result[]> {
  const { env, settings, mark } = subject
  if (settings.browser?.enabled !== true) return []
  const { executablePath, headless } = settings.browser
  const executable = findChrome(executablePath, env)
  const as = (await subject.isolation())?.gates ?? null
  const { tryChrome } = await import(/* webpackChunkName: "browser" */ '../browser/check.ts')
  const seen = await tryChrome({
    executable,
    headless,
    hosts: [],
    env: gateEnv(env, { extra: settings.gateEnv, isModelKey }).env,
    mark,
    as,
    timeoutMs: START_MS,
    signal,
  })
  if ('version' in seen) return [fine(`${seen.version}: ${executable}`)]
  const fix =
    'start it by hand as that user, and install what it lacks; or name another as browser.executablePath'
  return [fault(`${executable}: ${seen.why}`, 'a browser that starts', fix)]
}
