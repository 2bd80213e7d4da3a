// What the four jobs of `isolation: separate-job` tell each other, as job outputs: one line of JSON each. What comes from a
// job that ran the agent or its code is read by these definitions; whatever does not fit is as if nothing had come. Pure.
import * as z from 'zod/mini'
import type { Verdict } from '../model/event.ts'
import type { GateResult } from '../model/gate.ts'
import type { Proposal } from '../model/plan.ts'
import type { Session } from '../model/state.ts'
import { cut, oneLine } from '../model/text.ts'
import type { Usage } from '../model/usage.ts'
import { UserError } from '../system/errors.ts'
import { excerpt } from '../system/excerpt.ts'

/** An environment variable holds at most 128 KB on Linux (MAX_ARG_STRLEN); the job gets it as one. */
export const LIMIT_BYTES = 96 * 1024
const TEXT = 2000
const LIST = 200
/** Of a plan, in characters: it is quoted once more on its way. */
const MOST_WORDS = 40_000
/** Nobody uses more than this of anything. */
const MOST = 1e12
/** The last moment that a Date knows. */
const MOST_TIME = 8.64e15
/** Steps with a circuit, in one hand-over. */
const CIRCUITS = 50
/** A gate's has at most 64 characters, and a service's says that it is one. */
const NAME = 80
/** Agents and models that steps of one session have of their own. */
const OTHERS = 10

const bounded = z.pipe(
  z.string(),
  z.transform((value) => value.slice(0, TEXT)),
)
const text = z.catch(bounded, '')
const texts = z.catch(listOf(bounded.check(z.minLength(1))), [])
const flag = z.catch(z.boolean(), false)
const nonce = z.string().check(z.minLength(1), z.maxLength(TEXT))
const digest = z.string().check(z.regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/))
const amount = z.number().check(z.minimum(0), z.maximum(MOST))
const moment = z.number().check(z.minimum(0), z.maximum(MOST_TIME))
const time = z.catch(z.nullable(moment), null)

function named(most: number) {
  return z.pipe(
    z.string(),
    z.transform((value) => oneLine(value, most)),
  )
}

/** The first entries of a list; those that do not fit are left out. */
function listOf<T>(entry: z.ZodMiniType<T>, most = LIST): z.ZodMiniType<T[]> {
  const fitting = (value: unknown): T[] => {
    const read = z.safeParse(entry, value)
    return read.success ? [read.data] : []
  }
  return z.pipe(
    z.array(z.unknown()),
    z.transform((list) => list.slice(0, most).flatMap(fitting)),
  )
}

const usage: z.ZodMiniType<Usage> = z.object({
  calls: amount,
  inputTokens: amount,
  outputTokens: amount,
  cachedTokens: amount,
  costUsd: amount,
  agentSeconds: amount,
  estimatedCostUsd: z.exactOptional(amount),
  estimatedTokens: z.exactOptional(amount),
  turns: z.exactOptional(amount),
})

/** By step; who handed them over could have left the step out as well. */
const circuits = z
  .record(z.string().check(z.maxLength(60)), z.object({ failures: amount, until: z.nullable(moment) }))
  .check(z.refine((steps) => Object.keys(steps).length <= CIRCUITS))

const written = z.object({
  status: z.enum(['finished', 'failed', 'limit', 'overloaded', 'auth', 'not-started', 'interrupted']),
  message: text,
  usage,
  resetsAt: time,
  hints: z.catch(z.object({ done: flag, notDone: flag, stuck: z.catch(z.nullable(bounded), null) }), {
    done: false,
    notDone: false,
    stuck: null,
  }),
  learnings: texts,
  setUp: z.exactOptional(z.catch(bounded, '')),
  detail: z.exactOptional(z.catch(bounded, '')),
  pause: z.exactOptional(z.catch(bounded, 'a step ends the run')),
  others: z.exactOptional(
    listOf(z.object({ agent: z.nullable(named(100)), model: z.nullable(named(100)), usage }), OTHERS),
  ),
  circuits: z.exactOptional(z.catch(z.nullable(circuits), null)),
})
/** Without circuits that fit the state keeps its own. */
const session: z.ZodMiniType<Session> = z.pipe(
  written,
  z.transform(({ circuits, ...said }) => (circuits == null ? said : { ...said, circuits })),
)

/** Looked for again where it is landed. */
const evidence = z.pipe(
  z.array(z.object({ storyId: text, criterion: amount, shown: text })),
  z.transform((list) => list.slice(0, LIST * 5)),
)

const verdict: z.ZodMiniType<Verdict> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('verified'), evidence: z.exactOptional(evidence) }),
  z.object({ kind: z.literal('reset'), stories: texts, reason: text }),
  z.object({ kind: z.literal('limit'), notBefore: time, message: text }),
  z.object({ kind: z.literal('refused'), message: text }),
  z.object({ kind: z.literal('none'), message: text }),
])

