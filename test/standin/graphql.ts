// The few mutations that only GraphQL offers, behind GitHub's real schema.

import { readFileSync } from 'node:fs'
import { buildSchema, execute, type GraphQLError, type GraphQLSchema, parse, validate } from 'graphql'
import { timelineOf } from './merge-queue.ts'
import type { Identity, Issue, Json } from './model.ts'
import { fromNodeId, htmlUrl, nodeId } from './render.ts'
import { demand } from './rest/call.ts'
import { addReply, resolveThread, reviewsOf, threadNode } from './reviews.ts'
import { HttpError, type World } from './world.ts'

let built: GraphQLSchema | null = null
/** GitHub's schema; made at the first query, because it takes a fifth of a second. The package would read its JSON, too. */
function schema(): GraphQLSchema {
  const file = new URL('schema.graphql', import.meta.resolve('@octokit/graphql-schema'))
  built ??= buildSchema(readFileSync(file, 'utf8'), { assumeValid: true, assumeValidSDL: true })
  return built
}

/** GraphQL answers 200 even to what it refuses; then `errors` says why. */
class Refusal extends Error {
  readonly type: string
  constructor(type: string, message: string) {
    super(message)
    this.type = type
  }
}

function pullOf(world: World, input: Json): Issue & { pull: NonNullable<Issue['pull']> } {
  const id = String(input.pullRequestId)
  const issue = world.issues.get(Number(fromNodeId(id)?.id))
  const { pull } = issue ?? { pull: null }
  if (issue === undefined || pull === null)
    throw new Refusal('NOT_FOUND', `Could not resolve to a node with the global id of '${id}'`)
  return { ...issue, pull }
}
function renderPull(world: World, issue: Issue): Json {
  const { number, title, pull } = issue
  const url = htmlUrl(world, `/pull/${number}`)
  return {
    __typename: 'PullRequest',
    id: nodeId('PullRequest', number),
    number,
    title,
    url,
    isDraft: pull?.draft,
  }
}
function renderListed(world: World, issue: Issue & { pull: NonNullable<Issue['pull']> }): Json {
  const { pull, state, body } = issue
  const merged = pull.mergeSha === null ? null : { __typename: 'Commit', oid: pull.mergeSha }
  return {
    ...renderPull(world, issue),
    body: body ?? '',
    state: pull.mergedAt !== null ? 'MERGED' : state.toUpperCase(),
    headRefName: pull.head,
    headRefOid: pull.headSha,
    baseRefName: pull.base,
    isCrossRepository: pull.fork !== null,
    createdAt: issue.createdAt,
    mergedAt: pull.mergedAt,
    mergeCommit: merged,
  }
}
function renderMerging(world: World, number: number): Json {
  const pull = world.issues.get(number)?.pull
  return {
    id: nodeId('PullRequest', number),
    headRefOid: pull?.headSha,
    isInMergeQueue: false,
    autoMergeRequest: pull?.autoMergeAt == null ? null : { enabledAt: pull.autoMergeAt },
  }
}
const mutations: Record<string, (world: World, by: Identity, input: Json) => Json | Promise<Json>> = {
  markPullRequestReadyForReview: (world, by, input) => {
    demand(by, ['pull_requests:write'])
    const issue = pullOf(world, input)
    issue.pull.draft = false
    return { clientMutationId: input.clientMutationId, pullRequest: renderPull(world, issue) }
  },
  // With nothing that makes it wait, GitHub refuses: that pull request can be merged at once.
  enablePullRequestAutoMerge: (world, by, input) => {
    demand(by, ['contents:write', 'pull_requests:write'])
    const issue = pullOf(world, input)
    const { base, draft, headSha } = issue.pull
    const { allowsAutoMerge, requiredChecks, branchRules } = world.settings
    if (!allowsAutoMerge) throw new Refusal('UNPROCESSABLE', 'Auto merge is not allowed for this repository')
    if (input.expectedHeadOid !== headSha) throw new Refusal('UNPROCESSABLE', 'Head sha does not match')
    const waits = draft || requiredChecks[base] !== undefined || branchRules[base] !== undefined
    if (!waits) throw new Refusal('UNPROCESSABLE', 'Pull request Pull request is in clean status')
    issue.pull.autoMergeAt = world.now()
    return { clientMutationId: input.clientMutationId, pullRequest: renderPull(world, issue) }
  },
  disablePullRequestAutoMerge: (world, by, input) => {
    demand(by, ['contents:write', 'pull_requests:write'])
    const issue = pullOf(world, input)
    if (issue.pull.autoMergeAt === null)
      throw new Refusal('UNPROCESSABLE', "Can't disable auto-merge for this pull request")
    issue.pull.autoMergeAt = null
    return { clientMutationId: input.clientMutationId, pullRequest: renderPull(world, issue) }
  },
  addPullRequestReviewThreadReply: (world, by, input) =>
    found(
      input.pullRequestReviewThreadId,
      addReply(world, by, String(input.pullRequestReviewThreadId), String(input.body)),
    ),
  resolveReviewThread: (world, by, input) =>
    found(input.threadId, resolveThread(world, by, String(input.threadId))),
}

