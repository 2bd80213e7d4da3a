// Whether jobs with `auth: oidc` may ask for their identity, and have what the exchange needs.
import { findAgent } from '../../agents/registry.ts'
import { chosenAgents } from '../../app/agents.ts'
import { keylessWay } from '../../app/keyless.ts'
import { type Mistake, UserError } from '../../system/errors.ts'
import {
  type CheckResult,
  faultResult,
  okResult,
  type RunStart,
  requireCheckout,
  type Subject,
  toFaults,
} from './subject.ts'

export function checkKeyless(subject: Subject): CheckResult[] {
  const { ci } = requireCheckout(subject)
  if (ci === null || ci.settings.auth !== 'oidc') return []
  const { file, job, settings } = ci
  const place = `${file.path}: job ${job.id}`
  if (job.unread.includes('auth') || job.unread.includes('isolation')) return []
  const vendor = findAgent(settings.agent)
  if (vendor === null) return []
  const mistakes = mistakesOf(() => keylessWay(vendor, settings, (name) => job.env.includes(name)))
  if (mistakes.length > 0) return toFaults(mistakes.map((one) => ({ ...one, path: `${place}: ${one.path}` })))
  const way = keylessWay(vendor, settings, (name) => job.env.includes(name))
  const permission = way?.permission ?? ''
  const granted = job.permissions?.[permission] ?? job.permissions?.all ?? 'none'
  if (granted === 'write') return [okResult(`${settings.agent} reaches its model through ${way?.name}`)]
  const fix = `add to the job: permissions: { ${permission}: write }`
  return [faultResult(`${place} lacks the permission ${permission}: write`, '', fix)]
}

/** Mistakes that need no request: the agent, the isolation, the variables. */
export function keylessMistakes({ settings, env }: RunStart): readonly Mistake[] {
  const isSet = (name: string) => (env[name] ?? '').trim() !== ''
  const [first] = chosenAgents(settings)
  const vendor = first === undefined ? null : findAgent(first.name)
  return vendor === null ? [] : mistakesOf(() => keylessWay(vendor, settings, isSet))
}

function mistakesOf(look: () => unknown): readonly Mistake[] {
  try {
    look()
    return []
  } catch (error) {
    if (error instanceof UserError) return error.mistakes
    throw error
  }
}
