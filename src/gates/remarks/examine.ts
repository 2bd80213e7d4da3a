// Looks at an attempt's diff before the gates: the guard refuses, the watchers remark.

import type { Change, Examination } from '../../engine/model/change.ts'
import type { Redactor } from '../../isolation/redact.ts'
import { messageOf } from '../../system/errors.ts'
import { isTooLong } from '../../system/files.ts'
import { displayPath } from '../../system/path-text.ts'
import {
  foldPath,
  formatRefusals,
  type Change as GuardChange,
  judgeChanges,
  needsContent,
  type Refusal,
  SUBMODULE,
} from '../guard.ts'
import { formatSensitiveFiles, sensitiveKindOf } from '../sensitive-files.ts'
import { changedTests, type FileChange, isTestToRead } from './changed-tests.ts'
import { changedGateDefinitions, isReadForPins, namedElsewhere } from './gate-definitions.ts'
import { type Objects, small, withSources } from './sources.ts'
import { isTestSupport } from './test-files.ts'

export type ExamineOptions = {
  protectedPaths: string[]
  configFile: string | null
  /** See GuardRules. */
  agentSettings: readonly string[]
  /** Whether agents read the file at this path unasked. */
  isAgentDocument(path: string): boolean
  /** Whether changes of tests are named. */
  namesTests: boolean
  gateCommands: string[]
  redactor: Redactor
}

/** Contents in memory at once, bytes. */
const PORTION = 16 * 1024 * 1024
/** A diff of more files is refused whole, and nothing of it is read. */
const MOST_CHANGES = 100_000
const REMARKS = 20
/** Texts that are looked at for remarks, bytes; of files beyond it only the names count. */
const WATCHED = 64 * 1024 * 1024

/** The guard's verdict on a diff, the paths that may not be kept, and what a reviewer should see. */
export function createExamine(options: ExamineOptions) {
  return async (changes: readonly Change[], objects: Objects, base: string): Promise<Examination> => {
    if (changes.length > MOST_CHANGES) return tooMany(changes)
    const refusals = await guard(changes, objects, options)
    const remarks = await watch(changes, objects, base, options, refusals)
    const dropped = [...new Set(refusals.map((refusal) => refusal.path))]
    const [first] = refusals
    const failure = (summary: string, detail: string): Examination => ({
      failure: { kind: 'guard', summary, detail },
      ...{ dropped, remarks },
    })
    if (first !== undefined) {
      const more = refusals.length > 1 ? ` (and ${refusals.length - 1} more)` : ''
      return failure(
        `the guard refused ${displayPath(first.shown)}: ${first.reason}${more}`,
        formatRefusals(refusals),
      )
    }
    const testsOnly = changes.length > 0 && changes.every(({ path }) => isTestSupport(path))
    return { failure: null, dropped, remarks, ...(testsOnly ? { testsOnly } : {}) }
  }
}

function tooMany(changes: readonly Change[]): Examination {
  const summary = `the guard refused ${changes.length} changed files: more than ${MOST_CHANGES} are not looked at`
  const detail = 'Change fewer files, and let git ignore what tools make.'
  return {
    failure: { kind: 'guard', summary, detail },
    dropped: changes.map(({ path }) => path),
    remarks: [],
  }
}

/**
 * What `look` makes of hostile bytes. An exception ends no run: the files that cause it are refused, and the answer is
 * null. What reads from the repository does not belong in it, for that fails without anybody's doing.
 */
async function lookAt<F extends { path: string }, T>(
  files: readonly F[],
  refusals: Refusal[],
  look: (files: readonly F[]) => T | Promise<T>,
): Promise<T | null> {
  try {
    return await look(files)
  } catch {
    const causes: Refusal[] = []
    for (const file of files) {
      try {
        await look([file])
      } catch (error) {
        causes.push(unreadable(file.path, `: ${messageOf(error).slice(0, 200)}`))
      }
    }
    // Where each alone is harmless, it is one of them.
    refusals.push(...(causes.length > 0 ? causes : files.map(({ path }) => unreadable(path, ''))))
    return null
  }
}

function unreadable(path: string, why: string): Refusal {
  return { path, shown: path, reason: `it could not be looked at${why}` }
}

