// Writes and reads the stored state, in one file or in several. Pure.
import * as z from 'zod/mini'
import { UserError } from '../system/errors.ts'
import { memoizeChunks, memoizeEach } from './model/each-once.ts'
import { State, type StoryRecord } from './model/state.ts'
import { describeValue } from './model/text.ts'

const VERSION = 1

export const STATE_FOLDER = '.ralph-state'
export const STATE_FILE = `${STATE_FOLDER}/state.json`
/**
 * The maximum number of stories or sessions in a file. Longer lists go into further files, so that an iteration writes only those that
 * changed.
 */
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
  const all = textOf({ ...rest, ...counts })
  const withPrd = withField(all, 'prd', withField(textOf(head), 'userStories', stories.text))
  const texts = recordTexts(Object.values(records))
  const fields = Object.keys(records).map((id, at) => `${JSON.stringify(id)}:${texts[at]}`)
  const text = withField(withField(withPrd, 'sessions', used.text), 'records', `{${fields.join(',')}}`)
  return { text: `${text}\n`, lists: new Map([...stories.files, ...used.files]) }
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

/** Reads the state of a commit, whose files `read` gives; null if it has none. Throws as `parseState`. */
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

/** Parses the text of `state.json`; `path` names it in errors. Throws UserError if this version cannot read it. */
export function parseState(text: string, path?: string): State {
  return checked(parsed(text, path), new Map(), path)
}

function checked(found: unknown, files: Files, path = 'state.json'): State {
  const version = versionOf(found)
  if (version > VERSION)
    throw new UserError({
      path: `${path}: version`,
      found: String(version),
      expected: `${VERSION} or less`,
      fix: 'a newer version of Ralph has written it. Update this Ralph (the ref of the action, or the installed command), then run again',
    })
  return readBy(State, withFiles(found, files, path), path)
}

function readBy<T>(schema: z.ZodMiniType<T>, found: unknown, path: string): T {
  const result = schema.safeParse(found, { reportInput: true })
  if (result.success) return result.data
  throw shapeError(path, result.error.issues)
}

/** The state with the lists from their own files. */
function withFiles(found: unknown, files: Files, path: string): unknown {
  const { storyFiles, sessionFiles, prd, ...rest } = readBy(StateIndex, found, path)
  const listOf = (name: string, count: number) =>
    fileNames(name, count).flatMap((file) => {
      const text = files.get(file)
      if (text == null) throw stateError(`${path}: ${name}`, `no ${file} alongside it`, 'that file')
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

/** The version of a stored state; 0 if it has none. */
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
    'another program wrote it. Reset the ref to an earlier commit (each has a whole state), or delete the ref, so that Ralph continues from the branch'
  return new UserError({ path, found, expected, fix })
}
