// Whether the agent answers at all, in one session. The session costs money: it runs only if a person asks for it.
import { existsSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { findAgent } from '../../agents/registry.ts'
import { askAgent, EXPECTED_ANSWER } from '../../app/ask-agent.ts'
import { oneLine } from '../../engine/model/text.ts'
import { formatDuration, formatUsd, NO_COST } from '../../report/figures.ts'
import {
  type CheckResult,
  faultResult,
  NotCheckedError,
  okResult,
  requireCheckout,
  type Subject,
  unknownResult,
  warningResult,
} from './subject.ts'

const EXPECTED = `the answer ${EXPECTED_ANSWER}`

export async function checkAgentAnswer(subject: Subject): Promise<CheckResult[]> {
  const { settings, env, mark, signal } = subject
  const vendor = subject.asksAgent ? findAgent(settings.agent) : null
  if (vendor === null) return []
  const { workspace } = requireCheckout(subject)
  const isolation = await subject.isolation()
  const result = await askAgent(vendor, { settings, env, workspace, isolation, mark, signal })
  const { status, message, ms, answered, costUsd } = result
  const spent = `${formatDuration(ms)}, cost ${costUsd === null ? NO_COST : formatUsd(costUsd)}`
  if (status === 'aborted')
    throw new NotCheckedError('interrupted before the agent answered', 'run `ralph doctor` again')
  if (status === 'finished') {
    const text = `${vendor.name} answered "${oneLine(answered, 80)}" (${spent})`
    if (answered.toUpperCase().includes(EXPECTED_ANSWER)) return [okResult(text)]
    const fix =
      'check the model and agent-args; if your agent command ignores its prompt, ignore this warning'
    return [warningResult(text, EXPECTED, fix)]
  }
  const found = `${vendor.name} gave no answer: ${message} (${spent})`
  const missing = findMissingFile(subject)
  if (missing !== null) {
    const fix = `write the absolute path of ${missing} in agent-command, then run this again`
    return [unknownResult(`${found}. Ralph asked in an empty folder, which has no ${missing}`, fix)]
  }
  return [faultResult(found, EXPECTED, FIXES[status] ?? `run ${vendor.program} by hand to see why`)]
}

/** The fix for each way that the session can end. */
const FIXES: Readonly<Record<string, string>> = {
  auth: 'log in or set a valid key, and check that the account has credit and that the model exists',
  limit: 'wait until the usage limit of your plan resets, or use another key',
  overloaded: 'the model server is overloaded or cannot be reached: wait, then run this again',
  timeout: 'check whether the agent waits for a login or an answer, because a run gives it neither',
}

/** A project file that the user's own agent command names by a relative path; null if it names none. */
function findMissingFile({ settings, directory }: Subject): string | null {
  const at = resolve(directory, settings.workingDirectory)
  const words = (settings.agentCommand ?? '').split(/[\s"';|&()]+/).filter((word) => word !== '')
  return words.find((word) => !isAbsolute(word) && /[./]/.test(word) && existsSync(resolve(at, word))) ?? null
}
