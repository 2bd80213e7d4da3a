// The structured settings, each a map with known keys.
import * as z from 'zod/mini'
import { isObject } from '../engine/model/json.ts'
import { modelName } from './setting-names.ts'
import * as v from './values.ts'

const textOrNull = v.orNull(v.text)
const linesOrNull = v.orNull(v.lines)
const modelOrNull = v.orNull(modelName)
/** A story seldom has more attempts. */
const MAX_RUNGS = 8

/** US dollars for a million tokens. `cached` null: cached input costs as much as other input. */
export const prices = v.mapOf(v.structure({ input: v.money, output: v.money, cached: v.orNull(v.money) }))

/** Turns without a change, turns with the same error, output shrinking by so many percent. */
export const breaker = z.pipe(
  v.structure({
    noProgress: v.withDefault(v.count, 3),
    sameError: v.withDefault(v.count, 5),
    outputDecline: v.withDefault(v.integer({ most: 100 }), 70),
    coolDown: v.withDefault(v.duration, '30m'),
  }),
  z.transform(({ coolDown, ...rest }) => ({ ...rest, coolDownMs: coolDown })),
)

/** Commits that change Ralph's own files only: whether they are made, and their message. And the subject of a story's commit. */
export const commits = v.structure({
  prdChanges: v.withDefault(v.boolean, true),
  /** Null: a separate message for each commit. */
  message: v.orNull(v.lines),
  /** With `{id}`, `{title}`, `{subject}` (the title as a subject begins: `sign in`) and `{feature}`. */
  story: v.withDefault(
    v.textWhere(
      (written) => /\{(?:id|title|subject)\}/.test(written) && !/[\r\n]/.test(written),
      'one line with {id}, {title} or {subject}',
      'write a line such as "feat: {subject} ({id})"',
    ),
    'feat: {id} - {title}',
  ),
})

/** A chat's id is a number in Telegram's own pages, so it is taken unquoted as well. */
const chatId = z.union(
  [v.text, z.pipe(z.int(), z.transform(String))],
  v.expects('text', 'write the id of a chat'),
)

/** Secrets that are not set are empty texts: a map of only such texts counts as not configured. */
const unlessEmpty = z.transform((value: unknown) =>
  isObject(value) && Object.values(value).every(v.isEmpty) ? null : value,
)

const telegram = z.pipe(unlessEmpty, z.nullable(v.structure({ botToken: v.text, chatId })))

/** URLs that messages are sent to. Only this machine may be addressed by http. */
const hookUrl = v.textWhere(
  (written) => URL.canParse(written) && isSafeHookUrl(new URL(written)),
  'an https URL without a password in it (http for this machine only)',
  'write the URL as the service shows it, such as https://hooks.slack.com/services/...',
)

function isSafeHookUrl({ protocol, hostname, username, password }: URL): boolean {
  const isLocal = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)
  return username + password === '' && (protocol === 'https:' || (protocol === 'http:' && isLocal))
}

const hook = v.orNull(hookUrl)

/** A URL, or one with the secret that signs what is sent there. Not configured if both are empty. */
const webhook = z.pipe(
  z.transform((value: unknown): unknown => {
    const map = isObject(value) ? value : { url: value }
    return Object.values(map).every(v.isEmpty) ? null : map
  }),
  z.nullable(
    v.structure({ url: hookUrl, secret: textOrNull }, { example: 'a URL, or a map with url and secret' }),
  ),
)

/** Receivers of notifications. Null: not configured. `custom` is a command for `bash -c`; `every`: iterations between progress messages. */
export const notify = v.structure(
  {
    slack: hook,
    discord: hook,
    teams: hook,
    telegram: v.orNull(telegram),
    webhook: v.orNull(webhook),
    custom: linesOrNull,
    every: v.withDefault(v.count, 5),
  },
  { example: 'a map such as `slack: URL`' },
)

/** The names in the list. The value may be of any type: the check runs also after type errors. */
function namedRungs(value: unknown) {
  const names: unknown[] = Array.isArray(value) ? value : []
  return names.flatMap((name, at) => (typeof name === 'string' ? [{ name, path: [at] }] : []))
}

/** Models that a story climbs: it begins with the first, and goes to the next after a red gate or `<stuck>`. */
const rungs = z
  .array(modelName, v.expects('a list of models, cheapest first', 'write a list'))
  .check(
    z.minLength(1, v.expects('at least one model', 'name a model, or leave the ladder out')),
    z.maxLength(MAX_RUNGS, v.expects(`at most ${MAX_RUNGS} models`, 'leave some out')),
    v.distinctNames<unknown>('model', namedRungs),
  )

/** By a story's tag; it replaces the run's own ladder. */
export const ladder = v.mapOf(rungs)

/** More sessions on one story cost more than they find. */
const MAX_CANDIDATES = 10
const candidateCount = v.integer({ most: MAX_CANDIDATES })

/** How many sessions make candidates for an attempt of a story: one number, or by tag, and from which attempt on. */
export const candidates = z
  .pipe(
    z.union(
      [
        candidateCount,
        v.structure({
          default: v.orNull(candidateCount),
          fromAttempt: v.orNull(v.integer()),
          tags: v.orNull(v.mapOf(candidateCount)),
        }),
      ],
      v.expects('a number of sessions, or a map with default, fromAttempt and tags', 'write a number'),
    ),
    z.transform((found) => {
      if (typeof found === 'number') return { run: found, fromAttempt: 1, byTag: {} }
      return { run: found.default ?? 1, fromAttempt: found.fromAttempt ?? 1, byTag: found.tags ?? {} }
    }),
  )
  .register(v.kinds, { kind: 'map' })

/** The model for each kind of session; null: the agent's own choice. `rungs`: a story climbs them, `run` is the first. */
type ModelByMode = Readonly<
  Record<'run' | 'plan' | 'verify' | 'setup', string | null> & { rungs?: readonly string[] }
>

const modelOrRungs = z.union(
  [modelName, rungs],
  v.expects('the name of a model, or a list of models to climb', 'write a name'),
)

const byMode = v.structure({
  default: modelOrNull,
  run: v.orNull(modelOrRungs),
  plan: modelOrNull,
  verify: modelOrNull,
  setup: modelOrNull,
})

/** One name for all modes, or a map by mode, whose `default` is for all others. */
export const model = z
  .pipe(
    z.union([modelName, byMode], v.textMessage),
    z.transform((parsed): ModelByMode => {
      if (typeof parsed === 'string') return { run: parsed, plan: parsed, verify: parsed, setup: parsed }
      const { default: rest, plan, verify, setup } = parsed
      const ladder = Array.isArray(parsed.run) ? parsed.run : null
      const run = ladder?.[0] ?? (Array.isArray(parsed.run) ? null : parsed.run)
      const names = { run: run ?? rest, plan: plan ?? rest, verify: verify ?? rest, setup: setup ?? rest }
      return ladder === null ? names : { ...names, rungs: ladder }
    }),
  )
  .register(v.kinds, { kind: 'map' })
