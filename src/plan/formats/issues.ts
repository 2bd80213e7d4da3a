// GitHub issues as `gh issue list --json ...` or the API gives them.
import { isObject } from '../../engine/model/json.ts'
import { truncate } from '../../engine/model/text.ts'
import { formatCount, type Raw } from '../../engine/prd/migrate.ts'
import { type Block, type Point, parseBlocks } from '../markdown-lists.ts'
import { findUnparsable, type OpenDocument, type ParsedData } from '../open-document.ts'
import { urgencyOf } from '../story-words.ts'
import { type Format, type ParsedStory, planPaths, type Reading } from '../types.ts'
import { dropUnknownDependencies } from './left-out.ts'
import { storyFields } from './story-section.ts'

export const issues: Format = {
  name: 'GitHub issues',
  discoveryPath: planPaths('(?:github-)?issues\\.json'),
  matches: (document) => issuesIn(document).length > 0,
  read,
}

type Issue = {
  number: number
  title: string
  body: string
  labels: string[]
  isClosed: boolean
  /** Closed without being done: not planned, or a duplicate. */
  isDropped: boolean
  reason: string
  parent: number | null
  children: number[]
  blockedBy: number[]
  closedBlockers: number[]
  line: number
}

/** The path of a document that is an answer of `gh` or the API. */
const ANSWER = /^issues(?::|$)/

function issuesIn(document: OpenDocument): Issue[] {
  // Other JSON files are not parsed, as they may be long.
  if (!/\.json$/i.test(document.path) && !ANSWER.test(document.path)) return []
  if (!/"number"\s*:/.test(document.text)) return []
  const { data } = document.data
  if (data === null) return []
  const list = Array.isArray(data.value) ? data.value : [data.value]
  return list.flatMap((one: unknown, index) => {
    const at = Array.isArray(data.value) ? [index] : []
    return isObject(one) &&
      typeof one.number === 'number' &&
      typeof one.title === 'string' &&
      !('pull_request' in one)
      ? [issueOf(one, one.number, one.title, data, at)]
      : []
  })
}

function issueOf(one: Raw, number: number, title: string, data: ParsedData, at: number[]): Issue {
  const labels = Array.isArray(one.labels) ? one.labels : []
  const names = labels.map((label: unknown) => (isObject(label) ? label.name : label))
  const reason = String(one.stateReason ?? one.state_reason ?? '')
  const isClosed = /^closed$/i.test(String(one.state ?? ''))
  return {
    number,
    title,
    body: typeof one.body === 'string' ? one.body.replace(/\r\n?/g, '\n') : '',
    labels: names.filter((name) => typeof name === 'string'),
    isClosed,
    reason: reason.toLowerCase().replaceAll('_', ' '),
    isDropped: isClosed && /^(?:not[_ ]planned|duplicate)$/i.test(reason),
    parent: numbersIn([one.parent])[0] ?? null,
    children: numbersIn(one.subIssues ?? one.sub_issues),
    blockedBy: numbersIn(one.blockedBy ?? one.blocked_by),
    closedBlockers: numbersIn(one.blockedBy ?? one.blocked_by, true),
    line: data.lineOf(at),
  }
}

/** The numbers of linked issues, or only of closed ones: a list of them, or GraphQL's `{ nodes: [...] }`. */
function numbersIn(linked: unknown, onlyClosed = false): number[] {
  const list: unknown = isObject(linked) && Array.isArray(linked.nodes) ? linked.nodes : linked
  const isWanted = ({ state }: Raw) => !onlyClosed || /^closed$/i.test(String(state ?? ''))
  return (Array.isArray(list) ? list : [])
    .filter(isObject)
    .flatMap((one) => (typeof one.number === 'number' && isWanted(one) ? [one.number] : []))
}

