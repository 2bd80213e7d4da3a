// Threads of reviews: reads the ones that wait for Ralph, and answers them. Their texts are hostile.

import { placeOf } from '../../engine/corrections/kinds.ts'
import type { CorrectionReport, ReviewThread, Suggestion } from '../../engine/model/correction.ts'
import { fenced, oneLine, sanitizeText } from '../../engine/model/text.ts'
import { excerpt } from '../../system/excerpt.ts'
import { createOnce, type GitHub } from '../client.ts'
import type { AnswerContext, Ended } from './answer-corrections.ts'

/** Who may start corrections by a review: `writers`, or only comments that contain this mention; null: no one. */
export type ReviewRules = {
  mention: string | null
  bots: readonly string[]
  /** Whether a session that cannot write answers threads that only ask. */
  answers: boolean
}

type Author = { login: string; __typename: string } | null
type CommentNode = { databaseId: number | null; body: string; author: Author }
type ThreadNode = {
  id: string
  isResolved: boolean
  path: string
  line: number | null
  startLine: number | null
  root: { nodes: (CommentNode & { url: string; diffHunk: string })[] }
  newest: { totalCount: number; nodes: CommentNode[] }
}
type Answer = {
  viewer: { login: string }
  repository: {
    pullRequest: {
      latestOpinionatedReviews: { nodes: { state: string; author: Author }[] } | null
      reviewThreads: {
        pageInfo: { hasNextPage: boolean; endCursor: string | null }
        nodes: ThreadNode[]
      }
    } | null
  } | null
}

const QUERY = `query ($owner: String!, $name: String!, $number: Int!, $after: String) {
  viewer { login }
  repository(owner: $owner, name: $name) { pullRequest(number: $number) {
    latestOpinionatedReviews(first: 50, writersOnly: true) { nodes { state author { __typename login } } }
    reviewThreads(first: 100, after: $after) {
      pageInfo { hasNextPage endCursor }
      nodes { id isResolved path line startLine
        root: comments(first: 1) { nodes { databaseId body url diffHunk author { __typename login } } }
        newest: comments(last: 20) { totalCount nodes { databaseId body author { __typename login } } }
      }
    }
  } }
}`

/** The pages of threads that are read at most. */
const MAX_PAGES = 5
/** Bytes of a thread's words and of its diff hunk. */
const MAX_WORDS = 6000
const MAX_HUNK = 2000

export type ReadReviews = { reports: CorrectionReport[]; changesRequestedBy: string[] }

/** The unresolved threads in which a person who may ask for changes has the last word; and the people who requested changes. */
export async function readReviews(
  { api, repo }: GitHub,
  pull: number,
  rules: ReviewRules,
  mayWrite: (login: string) => Promise<boolean>,
): Promise<ReadReviews> {
  const reports: CorrectionReport[] = []
  let changesRequestedBy: string[] = []
  let after: string | null = null
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const variables = { owner: repo.owner, name: repo.repo, number: pull, after }
    const answer: Answer = await api.graphql<Answer>(QUERY, variables)
    const found = answer.repository?.pullRequest
    if (found == null) break
    const reviews = found.latestOpinionatedReviews?.nodes ?? []
    changesRequestedBy = reviews.flatMap(({ state, author }) =>
      state === 'CHANGES_REQUESTED' && author !== null ? [author.login] : [],
    )
    for (const node of found.reviewThreads.nodes) {
      const report = await reportOf(node, bareLogin(answer.viewer.login), rules, mayWrite)
      if (report !== null) reports.push(report)
    }
    if (!found.reviewThreads.pageInfo.hasNextPage) break
    after = found.reviewThreads.pageInfo.endCursor
  }
  return { reports, changesRequestedBy }
}

/** GraphQL shows a bot without `[bot]` as an author, and with it as the viewer. */
function bareLogin(login: string): string {
  return login.replace(/\[bot\]$/, '').toLowerCase()
}

async function reportOf(
  { id, isResolved, path, line, startLine, root, newest }: ThreadNode,
  self: string,
  rules: ReviewRules,
  mayWrite: (login: string) => Promise<boolean>,
): Promise<CorrectionReport | null> {
  const [first] = root.nodes
  if (isResolved || first === undefined) return null
  const isOwn = ({ author }: CommentNode) => author !== null && bareLogin(author.login) === self
  const isFirstShown = newest.nodes.some(({ databaseId }) => databaseId === first.databaseId)
  const comments = isFirstShown ? newest.nodes : [first, ...newest.nodes]
  const since = comments.slice(comments.findLastIndex(isOwn) + 1)
  const asks = async (comment: CommentNode) =>
    (await isHeard(comment, rules, mayWrite)) &&
    (rules.mention === null || mentions(comment.body, rules.mention))
  const last = since.at(-1)
  if (last === undefined || !(await some(since, asks))) return null
  const heard: CommentNode[] = []
  for (const comment of comments)
    if (!isOwn(comment) && (await isHeard(comment, rules, mayWrite))) heard.push(comment)
  const lines = line === null ? null : { from: startLine ?? line, to: line }
  const thread: ReviewThread = {
    id,
    comment: first.databaseId ?? 0,
    url: first.url,
    by: oneLine(last.author?.login ?? 'ghost', 64),
    path,
    lines,
    newest: last.databaseId ?? 0,
  }
  // What others wrote in the thread is neither a question to Ralph nor a suggestion.
  const said = since.filter((one) => heard.includes(one))
  const suggestion = suggestionIn(said, lines, first.diffHunk, path)
  return {
    source: { kind: rules.answers && said.every(asksOnly) ? 'question' : 'review', threads: [thread] },
    text: threadText(thread, heard, first.diffHunk),
    ...(suggestion === null ? {} : { suggestions: [suggestion] }),
    places: [{ path, lines }],
  }
}

