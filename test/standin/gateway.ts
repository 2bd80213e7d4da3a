// The one HTTP server of the stand-in: who asks, what GitHub's contract says of it, and who answers.
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isOfCache } from './cache-entries.ts'
import { type Fault, type Faults, isAnswer } from './faults.ts'
import { FORGEJO, GITEA } from './forges/gitea.ts'
import { gitHttp } from './git-http.ts'
import { graphql } from './graphql.ts'
import type { Identity, Json, SeenRequest } from './model.ts'
import { type ContractName, contractOf, type Operation } from './openapi.ts'
import { charge, rate, rateHeaders } from './rates.ts'
import { actions } from './rest/actions.ts'
import { type Answer, type Endpoints, may } from './rest/call.ts'
import { checks } from './rest/checks.ts'
import { issues } from './rest/issues.ts'
import { pulls } from './rest/pulls.ts'
import { repository } from './rest/repository.ts'
import { HttpError, noAccess, notFound, type World } from './world.ts'

interface Reply {
  status: number
  headers: Record<string, string>
  body: Buffer
}
interface Asked {
  world: World
  request: IncomingMessage
  body: Buffer
  url: URL
  seen: SeenRequest
}

const documentation = 'https://docs.github.com/rest'
const endpoints: Endpoints = {
  ...repository,
  ...pulls,
  ...issues,
  ...checks,
  ...actions,
  'rate-limit/get': {
    needs: [],
    answer: ({ world, identity }) => {
      const core = rate(world, identity, 'core')
      const resources = {
        core,
        graphql: rate(world, identity, 'graphql'),
        search: { limit: 30, used: 0, remaining: 30, reset: core.reset },
      }
      return { status: 200, body: { resources, rate: core } }
    },
  },
}

/** By operation on GitHub; on the others by the template of the path, with the method if there are several. */
const ENDPOINTS: Readonly<Record<ContractName, Endpoints>> = {
  github: endpoints,
  gitea: GITEA,
  forgejo: FORGEJO,
}

/** Starts the server on a free port of the loopback interface. */
export async function startGateway(world: World, faults: Faults): Promise<Server> {
  const server = createServer((request, response) => {
    void serve(world, faults, request, response)
  })
  // An idle connection that is closed under a client's hands looks like a fault; none was ordered.
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  world.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return server
}

async function serve(
  world: World,
  faults: Faults,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const began = performance.now()
  const url = new URL(request.url ?? '/', world.url)
  const seen: SeenRequest = {
    kind: kindOf(world, url.pathname),
    method: request.method ?? 'GET',
    path: pathOf(world, url.pathname),
    query: url.search.slice(1),
    status: 0,
    operation: null,
    mutation: null,
    token: null,
    login: null,
    job: null,
    at: Date.now(),
    ms: 0,
  }
  const who = world.tokens.get(tokenOf(request) ?? '')
  Object.assign(seen, { token: tokenOf(request), login: who?.login ?? null, job: who?.job ?? null })
  try {
    const body = await readBody(request)
    if (seen.kind === 'graphql') seen.mutation = mutationIn(body)
    world.requests.push(seen)
    const fault = faults.take(seen)
    if (fault !== null && !fault.afterwards) return await misbehave(fault, seen, response)
    const reply = await answer({ world, request, body, url, seen })
    if (fault !== null) return await misbehave(fault, seen, response)
    seen.status = reply.status
    response.writeHead(reply.status, reply.headers).end(request.method === 'HEAD' ? undefined : reply.body)
  } catch (error) {
    seen.status = 500
    // A mistake of the stand-in itself must not look like one of GitHub's bad days.
    world.violations.push(
      `${seen.method} ${seen.path}: the stand-in failed: ${String((error as Error).stack ?? error)}`,
    )
    if (!response.headersSent) response.writeHead(500)
    response.end()
  } finally {
    seen.ms = performance.now() - began
  }
}

function mutationIn(body: Buffer): string | null {
  const query = (parseJson(body) as { query?: unknown } | null)?.query
  return /^\s*mutation[^{]*\{\s*(\w+)/.exec(typeof query === 'string' ? query : '')?.[1] ?? null
}

async function misbehave(fault: Fault, seen: SeenRequest, response: ServerResponse): Promise<void> {
  if (fault.answer === 'hang') await fault.released
  if (!isAnswer(fault.answer)) {
    seen.status = 0
    response.destroy()
    return
  }
  const { status, headers, body } = fault.answer
  seen.status = status
  const content = typeof body === 'string' ? body : JSON.stringify(body ?? { message: 'Server Error' })
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers }).end(content)
}

function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => resolve(Buffer.concat(chunks)))
    request.on('error', reject)
  })
}