function read(document: OpenDocument): Partial<Reading> {
  const all = issuesIn(document)
  const dropped = all.filter(({ isDropped }) => isDropped)
  const kept = all.filter(({ isDropped }) => !isDropped)
  const parentOf = parents(kept)
  const epics = new Set(parentOf.values())
  const work = kept.filter(({ number }) => !epics.has(number))
  const { stories, notes: waits } = dropUnknownDependencies(
    work.map((issue) => parseStory(document.path, withoutClosed(issue, work), parentOf)),
  )
  const closed = work.filter(({ isClosed }) => isClosed).length
  const words = closed > 0 ? `, ${closed} of them closed` : ''
  const notes = [...waits]
  if (stories.length > 0)
    notes.unshift(`${formatCount(stories.length, 'issue')} read as user stories${words}.`)
  const named = (issues: readonly Issue[]) =>
    `${issues
      .slice(0, 20)
      .map(({ number }) => `GH-${number}`)
      .join(', ')}${issues.length > 20 ? ' ...' : ''}`
  for (const reason of new Set(dropped.map((one) => one.reason)))
    notes.push(`left out, closed as ${reason}: ${named(dropped.filter((one) => one.reason === reason))}.`)
  const above = kept.filter(({ number }) => epics.has(number))
  if (above.length > 0) notes.push(`read as epics, because other issues are parts of them: ${named(above)}.`)
  return { stories, notes, boxes: 0 }
}

/** The issue without blockers that are closed and not in the list: nothing waits for them. */
function withoutClosed(issue: Issue, listed: readonly Issue[]): Issue {
  const isListed = (number: number) => listed.some((one) => one.number === number)
  const blockedBy = issue.blockedBy.filter(
    (number) => !issue.closedBlockers.includes(number) || isListed(number),
  )
  return { ...issue, blockedBy }
}

/** The parent of each issue, if it is in the list. Either of the two issues may name the other. */
function parents(issues: readonly Issue[]): Map<number, number> {
  const listed = new Set(issues.map(({ number }) => number))
  const found = new Map<number, number>()
  for (const { number, parent, children } of issues) {
    if (parent !== null && listed.has(parent)) found.set(number, parent)
    for (const child of children) if (listed.has(child) && child !== number) found.set(child, number)
  }
  return found
}

function parseStory(path: string, issue: Issue, parentOf: ReadonlyMap<number, number>): ParsedStory {
  const { number, title, body, labels, isClosed, blockedBy, line } = issue
  const needs = [...body.matchAll(/\b(?:depends on|blocked by)((?:[ \t,]|and|#\d+)+)/gi)].flatMap(
    ([, ids = '']) => [...ids.matchAll(/#(\d{1,9})/g)].map(([, id]) => Number(id)),
  )
  const dependsOn = [...new Set([...needs, ...blockedBy])].map((id) => `GH-${id}`)
  const { description, acceptanceCriteria } = partsOf(path, number, body)
  const parent = parentOf.get(number)
  return {
    line,
    raw: {
      ...{ id: `GH-${number}`, title, description, acceptanceCriteria, dependsOn },
      ...(parent === undefined ? {} : { epicId: `GH-${parent}` }),
      ...(labels.length === 0 ? {} : { tags: labels }),
      passes: isClosed,
    },
    urgency: labels.map(urgencyOf).find((one) => one !== 1) ?? 1,
  }
}

/** A body that would take a parser minutes is not parsed. */
function partsOf(path: string, number: number, body: string) {
  if (findUnparsable(path, body).length > 0)
    return { description: truncate(body, 20_000), acceptanceCriteria: [] }
  const blocks = withoutAttestations(parseBlocks(withoutReferences(body)))
  return storyFields(blocks, `GH-${number}`).raw
}

const attestation =
  /^I(?:'ve|'m)?\b.{0,40}\b(?:agree|have|searched|read|checked|confirm|understand|am|looked|made)\b/i

/** The blocks without confirmations of an issue form ("I have searched ..."), and without headings that have only such boxes. */
function withoutAttestations(blocks: readonly Block[]): Block[] {
  const isAssured = ({ done, text }: Point) => done !== null && attestation.test(text.slice(0, 200))
  const kept: Block[] = []
  for (const block of blocks) {
    const points = block.kind === 'points' ? block.points.filter((point) => !isAssured(point)) : []
    if (block.kind !== 'points' || points.length > 0) {
      kept.push(block.kind === 'points' ? { ...block, points } : block)
    } else if (kept.at(-1)?.kind === 'heading') kept.pop()
  }
  return kept
}

/** The body without lines that only name other issues: they are not criteria. */
function withoutReferences(body: string): string {
  return body
    .replace(/^[ \t]*(?:depends on|blocked by)\b.*$/gim, '')
    .replace(
      /^[ \t]*[-*+][ \t]+(?:\[[ xX]\][ \t]+)?(?:#\d{1,9}|https:\/\/github\.com\/\S+\/issues\/\d{1,9})[ \t]*$/gim,
      '',
    )
}
