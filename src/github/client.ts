// The client of GitHub's API: octokit with retries, pacing, time limits, and the proxy of the runner or the laptop. A request that
// creates something is never repeated blindly.

import { retry } from '@octokit/plugin-retry'
import { throttling } from '@octokit/plugin-throttling'
import { RequestError } from '@octokit/request-error'
import { Octokit } from '@octokit/rest'
import Bottleneck from 'bottleneck/light.js'
import { forgeOf } from './forges/forge.ts'
import { fetchByProxy } from './proxy.ts'
import type { RepositoryAddress } from './repository-address.ts'

const OctokitWithPlugins = Octokit.plugin(retry, throttling)

/** Without `paginate`, which treats a refused listing as an empty one: see `pagesOf`. */
export type Api = Omit<InstanceType<typeof OctokitWithPlugins>, 'paginate'>

/** A repository on GitHub, as one token sees it. */
export type GitHub = {
  api: Api
  place: RepositoryAddress
  /** The parameters that every request to the repository takes. */
  repo: { owner: string; repo: string }
  warn(message: string): void
  /** `commands-from`: people who may give commands if the server does not tell Ralph who may write. */
  commanders(): Promise<readonly string[]>
}

/** The time limit of one try. Up to three more tries follow, after 1, 4 and 9 s, or after the wait for a rate limit. */
const TRY_MS = 10_000
/** Longer waits for a rate limit are not worth a runner's minutes: reporting degrades instead. */
const LONGEST_WAIT_S = 90
/** GitHub allows 80 requests a minute that create content; a job makes far fewer, so short pauses are enough. */
const WRITE_PAUSE_MS = 50

/** `token`: null for requests without a login, which GitHub allows 60 times an hour. */
export function connect(
  place: RepositoryAddress,
  token: string | null,
  warn: (message: string) => void,
  tryMs = TRY_MS,
): GitHub {
  const shouldWait = (
    seconds: number,
    { method, url }: { method?: string; url?: string },
    _api: unknown,
    retries: number,
  ): boolean => {
    const isWorthIt = seconds <= LONGEST_WAIT_S && retries < 2
    const decision = isWorthIt ? `Ralph tries again in ${seconds} s` : 'Ralph gives up this request'
    warn(`GitHub's rate limit was reached at ${method} ${url}: ${decision}`)
    return isWorthIt
  }
  const pacedGroup = () => new Bottleneck.Group({ maxConcurrent: 1, minTime: WRITE_PAUSE_MS })
  const api = new OctokitWithPlugins({
    baseUrl: place.api,
    userAgent: 'ralph-action/1',
    ...(token === null ? {} : { auth: token }),
    request: { fetch: inGitHubsWords(place.api, withTimeout(tryMs, fetchByProxy(place.api))) },
    log: { debug() {}, info() {}, warn, error() {} },
    // 429 is left to the throttling plugin, which waits as long as the response asks.
    retry: { doNotRetry: [400, 401, 403, 404, 409, 410, 422, 429, 451, 501] },
    throttle: {
      onRateLimit: shouldWait,
      onSecondaryRateLimit: shouldWait,
      write: pacedGroup(),
      notifications: pacedGroup(),
    },
  })
  api.hook.before('request', (request) => {
    // octokit passes the same object to all requests, and the retry plugin counts in it, so each call gets its own.
    request.request = { ...request.request, retryCount: 0 }
  })
  return { api, place, repo: { owner: place.owner, repo: place.repo }, warn, commanders: async () => [] }
}

/** The `fetch` for the server's kind: some servers take other requests and give other answers than GitHub. */
function inGitHubsWords(api: string, ask: typeof fetch): typeof fetch {
  return forgeOf(api).speak?.(ask, api) ?? ask
}

/** Limits each try, not the whole call: the wait for a rate limit may be longer than a try. */
function withTimeout(tryMs: number, ask: typeof fetch): typeof fetch {
  return async (input, init) => {
    const signals = [AbortSignal.timeout(tryMs), init?.signal].filter((one) => one != null)
    return addRateLimitHeaders(withoutHtml(await ask(input, { ...init, signal: AbortSignal.any(signals) })))
  }
}

