// The state as git holds it, in one file or in several: written, and read again, also as version 1 wrote it. Pure.
import * as z from 'zod/mini'
import { eachOnce, partsOnce } from '../model/each.ts'
import type { Story } from '../model/feature.ts'
import { emptyControl, newEnding, newJob } from '../model/job.ts'
import { Conclusion, type Job, State, type StoryRecord } from '../model/state.ts'
import { shown } from '../model/text.ts'
import { UserError } from '../system/errors.ts'
import { isWaitingPlan } from './plan.ts'

const VERSION = 2
/** What versions before it could not put together. */
const IN_FILES = 3
/** A plan waits, and its approval is for context.md, too: versions before it would begin on words that no person has seen. */
const WITH_PLAN = 4

export const STATE_FOLDER = '.ralph-state'
export const STATE_FILE = `${STATE_FOLDER}/state.json`
/** Of more stories than these an iteration is not to write all: they stand in files of so many, beside the rest. */
const STORIES_A_FILE = 500

/** Some of the stories, one a line; as long as none of them changes it is the very same object. */
export type StoryFile = { readonly text: string }

export function storyFileName(at: number): string {
  return `stories-${at + 1}.json`
}

/** The text of `state.json`, and of the files with the stories where they are not in it. */
export function stateFiles(state: State): { text: string; stories: readonly StoryFile[] } {
  const { prd, records, ...rest } = state
  const { userStories, ...head } = prd
  const stories = storyFiles(userStories)
  const isOne = stories.length <= 1
  const feature = withField(textOf(head), 'userStories', isOne ? (stories[0]?.text ?? '[]') : '[]')
  const version = isWaitingPlan(state.plan) ? WITH_PLAN : isOne ? VERSION : IN_FILES
  const all = isOne ? { ...rest, version } : { ...rest, version, storyFiles: stories.length }
  const most = withField(textOf(all), 'prd', feature)
  const told = recordTexts(Object.values(records))
  const fields = Object.keys(records).map((id, at) => `${JSON.stringify(id)}:${told[at]}`)
  const text = `${withField(most, 'records', `{${fields.join(',')}}`)}\n`
  return { text, stories: isOne ? [] : stories }
}

/** JSON would write a number that is none as null, and nobody could read the state any more. */
function textOf(value: object): string {
  if (isSound(value)) return JSON.stringify(value)
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'number' && !Number.isFinite(part) ? nearest(part) : part,
  )
}

/** A walk costs far less than asking for each part while it is written. */
function isSound(part: unknown): boolean {
  if (typeof part === 'number') return Number.isFinite(part)
  return typeof part !== 'object' || part === null || Object.values(part).every(isSound)
}

function nearest(number: number): number {
  return Number.isNaN(number) ? 0 : Math.sign(number) * Number.MAX_SAFE_INTEGER
}

function withField(text: string, name: string, value: string): string {
  return `${text.slice(0, -1)},"${name}":${value}}`
}

const storyFiles = partsOnce(STORIES_A_FILE, (stories: readonly Story[]): StoryFile => {
  return { text: `[${stories.map(textOf).join(',\n')}]` }
})
const recordTexts = eachOnce((record: StoryRecord) => textOf(record))

/** The state of a commit, whose files `read` gives; null where it holds none. Throws as `stateFrom`. */
export async function readState(
  read: (file: string) => Promise<string | null>,
  path?: string,
): Promise<State | null> {
  const text = await read(STATE_FILE)
  if (text === null) return null
  const found = parsed(text, path)
  const count = versionOf(found) >= IN_FILES ? (OfFiles.safeParse(found).data?.storyFiles ?? 0) : 0
  const texts: (string | null)[] = []
  while (texts.length < count) texts.push(await read(`${STATE_FOLDER}/${storyFileName(texts.length)}`))
  return checked(found, texts, path)
}

const OfFiles = z.looseObject({
  /** Left out where prd.json holds them. */
  storyFiles: z.exactOptional(z.int().check(z.gte(0), z.lte(10_000))),
  prd: z.looseObject({}),
})

/** The state in the text of `state.json`; `path` names it for people. Throws UserError where it is none that this version reads. */
export function stateFrom(text: string, path?: string): State {
  return checked(parsed(text, path), [], path)
}

function checked(found: unknown, stories: readonly (string | null)[], path = 'state.json'): State {
  const version = versionOf(found)
  if (version > WITH_PLAN)
    throw new UserError({
      path: `${path}: version`,
      found: String(version),
      expected: `${WITH_PLAN} or less`,
      fix: 'a newer version of Ralph has written it: update this one (the ref of the action, or the installed command), then run again',
    })
  const whole = version >= IN_FILES ? joined(found, stories, path) : found
  const result = State.safeParse(version < VERSION ? migrated(found) : whole, { reportInput: true })
  if (result.success) return withoutCopies(version < WITH_PLAN ? planNotShown(result.data) : result.data)
  throw broken(path, result.error.issues)
}

/** Older versions repeated the output of the gate that shows a failure. */
function withoutCopies(state: State): State {
  const records = Object.entries(state.records).map(([id, record]): [string, StoryRecord] => {
    const { failure, gates } = record
    const shows = gates.find(({ output }) => output !== '' && output === failure?.detail)
    if (failure === null || shows === undefined) return [id, record]
    return [id, { ...record, failure: { ...failure, detail: '', gate: shows.name } }]
  })
  return { ...state, records: Object.fromEntries(records) }
}

/** What an older version showed of a plan, and asked people to approve, was less than its sessions would get. */
function planNotShown(state: State): State {
  const { plan } = state
  if (plan === undefined || !isWaitingPlan(plan)) return state
  return { ...state, plan: { ...plan, phase: 'proposed', digest: '', shownAt: null } }
}

