// The structured settings, each a map with known keys.
import * as z from 'zod/mini'
import { modelName } from './names.ts'
import {
  aText,
  boolean,
  count,
  duration,
  expects,
  integer,
  isEmpty,
  isMap,
  kinds,
  lines,
  mapOf,
  money,
  orElse,
  orNull,
  structure,
  text,
  textWhere,
} from './types.ts'

const textOrNull = orNull(text)
const linesOrNull = orNull(lines)
const modelOrNull = orNull(modelName)

/** US dollars for a million tokens. `cached` null: cached input costs as much as other input. */
export const prices = mapOf(structure({ input: money, output: money, cached: orNull(money) }))

/** Turns without a change, turns with the same error, output shrinking by so many percent. */
export const breaker = z.pipe(
  structure({
    noProgress: orElse(count, 3),
    sameError: orElse(count, 5),
    outputDecline: orElse(integer({ most: 100 }), 70),
    coolDown: orElse(duration, '30m'),
  }),
  z.transform(({ coolDown, ...rest }) => ({ ...rest, coolDownMs: coolDown })),
)

/** What a commit of state alone is called where nobody chose a message. */
export const standardMessage = 'chore: update prd.json'

/** Commits of state alone: whether, and their message. */
export const commits = structure({
  prdChanges: orElse(boolean, true),
  message: orElse(lines, standardMessage),
})

/** A chat's id is a number in Telegram's own pages, so it is taken unquoted as well. */
const chatId = z.union(
  [text, z.pipe(z.int(), z.transform(String))],
  expects('a text', 'write the id of a chat'),
)

/** Empty secrets leave a map of nothing: not configured, as for the others. */
const telegram = z.pipe(
  z.transform((value: unknown) => (isMap(value) && Object.values(value).every(isEmpty) ? null : value)),
  z.nullable(structure({ botToken: text, chatId })),
)

/** Where messages go: what is sent in the clear stays on this machine. */
const hookUrl = textWhere(
  (written) => URL.canParse(written) && mayHear(new URL(written)),
  'an https URL without a password in it (http for this machine only)',
  'write the URL as the service shows it, such as https://hooks.slack.com/services/...',
)

function mayHear({ protocol, hostname, username, password }: URL): boolean {
  const isLocal = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)
  return username + password === '' && (protocol === 'https:' || (protocol === 'http:' && isLocal))
}

const hook = orNull(hookUrl)

/** A URL alone, or with the secret that signs what is sent there. Empty secrets leave a map of nothing. */
const webhook = z.pipe(
  z.transform((value: unknown): unknown => {
    const map = isMap(value) ? value : { url: value }
    return Object.values(map).every(isEmpty) ? null : map
  }),
  z.nullable(
    structure({ url: hookUrl, secret: textOrNull }, { example: 'a URL, or a map with url and secret' }),
  ),
)

/** Whom to tell. Null: not configured. `custom` is a command for `bash -c`; `every`: each so many iterations. */
export const notify = structure(
  {
    slack: hook,
    discord: hook,
    teams: hook,
    telegram: orNull(telegram),
    webhook: orNull(webhook),
    custom: linesOrNull,
    every: orElse(count, 5),
  },
  { example: 'a map such as `slack: URL`' },
)

/** The model for each kind of session; null: the agent's own choice. */
type ModelByMode = Readonly<Record<'run' | 'plan' | 'verify' | 'setup', string | null>>

const byMode = structure({
  default: modelOrNull,
  run: modelOrNull,
  plan: modelOrNull,
  verify: modelOrNull,
  setup: modelOrNull,
})

/** One name for all, or a map by mode in which `default` stands for the rest. */
export const model = z
  .pipe(
    z.union([modelName, byMode], aText),
    z.transform((given): ModelByMode => {
      if (typeof given === 'string') return { run: given, plan: given, verify: given, setup: given }
      const { default: rest, run, plan, verify, setup } = given
      return { run: run ?? rest, plan: plan ?? rest, verify: verify ?? rest, setup: setup ?? rest }
    }),
  )
  .register(kinds, { kind: 'map' })