async function guard(
  changes: readonly Change[],
  objects: Objects,
  options: ExamineOptions,
): Promise<Refusal[]> {
  const { protectedPaths, configFile, agentSettings, redactor: secrets } = options
  const rules = { protectedPaths, configFile, agentSettings, secrets }
  const refusals: Refusal[] = []
  let portion: GuardChange[] = []
  let bytes = 0
  const judge = async () => {
    refusals.push(...((await lookAt(portion, refusals, (some) => judgeChanges([...some], rules))) ?? []))
    portion = []
    bytes = 0
  }
  for (const change of changes) {
    const { path, status, oldMode, newMode, oldOid, newOid } = change
    const isFile = status !== 'D' && newMode !== SUBMODULE
    const size = isFile ? ((await objects.info(newOid))?.size ?? 0) : 0
    const one: GuardChange = { path, status, oldMode, newMode, size }
    if (needsContent(one)) {
      one.content = await objects.contents(newOid)
      if (status === 'M' && oldMode !== SUBMODULE) one.before = await objects.contents(oldOid)
      bytes += size
    }
    portion.push(one)
    if (bytes > PORTION) await judge()
  }
  await judge()
  return refusals
}

async function watch(
  changes: readonly Change[],
  objects: Objects,
  base: string,
  options: ExamineOptions,
  refusals: Refusal[],
) {
  const tests: FileChange[] = []
  const unread: string[] = []
  const pinned: FileChange[] = []
  let left = WATCHED
  /** Undefined where there is too much of it. */
  const read = async (oid: string | null): Promise<string | null | undefined> => {
    if (oid === null) return null
    const text = left <= 0 ? null : await small(oid, objects)
    left -= text?.length ?? 0
    return text ?? undefined
  }
  // What stood before comes first: any number of new files must not hide what became of it.
  const inOrder = [...changes].sort((a, b) => Number(a.status === 'A') - Number(b.status === 'A'))
  for (const { path, status, oldMode, newMode, oldOid, newOid } of inOrder) {
    // The guard refuses it.
    if (isTooLong(path)) continue
    const old = status === 'A' || oldMode === SUBMODULE ? null : oldOid
    const now = status === 'D' || newMode === SUBMODULE ? null : newOid
    const isTest = options.namesTests && isTestToRead(path)
    const isRead = isReadForPins(path)
    const [before, after] = isTest || isRead ? [await read(old), await read(now)] : [null, null]
    if (isTest && old !== null && (before === undefined || after === undefined))
      unread.push(`${path}: ${UNREAD}`)
    else if (isTest) tests.push({ path, before: before ?? null, after: after ?? null })
    // Where nothing of a text counts, its id stands for it.
    pinned.push(
      isRead ? { path, before: before ?? old, after: after ?? now } : { path, before: old, after: now },
    )
  }
  const files = await withSources(pinned, objects, base, (all) =>
    lookAt(all, refusals, (some) => namedElsewhere([...some], options.gateCommands)),
  )
  const added = new Set(changes.filter(({ status }) => status === 'A').map(({ path }) => path))
  const changed = await lookAt(files, refusals, (some) =>
    changedGateDefinitions([...some], options.gateCommands),
  )
  const pinnedPaths = new Set(changed?.map(({ path }) => path))
  const others = tests.filter(({ path }) => !pinnedPaths.has(path))
  const fewer = [...((await lookAt(others, refusals, changedTests)) ?? []), ...unread]
  const pins = (changed ?? [])
    .sort((a, b) => Number(added.has(a.path)) - Number(added.has(b.path)))
    .map(({ path, gates, text }) => `${path} (gate ${gates.join(', ')}): ${text}`)
  const spoken = inOrder.flatMap(({ path }) =>
    !isTooLong(path) && options.isAgentDocument(path) ? [`${path}: ${SPEAKS}`] : [],
  )
  const remarks = [...elsewhere(changes), ...few(fewer, [...spoken, ...pins])]
  return remarks.map((text) => options.redactor.redact(displayPath(text)))
}

/** Of files that act elsewhere than in the code, whatever is in them. */
function elsewhere(changes: readonly Change[]): string[] {
  const found = changes.flatMap(({ path }) => {
    const row = isTooLong(path) ? null : sensitiveKindOf(foldPath(path))
    return row === null ? [] : [{ path, actsOn: row.actsOn }]
  })
  return formatSensitiveFiles(found)
}

const UNREAD = 'too much text to see what became of its tests'
const SPEAKS = 'agents read it before they work, reviewing ones among them'

/** As many as somebody reads; many of one kind leave half of the place to the other. */
function few(tests: readonly string[], pins: readonly string[]): string[] {
  const place = Math.max(REMARKS / 2, REMARKS - Math.min(tests.length, REMARKS))
  const shown = pins.slice(0, place)
  shown.unshift(...tests.slice(0, REMARKS - shown.length))
  const more = tests.length + pins.length - shown.length
  return more === 0 ? shown : [...shown, `and ${more} more of this kind`]
}
