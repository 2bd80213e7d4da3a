// Who hears of a run beside the screen and GitHub: one line each. Loaded where somebody is to hear.
import { tmpdir } from 'node:os'
import { findAgent, isModelKey } from '../agents/registry.ts'
import type { Observer } from '../model/ports.ts'
import { telemetryConfig } from '../telemetry/config.ts'
import { limitsOf } from './limits.ts'
import type { PortOptions } from './ports.ts'

export async function observersOf(options: PortOptions): Promise<Observer[]> {
  return [...(await notifierOf(options)), ...(await telemetryOf(options))]
}

async function notifierOf({ settings, env, workspace, signal, warn }: PortOptions): Promise<Observer[]> {
  const { every, ...people } = settings.notify
  if (Object.values(people).every((one) => one === null)) return []
  const { receiversOf } = await import(/* webpackChunkName: "tell" */ '../notify/receivers.ts')
  const { Notifier } = await import(/* webpackChunkName: "tell" */ '../notify/observer.ts')
  // What lies in the tree is the agent's: where it is kept from our user, a command does not begin there.
  const cwd = settings.isolation === 'same-user' ? workspace.clone.workTree : tmpdir()
  const surface = settings.surface === 'cli' ? 'cli' : 'comment'
  const { redact } = workspace.redactor
  return [
    new Notifier({
      receivers: receiversOf(settings.notify, { env, cwd, isModelKey }),
      facts: {
        limits: limitsOf(settings),
        surface,
        every,
        repository: env.GITHUB_REPOSITORY ?? null,
        redact,
      },
      signal,
      warn,
    }),
  ]
}

async function telemetryOf({ settings, env, workspace, signal, warn }: PortOptions): Promise<Observer[]> {
  const config = telemetryConfig(env, warn)
  // What these jobs do is told by the one that lands it.
  const isPart = settings.command === 'work' || settings.command === 'gate'
  if (config === null || isPart) return []
  const { Telemetry } = await import(/* webpackChunkName: "tell" */ '../telemetry/observer.ts')
  const { agent, fallbackAgent, model } = settings
  const named = (name: string) => ({ name, provider: findAgent(name)?.provider ?? name })
  const facts = {
    agent: (which: 'first' | 'fallback') => named(which === 'first' ? agent : (fallbackAgent ?? agent)),
    model: (mode: 'run' | 'plan' | 'verify') => model[mode],
  }
  return [new Telemetry({ config, facts, signal, redact: workspace.redactor.redact, warn })]
}
