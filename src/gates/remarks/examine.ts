// Examines an attempt's diff before the gates: the guard refuses changes; remarks for reviewers refuse nothing.

import type { Change, Examination } from '../../engine/model/change.ts'
import type { Redactor } from '../../isolation/redact.ts'
import { messageOf } from '../../system/errors.ts'
import { isTooLong } from '../../system/files.ts'
import { displayPath } from '../../system/path-text.ts'
import {
  foldPath,
  formatRefusals,
  type GuardedChange,
  judgeChanges,
  needsContent,
  type Refusal,
  SUBMODULE,
} from '../guard.ts'
import type { ObjectReader } from '../product/object-reader.ts'
import { formatSensitiveFiles, sensitiveKindOf } from '../sensitive-files.ts'
import { manyNewFiles } from './many-files.ts'

/** `fork`: the commit that no agent wrote. `from`: the commit before the change. */
type ChangeBase = { fork: string; from: string }

export type ExamineOptions = {
  protectedPaths: string[]
  configFile: string | null
  /** See GuardRules. */
  agentSettings: readonly string[]
  /** Whether agents read the file at this path unasked. */
  isAgentDocument(path: string): boolean
  /** A test for the paths that are product. */
  productOf(fork: string, from: string): Promise<(path: string) => boolean>
  redactor: Redactor
}

/** Contents that are held in memory at once, bytes. */
const PORTION_BYTES = 16 * 1024 * 1024
/** A diff of more files is refused whole, and nothing of it is read. */
const MAX_CHANGES = 100_000
const MAX_REMARKS = 20

/** Gives a function that examines a diff: the guard's verdict, the paths that may not be kept, and remarks for reviewers. */
export function createExamine(options: ExamineOptions) {
  return async (
    changes: readonly Change[],
    objects: ObjectReader,
    base: ChangeBase,
  ): Promise<Examination> => {
    if (changes.length > MAX_CHANGES) return refuseTooMany(changes)
    const refusals = await guard(changes, objects, options)
    const remarks = collectRemarks(changes, options)
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
    const isProduct = await options.productOf(base.fork, base.from)
    const testsOnly = changes.length > 0 && !changes.some(({ path }) => isProduct(path))
    return { failure: null, dropped, remarks, ...(testsOnly ? { testsOnly } : {}) }
  }
}

function refuseTooMany(changes: readonly Change[]): Examination {
  const summary = `the guard refused ${changes.length} changed files, because it checks at most ${MAX_CHANGES}`
  const detail = 'Change fewer files, and let git ignore the files that tools create.'
  return {
    failure: { kind: 'guard', summary, detail },
    dropped: changes.map(({ path }) => path),
    remarks: [],
  }
}

/**
 * Runs `look` on hostile content. If it throws, the files that cause it are refused and the result is null, so that content cannot
 * end a run. `look` must not read from the repository: such a read can fail through no fault of the files.
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
  return { path, shown: path, reason: `Ralph could not read it${why}` }
}

async function guard(
  changes: readonly Change[],
  objects: ObjectReader,
  options: ExamineOptions,
): Promise<Refusal[]> {
  const { protectedPaths, configFile, agentSettings, redactor: secrets } = options
  const rules = { protectedPaths, configFile, agentSettings, secrets }
  const refusals: Refusal[] = []
  let portion: GuardedChange[] = []
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
    const guarded: GuardedChange = { path, status, oldMode, newMode, size }
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

function collectRemarks(changes: readonly Change[], { isAgentDocument, redactor }: ExamineOptions): string[] {
  // Files that existed before come first: any number of new files must not push them out.
  const inOrder = [...changes].sort((a, b) => Number(a.status === 'A') - Number(b.status === 'A'))
  const agentDocuments = inOrder.flatMap(({ path }) =>
    !isTooLong(path) && isAgentDocument(path) ? [`${path}: ${AGENT_DOCUMENT}`] : [],
  )
  const remarks = [...manyNewFiles(changes), ...sensitiveFileRemarks(changes), ...firstOf(agentDocuments)]
  return remarks.map((text) => redactor.redact(displayPath(text)))
}

/** Remarks on files that act outside of the code (workflows, hooks, and so on), whatever they contain. */
function sensitiveFileRemarks(changes: readonly Change[]): string[] {
  const found = changes.flatMap(({ path }) => {
    const row = isTooLong(path) ? null : sensitiveKindOf(foldPath(path))
    return row === null ? [] : [{ path, actsOn: row.actsOn }]
  })
  return formatSensitiveFiles(found)
}

const AGENT_DOCUMENT = 'agents, including reviewers, load this file automatically'

/** At most MAX_REMARKS lines, as many as a reviewer reads. */
function firstOf(lines: readonly string[]): readonly string[] {
  const more = lines.length - MAX_REMARKS
  return more <= 0 ? lines : [...lines.slice(0, MAX_REMARKS), `and ${more} more of this kind`]
}