/** A page for people, of a proxy or of a login, instead of an answer of the API. With status 200 it would be taken for one. 501: asking again does not help. */
function withoutHtml(response: Response): Response {
  const { headers, status } = response
  if (!/^text\/html\b/i.test(headers.get('content-type') ?? '')) return response
  const message = `the server answered ${status} with a web page instead of JSON: check its address, and any proxy in between`
  const kept = new Headers(headers)
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) kept.delete(name)
  kept.set('content-type', 'application/json; charset=utf-8')
  return new Response(JSON.stringify({ message }), { status: response.ok ? 501 : status, headers: kept })
}

/**
 * Adds the headers by which the throttling plugin recognises a rate limit. Without them it ignores a 429 that has only `Retry-After`,
 * as proxies send it, and the messages of older servers.
 */
function addRateLimitHeaders(response: Response): Response {
  const { status, statusText, headers: received } = response
  const headers = new Headers(received)
  if (status !== 429 && !(status === 403 && headers.has('retry-after'))) return response
  const seconds = waitSeconds(Object.fromEntries(headers), Date.now())
  headers.set('retry-after', String(seconds))
  headers.set('x-ratelimit-remaining', '0')
  headers.set('x-ratelimit-reset', String(Math.floor(Date.now() / 1000) + seconds))
  return new Response(response.body, { status, statusText, headers })
}

/** How long to wait for a rate limit, seconds; a minute if the response does not name a time. */
function waitSeconds(headers: Readonly<Record<string, unknown>>, now: number): number {
  const after = String(headers['retry-after'] ?? '').trim()
  const reset = headers['x-ratelimit-remaining'] === '0' ? headers['x-ratelimit-reset'] : undefined
  const until = /^\d+$/.test(after) ? now + Number(after) * 1000 : Number(reset) * 1000
  return Number.isFinite(until) ? Math.max(0, Math.ceil((until - now) / 1000)) : 60
}

/** Until when GitHub's rate limit refuses us, epoch milliseconds; null for any other error. */
export function rateLimitedUntil(error: unknown, now: number): number | null {
  if (!(error instanceof RequestError) || (error.status !== 403 && error.status !== 429)) return null
  const headers = error.response?.headers ?? {}
  const isLimit =
    error.status === 429 ||
    headers['retry-after'] !== undefined ||
    headers['x-ratelimit-remaining'] === '0' ||
    /rate limit|abuse detection/i.test(error.message)
  return isLimit ? now + waitSeconds(headers, now) * 1000 : null
}

/**
 * The pages of a listing, until GitHub names no next one. Octokit's `paginate` ends without an error if GitHub answers 409, as
 * for a repository without commits; things that exist would then be created again.
 */
export async function* pagesOf<T>(
  ask: (page: number) => Promise<{ data: T; headers: { link?: string | undefined } }>,
): AsyncGenerator<T> {
  for (let page = 1; ; page++) {
    const { data, headers } = await ask(page)
    yield data
    if (!/rel="next"/.test(headers.link ?? '')) return
  }
}

/** For requests that create something: octokit does not repeat them. */
export const NO_RETRIES = { request: { retries: 0 } } as const

/** Creates something by a request with NO_RETRIES: if the answer was lost, `find` looks for it before it is created again. */
export async function createOnce<T>(create: () => Promise<T>, find: () => Promise<T | null>): Promise<T> {
  for (let isLast = false; ; isLast = true) {
    try {
      return await create()
    } catch (error) {
      if (!isOutcomeUnknown(error)) throw error
      const existing = await find()
      if (existing !== null) return existing
      if (isLast) throw error
    }
  }
}

/** The HTTP status of a refused request; null for anything else. */
export function httpStatusOf(error: unknown): number | null {
  return error instanceof RequestError ? error.status : null
}

/** Whether the request may have taken effect: GitHub did not answer, or answered with a server error. */
export function isOutcomeUnknown(error: unknown): boolean {
  const status = httpStatusOf(error)
  return status === null || status >= 500
}

/** Whether GitHub refused a request for a missing permission; a rate limit has the same status, and is none. */
export function isForbidden(error: unknown): boolean {
  return httpStatusOf(error) === 403 && rateLimitedUntil(error, Date.now()) === null
}

/** The message of an error of GitHub's API, in one line of at most 300 characters. */
export function githubMessage(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text
    .replace(/\s+/g, ' ')
    .replace(/ - https?:\/\/\S+$/, '')
    .slice(0, 300)
}
