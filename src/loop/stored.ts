// The state as git holds it: written, and read again. Pure.
import type * as z from 'zod/mini'
import { eachOnce } from '../model/each.ts'
import type { Story } from '../model/feature.ts'
import { State, type StoryRecord } from '../model/state.ts'
import { shown } from '../model/text.ts'
import { UserError } from '../system/errors.ts'
import { migrated } from './migrate.ts'

/** The version of today's states. */
const VERSION = 2

/** The text of `state.json`. */
export function stateText(state: State): string {
  const { prd, records, ...rest } = state
  const { userStories, ...head } = prd
  const feature = withField(textOf(head), 'userStories', `[${storyTexts(userStories).join(',')}]`)
  const most = withField(textOf(rest), 'prd', feature)
  const told = recordTexts(Object.values(records))
  const fields = Object.keys(records).map((id, at) => `${JSON.stringify(id)}:${told[at]}`)
  return `${withField(most, 'records', `{${fields.join(',')}}`)}\n`
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

const storyTexts = eachOnce((story: Story) => textOf(story))
const recordTexts = eachOnce((record: StoryRecord) => textOf(record))

/** The state in the text of `state.json`; `path` names it for people. Throws UserError where it is none that this version reads. */
export function stateFrom(text: string, path = 'state.json'): State {
  const found = parsed(text, path)
  const version = versionOf(found)
  if (version > VERSION)
    throw new UserError({
      path: `${path}: version`,
      found: String(version),
      expected: `${VERSION} or less`,
      fix: 'a newer version of Ralph has written it: update this one (the ref of the action, or the installed command), then run again',
    })
  const result = State.safeParse(version < VERSION ? migrated(found) : found, { reportInput: true })
  if (result.success) return result.data
  throw broken(path, result.error.issues)
}

function parsed(text: string, path: string): unknown {
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
