// What the four jobs of `isolation: separate-job` hand over to each other, as job outputs: one line of JSON each. The hand-over of
// a job that ran the agent or its code is validated here. One with any invalid field counts as missing. Pure.
import * as z from 'zod/mini'
import { Session } from '../../engine/model/attempt.ts'
import type { Verdict } from '../../engine/model/event.ts'
import {
  Annotation,
  GateBaseline,
  type GateBaselines,
  GateResult,
  Screenshot,
} from '../../engine/model/gate.ts'
import { OUTPUT_BYTES } from '../../engine/model/gate-output.ts'
import type { Proposal } from '../../engine/model/plan-state.ts'
import { describeValue, oneLine, truncate } from '../../engine/model/text.ts'
import { Usage } from '../../engine/model/usage.ts'
import { UserError } from '../../system/errors.ts'
import { excerpt } from '../../system/excerpt.ts'

/** An environment variable holds at most 128 KB on Linux (MAX_ARG_STRLEN); the job gets it as one. */
export const LIMIT_BYTES = 96 * 1024
/** The largest plan, in characters. It is JSON within JSON: what is escaped in it takes more room in the hand-over. */
const MAX_PLAN_CHARACTERS = 40_000
/** The maximum number of annotations and remarks of one gate. */
const MAX_ANNOTATIONS = 50
const MAX_REMARKS = 20

/** The most characters of a text, by the name of its field. Longer texts are cut, but not pictures: the name of their field is a blob id. */
const MAX_TEXT = 2000
const MAX_TEXT_BY_FIELD: Readonly<Record<string, number>> = {
  output: 2 * LIMIT_BYTES,
  detail: OUTPUT_BYTES.stored,
  words: MAX_PLAN_CHARACTERS,
  // Each name may become a row of the ledger, which is never shortened.
  agent: 100,
  model: 100,
}
const BLOB_ID = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/
const MAX_LIST = 200
const MAX_LIST_BY_FIELD: Readonly<Record<string, number>> = {
  annotations: MAX_ANNOTATIONS,
  remarks: MAX_REMARKS,
  others: 10,
  evidence: 1000,
}
/** The largest numbers, by the name of the field: amounts; times, up to the last that a Date can hold; and line numbers of reports. */
const MAX_AMOUNT = 1e12
const MAX_TIME = 8.64e15
const MAX_NUMBER_BY_FIELD: Readonly<Record<string, number>> = {
  resetsAt: MAX_TIME,
  notBefore: MAX_TIME,
  until: MAX_TIME,
  line: Number.MAX_SAFE_INTEGER,
}

/** Limits one field of a hand-over. Throws RangeError for a number that is neither an amount nor a time. */
function limitField(name: string, value: unknown): unknown {
  if (typeof value === 'string')
    return BLOB_ID.test(name) ? value : value.slice(0, MAX_TEXT_BY_FIELD[name] ?? MAX_TEXT)
  if (Array.isArray(value)) return value.slice(0, MAX_LIST_BY_FIELD[name] ?? MAX_LIST)
  const isOutOfRange =
    typeof value === 'number' && !(value >= 0 && value <= (MAX_NUMBER_BY_FIELD[name] ?? MAX_AMOUNT))
  if (isOutOfRange) throw new RangeError(name)
  return value
}

const text = z.string()
const nonce = text.check(z.minLength(1))
const digest = text.check(z.regex(BLOB_ID))

const verdict: z.ZodMiniType<Verdict> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('verified'),
    /** The land job looks it up again. */
    evidence: z.exactOptional(z.array(z.object({ storyId: text, criterion: z.number(), shown: text }))),
  }),
  z.object({ kind: z.literal('reset'), stories: z.array(nonce), reason: text }),
  z.object({ kind: z.literal('limit'), notBefore: z.nullable(z.number()), message: text }),
  z.object({ kind: z.literal('refused'), message: text }),
  z.object({ kind: z.literal('none'), message: text }),
])

