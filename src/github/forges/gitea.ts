// GitHub's requests in the words of Gitea and Forgejo, a route each, and their answers in GitHub's. Paths are mostly the same; what
// differs is here, so that nothing else in Ralph asks which server it talks to. Routes: Gitea 1.27 and Forgejo 15 (their OpenAPI).
import { asObject, asString, type Json } from '../../engine/model/json.ts'
import { accountType } from './account-type.ts'

type Answer = { status: number; data: unknown; headers: Headers }
type Send = (method: string, path: string, content?: { query?: Json; body?: Json }) => Promise<Answer>
type Call = {
  /** The variable parts of the path, decoded, in their order. */
  parts: string[]
  /** `/repos/OWNER/REPO`. */
  repo: string
  query: URLSearchParams
  body: Json
  send: Send
  /** The answer instead, if the server failed to name its version. */
  isForgejo(): Promise<boolean | Answer>
}
type Route = { method: string; path: RegExp; answer(call: Call): Promise<Answer> }

/** The most items that both give in a page by default. An administrator may allow fewer, so only an empty page is known to be the last one. */
const PAGE = 50
/** The most pages that are read to find one thing. */
const MAX_PAGES = 20

/** A `fetch` that takes GitHub's requests and sends them to Gitea or Forgejo. */
export function speakGitea(ask: typeof fetch, api: string): typeof fetch {
  const base = api.replace(/\/+$/, '')
  let version: string | null = null
  return async (input, init = {}) => {
    const url = new URL(String(input))
    const path = url.pathname.slice(new URL(base).pathname.length)
    const method = init.method ?? 'GET'
    const send: Send = async (verb, to, { query = {}, body } = {}) => {
      const target = new URL(base + to)
      for (const [name, value] of Object.entries(query))
        if (value !== undefined && value !== null) target.searchParams.set(name, String(value))
      const { body: _ours, ...rest } = init
      const content = body === undefined ? {} : { body: JSON.stringify(body) }
      const response = await ask(target.href, { ...rest, method: verb, ...content })
      return { status: response.status, data: await readBody(response), headers: response.headers }
    }
    for (const route of ROUTES) {
      const found = route.method === method ? route.path.exec(path) : null
      if (found === null) continue
      const parts = found.slice(1).map((part) => decodeURIComponent(part ?? ''))
      const repo = /^\/repos\/[^/]+\/[^/]+/.exec(path)?.[0] ?? ''
      const body = typeof init.body === 'string' ? (asObject(JSON.parse(init.body)) ?? {}) : {}
      const isForgejo = async () => {
        if (version === null) {
          const answer = await send('GET', '/version')
          // Passed on, so that the client tries again: a guess could ask Forgejo for a route of Gitea.
          if (isOutage(answer)) return answer
          version = asString(asObject(answer.data)?.version)
        }
        // `11.0.3+gitea-1.22.0` is Forgejo's, `1.25.1` is Gitea's. Without a version, Gitea's routes are tried.
        return /\+gitea-/.test(version ?? '')
      }
      return toResponse(await route.answer({ parts, repo, query: url.searchParams, body, send, isForgejo }))
    }
    return ask(input, init)
  }
}

async function readBody(response: Response): Promise<unknown> {
  const text = await response.text()
  try {
    return text === '' ? null : JSON.parse(text)
  } catch {
    return { message: text.slice(0, 300) }
  }
}

function toResponse({ status, data, headers }: Answer): Response {
  const kept = new Headers()
  for (const name of ['link', 'retry-after', 'x-ratelimit-remaining', 'x-ratelimit-reset']) {
    const value = headers.get(name)
    if (value !== null) kept.set(name, value)
  }
  if (status === 204 || status === 304) return new Response(null, { status, headers: kept })
  kept.set('content-type', 'application/json; charset=utf-8')
  return new Response(JSON.stringify(data), { status, headers: kept })
}

function answerOf(status: number, data: unknown): Answer {
  return { status, data, headers: new Headers() }
}

