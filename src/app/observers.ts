// The observers of a run alongside the screen and GitHub: notifications and telemetry. Their code is loaded only if they are configured.
import { tmpdir } from 'node:os'
import { findAgent, isModelKey } from '../agents/registry.ts'
import type { Observer } from '../engine/model/ports.ts'
import type { Redactor } from '../isolation/redact.ts'
import { secretsIn } from '../isolation/untrusted-env.ts'
import { notifySecrets } from '../notify/notice.ts'
import { telemetryConfig } from '../notify/telemetry/telemetry-config.ts'
import { messageOf } from '../system/errors.ts'
import { limitsOf } from './loop-limits.ts'
import type { PortOptions } from './port-options.ts'
import { redactorFor } from './redactor.ts'

export async function observersOf(options: PortOptions): Promise<Observer[]> {
  const { clone, redactor } = options.workspace
  const notifier = await notifierOf({ ...options, workTree: clone.workTree }, redactor)
  return [...(notifier === null ? [] : [notifier]), ...(await telemetryOf(options))]
}

type Place = Pick<PortOptions, 'settings' | 'env' | 'signal' | 'warn'> & { workTree: string }

/** Sends the notification that a run could not begin, or broke off. Never throws: people have to read that first error. */
export async function notifyError(
  error: unknown,
  place: Place,
  feature: string | null,
  runUrl: string | null,
) {
  const { settings, env, warn } = place
  try {
    const redactor = redactorFor([...secretsIn(env), ...notifySecrets(settings.notify)])
    const notifier = await notifierOf(place, redactor)
    notifier?.error(error, settings.feature ?? feature ?? '', runUrl)
    await notifier?.settle()
  } catch (failed) {
    warn(`Ralph could not send a notification: ${messageOf(failed)}`)
  }
}

async function notifierOf({ settings, env, workTree, signal, warn }: Place, { redact }: Redactor) {
  const { every, ...people } = settings.notify
  if (Object.values(people).every((one) => one === null)) return null
  const { receiversOf } = await import(/* webpackChunkName: "tell" */ '../notify/receivers.ts')
  const { Notifier } = await import(/* webpackChunkName: "tell" */ '../notify/observer.ts')
  // The agent writes the work tree: if it runs as another user, Ralph must not start a command there.
  const cwd = settings.isolation === 'same-user' ? workTree : tmpdir()
  const surface = settings.surface === 'cli' ? 'cli' : 'comment'
  const repository = env.GITHUB_REPOSITORY ?? null
  return new Notifier({
    receivers: receiversOf(settings.notify, { env, cwd, isModelKey }),
    facts: { limits: limitsOf(settings), surface, every, repository, redact },
    signal,
    warn,
  })
}

async function telemetryOf({ settings, env, workspace, signal, warn }: PortOptions): Promise<Observer[]> {
  const config = telemetryConfig(env, warn)
  // The land job sends the telemetry of these jobs as well.
  const isPart = settings.command === 'work' || settings.command === 'gate'
  if (config === null || isPart) return []
  const { Telemetry } = await import(
    /* webpackChunkName: "tell" */ '../notify/telemetry/telemetry-observer.ts'
  )
  const { agent, fallbackAgent, model } = settings
  const named = (name: string) => ({ name, provider: findAgent(name)?.provider ?? name })
  const facts = {
    agent: (which: 'first' | 'fallback') => named(which === 'first' ? agent : (fallbackAgent ?? agent)),
    model: (mode: 'run' | 'plan' | 'verify') => model[mode],
  }
  return [new Telemetry({ config, facts, signal, redact: workspace.redactor.redact, warn })]
}