const annotation = z.extend(Annotation, { path: nonce, line: z.int().check(z.minimum(1)) })
const screenshot = z.extend(Screenshot, {
  url: text.check(z.regex(/^https?:\/\//)),
  viewport: text.check(z.regex(/^\d{1,5}x\d{1,5}$/)),
  blob: digest,
})
// Results that are reused (`green`, `asAt`) have to come from this process.
const gateResult = z.extend(z.omit(GateResult, { green: true, asAt: true }), {
  /** A gate's name has at most 64 characters; a service's is longer by the word "service". */
  name: z.pipe(
    text,
    z.transform((name) => oneLine(name, 80)),
  ),
  // The settings say which gates are advisory, not the job that ran them.
  advisory: z.pipe(
    z.boolean(),
    z.transform(() => false),
  ),
  annotations: z.exactOptional(z.array(annotation)),
  screenshots: z.exactOptional(z.array(screenshot)),
})

const fromClaim = z.object({
  folder: nonce,
  nonce,
  base: digest,
  /** The workers, if several stories are worked on at once. */
  workers: z.exactOptional(z.array(nonce)),
})
/** The land job parses the proposal or questions again: `words` are JSON, as a session would write it. */
const planned = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('proposed'), words: text, usage: Usage }),
  z.object({ kind: z.literal('limit'), notBefore: z.nullable(z.number()), message: text, usage: Usage }),
  z.object({ kind: z.literal('refused'), message: text, usage: Usage }),
  z.object({ kind: z.literal('none'), message: text, usage: Usage }),
])

/** Which attempt an event is about. */
const attempt = { storyId: nonce, slot: z.exactOptional(z.number()) }

/** What a work job may say: what a session did, what a judge of the whole feature says, or a plan. Never what gates said. */
const workEvent = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('worked'), ...attempt, session: Session }),
  z.object({ kind: z.literal('verified'), verdict, usage: Usage }),
  z.object({ kind: z.literal('planned'), plan: planned }),
])

/** A red gate of the final verification. A gate job approves nothing. */
const blamed = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('reset'),
    stories: z.array(nonce),
    reason: text,
    gate: z.exactOptional(text),
    detail: z.exactOptional(text),
  }),
  z.object({ kind: z.literal('none'), message: text }),
])
/** Of a gate that had none. What Ralph itself concludes from several runs is not said. */
const gateBaseline = z.omit(GateBaseline, { alone: true, needIgnored: true, atFork: true, fixed: true })
const broken = z.object({ storyId: nonce, summary: text })
const gates = z.array(gateResult)
const mutant = z.object({ path: text, line: z.int(), from: text, to: text })

/** What a gate job may say: what the gates of one step said. Never what a session did, nor that a judge approves. */
const gateEvent = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('baselined'), gates }),
  z.object({ kind: z.literal('edit-gated'), gates }),
  z.object({ kind: z.literal('join-gated'), gates, broken: z.nullable(broken) }),
  z.object({
    kind: z.literal('gated'),
    ...attempt,
    gates,
    base: z.exactOptional(z.record(text, gateBaseline)),
    paths: z.exactOptional(z.array(text)),
    unproved: z.exactOptional(z.literal(true)),
    unnoticed: z.exactOptional(z.array(mutant)),
  }),
  z.object({ kind: z.literal('whole-gated'), gates }),
  z.object({ kind: z.literal('verified'), gates, verdict: blamed }),
])

const fromWork = z.object({
  nonce,
  event: z.nullable(workEvent),
  commit: z.nullable(digest),
  sha256: z.nullable(digest),
  mistake: z.nullable(nonce),
})
const fromGate = z.object({
  nonce,
  code: z.nullable(digest),
  event: z.nullable(gateEvent),
  /** The screenshots by blob id, in base64. */
  pictures: z.exactOptional(z.record(digest, text)),
})

