// Writes and reads the stored state, in one file or in several, and reads the format of every earlier version. Pure.
import * as z from 'zod/mini'
import { UserError } from '../system/errors.ts'
import type { Attempt } from './model/attempt.ts'
import { memoizeChunks, memoizeEach } from './model/each-once.ts'
import { emptyControl, newEnding, newJob } from './model/job.ts'
import { Conclusion, type Job, State, type StoryRecord } from './model/state.ts'
import { describeValue } from './model/text.ts'
import { isWaitingPlan } from './planning/proposed-plan.ts'
import { OldUsage, withSessions } from './stored-usage.ts'

const VERSION = 5
/** The version of a state with several candidates of a story, which version 5 does not know; all else is equal. */
const WITH_CANDIDATES = 6
/** In states of earlier versions people were shown less of a plan than an approval covers now: it is shown again. */
const WITH_WHOLE_PLAN = 4
/** States of earlier versions hold sums of usage in the place of sessions. */
const WITH_SESSIONS = 5

export const STATE_FOLDER = '.ralph-state'
export const STATE_FILE = `${STATE_FOLDER}/state.json`
/** The most stories, or sessions, in a file. Longer lists go into further files, so that an iteration writes only those that changed. */
const MAX_IN_A_FILE = 500

/** A part of a list, one entry a line; it stays the same object as long as none of them changes. */
export type StateFile = { readonly text: string }

/** The text of `state.json`, and the further files of its lists, by name. */
export function stateFiles(state: State): { text: string; lists: ReadonlyMap<string, StateFile> } {
  const { prd, records, sessions, ...rest } = state
  const { userStories, ...head } = prd
  const stories = listFiles('stories', storyFiles(userStories))
  const used = listFiles('sessions', sessionFiles(sessions))
  const counts = {
    ...(stories.files.length > 0 && { storyFiles: stories.files.length }),
    ...(used.files.length > 0 && { sessionFiles: used.files.length }),
  }
  const version = hasCandidates(state) ? WITH_CANDIDATES : VERSION
  const all = textOf({ ...rest, version, ...counts })
  const withPrd = withField(all, 'prd', withField(textOf(head), 'userStories', stories.text))
  const texts = recordTexts(Object.values(records))
  const fields = Object.keys(records).map((id, at) => `${JSON.stringify(id)}:${texts[at]}`)
  const text = withField(withField(withPrd, 'sessions', used.text), 'records', `{${fields.join(',')}}`)
  return { text: `${text}\n`, lists: new Map([...stories.files, ...used.files]) }
}

function hasCandidates({ contests, attempts, timeline }: State): boolean {
  const isOneOf = ({ slot, chosen }: Attempt) => slot !== undefined || chosen !== undefined
  return (
    contests !== undefined ||
    Object.values(attempts).some(isOneOf) ||
    timeline.some(({ result }) => result === 'candidate')
  )
}

/** A list that fits into one file stays in the state itself. */
function listFiles(name: string, files: readonly StateFile[]) {
  if (files.length <= 1) return { text: files[0]?.text ?? '[]', files: [] }
  return { text: '[]', files: files.map((file, at) => [fileName(name, at), file] as const) }
}

function fileName(name: string, at: number): string {
  return `${name}-${at + 1}.json`
}

function fileNames(name: string, count = 0): string[] {
  return Array.from({ length: count }, (_, at) => fileName(name, at))
}

/** JSON.stringify would write NaN and Infinity as null, which makes the state unreadable: they are replaced. */
function textOf(value: object): string {
  if (hasFiniteNumbers(value)) return JSON.stringify(value)
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'number' && !Number.isFinite(part) ? nearestFinite(part) : part,
  )
}

/** Whether all numbers are finite: checking first is far cheaper than a replacer function. */
function hasFiniteNumbers(part: unknown): boolean {
  if (typeof part === 'number') return Number.isFinite(part)
  return typeof part !== 'object' || part === null || Object.values(part).every(hasFiniteNumbers)
}