function isOutage({ status }: Answer): boolean {
  return status === 429 || status >= 500
}

/** A request that these servers have no counterpart of. */
function missing(what: string): Route['answer'] {
  return async () => answerOf(404, { message: `this server has no ${what}` })
}

const route = (method: string, path: string, answer: Route['answer']): Route => {
  const source = path.replace(/:rest/g, '(.+)').replace(/:[a-z]+/g, '([^/]+)')
  return { method, path: new RegExp(`^/repos/[^/]+/[^/]+${source}$`), answer }
}

/** The answer with its data changed, unless it is a refusal. */
async function mapped(answer: Promise<Answer>, change: (data: unknown) => unknown): Promise<Answer> {
  const given = await answer
  return given.status >= 400 ? given : { ...given, data: change(given.data) }
}

const each =
  (change: (item: Json) => unknown) =>
  (data: unknown): unknown[] =>
    Array.isArray(data) ? data.map((item) => change(asObject(item) ?? {})) : []

const one =
  (change: (item: Json) => Json) =>
  (data: unknown): Json =>
    change(asObject(data) ?? {})

function withUser(item: Json): Json {
  const user = asObject(item.user)
  return user === null ? item : { ...item, user: { ...user, type: accountType(user) } }
}

function pageOf(query: URLSearchParams): Json {
  const limit = Math.min(PAGE, Number(query.get('per_page') ?? PAGE))
  return { page: query.get('page') ?? undefined, limit }
}

/** A draft is a pull request whose title begins with one of these words. */
const DRAFT_TITLE = /^(?:\[(?:WIP|draft)\]:?|(?:WIP|draft):)\s*/i
const DRAFT_WORD = 'WIP: '

function pullOf(pull: Json): Json {
  const title = asString(pull.title) ?? ''
  const isDraft = pull.draft === true || (pull.draft === undefined && /^(?:WIP:|\[WIP\])/i.test(title))
  return {
    ...withUser(pull),
    draft: isDraft,
    title: isDraft ? title.replace(DRAFT_TITLE, '') : title,
    labels: Array.isArray(pull.labels) ? pull.labels : [],
    node_id: '',
  }
}

/**
 * Neither server filters by the head, so the pages are read until one has a pull request of that branch. A fork may have a branch of the
 * same name.
 */
async function listPulls({ repo, query, send }: Call): Promise<Answer> {
  const head = query.get('head')?.replace(/^[^:]*:/, '') ?? null
  const state = query.get('state') ?? 'open'
  const list = (page: unknown) =>
    mapped(
      send('GET', `${repo}/pulls`, { query: { state, sort: 'recentupdate', page, limit: PAGE } }),
      each(pullOf),
    )
  if (head === null) return list(query.get('page') ?? undefined)
  for (let page = 1; page <= MAX_PAGES; page++) {
    const answer = await list(page)
    if (answer.status >= 400) return answer
    const pulls = answer.data as Json[]
    const found = pulls.filter((pull) => {
      const { ref, repo: from } = asObject(pull.head) ?? {}
      return ref === head && asObject(from)?.full_name === repo.slice('/repos/'.length)
    })
    if (found.length > 0) return answerOf(200, found)
    if (pulls.length === 0) break
  }
  return answerOf(200, [])
}

async function updatePull({ repo, parts: [number = ''], body, send }: Call): Promise<Answer> {
  const path = `${repo}/pulls/${number}`
  const { draft, title, ...rest } = body
  if (draft === undefined && title === undefined)
    return mapped(send('PATCH', path, { body: rest }), one(pullOf))
  const current = await mapped(send('GET', path), one(pullOf))
  if (current.status >= 400) return current
  const pull = asObject(current.data) ?? {}
  const isDraft = draft ?? pull.draft
  const text = asString(title) ?? asString(pull.title) ?? ''
  const change = { ...rest, title: isDraft === true ? `${DRAFT_WORD}${text}` : text }
  return mapped(send('PATCH', path, { body: change }), one(pullOf))
}

