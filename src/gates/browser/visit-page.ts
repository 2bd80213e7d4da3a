// Visits one page in one viewport: opens it in its own browser context (no shared cookies or storage), collects faults, and
// takes a screenshot.
import { type CDPSession, CDPSessionEvent } from 'puppeteer-core/internal/api/CDPSession.js'
import { resolvesWithin } from '../../system/within.ts'
import type { Chrome } from './chrome.ts'
import { describeNetError, Faults, Requests, shortenUrl } from './requests.ts'

type Viewport = { width: number; height: number }

export type VisitOptions = {
  url: string
  viewport: Viewport
  pictureBytes: number
  /** See PageAddress. */
  expected: readonly number[]
  /** Requests to other origins are blocked. */
  origins: readonly string[]
  /** The script of axe-core if accessibility is checked, else null. */
  axe: string | null
  /** Until the page has answered and loaded, milliseconds. */
  timeoutMs: number
}

/** `isThere`: the page was answered with a status below 400. */
export type VisitResult = { faults: Faults; remarks: Faults; picture: Buffer | null; isThere: boolean }

/** After the load event, for requests of scripts, milliseconds: a page that polls never becomes idle. */
const SETTLE_MS = 5000
/** Console errors that are read; the rest is counted. */
const MAX_CONSOLE_ERRORS = 1000
const AXE_MS = 20_000
const LOOK_MS = 5000