function nearestFinite(number: number): number {
  return Number.isNaN(number) ? 0 : Math.sign(number) * Number.MAX_SAFE_INTEGER
}

function withField(text: string, name: string, value: string): string {
  return `${text.slice(0, -1)},"${name}":${value}}`
}

const fileOf = (list: readonly object[]): StateFile => ({ text: `[${list.map(textOf).join(',\n')}]` })
const storyFiles = memoizeChunks(MAX_IN_A_FILE, fileOf)
const sessionFiles = memoizeChunks(MAX_IN_A_FILE, fileOf)
const recordTexts = memoizeEach((record: StoryRecord) => textOf(record))

/** Reads the state of a commit, whose files `read` gives; null where it has none. Throws as `parseState`. */
export async function readState(
  read: (file: string) => Promise<string | null>,
  path?: string,
): Promise<State | null> {
  const text = await read(STATE_FILE)
  if (text === null) return null
  const found = parsed(text, path)
  const { storyFiles, sessionFiles } = StateIndex.safeParse(found).data ?? {}
  const files = new Map<string, string | null>()
  for (const name of [...fileNames('stories', storyFiles), ...fileNames('sessions', sessionFiles)])
    files.set(name, await read(`${STATE_FOLDER}/${name}`))
  return checked(found, files, path)
}

/** The texts of the further files by name; null for a missing one. */
type Files = ReadonlyMap<string, string | null>

const fileCount = z.exactOptional(z.int().check(z.gte(0), z.lte(10_000)))
const StateIndex = z.looseObject({
  /** Left out if the state itself holds them. */
  storyFiles: fileCount,
  sessionFiles: fileCount,
  prd: z.looseObject({}),
})

/** Parses the text of `state.json`; `path` names it in errors. Throws UserError where this version cannot read it. */
export function parseState(text: string, path?: string): State {
  return checked(parsed(text, path), new Map(), path)
}

function checked(found: unknown, files: Files, path = 'state.json'): State {
  const version = versionOf(found)
  if (version > WITH_CANDIDATES)
    throw new UserError({
      path: `${path}: version`,
      found: String(version),
      expected: `${WITH_CANDIDATES} or less`,
      fix: 'a newer version of Ralph has written it: update this one (the ref of the action, or the installed command), then run again',
    })
  const whole = version < 2 ? migrated(found) : withFiles(found, files, path)
  const current = version < WITH_SESSIONS ? withSessions(readBy(OldUsage, whole, path)) : whole
  const state = readBy(
    State,
    version === WITH_CANDIDATES ? { ...Object(current), version: VERSION } : current,
    path,
  )
  const shown = version < WITH_WHOLE_PLAN ? planNotShown(state) : state
  return version < WITH_SESSIONS ? withoutCopies(shown) : shown
}

function readBy<T>(schema: z.ZodMiniType<T>, found: unknown, path: string): T {
  const result = schema.safeParse(found, { reportInput: true })
  if (result.success) return result.data
  throw shapeError(path, result.error.issues)
}

/** Older versions repeated the output of the gate that shows a failure. */
function withoutCopies(state: State): State {
  const records = Object.entries(state.records).map(([id, record]): [string, StoryRecord] => {
    const { failure, gates } = record
    const shownBy = gates.find(({ output }) => output !== '' && output === failure?.detail)
    if (failure === null || shownBy === undefined) return [id, record]
    return [id, { ...record, failure: { ...failure, detail: '', gate: shownBy.name } }]
  })
  return { ...state, records: Object.fromEntries(records) }
}

/** What an older version showed of a plan, and asked people to approve, was less than its sessions would get. */
function planNotShown(state: State): State {
  const { plan } = state
  if (plan === undefined || !isWaitingPlan(plan)) return state
  return { ...state, plan: { ...plan, phase: 'proposed', digest: '', shownAt: null } }
}