/** Of a gate, each; and characters of a remark. */
const ANNOTATIONS = 50
const REMARKS = 20
const REMARK = 300

const whole = z.int().check(z.minimum(0), z.maximum(MOST))
const remark = z.pipe(
  z.string(),
  z.transform((value) => value.slice(0, REMARK)),
)
const annotation = z.object({
  path: z.string().check(z.minLength(1), z.maxLength(TEXT)),
  line: z.int().check(z.minimum(1)),
  message: bounded,
  level: z.enum(['failure', 'warning', 'notice']),
})

const screenshot = z.object({
  url: z.string().check(z.maxLength(TEXT), z.regex(/^https?:\/\//)),
  viewport: z.string().check(z.regex(/^\d{1,5}x\d{1,5}$/)),
  blob: digest,
  bytes: whole,
  before: z.catch(z.nullable(digest), null),
})

const gateResult: z.ZodMiniType<GateResult> = z.object({
  name: named(NAME),
  ok: z.boolean(),
  // The settings say which gates are, not the job that ran them.
  advisory: z.pipe(
    z.unknown(),
    z.transform(() => false),
  ),
  ended: text,
  ms: amount,
  output: z.catch(z.string(), ''),
  tests: z.exactOptional(z.object({ passed: whole, failed: whole, skipped: whole })),
  flaky: z.exactOptional(z.literal(true)),
  remarks: z.exactOptional(listOf(remark, REMARKS)),
  annotations: z.exactOptional(listOf(annotation, ANNOTATIONS)),
  screenshots: z.exactOptional(listOf(screenshot)),
})

const fromClaim = z.object({ folder: nonce, nonce, base: digest })
/** What was proposed is read again where it is landed: `words` are JSON, as a session would say it. */
const planned = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('proposed'), words: z.string().check(z.maxLength(MOST_WORDS)), usage }),
  z.object({ kind: z.literal('limit'), notBefore: time, message: text, usage }),
  z.object({ kind: z.literal('refused'), message: text, usage }),
  z.object({ kind: z.literal('none'), message: text, usage }),
])

const fromWork = z.object({
  nonce,
  session: z.catch(z.nullable(session), null),
  judged: z.catch(z.nullable(z.object({ verdict, usage })), null),
  planned: z.catch(z.nullable(planned), null),
  commit: z.catch(z.nullable(digest), null),
  sha256: z.catch(z.nullable(digest), null),
  mistake: z.catch(z.nullable(bounded.check(z.minLength(1))), null),
})
const fromGate = z.object({
  nonce,
  code: z.catch(z.nullable(digest), null),
  gates: listOf(gateResult),
  /** What `screenshots` name, in base64. */
  pictures: z.exactOptional(z.catch(z.record(z.string(), z.string()), {})),
})

/** From the job that holds the lease, which runs nothing that is not trusted. */
export type FromClaim = z.output<typeof fromClaim>
/**
 * What a session said and used; its changes are `commit`, in a pack of the digest `sha256`. `mistake`: what a person has
 * to mend before an agent can start at all; then there is nothing else.
 */
export type FromWork = z.output<typeof fromWork>
/** Gate results for exactly the code of this digest; without one nothing came as far as the gates. */
export type FromGate = z.output<typeof fromGate>

/** What came of a plan session, and what it used. */
export type Planned = z.output<typeof planned>

/** The same for the next job. */
export function plannedOf(proposal: Proposal, usage: Usage): Planned {
  if (proposal.kind !== 'proposed') return { ...proposal, usage }
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
    return z.parse(definition, JSON.parse(given))
  } catch {
    return null
  }
}

export function writeHandover(value: FromClaim | FromWork | FromGate): string {
  return JSON.stringify(value)
}

/** Bytes of a gate's output, at first. */
const LARGEST = 16 * 1024

/**
 * Gate output is cut, the longest first, and what else is told of gates with it, until everything fits into one variable.
 * Pictures come behind that: see pictures.ts.
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

/** The same of the work job: what is shown for criteria is cut, and the last are left out where that does not do. */
export function fitWork(value: FromWork): FromWork {
  const { judged } = value
  if (judged?.verdict.kind !== 'verified' || judged.verdict.evidence === undefined) return value
  const { evidence: all } = judged.verdict
  for (let [most, count] = [300, all.length]; ; ) {
    const evidence = all.slice(0, count).map((one) => ({ ...one, shown: cut(one.shown, most) }))
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

/** What the other two handed over for this claim; null for a job that did not run, or said nothing that fits. */
export function workOf(env: Env, claim: FromClaim): FromWork | null {
  const work = readFromWork(env.RALPH_FROM_WORK)
  return work?.nonce === claim.nonce ? work : null
}

export function gateOf(env: Env, claim: FromClaim): FromGate | null {
  const gate = readFromGate(env.RALPH_FROM_GATE)
  return gate?.nonce === claim.nonce ? gate : null
}