/** The numbers of the repository's labels by name. Those of the organization are not among them, and are not used. */
async function labelIds(repo: string, send: Send): Promise<Map<string, number> | Answer> {
  const ids = new Map<string, number>()
  for (let page = 1; page <= MAX_PAGES; page++) {
    const answer = await send('GET', `${repo}/labels`, { query: { page, limit: PAGE } })
    if (answer.status >= 400) return answer
    const labels = each((label) => label)(answer.data) as Json[]
    for (const { name, id } of labels)
      if (typeof name === 'string' && typeof id === 'number') ids.set(name, id)
    if (labels.length === 0) break
  }
  return ids
}

const LABEL_COLOR = '#ededed'

/** Both take labels by their numbers, and only labels that exist. */
async function addLabels({ repo, parts: [number = ''], body, send }: Call): Promise<Answer> {
  const ids = await labelIds(repo, send)
  if (!(ids instanceof Map)) return ids
  const labels: number[] = []
  for (const name of Array.isArray(body.labels) ? body.labels.map(String) : []) {
    const known = ids.get(name)
    if (known !== undefined) labels.push(known)
    else {
      const created = await send('POST', `${repo}/labels`, { body: { name, color: LABEL_COLOR } })
      if (created.status >= 400) return created
      labels.push(Number(asObject(created.data)?.id))
    }
  }
  return send('POST', `${repo}/issues/${number}/labels`, { body: { labels } })
}

async function removeLabel({ repo, parts: [number = '', name = ''], send }: Call): Promise<Answer> {
  const ids = await labelIds(repo, send)
  if (!(ids instanceof Map)) return ids
  const id = ids.get(name)
  if (id === undefined) return answerOf(404, { message: 'Label does not exist' })
  const removed = await send('DELETE', `${repo}/issues/${number}/labels/${id}`)
  return removed.status >= 400 ? removed : answerOf(200, [])
}

/** Both give all comments at once, whatever page is asked for. */
async function listComments({ repo, parts: [number = ''], query, send }: Call): Promise<Answer> {
  if (Number(query.get('page') ?? 1) > 1) return answerOf(200, [])
  const answer = await mapped(send('GET', `${repo}/issues/${number}/comments`), each(withUser))
  return { ...answer, headers: new Headers() }
}

/** Their statuses have `status` for GitHub's `state`. */
function statusOf(status: Json): Json {
  return { ...status, state: status.state ?? status.status }
}

async function dispatch({ repo, parts: [workflow = ''], body, send, isForgejo }: Call): Promise<Answer> {
  const { ref, inputs } = body
  const path = `${repo}/actions/workflows/${encodeURIComponent(workflow)}/dispatches`
  const forgejo = await isForgejo()
  if (typeof forgejo !== 'boolean') return forgejo
  if (forgejo)
    return mapped(send('POST', path, { body: { ref, inputs, return_run_info: true } }), (data) => ({
      workflow_run_id: asObject(data)?.id,
    }))
  // Before 1.26 Gitea answers without the number of the run.
  return send('POST', path, { query: { return_run_details: true }, body: { ref, inputs } })
}

const ENDED = new Set(['success', 'failure', 'cancelled', 'skipped'])

/** Forgejo has one status, GitHub a status and a conclusion. */
function runOf(run: Json): Json {
  const status = asString(run.status) ?? ''
  const isEnded = status === 'completed' || ENDED.has(status)
  const at = [run.completed_at, run.stopped, run.updated, run.started_at, run.started, run.created]
    .map((time) => asString(time) ?? '')
    // A time that is not set is the year 1, or 1970.
    .find((time) => Date.parse(time) > 1e12)
  // The title is a commit's subject: it does not name the feature.
  const title = asString(run.display_title) ?? asString(run.title) ?? ''
  return {
    ...run,
    status: isEnded ? 'completed' : status === 'running' ? 'in_progress' : status,
    conclusion: run.conclusion ?? (isEnded ? status : null),
    name: title,
    display_title: title,
    created_at: at,
    run_started_at: at,
    updated_at: at ?? new Date().toISOString(),
  }
}

