// What the four jobs of `isolation: separate-job` hand over to each other, as job outputs: one line of JSON each. The hand-over of
// a job that ran the agent or its code is validated here. One with any invalid field counts as missing. Pure.
import * as z from 'zod/mini'
import { Session } from '../../engine/model/attempt.ts'
import type { Verdict } from '../../engine/model/event.ts'
import { Annotation, GateResult, Screenshot } from '../../engine/model/gate.ts'
import { OUTPUT_BYTES } from '../../engine/model/gate-output.ts'
import type { Proposal } from '../../engine/model/plan-state.ts'
import { oneLine, truncate } from '../../engine/model/text.ts'
import { Usage } from '../../engine/model/usage.ts'
import { UserError } from '../../system/errors.ts'
import { excerpt } from '../../system/excerpt.ts'

/** An environment variable holds at most 128 KB on Linux (MAX_ARG_STRLEN); the job gets it as one. */
export const LIMIT_BYTES = 96 * 1024
/** Of a plan, in characters: as JSON within JSON it is quoted twice, which makes it longer. */
const MOST_WORDS = 40_000
/** The most annotations and remarks of one gate. */
const ANNOTATIONS = 50
const REMARKS = 20

/** The most characters of a text, by the name of its field. Longer texts are cut, but not pictures: the name of their field is a blob id. */
const TEXT = 2000
const TEXTS: Readonly<Record<string, number>> = {
  output: 2 * LIMIT_BYTES,
  detail: OUTPUT_BYTES.stored,
  words: MOST_WORDS,
  // Each may become a row of the ledger, which stays.
  agent: 100,
  model: 100,
}
const PICTURE = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/
const LIST = 200
const LISTS: Readonly<Record<string, number>> = {
  annotations: ANNOTATIONS,
  remarks: REMARKS,
  others: 10,
  evidence: 1000,
}
/** The largest numbers, by the name of the field: amounts; times, up to the last that a Date can hold; and line numbers of reports. */
const MOST = 1e12
const MOST_TIME = 8.64e15
const NUMBERS: Readonly<Record<string, number>> = {
  resetsAt: MOST_TIME,
  notBefore: MOST_TIME,
  until: MOST_TIME,
  line: Number.MAX_SAFE_INTEGER,
}

/** Limits one field of a hand-over. Throws RangeError for a number that is neither an amount nor a time. */
function limitField(name: string, value: unknown): unknown {
  if (typeof value === 'string') return PICTURE.test(name) ? value : value.slice(0, TEXTS[name] ?? TEXT)
  if (Array.isArray(value)) return value.slice(0, LISTS[name] ?? LIST)
  const isOdd = typeof value === 'number' && !(value >= 0 && value <= (NUMBERS[name] ?? MOST))
  if (isOdd) throw new RangeError(name)
  return value
}

const text = z.string()
const nonce = text.check(z.minLength(1))
const digest = text.check(z.regex(PICTURE))

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

const fromClaim = z.object({ folder: nonce, nonce, base: digest })
/** The land job parses the proposal or questions again: `words` are JSON, as a session would write it. */
const planned = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('proposed'), words: text, usage: Usage }),
  z.object({ kind: z.literal('limit'), notBefore: z.nullable(z.number()), message: text, usage: Usage }),
  z.object({ kind: z.literal('refused'), message: text, usage: Usage }),
  z.object({ kind: z.literal('none'), message: text, usage: Usage }),
])

const fromWork = z.object({
  nonce,
  session: z.nullable(Session),
  judged: z.nullable(z.object({ verdict, usage: Usage })),
  planned: z.nullable(planned),
  commit: z.nullable(digest),
  sha256: z.nullable(digest),
  mistake: z.nullable(nonce),
})
const fromGate = z.object({
  nonce,
  code: z.nullable(digest),
  gates: z.array(gateResult),
  /** The screenshots by blob id, in base64. */
  pictures: z.exactOptional(z.record(digest, text)),
})