/** As a state of version 2. */
function joined(found: unknown, texts: readonly (string | null)[], path: string): unknown {
  const { data } = OfFiles.safeParse(found)
  if (data === undefined) return found
  const { storyFiles = 0, prd, ...rest } = data
  if (storyFiles === 0) return { ...rest, version: VERSION, prd }
  const missing = texts.length < storyFiles ? texts.length : texts.indexOf(null)
  if (missing >= 0)
    throw damaged(`${path}: storyFiles`, `no ${storyFileName(missing)} beside it`, 'that file')
  const userStories = texts.flatMap((text, at) => parsed(text ?? '', `${path}: ${storyFileName(at)}`))
  return { ...rest, version: VERSION, prd: { ...prd, userStories } }
}

function parsed(text: string, path = 'state.json'): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw damaged(path, error instanceof Error ? error.message : 'no JSON', 'JSON')
  }
}

/** States of 1 said so from the first on. */
function versionOf(state: unknown): number {
  const version = typeof state === 'object' && state !== null && 'version' in state ? state.version : null
  return typeof version === 'number' ? version : 0
}

function broken(path: string, issues: readonly z.core.$ZodIssue[]): UserError {
  const [issue] = issues
  const at = issue?.path.map(String).join('.') ?? ''
  const expected = issue?.code === 'invalid_type' ? issue.expected : 'what Ralph writes there'
  return damaged(at === '' ? path : `${path}: ${at}`, shown(issue?.input), expected)
}

function damaged(path: string, found: string, expected: string): UserError {
  const fix =
    'somebody else wrote it: put the ref back to a commit before (each holds a whole state), or delete the ref, and Ralph goes on from the branch'
  return new UserError({ path, found, expected, fix })
}

/** What differs in states of version 1, which Ralph 1.0 wrote; the rest, and what these become, is read as the state itself. */
const orNull = <T extends z.core.$ZodType>(schema: T) => z._default(z.nullable(schema), null)
const OldAttempt = z.looseObject({
  storyId: z.string(),
  reservedCostUsd: orNull(z.number()),
  reservedTokens: orNull(z.number()),
  session: orNull(z.unknown()),
  failure: orNull(z.unknown()),
  returned: orNull(z.looseObject({})),
})
const OldJob = z.looseObject({
  startedAt: z.number(),
  deadline: z.number(),
  gatedTags: orNull(z.array(z.string())),
  iterations: z._default(z.number(), 0),
  error: orNull(z.object({ summary: z.string(), fix: z.string() })),
  conclusion: orNull(Conclusion),
  concludedAt: orNull(z.number()),
})
const OldRecord = z.looseObject({
  failure: orNull(z.looseObject({ summary: z.string() })),
  note: z.optional(z.string()),
})
const OldState = z.looseObject({
  green: z.string(),
  attempt: orNull(OldAttempt),
  job: OldJob,
  records: z.record(z.string(), OldRecord),
  control: z.looseObject({}),
  verification: z.looseObject({}),
  github: z.looseObject({}),
  prd: z.looseObject({ userStories: z.array(z.looseObject({ id: z.string(), notes: z.string() })) }),
})
type OldState = z.infer<typeof OldState>

/** As a state of version 2, still to be read; what is no state stays what it is. */
function migrated(found: unknown): unknown {
  const { data } = OldState.safeParse(found)
  if (data === undefined) return found
  const { attempt, job, ...rest } = data
  return {
    ...rest,
    version: 2,
    attempts: attempt === null ? {} : { [attempt.storyId]: attemptOf(attempt, data.green) },
    records: withNotes(data),
    control: { ...emptyControl(), ...data.control },
    verification: { asked: false, ...data.verification },
    github: { unclosed: [], ...data.github },
    job: jobOf(job),
  } satisfies { [K in keyof State]?: unknown }
}

/** One that was still in work is given back by whoever takes the feature over: only what it was charged matters. */
function attemptOf(old: z.infer<typeof OldAttempt>, base: string): unknown {
  const { reservedCostUsd: costUsd, reservedTokens: tokens, returned, ...rest } = old
  const begun = { unwanted: false, gates: [], remarks: [], ...rest, base, reserved: { costUsd, tokens } }
  if (returned !== null) return { ...begun, ...returned, phase: 'returned' }
  if (old.session === null) return { ...begun, phase: 'reserved' }
  return { ...begun, phase: old.failure === null ? 'worked' : 'failed' }
}

/** A job that is over: the next one makes its own. */
function jobOf({ startedAt, deadline, gatedTags, ...old }: z.infer<typeof OldJob>): Job {
  const { conclusion, concludedAt, error, iterations } = old
  return {
    ...newJob(startedAt, deadline, gatedTags),
    counts: { iterations, begun: iterations, joins: 0 },
    halted: error === null ? null : { kind: 'error', ...error },
    ending: conclusion === null ? null : newEnding(conclusion, concludedAt ?? startedAt),
  }
}

/** Notes that Ralph wrote before it kept its own word apart from people's. */
const OURS = /^(?:blocked after|interrupted) \d+ |^rests until /

function withNotes({ records, prd }: OldState): OldState['records'] {
  const notes = new Map(prd.userStories.map((story) => [story.id, story.notes]))
  return Object.fromEntries(
    Object.entries(records).map(([id, record]) => {
      const there = notes.get(id) ?? ''
      const isOurs = OURS.test(there) || there === record.failure?.summary
      return [id, { ...record, note: record.note ?? (isOurs ? there : '') }]
    }),
  )
}