/** An older server has no such route, and its 404 must not count as a deleted run, whose lease is free. */
async function getRun({ repo, parts: [id = ''], send }: Call): Promise<Answer> {
  const answer = await mapped(send('GET', `${repo}/actions/runs/${id}`), one(runOf))
  if (answer.status !== 404) return answer
  return answerOf(501, { message: 'this server does not say whether the run has ended' })
}

async function listRuns({ repo, parts: [workflow = ''], send, isForgejo }: Call): Promise<Answer> {
  const event = 'workflow_dispatch'
  const name = encodeURIComponent(workflow)
  const forgejo = await isForgejo()
  if (typeof forgejo !== 'boolean') return forgejo
  const asked = forgejo
    ? send('GET', `${repo}/actions/runs`, { query: { event, workflow_id: workflow, limit: PAGE } })
    : send('GET', `${repo}/actions/workflows/${name}/runs`, { query: { event, limit: PAGE } })
  return mapped(asked, (data) => ({ workflow_runs: each(runOf)(asObject(data)?.workflow_runs) }))
}

const ROUTES: readonly Route[] = [
  { method: 'POST', path: /^\/graphql$/, answer: missing('GraphQL') },
  route('GET', '/pulls', listPulls),
  route('POST', '/pulls', ({ repo, body, send }) => {
    const { draft, title, ...rest } = body
    const named = draft === true ? `${DRAFT_WORD}${String(title)}` : title
    return mapped(send('POST', `${repo}/pulls`, { body: { ...rest, title: named } }), one(pullOf))
  }),
  route('GET', '/pulls/:n', ({ repo, parts, send }) =>
    mapped(send('GET', `${repo}/pulls/${parts[0]}`), one(pullOf)),
  ),
  route('PATCH', '/pulls/:n', updatePull),
  route('GET', '/pulls/:n/files', ({ repo, parts, query, send }) =>
    send('GET', `${repo}/pulls/${parts[0]}/files`, { query: pageOf(query) }),
  ),
  route('GET', '/issues/:n', ({ repo, parts, send }) =>
    mapped(send('GET', `${repo}/issues/${parts[0]}`), one(withUser)),
  ),
  route('GET', '/issues/:n/comments', listComments),
  route('POST', '/issues/:n/labels', addLabels),
  route('DELETE', '/issues/:n/labels/:name', removeLabel),
  route('GET', '/commits', ({ repo, query, send }) => {
    const plain = { stat: false, verification: false, files: false }
    return send('GET', `${repo}/commits`, { query: { sha: query.get('sha'), ...plain, ...pageOf(query) } })
  }),
  route('GET', '/commits/:rest/statuses', ({ repo, parts, query, send }) =>
    mapped(send('GET', `${repo}/commits/${parts[0]}/statuses`, { query: pageOf(query) }), each(statusOf)),
  ),
  route('POST', '/statuses/:sha', ({ repo, parts, body, send }) =>
    mapped(send('POST', `${repo}/statuses/${parts[0]}`, { body }), one(statusOf)),
  ),
  route('GET', '/collaborators/:login/permission', ({ repo, parts, send }) =>
    mapped(
      send('GET', `${repo}/collaborators/${encodeURIComponent(parts[0] ?? '')}/permission`),
      one((answer) => (answer.permission === 'owner' ? { ...answer, permission: 'admin' } : answer)),
    ),
  ),
  route('POST', '/actions/workflows/:file/dispatches', dispatch),
  route('GET', '/actions/workflows/:file/runs', listRuns),
  route('GET', '/actions/runs/:id', getRun),
  route('POST', '/actions/runs/:id/cancel', missing('way to cancel a run over its API')),
  route('GET', '/commits/:rest/check-runs', missing('checks')),
  route('POST', '/check-runs', missing('checks')),
  route('PATCH', '/check-runs/:id', missing('checks')),
  route('GET', '/rules/branches/:rest', missing('rulesets')),
]
