// Examines an attempt's diff before the gates: the guard refuses changes; remarks for reviewers refuse nothing.

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
import { describeChangedTests, type FileChange, mayHoldTests } from './changed-tests.ts'
import { changedGateDefinitions, findUnreadGateFiles, isGateSource } from './gate-definitions.ts'
import { manyNewFiles } from './many-files.ts'
import { type ObjectReader, readSmallBlob, withSources } from './sources.ts'
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

/** Contents that are held in memory at once, bytes. */
const PORTION_BYTES = 16 * 1024 * 1024
/** A diff of more files is refused whole, and nothing of it is read. */
const MAX_CHANGES = 100_000
const MAX_REMARKS = 20
/** Texts that are read for remarks, bytes; beyond that, only names of files are compared. */
const MAX_WATCHED_BYTES = 64 * 1024 * 1024

/** Gives a function that examines a diff: the guard's verdict, the paths that may not be kept, and remarks for reviewers. */
export function createExamine(options: ExamineOptions) {
  return async (changes: readonly Change[], objects: ObjectReader, base: string): Promise<Examination> => {
    if (changes.length > MAX_CHANGES) return refuseTooMany(changes)
    const refusals = await guard(changes, objects, options)
    const remarks = await collectRemarks(changes, objects, base, options, refusals)
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

function refuseTooMany(changes: readonly Change[]): Examination {
  const summary = `the guard refused ${changes.length} changed files: more than ${MAX_CHANGES} are not looked at`
  const detail = 'Change fewer files, and let git ignore what tools make.'
  return {
    failure: { kind: 'guard', summary, detail },
    dropped: changes.map(({ path }) => path),
    remarks: [],
  }
}

/**
 * Runs `look` on hostile content. Where it throws, the files that cause it are refused and the result is null, so that content
 * cannot end a run. `look` must not read from the repository: such a read can fail through no fault of the files.
 */
async function tryLook<F extends { path: string }, T>(
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
        causes.push(refuseUnreadable(file.path, `: ${messageOf(error).slice(0, 200)}`))
      }
    }
    // No file throws alone: any of them may be the cause, so all are refused.
    refusals.push(...(causes.length > 0 ? causes : files.map(({ path }) => refuseUnreadable(path, ''))))
    return null
  }
}

function refuseUnreadable(path: string, why: string): Refusal {
  return { path, shown: path, reason: `it could not be looked at${why}` }
}

async function guard(
  changes: readonly Change[],
  objects: ObjectReader,
  options: ExamineOptions,
): Promise<Refusal[]> {
  const { protectedPaths, configFile, agentSettings, redactor: secrets } = options
  const rules = { protectedPaths, configFile, agentSettings, secrets }
  const refusals: Refusal[] = []
  let portion: GuardChange[] = []
  let bytes = 0
  const judge = async () => {
    refusals.push(...((await tryLook(portion, refusals, (some) => judgeChanges([...some], rules))) ?? []))
    portion = []
    bytes = 0
  }
  for (const change of changes) {
    const { path, status, oldMode, newMode, oldOid, newOid } = change
    const isFile = status !== 'D' && newMode !== SUBMODULE
    const size = isFile ? ((await objects.info(newOid))?.size ?? 0) : 0
    const guarded: GuardChange = { path, status, oldMode, newMode, size }
    if (needsContent(guarded)) {
      guarded.content = await objects.contents(newOid)
      if (status === 'M' && oldMode !== SUBMODULE) guarded.before = await objects.contents(oldOid)
      bytes += size
    }
    portion.push(guarded)
    if (bytes > PORTION_BYTES) await judge()
  }
  await judge()
  return refusals
}