/** From the claim job, which has the lease and runs no untrusted program. */
export type FromClaim = z.output<typeof fromClaim>
export type WorkEvent = z.output<typeof workEvent>
export type GateEvent = z.output<typeof gateEvent>
/**
 * The event of a work job; null if it has none. A session's changes are `commit`, in the pack with the digest `sha256`. `mistake`: what
 * a person has to fix before an agent can start; then the rest is null.
 */
export type FromWork = z.output<typeof fromWork>
/** The event of a gate job, and the digest of the code that its gates ran on; null for none. */
export type FromGate = z.output<typeof fromGate>

export type Planned = z.output<typeof planned>

/** A proposal as it is handed over to the next job. */
export function plannedOf(proposal: Proposal, usage: Usage): Planned {
  if (proposal.kind !== 'proposed' && proposal.kind !== 'asked') return { ...proposal, usage }
  const json = JSON.stringify(proposal)
  if (json.length <= MAX_PLAN_CHARACTERS) return { kind: 'proposed', words: json, usage }
  return {
    kind: 'none',
    message: 'the plan is too long to pass from job to job: ask for fewer stories',
    usage,
  }
}

export const readFromClaim = (text: string | undefined) => read(fromClaim, text)
export const readFromWork = (text: string | undefined) => read(fromWork, text)
export const readFromGate = (text: string | undefined) => read(fromGate, text)

function read<T>(definition: z.ZodMiniType<T>, text: string | undefined): T | null {
  if (text === undefined || text.length > 2 * LIMIT_BYTES) return null
  try {
    return z.parse(definition, JSON.parse(text, limitField))
  } catch {
    return null
  }
}

export function writeHandover(value: FromClaim | FromWork | FromGate): string {
  return JSON.stringify(value)
}

/** The maximum number of bytes of a gate's output before it is cut to fit. */
const MAX_OUTPUT_BYTES = OUTPUT_BYTES.stored

/**
 * Cuts the gates' output (the longest first), remarks and annotations, until everything fits into one variable. Pictures are added
 * afterwards: see hand-over-pictures.ts.
 */
export function fitGates(value: FromGate, limitBytes = LIMIT_BYTES): FromGate {
  if (value.event === null) return value
  for (let maxBytes = MAX_OUTPUT_BYTES; ; maxBytes = Math.floor(maxBytes / 2)) {
    const firstOf = <T>(list: readonly T[], bound: number) =>
      list.slice(0, Math.ceil((bound * maxBytes) / MAX_OUTPUT_BYTES))
    const fittedGates = value.event.gates.map(({ remarks, annotations, screenshots: _, named, ...gate }) => ({
      ...gate,
      ...(named === undefined ? {} : { named: fewerNames(named, firstOf) }),
      output: excerpt(gate.output, maxBytes),
      ...(remarks === undefined ? {} : { remarks: firstOf(remarks, MAX_REMARKS) }),
      ...(annotations === undefined ? {} : { annotations: firstOf(annotations, MAX_ANNOTATIONS) }),
    }))
    const { event } = value
    const base = 'base' in event && event.base !== undefined ? fitBase(event.base, firstOf) : {}
    const fitted = { ...value, event: { ...event, gates: fittedGates, ...base } }
    if (maxBytes < 64 || Buffer.byteLength(writeHandover(fitted)) <= limitBytes) return fitted
  }
}

function fitBase(
  base: GateBaselines,
  firstOf: <T>(list: readonly T[], bound: number) => T[],
): { base: Record<string, GateBaseline> } {
  const entries = Object.entries(base).map(([name, { failing, ...one }]) => [
    name,
    failing === undefined ? one : { ...one, failing: firstOf(failing, MAX_LIST) },
  ])
  return { base: Object.fromEntries(entries) }
}

