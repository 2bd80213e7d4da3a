// The requests of a page: those to the project's own origins are let through, others are blocked; failures become faults.
import { STATUS_CODES } from 'node:http'
import type { CDPSession } from 'puppeteer-core/internal/api/CDPSession.js'
import { originOf } from '../../engine/model/service.ts'
import { oneLine } from '../../engine/model/text.ts'

type PausedRequest = { requestId: string; request: { url: string }; resourceType: string; frameId: string }

const BLOCKED = 'net::ERR_BLOCKED_BY_CLIENT'

export class Requests {
  mainFrame = ''
  /** Whether the page itself was answered with a status below 400. */
  isThere = true
  readonly #how: { origins: readonly string[]; expected: readonly number[] }
  readonly #faults: Faults
  readonly #remarks: Faults
  /** Method and address by the id of the request. */
  readonly #requestsById = new Map<string, string>()
  /** Id of the main frame's first request. */
  #mainRequest: string | null = null

  constructor(
    how: { origins: readonly string[]; expected: readonly number[] },
    faults: Faults,
    remarks: Faults,
  ) {
    this.#how = how
    this.#faults = faults
    this.#remarks = remarks
  }

  /** Listens to the requests of a page, a frame or a worker. */
  listen(session: CDPSession): void {
    session.on('Fetch.requestPaused', (event) => {
      void this.#allowOrBlock(session, event).catch(() => {})
    })
    session.on('Network.requestWillBeSent', ({ requestId, request, type, frameId }) => {
      const isMain = type === 'Document' && frameId === this.mainFrame
      if (isMain) this.#mainRequest ??= requestId
      this.#requestsById.set(requestId, `${request.method} ${shortenUrl(request.url)}`)
    })
    session.on('Network.responseReceived', ({ requestId, response: { url, status } }) => {
      const words = `${status} ${STATUS_CODES[status] ?? ''}`.trim()
      if (requestId === this.#mainRequest) {
        this.isThere = status < 400
        if (status >= 400 && !this.#how.expected.includes(status)) this.#faults.add('status', words)
      } else if (status >= 400 && !isFavicon(url))
        this.#faults.add(
          'failed request',
          `${this.#requestsById.get(requestId) ?? shortenUrl(url)}: ${words}`,
        )
    })
    session.on('Network.loadingFailed', ({ requestId, errorText, canceled, blockedReason }) => {
      const request = this.#requestsById.get(requestId)
      // No fault: a request that the page cancelled itself, or one that was blocked and is reported as such.
      if (canceled === true || errorText.startsWith(BLOCKED) || request === undefined) return
      if (requestId === this.#mainRequest || isFavicon(request)) return
      this.#faults.add(
        'failed request',
        `${request}: ${describeNetError(errorText)} ${blockedReason ?? ''}`.trim(),
      )
    })
    session.on('Network.webSocketCreated', ({ requestId, url }) => {
      this.#requestsById.set(requestId, url)
    })
    session.on('Network.webSocketFrameError', ({ requestId, errorMessage }) => {
      const url = this.#requestsById.get(requestId) ?? ''
      if (this.#isAllowed(url)) this.#faults.add('failed request', `${shortenUrl(url)}: ${errorMessage}`)
      else this.#remarks.add('blocked a request to another origin', shortenUrl(url))
    })
  }

  /** Lets a request through, or blocks and reports it. */
  async #allowOrBlock(
    session: CDPSession,
    { requestId, request, resourceType, frameId }: PausedRequest,
  ): Promise<void> {
    if (this.#isAllowed(request.url)) {
      await session.send('Fetch.continueRequest', { requestId })
      return
    }
    const url = shortenUrl(request.url)
    const isMain = resourceType === 'Document' && frameId === this.mainFrame
    if (isMain) this.#faults.add('not followed', `the page redirects to ${url}, on another origin`)
    else this.#remarks.add('blocked a request to another origin', url)
    await session.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' })
  }

  #isAllowed(url: string): boolean {
    if (/^(?:data|blob|about):/.test(url)) return true
    const origin = originOf(url)
    return origin !== null && this.#how.origins.includes(origin)
  }
}

/** Browsers request it by themselves, so that its absence is not a fault. */
function isFavicon(url: string): boolean {
  return /\/favicon\.ico(?:$|[?#])/.test(url)
}

export function shortenUrl(url: string): string {
  return url.length <= 200 ? url : `${url.slice(0, 200)}...`
}

export function describeNetError(text: string): string {
  return text === 'net::ERR_CONNECTION_REFUSED' ? `no server answers there (${text})` : text
}

/** How many different lines are kept of a page, and how long each may be. */
const MAX_LINES = 20
const LINE_LENGTH = 400

/** Faults of a page as short lines without control characters; each different line once, with a count. */
export class Faults {
  readonly #lines = new Map<string, number>()
  #more = 0

  add(what: string, text: string): void {
    const line = `${what}: ${oneLine(text, LINE_LENGTH) || '(no text)'}`
    const times = this.#lines.get(line)
    if (times !== undefined || this.#lines.size < MAX_LINES) this.#lines.set(line, (times ?? 0) + 1)
    else this.#more += 1
  }

  get isEmpty(): boolean {
    return this.#lines.size === 0
  }

  get lines(): string[] {
    const lines = [...this.#lines].map(([line, times]) => (times === 1 ? line : `${line} (${times} times)`))
    return this.#more === 0 ? lines : [...lines, `and ${this.#more} more`]
  }
}
