// The structured settings: steps (seed 2), services and browser (seed 4), breaker (seed 5), prices, notify and so on.
import type { BreakerLimits } from '../model/limits.ts'
import type { Price } from '../model/usage.ts'
import { lineKey } from './names.ts'
import { below, isUnset, mistake, type Place, textAt } from './place.ts'
import {
  boolean,
  choice,
  duration,
  integer,
  listOf,
  mapOf,
  money,
  optional,
  type Read,
  required,
  structure,
  text,
  textWhere,
} from './readers.ts'
import { isList, isMap, type Tree } from './tree.ts'

/** A value of a step's own configuration, as JSON has it. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

const line = text()
const lines = text({ lines: true })

/** Free data: nothing is known about it but that variables in its texts are replaced. */
function json(value: Tree, at: Place): Json | undefined {
  if (typeof value === 'string') return textAt(at, value)
  if (isList(value)) return whole(value.map((item, index) => json(item, below(at, index))))
  return isMap(value) ? stepConfig(value, at) : value
}

function withKey(key: string, value: Json | undefined): [string, Json] | undefined {
  return value === undefined ? undefined : [key, value]
}

function whole<T>(items: readonly (T | undefined)[]): T[] | undefined {
  const sound = items.flatMap((item) => (item === undefined ? [] : [item]))
  return sound.length === items.length ? sound : undefined
}

/** A step of the pipeline; `config` is the step type's own. `timeoutMs` null: the type's own timeout. */
export type Step = {
  name: string
  type: 'agent' | 'git-commit' | 'command' | 'readme-check' | 'noop'
  enabled: boolean
  timeoutMs: number | null
  maxRetries: number
  retryDelayMs: number
  continueOnError: boolean
  circuitBreaker: { threshold: number; resetAfterMs: number } | null
  config: Record<string, Json>
}

/** Nothing is required in here, so null and empty texts are values like any other. */
const stepConfig: Read<Record<string, Json>> = (value, at) => {
  if (!isMap(value)) return mistake(at, value, 'a map', 'write a map')
  const entries = whole([...value].map(([key, item]) => withKey(key, json(item, below(at, key)))))
  return entries === undefined ? undefined : Object.fromEntries(entries)
}

export const steps: Read<Step[]> = listOf<Step>(
  structure(
    {
      name: required(line),
      type: required(choice(['agent', 'git-commit', 'command', 'readme-check', 'noop'])),
      enabled: optional(boolean, () => true),
      timeoutMs: optional<number | null>(duration(), () => null),
      maxRetries: optional(integer({ zero: 'no retry' }), () => 0),
      retryDelayMs: optional(duration(), () => 0),
      continueOnError: optional(boolean, () => false),
      circuitBreaker: optional<Step['circuitBreaker']>(
        structure(
          { threshold: optional(integer(), () => 3), resetAfterMs: optional(duration(), () => 60_000) },
          { snakeCase: true },
        ),
        () => null,
      ),
      config: optional<Record<string, Json>>(stepConfig, () => ({})),
    },
    { snakeCase: true },
  ),
)

