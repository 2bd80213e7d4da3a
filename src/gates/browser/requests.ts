// What a page asks for: let through where it is the project's own, and told where it fails.
import { STATUS_CODES } from 'node:http'
import type { CDPSession } from 'puppeteer-core/internal/api/CDPSession.js'
import { originOf } from '../../engine/model/service.ts'
import { oneLine } from '../../engine/model/text.ts'

type Paused = { requestId: string; request: { url: string }; resourceType: string; frameId: string }

const BLOCKED = 'net::ERR_BLOCKED_BY_CLIENT'

export class Requests {
  mainFrame = ''
  /** Whether the page itself was not answered with a status from 400 on. */
  isThere = true
  readonly #how: { origins: readonly string[]; expected: readonly number[] }
  readonly #faults: Faults
  readonly #remarks: Faults
  /** What was asked for, by the id of the request. */
  readonly #asked = new Map<string, string>()
  /** The first one of the main frame. */
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

  /** Of a page, a frame or a worker. */
  hear(session: CDPSession): void {
    session.on('Fetch.requestPaused', (event) => {
      void this.#answer(session, event).catch(() => {})
    })
    session.on('Network.requestWillBeSent', ({ requestId, request, type, frameId }) => {
      const isMain = type === 'Document' && frameId === this.mainFrame
      if (isMain) this.#mainRequest ??= requestId
      this.#asked.set(requestId, `${request.method} ${shortened(request.url)}`)
    })
    session.on('Network.responseReceived', ({ requestId, response: { url, status } }) => {
      const words = `${status} ${STATUS_CODES[status] ?? ''}`.trim()
      if (requestId === this.#mainRequest) {
        this.isThere = status < 400
        if (status >= 400 && !this.#how.expected.includes(status)) this.#faults.add('status', words)
      } else if (status >= 400 && !isFavicon(url))
        this.#faults.add('failed request', `${this.#asked.get(requestId) ?? shortened(url)}: ${words}`)
    })
    session.on('Network.loadingFailed', ({ requestId, errorText, canceled, blockedReason }) => {
      const request = this.#asked.get(requestId)
      // A request that the page gave up itself, and one that we did not let through, which is told as that.
      if (canceled === true || errorText.startsWith(BLOCKED) || request === undefined) return
      if (requestId === this.#mainRequest || isFavicon(request)) return
      this.#faults.add('failed request', `${request}: ${netError(errorText)} ${blockedReason ?? ''}`.trim())
    })
    session.on('Network.webSocketCreated', ({ requestId, url }) => {
      this.#asked.set(requestId, url)
    })
    session.on('Network.webSocketFrameError', ({ requestId, errorMessage }) => {
      const url = this.#asked.get(requestId) ?? ''
      if (this.#isOurs(url)) this.#faults.add('failed request', `${shortened(url)}: ${errorMessage}`)
      else this.#remarks.add('not asked, off the origin', shortened(url))
    })
  }

  /** Lets a request through, or not. */
  async #answer(session: CDPSession, { requestId, request, resourceType, frameId }: Paused): Promise<void> {
    if (this.#isOurs(request.url)) {
      await session.send('Fetch.continueRequest', { requestId })
      return
    }
    const url = shortened(request.url)
    const isMain = resourceType === 'Document' && frameId === this.mainFrame
    if (isMain) this.#faults.add('not followed', `the page leads to ${url}, off the origin`)
    else this.#remarks.add('not asked, off the origin', url)
    await session.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' })
  }

  #isOurs(url: string): boolean {
    if (/^(?:data|blob|about):/.test(url)) return true
    const origin = originOf(url)
    return origin !== null && this.#how.origins.includes(origin)
  }
}

/** Browsers ask for it by themselves. */
function isFavicon(url: string): boolean {
  return /\/favicon\.ico(?:$|[?#])/.test(url)
}

export function shortened(url: string): string {
  return url.length <= 200 ? url : `${url.slice(0, 200)}...`
}

export function netError(text: string): string {
  return text === 'net::ERR_CONNECTION_REFUSED' ? `nobody answers there (${text})` : text
}

/** So many lines of a page are told. */
const MOST = 20
const LENGTH = 400

/** What is wrong with a page, in plain words: each once, bounded, without what could hide something in it. */
export class Faults {
  readonly #lines = new Map<string, number>()
  #more = 0

  add(what: string, text: string): void {
    const line = `${what}: ${oneLine(text, LENGTH) || '(no text)'}`
    const times = this.#lines.get(line)
    if (times !== undefined || this.#lines.size < MOST) this.#lines.set(line, (times ?? 0) + 1)
    else this.#more += 1
  }

  get isEmpty(): boolean {
    return this.#lines.size === 0
  }

  get lines(): string[] {
    const told = [...this.#lines].map(([line, times]) => (times === 1 ? line : `${line} (${times} times)`))
    return this.#more === 0 ? told : [...told, `and ${this.#more} more`]
  }
}
