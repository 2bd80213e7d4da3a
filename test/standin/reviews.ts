// Reviews of the stand-in: what people say on lines of a pull request, and how GraphQL shows it.
import { commitNode } from './merge-queue.ts'
import type { Doer, Identity, Json, Review, Thread, ThreadComment } from './model.ts'
import { fromNodeId, htmlUrl, nodeId, renderPull, renderUser } from './render.ts'
import { demand } from './rest/call.ts'
import type { World } from './world.ts'

export interface NewThread {
  path: string
  /** Null: on the whole file. */
  line: number | null
  startLine?: number
  body: string
  hunk?: string
}

/** A person's review with its threads. Tells the workflows of both, as GitHub does. */
export function submitReview(
  world: World,
  login: string,
  number: number,
  { state = 'COMMENTED', body = '', threads = [] }: Partial<Review> & { threads?: NewThread[] },
): Thread[] {
  const head = world.issue(number).pull?.headSha ?? ''
  const review: Review = { id: world.nextId(), number, login, state, body, head }
  world.reviews.push(review)
  const made = threads.map(({ path, line, startLine, body: words, hunk }): Thread => {
    const thread = {
      id: world.nextId(),
      number,
      path,
      line,
      startLine: startLine ?? null,
      hunk: hunk ?? `@@ -1 +1 @@\n+${path}`,
      isResolved: false,
      comments: [commentOf(world, login, words)],
    }
    world.threads.set(thread.id, thread)
    return thread
  })
  for (const thread of made) raiseComment(world, thread, login, null)
  raiseReview(world, review, 'submitted', { login })
  return made
}

/** A person's further comment in a thread. */
export function replyInThread(world: World, login: string, id: number, body: string): ThreadComment {
  const thread = threadOf(world, id)
  const comment = commentOf(world, login, body)
  const first = thread.comments[0]?.id ?? null
  thread.comments.push(comment)
  raiseComment(world, thread, login, first)
  return comment
}

export function dismissReview(world: World, login: string, review: Review): void {
  review.state = 'DISMISSED'
  raiseReview(world, review, 'dismissed', { login })
}

function commentOf(world: World, login: string, body: string): ThreadComment {
  return { id: world.nextId(), login, body, createdAt: world.now() }
}
function threadOf(world: World, id: number): Thread {
  const found = world.threads.get(id)
  if (found === undefined) throw new Error(`there is no thread ${id}`)
  return found
}

function raiseReview(world: World, review: Review, action: string, by: Doer): void {
  const issue = world.issue(review.number)
  const html = htmlUrl(world, `/pull/${review.number}#pullrequestreview-${review.id}`)
  const payload = {
    review: {
      id: review.id,
      node_id: nodeId('PullRequestReview', review.id),
      user: renderUser(world, review.login),
      body: review.body || null,
      commit_id: issue.pull?.headSha,
      submitted_at: world.now(),
      state: review.state.toLowerCase(),
      html_url: html,
      pull_request_url: html,
      author_association: world.associationOf(review.login),
      _links: { html: { href: html }, pull_request: { href: html } },
    },
    pull_request: renderPull(world, issue),
  }
  world.raise('pull_request_review', action, payload, by)
}
function raiseComment(world: World, thread: Thread, login: string, inReplyTo: number | null): void {
  const comment = thread.comments.at(-1)
  const payload = {
    comment: {
      id: comment?.id,
      node_id: nodeId('PullRequestReviewComment', comment?.id ?? 0),
      path: thread.path,
      diff_hunk: thread.hunk,
      body: comment?.body,
      user: renderUser(world, login),
      author_association: world.associationOf(login),
      ...(inReplyTo === null ? {} : { in_reply_to_id: inReplyTo }),
    },
    pull_request: renderPull(world, world.issue(thread.number)),
  }
  world.raise('pull_request_review_comment', 'created', payload, { login })
}

/** A thread as GraphQL shows it to this identity. */
function renderThread(world: World, by: Identity, thread: Thread): Json {
  return {
    __typename: 'PullRequestReviewThread',
    id: nodeId('PullRequestReviewThread', thread.id),
    isResolved: thread.isResolved,
    path: thread.path,
    line: thread.line,
    startLine: thread.startLine,
    comments: ({ first, last }: { first?: number; last?: number }) => {
      const nodes = thread.comments.map((comment) => ({
        id: nodeId('PullRequestReviewComment', comment.id),
        databaseId: comment.id,
        body: comment.body,
        diffHunk: thread.hunk,
        url: htmlUrl(world, `/pull/${thread.number}#discussion_r${comment.id}`),
        viewerDidAuthor: comment.login === by.login,
        author: renderActor(comment.login),
      }))
      const shown = first === undefined ? nodes.slice(-(last ?? 100)) : nodes.slice(0, first)
      return { totalCount: nodes.length, nodes: shown }
    },
  }
}
/** As an author a bot has no `[bot]`. */
function renderActor(login: string): Json | null {
  if (login === 'ghost') return null
  const isBot = login.endsWith('[bot]')
  return { __typename: isBot ? 'Bot' : 'User', login: login.replace(/\[bot\]$/, '') }
}

export function reviewsOf(world: World, by: Identity, number: number): Json {
  demand(by, ['pull_requests:read'])
  const own = world.reviews.filter((review) => review.number === number)
  const opinionated = new Map<string, Review>()
  for (const review of own) if (review.state !== 'COMMENTED') opinionated.set(review.login, review)
  const all = [...world.threads.values()].filter((thread) => thread.number === number)
  return {
    __typename: 'PullRequest',
    latestOpinionatedReviews: () => ({
      nodes: [...opinionated.values()].map(({ state, login, head }) => ({
        state,
        author: renderActor(login),
        commit: { oid: head },
      })),
    }),
    // With `last`, the newest commit; else those who wrote the commits.
    commits: ({ last }: { last?: number }) => ({
      pageInfo: { hasNextPage: false, endCursor: null },
      nodes:
        last === undefined
          ? [...world.committers].map((one) => ({
              commit: { authors: { nodes: [{ user: { login: one } }] } },
            }))
          : [{ commit: commitNode(world, by, world.issue(number).pull?.headSha ?? '') }],
    }),
    reviewThreads: ({ first = 100, after = null }: { first?: number; after?: string | null }) => {
      const from = after === null ? 0 : Number(after)
      const nodes = all.slice(from, from + first).map((thread) => renderThread(world, by, thread))
      const end = from + nodes.length
      return { pageInfo: { hasNextPage: end < all.length, endCursor: String(end) }, nodes }
    },
  }
}

/** The thread with this node id, or null. */
export function threadNode(world: World, by: Identity, id: string): Json | null {
  const found = world.threads.get(Number(fromNodeId(id)?.id))
  return found === undefined ? null : renderThread(world, by, found)
}

export function addReply(world: World, by: Identity, id: string, body: string): Json | null {
  demand(by, ['pull_requests:write'])
  const thread = world.threads.get(Number(fromNodeId(id)?.id))
  if (thread === undefined) return null
  const comment = commentOf(world, by.login, body)
  thread.comments.push(comment)
  return { comment: { id: nodeId('PullRequestReviewComment', comment.id) } }
}

export function resolveThread(world: World, by: Identity, id: string): Json | null {
  demand(by, ['pull_requests:write', 'contents:write'])
  const thread = world.threads.get(Number(fromNodeId(id)?.id))
  if (thread === undefined) return null
  thread.isResolved = true
  return { thread: renderThread(world, by, thread) }
}
