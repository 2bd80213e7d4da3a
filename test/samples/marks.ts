// What a person expects in their own files once stories have passed: one mark in place, the rest byte for byte.
import { cpSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { documentsOnOutcome } from '../../src/app/outcome.ts'
import { editDocuments } from '../../src/branch/write-documents.ts'
import type { Story } from '../../src/engine/model/feature.ts'
import type { State } from '../../src/engine/model/state.ts'
import type { Settings } from '../../src/settings/read-settings.ts'
import { place } from '../unit/git/place.ts'
import { answerOf, expectedOf, pairsOf } from './judge.ts'

const HERE = import.meta.dirname
/** Stands for the commit of every story. */
export const COMMIT = 'c0ffee1234567890c0ffee1234567890c0ffee12'

/** One outcome of a sample. */
export type Outcome = {
  why: string
  /** Ids or titles, as expected.yaml has them, of the stories that passed here. */
  passed: string[]
  /** The setting `write-back`. */
  writeBack?: 'on' | 'off'
  /** What people or the agent changed since the plan was read: path -> [before, after]. */
  meanwhile?: Record<string, [string, string][]>
  /** Path -> [before, after]; each stands in the file once. `{commit}` is a short id. Several words may be right. */
  marks: Record<string, [string, string | string[]][]>
}

export function outcomeNames(): string[] {
  return readdirSync(HERE).filter((name) => existsSync(join(HERE, name, 'after.yaml')))
}

export function outcomesOf(name: string): Outcome[] {
  return parse(readFileSync(join(HERE, name, 'after.yaml'), 'utf8'))
}

/** Outcomes that are not written back like this yet: sample -> reason. */
export function openMarks(): Record<string, string> {
  return parse(readFileSync(join(HERE, 'todo-after.yaml'), 'utf8')) ?? {}
}

/** Every difference between the files as a person expects them and as the outcome leaves them. */
export async function markDifferences(name: string, outcome: Outcome): Promise<string[]> {
  const project = join(HERE, expectedOf(name).of ?? name, 'project')
  const before = textsOf(project)
  for (const [path, changes] of Object.entries(outcome.meanwhile ?? {}))
    before.set(path, replaced(before.get(path) ?? '', changes, path))
  const answer = await answerOf(name)
  if (answer.prd === null) return [`no plan: ${answer.refused ?? 'nothing was found'}`]
  const passed = passedIds(name, outcome.passed, answer.stories)
  const lost = outcome.passed.filter((_, index) => passed[index] === undefined)
  if (lost.length > 0) return lost.map((one) => `no such story in the plan: ${one}`)
  const userStories = answer.prd.userStories.map((story) => withResult(story, passed.includes(story.id)))
  const run = { ...answer.prd.run, outcome: 'complete' }
  const state = { prd: { ...answer.prd, run, userStories }, archive: null } as unknown as State
  const { changed, warnings } = await writtenBack(project, before, outcome, state)
  return [...warnings, ...fileDifferences(before, changed, outcome.marks)]
}

export function passedIds(
  name: string,
  wanted: readonly string[],
  got: readonly Story[],
): (string | undefined)[] {
  const expected = expectedOf(name).stories ?? []
  const pairs = pairsOf(expected, got)
  return wanted.map((one) => {
    const found = expected.find(({ id, title }) => id === one || title === one)
    return found === undefined ? undefined : pairs.get(found)?.id
  })
}

function withResult(story: Story, isPassed: boolean): Story {
  if (!isPassed) return story
  const lastResult = { completedAt: '2026-11-24T10:00:00Z', commit: COMMIT, summary: 'done' }
  return { ...story, passes: true, lastResult }
}

async function writtenBack(
  project: string,
  before: ReadonlyMap<string, string>,
  { writeBack = 'on' }: Outcome,
  state: State,
): Promise<{ changed: Map<string, string>; warnings: string[] }> {
  using at = await place()
  cpSync(project, at.top, { recursive: true })
  for (const [path, text] of before) at.shell('cat > "$PATH_TO"', { PATH_TO: path }, text)
  at.shell('git config core.autocrlf false; git add -A -f; git commit -q -m base')
  const settings = { agentsMd: 'off', writeBack } as unknown as Settings
  const edits = documentsOnOutcome(settings, (text) => text)(state)
  const warnings: string[] = []
  const commit = at.shell('git rev-parse HEAD').trim()
  const changed = await editDocuments(at.objects, commit, edits, (text) => void warnings.push(text))
  return { changed: new Map(changed), warnings }
}

/** All files are valid UTF-8: as texts they are compared byte for byte, the byte order mark with them. */
export function textsOf(folder: string): Map<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const files = paths.filter((path) => statSync(join(folder, path)).isFile())
  return new Map(files.map((path) => [path, readFileSync(join(folder, path), 'utf8')]))
}

function replaced(text: string, changes: readonly [string, string | string[]][], path: string): string {
  let result = text
  for (const [from, to] of changes) {
    const parts = result.split(from)
    if (parts.length !== 2)
      throw new Error(`${path}: ${JSON.stringify(from)} stands ${parts.length - 1} times`)
    result = parts.join(typeof to === 'string' ? to : to[0])
  }
  return result.replaceAll('{commit}', COMMIT.slice(0, 7))
}

export function fileDifferences(
  before: ReadonlyMap<string, string>,
  changed: ReadonlyMap<string, string>,
  marks: Outcome['marks'],
): string[] {
  const found: string[] = []
  for (const path of new Set([...before.keys(), ...changed.keys(), ...Object.keys(marks)])) {
    const text = before.get(path) ?? ''
    const got = changed.get(path) ?? text
    const right = variantsOf(marks[path] ?? []).map((changes) => replaced(text, changes, path))
    if (!right.includes(got)) found.push(`${path}: ${firstDifference(right[0] ?? text, got)}`)
  }
  return found
}

/** Where several words are right: every choice of them. */
function variantsOf(changes: readonly [string, string | string[]][]): [string, string][][] {
  let variants: [string, string][][] = [[]]
  for (const [from, to] of changes)
    variants = variants.flatMap((one) =>
      [to].flat().map((word): [string, string][] => [...one, [from, word]]),
    )
  return variants
}

/** The line that differs, from a little before the place. */
function firstDifference(wanted: string, got: string): string {
  let at = 0
  while (at < wanted.length && wanted[at] === got[at]) at++
  const line = wanted.slice(0, at).split('\n').length
  const from = Math.max(wanted.lastIndexOf('\n', at - 1) + 1, at - 60)
  const part = (text: string) => JSON.stringify(text.slice(from, at + 40).split('\n')[0])
  return `line ${line}: ${part(got)} instead of ${part(wanted)}`
}