/** The state with the lists from their own files. */
function withFiles(found: unknown, files: Files, path: string): unknown {
  const { storyFiles, sessionFiles, prd, ...rest } = readBy(StateIndex, found, path)
  const listOf = (name: string, count: number) =>
    fileNames(name, count).flatMap((file) => {
      const text = files.get(file)
      if (text == null) throw stateError(`${path}: ${name}`, `no ${file} beside it`, 'that file')
      return parsed(text, `${path}: ${file}`)
    })
  return {
    ...rest,
    ...(sessionFiles !== undefined && { sessions: listOf('sessions', sessionFiles) }),
    prd: storyFiles === undefined ? prd : { ...prd, userStories: listOf('stories', storyFiles) },
  }
}

function parsed(text: string, path = 'state.json'): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw stateError(path, error instanceof Error ? error.message : 'no JSON', 'JSON')
  }
}

/** The version of a stored state; states have had the field since version 1. */
function versionOf(state: unknown): number {
  const version = typeof state === 'object' && state !== null && 'version' in state ? state.version : null
  return typeof version === 'number' ? version : 0
}

function shapeError(path: string, issues: readonly z.core.$ZodIssue[]): UserError {
  const [issue] = issues
  const at = issue?.path.map(String).join('.') ?? ''
  const expected = issue?.code === 'invalid_type' ? issue.expected : 'what Ralph writes there'
  return stateError(at === '' ? path : `${path}: ${at}`, describeValue(issue?.input), expected)
}

function stateError(path: string, found: string, expected: string): UserError {
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

/** Converts to version 2, unchecked; any other value stays as it is. */
function migrated(found: unknown): unknown {
  const { data } = OldState.safeParse(found)
  if (data === undefined) return found
  const { attempt, job, ...rest } = data
  return {
    ...rest,
    attempts: attempt === null ? {} : { [attempt.storyId]: attemptOf(attempt, data.green) },
    records: withNotes(data),
    control: { ...emptyControl(), ...data.control },
    verification: { asked: false, ...data.verification },
    github: { unclosed: [], ...data.github },
    job: jobOf(job),
  } satisfies { [K in keyof State]?: unknown }
}

/** An attempt in work is returned by the job that takes the feature over, which only needs its reservation. */
function attemptOf(old: z.infer<typeof OldAttempt>, base: string): unknown {
  const { reservedCostUsd: costUsd, reservedTokens: tokens, returned, ...rest } = old
  const begun = { unwanted: false, gates: [], remarks: [], ...rest, base, reserved: { costUsd, tokens } }
  if (returned !== null) return { ...begun, ...returned, phase: 'returned' }
  if (old.session === null) return { ...begun, phase: 'reserved' }
  return { ...begun, phase: old.failure === null ? 'worked' : 'failed' }
}

/** The old job is over, and the next one has its own part of the state. */
function jobOf({ startedAt, deadline, gatedTags, ...old }: z.infer<typeof OldJob>): Job {
  const { conclusion, concludedAt, error, iterations } = old
  return {
    ...newJob(startedAt, deadline, gatedTags),
    counts: { iterations, begun: iterations, joins: 0 },
    halted: error === null ? null : { kind: 'error', ...error },
    ending: conclusion === null ? null : newEnding(conclusion, concludedAt ?? startedAt),
  }
}

/** Notes that Ralph wrote before it stored its own note apart from people's. */
const RALPH_NOTE = /^(?:blocked after|interrupted) \d+ |^rests until /

function withNotes({ records, prd }: OldState): OldState['records'] {
  const notes = new Map(prd.userStories.map((story) => [story.id, story.notes]))
  return Object.fromEntries(
    Object.entries(records).map(([id, record]) => {
      const note = notes.get(id) ?? ''
      const isOurs = RALPH_NOTE.test(note) || note === record.failure?.summary
      return [id, { ...record, note: record.note ?? (isOurs ? note : '') }]
    }),
  )
}