function fewerNames(
  { passed, failed, more }: NonNullable<GateResult['named']>,
  firstOf: <T>(list: readonly T[], bound: number) => T[],
): NonNullable<GateResult['named']> {
  const [somePassed, someFailed] = [firstOf(passed, MAX_LIST), firstOf(failed, MAX_LIST)]
  const isCut = more === true || somePassed.length < passed.length || someFailed.length < failed.length
  return { passed: somePassed, failed: someFailed, ...(isCut ? { more: true as const } : {}) }
}

/** Cuts the evidence of a judge until the work job's hand-over fits. The last evidence is left out if that is not enough. */
export function fitWork(value: FromWork): FromWork {
  const { event } = value
  if (event?.kind !== 'verified' || event.verdict.kind !== 'verified') return value
  const { evidence: all } = event.verdict
  if (all === undefined) return value
  for (let [maxLength, count] = [300, all.length]; ; ) {
    const evidence = all.slice(0, count).map((one) => ({ ...one, shown: truncate(one.shown, maxLength) }))
    const fitted = { ...value, event: { ...event, verdict: { ...event.verdict, evidence } } }
    if (count === 0 || Buffer.byteLength(writeHandover(fitted)) <= LIMIT_BYTES) return fitted
    if (maxLength > 75) maxLength /= 2
    else count = Math.floor(count * 0.9)
  }
}

type Env = Readonly<Record<string, string | undefined>>

export const EXAMPLE = 'examples/ralph-separate.yml'
export const WAVE_EXAMPLE = 'examples/ralph-separate-parallel.yml'

/** What the claim job of this run handed over, which every other job needs. Throws UserError. */
export function claimOf(env: Env): FromClaim {
  const claim = readFromClaim(env.RALPH_FROM_CLAIM)
  if (claim !== null) return claim
  throw new UserError({
    path: 'env RALPH_FROM_CLAIM',
    found: env.RALPH_FROM_CLAIM?.slice(0, 100) ?? 'nothing',
    expected: 'the output `handover` of the claim job',
    fix: `copy ${EXAMPLE}`,
  })
}

/** The worker that a job of the matrices works for; null if the workflow works on one story at a time. Throws UserError. */
export function workerOf(env: Env, { workers }: FromClaim): string | null {
  if (workers === undefined) return null
  const found = env.RALPH_WORKER ?? ''
  if (workers.includes(found)) return found
  throw new UserError({
    path: 'env RALPH_WORKER',
    found: describeValue(found),
    expected: 'one of the workers in the output `workers` of the claim job',
    fix: `copy ${WAVE_EXAMPLE}`,
  })
}

/** What proves that a hand-over belongs to this claim, and to this worker. */
export function nonceOf({ nonce }: FromClaim, worker: string | null): string {
  return worker === null ? nonce : `${nonce} ${worker}`
}

/** The name of the output of a work or gate job: the outputs of a matrix are one list. */
export function outputOf(worker: string | null): string {
  return worker === null ? 'handover' : `handover-${worker}`
}

/** What the work job handed over for this claim; null if it did not run, or if its hand-over is invalid. */
export function workOf(env: Env, claim: FromClaim, worker: string | null = null): FromWork | null {
  const work = readFromWork(env[nameOf('RALPH_FROM_WORK', worker)])
  return work?.nonce === nonceOf(claim, worker) ? work : null
}

export function gateOf(env: Env, claim: FromClaim, worker: string | null = null): FromGate | null {
  const gate = readFromGate(env[nameOf('RALPH_FROM_GATE', worker)])
  return gate?.nonce === nonceOf(claim, worker) ? gate : null
}

/** The session that the work job handed over, with the story that it worked on. */
export function workedIn(work: FromWork | null): Extract<WorkEvent, { kind: 'worked' }> | null {
  return work?.event?.kind === 'worked' ? work.event : null
}

function nameOf(name: string, worker: string | null): string {
  return worker === null ? name : `${name}_${worker}`
}