/** Never throws for what the page does; rejects if the browser has ended. */
export async function visit(chrome: Chrome, how: VisitOptions): Promise<VisitResult> {
  const { connection, transport } = chrome
  Object.assign(transport.console, { noise: 0, left: MAX_CONSOLE_ERRORS, lost: 0 })
  const { browserContextId } = await connection.send('Target.createBrowserContext')
  try {
    await connection.send('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId })
    const { targetId } = await connection.send('Target.createTarget', {
      url: 'about:blank',
      browserContextId,
    })
    const { sessionId } = await connection.send('Target.attachToTarget', { targetId, flatten: true })
    const session = connection.session(sessionId)
    if (session === null) throw new Error('the browser gave no page')
    const page = new Page(session, how, chrome.browserEnd)
    const picture = (await page.open()) ? await page.look() : null
    const { noise, lost } = transport.console
    if (noise > MAX_CONSOLE_ERRORS) page.remarks.add('console', `it printed ${noise} messages`)
    if (lost > 0)
      page.faults.add('console error', `${lost} more errors, which were too many or too long to read`)
    const { faults, remarks, isThere } = page
    return { faults, remarks, picture, isThere }
  } finally {
    await connection.send('Target.disposeBrowserContext', { browserContextId })
  }
}

class Page {
  readonly faults = new Faults()
  readonly remarks = new Faults()
  readonly #session: CDPSession
  readonly #how: VisitOptions
  readonly #browserEnd: Promise<never>
  readonly #requests: Requests
  #mainFrame = ''
  #isCrashed = false
  #resolveLoad: () => void = () => {}
  #resolveIdle: () => void = () => {}
  readonly #load = new Promise<void>((resolve) => {
    this.#resolveLoad = resolve
  })
  readonly #idle = new Promise<void>((resolve) => {
    this.#resolveIdle = resolve
  })

  constructor(session: CDPSession, how: VisitOptions, browserEnd: Promise<never>) {
    this.#session = session
    this.#how = how
    this.#browserEnd = browserEnd
    this.#requests = new Requests(how, this.faults, this.remarks)
  }

  get isThere(): boolean {
    return this.#requests.isThere
  }

  /** Resolves when the page has loaded and is idle, or its time is over; false if it did not open or crashed. */
  async open(): Promise<boolean> {
    const { url, timeoutMs } = this.#how
    const session = this.#session
    await this.#prepare()
    const began = performance.now()
    // The call's own timeout is a last resort for a browser that never answers; the page's time is measured here.
    const opened = session
      .send('Page.navigate', { url }, { timeout: 2 * timeoutMs })
      .catch((error: Error) => ({ errorText: error.message }))
    const isAnswered = await resolvesWithin(timeoutMs, opened)
    const why = isAnswered ? (await opened).errorText : `no answer within ${timeoutMs / 1000} s`
    if (why !== undefined) {
      // A page that led off the origin, or crashed, is a fault already.
      if (this.faults.isEmpty) this.faults.add('not opened', describeNetError(why))
      return false
    }
    const left = Math.max(0, timeoutMs - (performance.now() - began))
    if (await resolvesWithin(left, Promise.race([this.#load, this.#browserEnd]))) {
      if (!(await resolvesWithin(SETTLE_MS, Promise.race([this.#idle, this.#browserEnd]))))
        this.remarks.add('not settled', `it still sent requests ${SETTLE_MS / 1000} s after it had loaded`)
    } else this.faults.add('not loaded', `it was still loading after ${timeoutMs / 1000} s`)
    return !this.#isCrashed
  }

  /** Adds the alerts and accessibility violations that the page shows; gives its screenshot, or null. */
  async look(): Promise<Buffer | null> {
    // The first call fails if the page navigates at that moment.
    const alerts = (await this.#evaluate(ALERTS, LOOK_MS)) ?? (await this.#evaluate(ALERTS, LOOK_MS))
    if (alerts === null) {
      if (!this.#isCrashed) this.faults.add('not answering', 'one of its scripts may be in an endless loop')
      return null
    }
    for (const [what, text] of alerts) this.faults.add(what, text)
    const { axe } = this.#how
    if (axe !== null) {
      const violations = await this.#evaluate(`${axe}\n;${VIOLATIONS}`, AXE_MS)
      // Minor and moderate violations are remarks: they do not make the gate red.
      for (const [what, text] of violations ?? [])
        (/\((?:serious|critical),/.test(what) ? this.faults : this.remarks).add(what, text)
      if (violations === null) this.remarks.add('accessibility', 'Ralph could not check it')
    }
    const { viewport, pictureBytes } = this.#how
    const picture = await takePicture(this.#session, viewport, pictureBytes, LOOK_MS)
    if (picture === null) this.remarks.add('screenshot', 'Ralph could not take one')
    return picture
  }

  async #prepare(): Promise<void> {
    const session = this.#session
    const { width, height } = this.#how.viewport
    this.#listenToPage()
    const { frameTree } = await session.send('Page.getFrameTree')
    this.#mainFrame = frameTree.frame.id
    this.#requests.mainFrame = this.#mainFrame
    await Promise.all([
      session.send('Page.enable'),
      session.send('Page.setLifecycleEventsEnabled', { enabled: true }),
      session.send('Inspector.enable'),
      session.send('Emulation.setDeviceMetricsOverride', {
        width,
        height,
        deviceScaleFactor: 1,
        mobile: false,
      }),
      session.send('Network.setBypassServiceWorker', { bypass: true }),
      this.#listen(session),
    ])
  }

  #listenToPage(): void {
    const session = this.#session
    session.on('Page.loadEventFired', () => this.#resolveLoad())
    session.on('Page.lifecycleEvent', ({ name, frameId }) => {
      if (name === 'networkAlmostIdle' && frameId === this.#mainFrame) this.#resolveIdle()
    })
    session.on('Page.javascriptDialogOpening', ({ type, message }) => {
      void session.send('Page.handleJavaScriptDialog', { accept: type === 'beforeunload' }).catch(() => {})
      if (type !== 'beforeunload') this.remarks.add(`dismissed a dialog (${type})`, message)
    })
    session.on('Page.windowOpen', ({ url }) => this.remarks.add('did not follow a new window', url))
    session.on('Inspector.targetCrashed', () => {
      this.#isCrashed = true
      this.faults.add('crashed', "the page's process crashed")
      this.#resolveLoad()
      this.#resolveIdle()
    })
  }

  /** Listens to a page, a frame or a worker; frames and workers are paused until this is done. */
  async #listen(session: CDPSession): Promise<void> {
    session.on(CDPSessionEvent.SessionAttached, (child) => void this.#listen(child))
    session.on('Runtime.consoleAPICalled', ({ type, args }) => {
      if (type !== 'error' && type !== 'assert') return
      const words = args.map(({ value, description, type }) => description ?? String(value ?? type))
      this.faults.add('console error', words.join(' '))
    })
    session.on(
      'Runtime.exceptionThrown',
      ({ exceptionDetails: { exception, text, url, lineNumber, columnNumber } }) => {
        const message =
          (exception?.description ?? `${text} ${String(exception?.value ?? '')}`).split('\n')[0] ?? ''
        const place = url === undefined ? '' : ` (${shortenUrl(url)}:${lineNumber + 1}:${columnNumber + 1})`
        this.faults.add('page error', `${message}${place}`)
      },
    )
    session.on('Log.entryAdded', ({ entry: { level, source, text } }) => {
      // Failed requests are reported by Requests.
      if (level === 'error' && source !== 'network') this.faults.add('console error', text)
    })
    this.#requests.listen(session)
    // A worker does not support all of these. Its requests go through its page.
    await Promise.allSettled([
      session.send('Runtime.enable'),
      session.send('Log.enable'),
      session.send('Network.enable'),
      session.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] }),
      session.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }),
      session.send('Runtime.runIfWaitingForDebugger'),
    ])
  }

  /** The pairs that a script gives, run on the current page; null if it fails or times out. */
  async #evaluate(expression: string, timeout: number): Promise<[string, string][] | null> {
    const session = this.#session
    const look = async () => {
      const { executionContextId: contextId } = await session.send(
        'Page.createIsolatedWorld',
        { frameId: this.#mainFrame, worldName: 'ralph' },
        { timeout },
      )
      const request = { expression, contextId, awaitPromise: true, returnByValue: true }
      const { result, exceptionDetails } = await session.send('Runtime.evaluate', request, { timeout })
      return exceptionDetails === undefined ? readPairs(result.value) : null
    }
    return look().catch(() => null)
  }
}

/** A page's process may be hostile: its answer may have any form. */
function readPairs(value: unknown): [string, string][] {
  if (!Array.isArray(value)) return []
  return value
    .slice(0, 50)
    .map((pair) => (Array.isArray(pair) ? [String(pair[0]), String(pair[1])] : ['', '']))
}

/** WebP qualities, tried in this order. If even the last picture is too large, all are tried again at half the size. */
const QUALITIES = [80, 60, 40, 20, 5]

/** A WebP picture; null if a try takes longer than `timeoutMs` or if none is small enough. */
async function takePicture(
  session: CDPSession,
  { width, height }: Viewport,
  maxBytes: number,
  timeoutMs: number,
): Promise<Buffer | null> {
  const tries = [1, 0.5].flatMap((scale) => QUALITIES.map((quality) => ({ scale, quality })))
  for (const { scale, quality } of tries) {
    const clip = { x: 0, y: 0, width, height, scale }
    const how = { format: 'webp', quality, clip, optimizeForSpeed: false } as const
    const taken = await session.send('Page.captureScreenshot', how, { timeout: timeoutMs }).catch(() => null)
    if (taken === null) return null
    const picture = Buffer.from(taken.data, 'base64')
    if (picture.length <= maxBytes) return picture
  }
  return null
}

// Scripts that run in an isolated world, which shares only the document with the page. Each gives pairs: the kind of a finding, and
// its text.

/** Visible alerts, and error overlays of development servers. */
const ALERTS = `(() => {
  const overlays = [
    ['error overlay of Vite', 'vite-error-overlay', '.message-body, .message'],
    ['error overlay of Next.js', 'nextjs-portal', '[data-nextjs-dialog], [data-nextjs-error-overlay], [data-nextjs-toast-errors]'],
    ['error overlay of webpack', '#webpack-dev-server-client-overlay', null],
    ['error overlay of Parcel', '#__parcel__error__overlay__', null],
  ]
  const found = []
  for (const [what, selector, inside] of overlays) {
    const host = document.querySelector(selector)
    const message = host && inside ? (host.shadowRoot ?? host).querySelector(inside) : host
    if (message) found.push([what, message.innerText || message.textContent || 'see the screenshot'])
  }
  for (const alert of document.querySelectorAll('[role=alert], [role=alertdialog]')) {
    const text = (alert.innerText ?? '').trim()
    const { width, height } = alert.getBoundingClientRect()
    const isSeen = alert.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    // Frameworks keep an alert of one pixel for screen readers.
    if (text && isSeen && width > 1 && height > 1) found.push(['alert', text])
  }
  return found.slice(0, 20).map(([what, text]) => [what, text.slice(0, 1000)])
})()`

/** Runs after axe-core was loaded: its accessibility violations. */
const VIOLATIONS = `axe.run(document, { resultTypes: ['violations'], iframes: false }).then(({ violations }) =>
  violations.slice(0, 20).map(({ id, impact, help, nodes }) => {
    const where = nodes.slice(0, 3).map(({ target }) => target.join(' ').slice(0, 120)).join(', ')
    const more = nodes.length > 3 ? \` and \${nodes.length - 3} more\` : ''
    return [\`accessibility (\${impact ?? 'minor'}, \${id})\`, \`\${help}: \${where}\${more}\`]
  }))`