/** Whether it looks like a question: it ends with a question mark and suggests no change. The session that answers has the last word. */
function asksOnly({ body }: CommentNode): boolean {
  if (/```suggestion/i.test(body)) return false
  const words = body.replace(/```[\s\S]*?(```|$)/g, ' ').replace(/^ *>.*$/gm, ' ')
  return /[?？؟]\s*$/.test(words)
}

/** Characters of a suggestion. */
const MAX_SUGGESTION = 20_000

/** The only suggestion since Ralph's last word; null without one, or with several. The hunk ends with the lines that it replaces. */
function suggestionIn(
  comments: readonly CommentNode[],
  lines: ReviewThread['lines'],
  hunk: string,
  path: string,
): Suggestion | null {
  const found = comments.flatMap(({ body }) => [
    ...body.replaceAll('\r\n', '\n').matchAll(/^```suggestion *\n([\s\S]*?)^```/gm),
  ])
  const [only] = found
  if (lines === null || found.length !== 1 || only === undefined) return null
  const text = only[1] ?? ''
  const seen = hunk
    .split('\n')
    .filter((line) => line.startsWith('+') || line.startsWith(' '))
    .map((line) => line.slice(1).replace(/\r$/, ''))
  const was = seen.slice(-(lines.to - lines.from + 1))
  if (text.length > MAX_SUGGESTION || was.length !== lines.to - lines.from + 1) return null
  return { path, ...lines, was, now: text === '' ? [] : text.replace(/\n$/, '').split('\n') }
}

/** Whether a person with write permission, or a bot of `reviews-from`, wrote it. */
async function isHeard(
  { author }: CommentNode,
  { bots }: ReviewRules,
  mayWrite: (login: string) => Promise<boolean>,
): Promise<boolean> {
  if (author === null) return false
  if (author.__typename === 'Bot') return bots.some((bot) => bareLogin(bot) === bareLogin(author.login))
  return author.__typename === 'User' && (await mayWrite(author.login))
}

function mentions(body: string, mention: string): boolean {
  const name = mention.replace(/^@/, '').toLowerCase()
  return [...body.matchAll(/(?<![\w/])@([A-Za-z\d-]+)/g)].some(
    ([, login = '']) => login.toLowerCase() === name,
  )
}

async function some<T>(items: readonly T[], test: (item: T) => Promise<boolean>): Promise<boolean> {
  for (const item of items) if (await test(item)) return true
  return false
}

function threadText(thread: ReviewThread, comments: readonly CommentNode[], hunk: string): string {
  const words = comments.map(
    ({ author, body }) => `${oneLine(author?.login ?? 'ghost', 64)} wrote:\n${sanitizeText(body)}`,
  )
  return [
    `## Thread on ${placeOf(thread.path, thread.lines)}`,
    hunk === ''
      ? ''
      : `The lines as the reviewer saw them:\n${fenced(lastBytes(sanitizeText(hunk), MAX_HUNK))}`,
    fenced(excerpt(words.join('\n\n'), MAX_WORDS)),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function lastBytes(text: string, max: number): string {
  return text.length <= max ? text : text.slice(-max)
}

const REPLY = `mutation ($thread: ID!, $body: String!) {
  addPullRequestReviewThreadReply(input: { pullRequestReviewThreadId: $thread, body: $body }) { comment { id } }
}`
const RESOLVE = `mutation ($thread: ID!) { resolveReviewThread(input: { threadId: $thread }) { thread { isResolved } } }`
const OWN = `query ($id: ID!) { node(id: $id) { ... on PullRequestReviewThread {
  isResolved
  comments(last: 50) { nodes { body viewerDidAuthor } }
} } }`

type OwnReplies = {
  node: { isResolved: boolean; comments: { nodes: { body: string; viewerDidAuthor: boolean }[] } } | null
}

/** Replies to each thread once, and resolves those whose lines the commit changes. A thread that was deleted needs no reply. */
export async function answerThreads(
  { github, touches }: AnswerContext,
  { threads }: { threads: readonly ReviewThread[] },
  { id, result, reply }: Ended,
): Promise<void> {
  for (const thread of threads) {
    const marker = `<!-- ralph:reply:${id}:${thread.comment} -->`
    const seen = await ownReply(github, thread.id, marker)
    if (seen === null) continue
    const find = async () => ((await ownReply(github, thread.id, marker))?.isAnswered ? true : null)
    if (!seen.isAnswered)
      await createOnce(async () => {
        await github.api.graphql(REPLY, {
          thread: thread.id,
          body: `${marker}\n${reply}`,
          request: { retries: 0 },
        })
        return true
      }, find)
    const isTouched =
      result.kind === 'done' &&
      !result.isUnchanged &&
      (await touches(result.commit, thread.path, thread.lines))
    if (isTouched && !seen.isResolved) await github.api.graphql(RESOLVE, { thread: thread.id })
  }
}

async function ownReply({ api }: GitHub, id: string, marker: string) {
  // A thread that no longer exists is an error of GraphQL.
  const { node } = await api.graphql<OwnReplies>(OWN, { id }).catch((error: unknown) => {
    if (isNotFound(error)) return { node: null }
    throw error
  })
  if (node === null) return null
  const isAnswered = node.comments.nodes.some(
    ({ body, viewerDidAuthor }) => viewerDidAuthor && body.startsWith(marker),
  )
  return { isAnswered, isResolved: node.isResolved }
}

function isNotFound(error: unknown): boolean {
  const errors = error instanceof Error && 'errors' in error ? error.errors : []
  return Array.isArray(errors) && errors.some(({ type }) => type === 'NOT_FOUND')
}
