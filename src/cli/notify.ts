// `ralph notify`: lists where a run sends notifications. `--test` sends a message to each, and prints its answer.
import { tmpdir } from 'node:os'
import { isModelKey } from '../agents/registry.ts'
import { redactorFor } from '../app/redactor.ts'
import { secretsIn } from '../isolation/untrusted-env.ts'
import { notifySecrets, RECEIVER_KINDS } from '../notify/notice.ts'
import { deliveryId } from '../notify/observer.ts'
import { type Receiver, receiversOf } from '../notify/receivers.ts'
import { testNotice } from '../notify/state-changes.ts'
import { terminalText } from '../report/escape.ts'
import { outputsOf } from '../report/outputs.ts'
import { UserError } from '../system/errors.ts'
import { nearest } from '../system/nearest.ts'
import { type CommandResult, type Context, settingsOf } from './command-context.ts'
import { withOwnNotify } from './notify-own.ts'

export async function notify(context: Context): Promise<CommandResult> {
  const { env, directory, flags, print } = context
  const settings = await withOwnNotify((await settingsOf(context)).settings, env)
  const cwd = settings.isolation === 'same-user' ? directory : tmpdir()
  const receivers = selectReceivers(receiversOf(settings.notify, { env, cwd, isModelKey }), flags.test)
  const { redact } = redactorFor([...secretsIn(env), ...notifySecrets(settings.notify)])
  if (flags.test === undefined) {
    const kinds = receivers.map(({ kind }) => kind)
    const { every } = settings.notify
    const often = every === 1 ? 'iteration' : `${every} iterations`
    print(`A run notifies ${kinds.join(', ')}: when it starts, every ${often}, when a story`)
    print('is blocked, when it waits, at 50, 80 and 100 % of a limit, and when it ends.')
    return { code: 0, outputs: outputsOf(null, null, null), more: { kinds } }
  }
  const now = Date.now()
  const message = testNotice(settings.feature ?? 'test', now, deliveryId)
  const deliveries = await Promise.all(
    receivers.map(async (receiver) => {
      const { ok, detail } = await receiver.deliver(message, new AbortController().signal)
      const answer = terminalText(redact(detail), 300)
      print(`${ok ? '✔' : '✘'} ${receiver.kind}: ${answer}`)
      return { kind: receiver.kind, ok, answer }
    }),
  )
  return {
    code: deliveries.every(({ ok }) => ok) ? 0 : 1,
    outputs: outputsOf(null, null, null),
    more: { told: deliveries },
  }
}

/** All services, or the one that was named. Throws UserError if there is none. */
function selectReceivers(
  receivers: readonly Receiver[],
  named: Context['flags'][string],
): readonly Receiver[] {
  const path = '--test'
  const isNamed = typeof named === 'string'
  if (isNamed && !RECEIVER_KINDS.some((kind) => kind === named)) {
    const close = nearest(named, RECEIVER_KINDS)
    const fix = close === null ? 'name one of these' : `did you mean ${close}?`
    throw new UserError({ path, found: terminalText(named, 80), expected: RECEIVER_KINDS.join(', '), fix })
  }
  const wanted = isNamed ? receivers.filter(({ kind }) => kind === named) : receivers
  if (wanted.length > 0) return wanted
  throw new UserError({
    path: isNamed ? `notify: ${named}` : 'notify',
    found: 'no service for notifications is set up.',
    expected: '',
    fix: 'set one up with ralph init --notify, or write notify: into ralph.config.yml',
  })
}