const gitPath = /^\/([^/]+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/
function kindOf({ dialect }: World, path: string): SeenRequest['kind'] {
  if (gitPath.test(path)) return 'git'
  if (dialect.graphql !== null && (path === '/graphql' || path === '/api/graphql')) return 'graphql'
  return /^\/(?:_services|twirp)\//.test(path) ? 'service' : 'rest'
}
/** The path without where the API of the server begins. */
function pathOf({ dialect }: World, path: string): string {
  const start = dialect.api === '' ? '/api/v3' : dialect.api
  return path.startsWith(`${start}/`) ? path.slice(start.length) : path
}
function tokenOf(request: IncomingMessage): string | null {
  const [scheme = '', value = ''] = (request.headers.authorization ?? '').split(' ')
  if (/^(token|bearer)$/i.test(scheme)) return value
  if (!/^basic$/i.test(scheme)) return null
  return Buffer.from(value, 'base64')
    .toString()
    .replace(/^[^:]*:/, '')
}

async function answer(asked: Asked): Promise<Reply> {
  const { request, seen } = asked
  const names = request.rawHeaders.filter((_, index) => index % 2 === 0)
  if (names.filter((name) => name.toLowerCase() === 'authorization').length > 1)
    return {
      status: 400,
      headers: { 'content-type': 'text/plain' },
      body: Buffer.from('duplicate Authorization header\n'),
    }
  if (seen.kind === 'git') return answerGit(asked)
  if (seen.kind === 'service') {
    if (!asked.world.dialect.hasResults)
      asked.world.violations.push(`${seen.path}: this server has no such service`)
    const { results, cache } = asked.world
    const { status, headers, body } = (isOfCache(asked.url) ? cache : results).answer(
      seen.method,
      asked.url,
      request.headers,
      asked.body,
    )
    return { status, headers, body: Buffer.from(body) }
  }
  const log = /^\/_logs\/(\d+)$/.exec(seen.path)
  return log === null ? answerApi(asked) : answerLog(asked, Number(log[1]))
}

/** The storage of logs. It belongs to somebody else, so no token may come here. */
function answerLog({ world, seen }: Asked, id: number): Reply {
  if (seen.token !== null) world.violations.push('GET of a log: the token was sent to the storage')
  const log = world.checks.get(id)?.log ?? null
  const headers = { 'content-type': 'text/plain' }
  return { status: log === null ? 404 : 200, headers, body: Buffer.from(log ?? '') }
}

async function answerGit({ world, request, body, url, seen }: Asked): Promise<Reply> {
  const [, owner, repo, service = ''] = gitPath.exec(seen.path) ?? []
  const plain = (status: number, message: string, headers: Record<string, string> = {}): Reply => ({
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
    body: Buffer.from(`${message}\n`),
  })
  const challenge = { 'www-authenticate': 'Basic realm="GitHub"' }
  const identity = world.tokens.get(seen.token ?? '')
  const isPush = service === 'git-receive-pack' || url.searchParams.get('service') === 'git-receive-pack'
  if (identity === undefined && (seen.token !== null || isPush || world.settings.private))
    return plain(401, seen.token === null ? 'No anonymous access.' : 'Invalid username or token.', challenge)
  if (`${owner}/${repo}` !== world.fullName) return plain(404, 'Repository not found.')
  if (identity !== undefined && isPush && !may(identity, ['contents:write']))
    return plain(403, `Permission to ${world.fullName}.git denied to ${identity.login}.`)
  if (identity !== undefined && world.settings.private && !may(identity, ['contents:read']))
    return plain(403, 'Write access to repository not granted.')
  const { workflowGuard, protectedBranches } = world.settings
  const reply = await gitHttp({
    repository: world.bare.path,
    service,
    query: seen.query,
    request,
    body,
    login: identity?.login ?? '',
    protectedBranches,
    guard: identity?.kind === 'user' || workflowGuard === 'off' ? '' : workflowGuard,
  })
  if (identity !== undefined) await world.pushed(reply.moved, identity)
  return reply
}

async function answerApi({ world, request, body, url, seen }: Asked): Promise<Reply> {
  const identity = world.tokens.get(seen.token ?? '')
  if (identity === undefined) {
    const message = seen.token === null ? 'Requires authentication' : 'Bad credentials'
    return json({ status: 401, body: { message, documentation_url: documentation, status: '401' } }, {})
  }
  const resource = seen.kind === 'graphql' ? 'graphql' : 'core'
  const limits = (): Record<string, string> => rateHeaders(rate(world, identity, resource), resource)
  const isFree = seen.path === '/rate_limit'
  if (!isFree && rate(world, identity, resource).remaining === 0) {
    const message = `API rate limit exceeded for ${identity.login}.`
    return json({ status: 403, body: { message, documentation_url: documentation } }, limits())
  }
  const parsed = parseJson(body)
  const result =
    seen.kind === 'graphql'
      ? await graphql(world, identity, parsed)
      : await rest(world, identity, { seen, url, parsed })
  const text = result.body === undefined ? '' : JSON.stringify(result.body)
  const etag = `W/"${createHash('sha256').update(text).digest('hex')}"`
  const isCached = seen.method === 'GET' && result.status === 200
  // A conditional request that found nothing new costs nothing (facts 3.5).
  const isUnchanged = isCached && request.headers['if-none-match']?.replace(/^W\//, '') === etag.slice(2)
  if (!isFree && !isUnchanged) charge(world, identity, resource)
  const headers = {
    ...limits(),
    ...(isCached ? { etag, 'cache-control': 'private, max-age=60, s-maxage=60' } : {}),
  }
  if (isUnchanged) return json({ status: 304 }, headers)
  const raw = /application\/vnd\.github(?:\.v3)?\.raw\b/.test(request.headers.accept ?? '')
    ? contentOf(result)
    : null
  return raw === null ? json(result, headers) : rawReply(raw, headers)
}

/** The bytes of a file that was asked for by its contents; null for any other answer. */
function contentOf({ status, body }: Answer): Buffer | null {
  if (status !== 200 || typeof body !== 'object' || body === null) return null
  const { type, content } = body as Json
  return type === 'file' && typeof content === 'string' ? Buffer.from(content, 'base64') : null
}

function rawReply(body: Buffer, headers: Record<string, string>): Reply {
  const type = 'application/vnd.github.raw+json; charset=utf-8'
  const own = { 'content-type': type, 'x-github-media-type': 'github.v3; param=raw; format=json' }
  return { status: 200, headers: { ...headers, ...own, 'x-github-request-id': randomUUID() }, body }
}

function parseJson(body: Buffer): unknown {
  if (body.length === 0) return undefined
  try {
    return JSON.parse(body.toString())
  } catch {
    return Symbol.for('malformed')
  }
}

async function rest(
  world: World,
  identity: Identity,
  { seen, url, parsed }: { seen: SeenRequest; url: URL; parsed: unknown },
): Promise<Answer> {
  const blame = (problem: string): void => {
    world.violations.push(`${seen.method} ${seen.path}: ${problem}`)
  }
  const contract = contractOf(world.dialect.contract)
  const found = contract.match(seen.method, seen.path)
  if (found.kind !== 'found') {
    blame(
      found.kind === 'unknown'
        ? `${contract.title} has no such operation`
        : `${found.template} is not simulated`,
    )
    const status = found.kind === 'unknown' ? 404 : 501
    return {
      status,
      body: { message: status === 404 ? 'Not Found' : 'Not simulated', documentation_url: documentation },
    }
  }
  const { operation, params } = found
  seen.operation = operation.id
  let result: Answer
  try {
    const isOurs =
      params.owner === undefined ||
      `${params.owner}/${params.repo}`.toLowerCase() === world.fullName.toLowerCase()
    const isPublic = operation.id === 'repos/get-latest-release'
    if (!isOurs && !isPublic) throw notFound()
    const { id, method, template } = operation
    const own = ENDPOINTS[contract.name]
    const endpoint = own[id] ?? own[`${method} ${template}`] ?? own[template]
    if (endpoint === undefined) throw new HttpError(501, 'Not simulated')
    const problems =
      typeof parsed === 'symbol'
        ? ['the body is not JSON']
        : contract.requestProblems(operation, url.searchParams, parsed)
    if (problems.length > 0 && !isOldServer(world, operation, parsed)) {
      for (const problem of problems) blame(problem)
      throw new HttpError(422, `Invalid request.\n\n${problems.join('\n')}`)
    }
    if (!may(identity, endpoint.needs)) throw noAccess()
    result = await endpoint.answer({
      world,
      params,
      query: url.searchParams,
      body: (parsed ?? {}) as Json,
      identity,
      url,
    })
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    const { status, message, errors } = error
    const details = errors === undefined ? {} : { errors }
    result = {
      status,
      body: { message, ...details, documentation_url: documentation, status: String(status) },
    }
  }
  for (const problem of contract.answerProblems(operation, result.status, result.body))
    world.violations.push(`response violation: ${operation.id} ${result.status}: ${problem}`)
  return result
}
/** To an old server the field is unknown; the endpoint itself says so, and it is not our client's mistake. */
function isOldServer(world: World, operation: Operation, parsed: unknown): boolean {
  const isDispatch = operation.id === 'actions/create-workflow-dispatch'
  return (
    world.settings.oldDispatch &&
    isDispatch &&
    typeof parsed === 'object' &&
    parsed !== null &&
    'return_run_details' in parsed
  )
}

function json(result: Answer, headers: Record<string, string>): Reply {
  const body = result.body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(result.body))
  return {
    status: result.status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'x-github-request-id': randomUUID(),
      'x-github-media-type': 'github.v3; format=json',
      ...headers,
      ...result.headers,
    },
    body,
  }
}