function found(id: unknown, node: Json | null): Json {
  if (node === null)
    throw new Refusal('NOT_FOUND', `Could not resolve to a node with the global id of '${String(id)}'`)
  return node
}

/** Answers one GraphQL request; what is not in GitHub's schema is a violation. */
export async function graphql(
  world: World,
  by: Identity,
  body: unknown,
): Promise<{ status: number; body: Json }> {
  const request = (body ?? {}) as { query?: unknown; variables?: Json }
  if (typeof request.query !== 'string') {
    world.violations.push('POST /graphql: a query attribute must be specified')
    return { status: 400, body: { message: 'A query attribute must be specified and must be a string.' } }
  }
  let document: ReturnType<typeof parse>
  try {
    document = parse(request.query)
  } catch (error) {
    world.violations.push(`POST /graphql: ${String(error)}`)
    return { status: 200, body: { errors: [{ message: String(error) }] } }
  }
  const mistakes = validate(schema(), document)
  if (mistakes.length > 0) {
    for (const { message } of mistakes) world.violations.push(`POST /graphql: ${message}`)
    return { status: 200, body: { errors: mistakes.map(({ message }) => ({ message })) } }
  }
  const resolvers = Object.entries(mutations).map(([name, act]) => [
    name,
    (args: { input: Json }) => act(world, by, args.input),
  ])
  const result = await execute({
    schema: schema(),
    document,
    rootValue: {
      ...Object.fromEntries(resolvers),
      viewer: { __typename: 'User', login: by.login },
      node: ({ id }: { id: string }) => found(id, threadNode(world, by, id)),
      repository: () => ({
        autoMergeAllowed: world.settings.allowsAutoMerge,
        viewerDefaultMergeMethod: 'SQUASH',
        ref: async ({ qualifiedName }: { qualifiedName: string }) => {
          demand(by, ['contents:read'])
          const name = qualifiedName.replace(/^refs\/heads\//, '')
          const oid = await world.bare.head(name)
          return oid === null ? null : { name, target: { __typename: 'Commit', oid } }
        },
        pullRequests: ({ headRefName, last }: { headRefName: string; last: number }) => {
          demand(by, ['pull_requests:read'])
          const all = world.pullsNamed(headRefName)
          return {
            totalCount: all.length,
            nodes: all.slice(-last).map((issue) => renderListed(world, issue)),
          }
        },
        pullRequest: ({ number }: { number: number }) => ({
          ...reviewsOf(world, by, number),
          ...renderMerging(world, number),
          ...timelineOf(world, by, number),
        }),
      }),
    },
    ...(request.variables === undefined ? {} : { variableValues: request.variables }),
  })
  const errors = (result.errors ?? []).map((error) => renderError(world, error))
  return { status: 200, body: { data: result.data ?? null, ...(errors.length === 0 ? {} : { errors }) } }
}

function renderError(world: World, error: GraphQLError): Json {
  const cause = error.originalError
  const type = cause instanceof Refusal ? cause.type : cause instanceof HttpError ? 'FORBIDDEN' : undefined
  // Neither a refusal of ours nor of GitHub's: the variables did not fit the schema, or nothing resolves the field.
  if (type === undefined) world.violations.push(`POST /graphql: ${error.message}`)
  return { ...(type === undefined ? {} : { type }), path: error.path, message: error.message }
}
