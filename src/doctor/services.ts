// Services before anything is started: whether their programs are there, and nobody at their ports.
import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { isModelKey } from '../agents/registry.ts'
import { lookFor, takenBy, takenWords } from '../gates/ready.ts'
import type { Service } from '../model/service.ts'
import { gateEnv } from '../system/untrusted-env.ts'
import { fault, fine, type Result, warning } from './result.ts'
import type { Subject } from './subject.ts'

/** For one that somebody else runs. */
const ANSWER_MS = 5000

export async function services(subject: Subject): Promise<Result[]> {
  const { services: all } = subject.settings
  const found = await Promise.all(all.map((service) => look(service, subject)))
  return found.map((result, at) => ({ ...result, name: `service ${all[at]?.name}` }))
}

async function look(service: Service, subject: Subject): Promise<Result> {
  const { start, ready } = service
  if (start === null) {
    const why = await lookFor(ready, async () => null)?.(ANSWER_MS, subject.signal)
    if (why == null) return fine('answers; somebody else runs it')
    return warning(
      `does not answer: ${why}`,
      'somebody who runs it',
      'start it before a run, or write its `start`',
    )
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
  return promisify(execFile)('bash', ['--noprofile', '--norc', '-c', 'type -t -- "$1"', 'bash', word], {
    cwd,
    env: seen,
  }).then(
    () => null,
    () => word,
  )
}