/** From the claim job, which has the lease and runs no untrusted program. */
export type FromClaim = z.output<typeof fromClaim>
/**
 * What a session said and used. Its changes are `commit`, in the pack with the digest `sha256`. `mistake`: what a person has to fix
 * before an agent can start; then the rest is null.
 */
export type FromWork = z.output<typeof fromWork>
/** Gate results for the code with this digest; null where no gate ran. */
export type FromGate = z.output<typeof fromGate>

export type Planned = z.output<typeof planned>

/** A proposal as it is handed over to the next job. */
export function plannedOf(proposal: Proposal, usage: Usage): Planned {
  if (proposal.kind !== 'proposed' && proposal.kind !== 'asked') return { ...proposal, usage }
  const words = JSON.stringify(proposal)
  if (words.length <= MOST_WORDS) return { kind: 'proposed', words, usage }
  return { kind: 'none', message: 'a plan that is too long to be handed over: ask for fewer stories', usage }
}

export const readFromClaim = (given: string | undefined) => read(fromClaim, given)
export const readFromWork = (given: string | undefined) => read(fromWork, given)
export const readFromGate = (given: string | undefined) => read(fromGate, given)

function read<T>(definition: z.ZodMiniType<T>, given: string | undefined): T | null {
  if (given === undefined || given.length > 2 * LIMIT_BYTES) return null
  try {
    return z.parse(definition, JSON.parse(given, limitField))
  } catch {
    return null
  }
}

export function writeHandover(value: FromClaim | FromWork | FromGate): string {
  return JSON.stringify(value)
}

/** The most bytes of a gate's output before it is cut to fit. */
const LARGEST = OUTPUT_BYTES.stored

/**
 * Cuts the gates' output (the longest first), remarks and annotations, until everything fits into one variable. Pictures are added
 * afterwards: see hand-over-pictures.ts.
 */
export function fitGates(value: FromGate, limitBytes = LIMIT_BYTES): FromGate {
  for (let most = LARGEST; ; most = Math.floor(most / 2)) {
    const first = <T>(list: readonly T[], bound: number) => list.slice(0, Math.ceil((bound * most) / LARGEST))
    const gates = value.gates.map(({ remarks, annotations, screenshots: _, ...gate }) => ({
      ...gate,
      output: excerpt(gate.output, most),
      ...(remarks === undefined ? {} : { remarks: first(remarks, REMARKS) }),
      ...(annotations === undefined ? {} : { annotations: first(annotations, ANNOTATIONS) }),
    }))
    const fitted = { ...value, gates }
    if (most < 64 || Buffer.byteLength(writeHandover(fitted)) <= limitBytes) return fitted
  }
}

/** Cuts the evidence of a judge until the work job's hand-over fits. The last evidence is left out where that is not enough. */
export function fitWork(value: FromWork): FromWork {
  const { judged } = value
  if (judged?.verdict.kind !== 'verified' || judged.verdict.evidence === undefined) return value
  const { evidence: all } = judged.verdict
  for (let [most, count] = [300, all.length]; ; ) {
    const evidence = all.slice(0, count).map((one) => ({ ...one, shown: truncate(one.shown, most) }))
    const fitted = { ...value, judged: { ...judged, verdict: { ...judged.verdict, evidence } } }
    if (count === 0 || Buffer.byteLength(writeHandover(fitted)) <= LIMIT_BYTES) return fitted
    if (most > 75) most /= 2
    else count = Math.floor(count * 0.9)
  }
}

type Env = Readonly<Record<string, string | undefined>>

export const EXAMPLE = 'examples/ralph-separate.yml'

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

/** What the work job handed over for this claim; null where it did not run, or where its hand-over is invalid. */
export function workOf(env: Env, claim: FromClaim): FromWork | null {
  const work = readFromWork(env.RALPH_FROM_WORK)
  return work?.nonce === claim.nonce ? work : null
}

export function gateOf(env: Env, claim: FromClaim): FromGate | null {
  const gate = readFromGate(env.RALPH_FROM_GATE)
  return gate?.nonce === claim.nonce ? gate : null
}