const url = textWhere((written) => {
  if (/^https?:\/\//i.test(written) && URL.canParse(written)) return null
  return { expected: 'an http or https URL', fix: 'write a URL such as http://localhost:3000' }
})

/** A program that the gates need. `start` null: somebody else runs it. */
export type Service = {
  name: string
  start: string | null
  ready: string
  readyTimeoutMs: number
  restartBeforeVerify: boolean
}

export const services: Read<Service[]> = listOf<Service>(
  structure({
    name: required(line),
    start: optional<string | null>(lines, () => null),
    ready: required(url),
    readyTimeoutMs: optional(duration({ seconds: true }), () => 30_000),
    restartBeforeVerify: optional(boolean, () => true),
  }),
)

/** Browser checks. `executablePath` and `screenshotDir` null: found, and chosen, by ourselves. */
export type Browser = {
  enabled: boolean
  executablePath: string | null
  headless: boolean
  screenshotDir: string | null
}

export const browser: Read<Browser> = structure({
  enabled: optional(boolean, () => true),
  executablePath: optional<string | null>(line, () => null),
  headless: optional(boolean, () => true),
  screenshotDir: optional<string | null>(line, () => null),
})

export const prices: Read<Record<string, Price>> = mapOf<Price>(
  structure({
    input: required(money),
    output: required(money),
    cached: optional<number | null>(money, () => null),
  }),
  lineKey,
)

export function standardBreaker(): BreakerLimits {
  return { noProgress: 3, sameError: 5, outputDecline: 70, coolDownMs: 30 * 60_000 }
}

export const breaker: Read<BreakerLimits> = structure({
  noProgress: optional(integer(), () => standardBreaker().noProgress),
  sameError: optional(integer(), () => standardBreaker().sameError),
  outputDecline: optional(integer({ most: 100 }), () => standardBreaker().outputDecline),
  coolDownMs: optional(duration(), () => standardBreaker().coolDownMs),
})

/** Commits of state alone: whether, and their message (seed 4). */
export type Commits = { prdChanges: boolean; message: string }

export function standardCommits(): Commits {
  return { prdChanges: true, message: 'chore: update prd.json' }
}

export const commits: Read<Commits> = structure({
  prdChanges: optional(boolean, () => standardCommits().prdChanges),
  message: optional(lines, () => standardCommits().message),
})

/** Whom to tell. Null: not configured. `custom` is a command for `bash -c`; `every`: each so many iterations. */
export type Notify = {
  slack: string | null
  discord: string | null
  telegram: { botToken: string; chatId: string } | null
  custom: string | null
  every: number
}

/** A chat's id is a number in Telegram's own pages, so it is taken unquoted as well. */
const chatId: Read<string> = (value, at) => line(Number.isSafeInteger(value) ? String(value) : value, at)

const readTelegram = structure({ botToken: required(line), chatId: required(chatId) })

/** Empty secrets leave a map of nothing: not configured, as for the others. */
const telegram: Read<Notify['telegram']> = (value, at) => {
  const nothing = isMap(value) && [...value].every(([key, item]) => isUnset(below(at, key), item))
  return nothing ? null : readTelegram(value, at)
}

/** Mistakes in here show no values: a webhook's address is a secret. */
export const notify: Read<Notify> = (value, at) => {
  if (!isMap(value)) return mistake(at, value, 'a map such as `slack: URL`', 'write a map')
  return structure({
    slack: optional<string | null>(url, () => null),
    discord: optional<string | null>(url, () => null),
    telegram: optional(telegram, () => null),
    custom: optional<string | null>(lines, () => null),
    every: optional(integer(), () => 5),
  })(value, { ...at, shownAs: '(hidden)' })
}

export function nobodyToNotify(): Notify {
  return { slack: null, discord: null, telegram: null, custom: null, every: 5 }
}

/** The model for each kind of session; null: the agent's own choice. */
export type ModelByMode = Readonly<Record<'run' | 'plan' | 'verify' | 'setup', string | null>>

/** The agents would read such a name as an option of theirs. */
const modelName: Read<string> = (value, at) => {
  const name = line(value, at)
  if (name?.startsWith('-') !== true) return name
  return mistake(at, name, 'the name of a model', 'write it without the dash')
}

const modelMap = structure({
  default: optional<string | null>(modelName, () => null),
  run: optional<string | null>(modelName, () => null),
  plan: optional<string | null>(modelName, () => null),
  verify: optional<string | null>(modelName, () => null),
  setup: optional<string | null>(modelName, () => null),
})

/** One name for all, or a map by mode in which `default` stands for the rest. */
export const model: Read<ModelByMode> = (value, at) => {
  if (!isMap(value)) {
    const name = modelName(value, at)
    return name === undefined ? undefined : { run: name, plan: name, verify: name, setup: name }
  }
  const named = modelMap(value, at)
  if (named === undefined) return undefined
  const { default: rest, ...modes } = named
  return {
    run: modes.run ?? rest,
    plan: modes.plan ?? rest,
    verify: modes.verify ?? rest,
    setup: modes.setup ?? rest,
  }
}