async function collectRemarks(
  changes: readonly Change[],
  objects: ObjectReader,
  base: string,
  options: ExamineOptions,
  refusals: Refusal[],
) {
  const tests: FileChange[] = []
  const unread: string[] = []
  const definitions: FileChange[] = []
  let left = MAX_WATCHED_BYTES
  /** Null where there is no blob, undefined where the text is too long to be read. */
  const read = async (oid: string | null): Promise<string | null | undefined> => {
    if (oid === null) return null
    const text = left <= 0 ? null : await readSmallBlob(oid, objects)
    left -= text?.length ?? 0
    return text ?? undefined
  }
  // Files that existed before come first: any number of new files must not push them out of the remarks.
  const inOrder = [...changes].sort((a, b) => Number(a.status === 'A') - Number(b.status === 'A'))
  for (const { path, status, oldMode, newMode, oldOid, newOid } of inOrder) {
    // The guard refuses such a path.
    if (isTooLong(path)) continue
    const old = status === 'A' || oldMode === SUBMODULE ? null : oldOid
    const now = status === 'D' || newMode === SUBMODULE ? null : newOid
    const isTest = options.namesTests && mayHoldTests(path)
    const isRead = isGateSource(path)
    const [before, after] = isTest || isRead ? [await read(old), await read(now)] : [null, null]
    if (isTest && old !== null && (before === undefined || after === undefined))
      unread.push(`${path}: ${UNREAD}`)
    else if (isTest) tests.push({ path, before: before ?? null, after: after ?? null })
    // Where only a change of the file matters, object ids are compared instead of texts.
    definitions.push(
      isRead ? { path, before: before ?? old, after: after ?? now } : { path, before: old, after: now },
    )
  }
  const files = await withSources(definitions, objects, base, (all) =>
    tryLook(all, refusals, (some) => findUnreadGateFiles([...some], options.gateCommands)),
  )
  const added = new Set(changes.filter(({ status }) => status === 'A').map(({ path }) => path))
  const changedDefinitions = await tryLook(files, refusals, (some) =>
    changedGateDefinitions([...some], options.gateCommands),
  )
  const definitionPaths = new Set(changedDefinitions?.map(({ path }) => path))
  const others = tests.filter(({ path }) => !definitionPaths.has(path))
  const testRemarks = [...((await tryLook(others, refusals, describeChangedTests)) ?? []), ...unread]
  const definitionRemarks = (changedDefinitions ?? [])
    .sort((a, b) => Number(added.has(a.path)) - Number(added.has(b.path)))
    .map(({ path, gates, text }) => `${path} (gate ${gates.join(', ')}): ${text}`)
  const agentDocuments = inOrder.flatMap(({ path }) =>
    !isTooLong(path) && options.isAgentDocument(path) ? [`${path}: ${AGENT_DOCUMENT}`] : [],
  )
  const remarks = [
    ...manyNewFiles(changes),
    ...sensitiveFileRemarks(changes),
    ...limitRemarks(testRemarks, [...agentDocuments, ...definitionRemarks]),
  ]
  return remarks.map((text) => options.redactor.redact(displayPath(text)))
}

/** Remarks on files that act outside of the code (workflows, hooks, and so on), whatever they contain. */
function sensitiveFileRemarks(changes: readonly Change[]): string[] {
  const found = changes.flatMap(({ path }) => {
    const row = isTooLong(path) ? null : sensitiveKindOf(foldPath(path))
    return row === null ? [] : [{ path, actsOn: row.actsOn }]
  })
  return formatSensitiveFiles(found)
}

const UNREAD = 'too much text to see what became of its tests'
const AGENT_DOCUMENT = 'agents read it before they work, reviewing ones among them'

/** At most MAX_REMARKS lines, as many as a reviewer reads; each kind gets at least half of the room where it needs it. */
function limitRemarks(tests: readonly string[], definitionRemarks: readonly string[]): string[] {
  const room = Math.max(MAX_REMARKS / 2, MAX_REMARKS - Math.min(tests.length, MAX_REMARKS))
  const listed = definitionRemarks.slice(0, room)
  listed.unshift(...tests.slice(0, MAX_REMARKS - listed.length))
  const more = tests.length + definitionRemarks.length - listed.length
  return more === 0 ? listed : [...listed, `and ${more} more of this kind`]
}
