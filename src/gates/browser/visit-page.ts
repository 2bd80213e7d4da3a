// Looks at one page in one size: opens it in a context of its own (no cookies, no storage of another), hears what goes wrong,
// and takes its picture.
import { type CDPSession, CDPSessionEvent } from 'puppeteer-core/internal/api/CDPSession.js'
import { resolvesWithin } from '../../system/within.ts'
import type { Chrome } from './chrome.ts'
import { Faults, netError, Requests, shortened } from './requests.ts'

type Viewport = { width: number; height: number }

export type Visit = {
  url: string
  viewport: Viewport
  pictureBytes: number
  /** See Wanted. */
  expected: readonly number[]
  /** Nothing is asked of any other origin. */
  origins: readonly string[]
  /** axe-core, where accessibility is looked at. */
  axe: string | null
  /** For its answer and for all that it loads, milliseconds. */
  timeoutMs: number
}

/** `isThere`: it did not answer that there is no such page, or that it cannot show it. */
export type Seen = { faults: Faults; remarks: Faults; picture: Buffer | null; isThere: boolean }

/** After everything is loaded, for what scripts still ask for, milliseconds: who polls never settles. */
const SETTLE_MS = 5000
/** Errors that are heard; the rest is counted. */
const CONSOLE = 1000
const AXE_MS = 20_000
const LOOK_MS = 5000

/** Never throws for what the page does; rejects where the browser is gone. */
export async function visit(chrome: Chrome, how: Visit): Promise<Seen> {
  const { connection, transport } = chrome
  Object.assign(transport.console, { noise: 0, left: CONSOLE, lost: 0 })
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
    const page = new Page(session, how, chrome.over)
    const picture = (await page.open()) ? await page.look() : null
    const { noise, lost } = transport.console
    if (noise > CONSOLE) page.remarks.add('console', `it printed ${noise} messages`)
    if (lost > 0) page.faults.add('console error', `${lost} more that were too many, or too long, to be read`)
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
  readonly #how: Visit
  readonly #over: Promise<never>
  readonly #requests: Requests
  #mainFrame = ''
  #isCrashed = false
  #loaded: () => void = () => {}
  #settled: () => void = () => {}
  readonly #load = new Promise<void>((resolve) => {
    this.#loaded = resolve
  })
  readonly #idle = new Promise<void>((resolve) => {
    this.#settled = resolve
  })

  constructor(session: CDPSession, how: Visit, over: Promise<never>) {
    this.#session = session
    this.#how = how
    this.#over = over
    this.#requests = new Requests(how, this.faults, this.remarks)
  }

  get isThere(): boolean {
    return this.#requests.isThere
  }

  /** Ends when the page has loaded and settled, or its time is over; false where there is nothing to look at. */
  async open(): Promise<boolean> {
    const { url, timeoutMs } = this.#how
    const session = this.#session
    await this.#prepare()
    const began = performance.now()
    // Its own time is for who answers nothing at all; the page's is measured here, by one clock.
    const opened = session
      .send('Page.navigate', { url }, { timeout: 2 * timeoutMs })
      .catch((error: Error) => ({ errorText: error.message }))
    const isAnswered = await resolvesWithin(timeoutMs, opened)
    const why = isAnswered ? (await opened).errorText : `no answer within ${timeoutMs / 1000} s`
    if (why !== undefined) {
      // What leads elsewhere, or crashed, is told already.
      if (this.faults.isEmpty) this.faults.add('not opened', netError(why))
      return false
    }
    const left = Math.max(0, timeoutMs - (performance.now() - began))
    if (await resolvesWithin(left, Promise.race([this.#load, this.#over]))) {
      if (!(await resolvesWithin(SETTLE_MS, Promise.race([this.#idle, this.#over]))))
        this.remarks.add(
          'not settled',
          `it still asked for something ${SETTLE_MS / 1000} s after it had loaded`,
        )
    } else this.faults.add('not loaded', `it was still loading after ${timeoutMs / 1000} s`)
    return !this.#isCrashed
  }

  /** What it shows, and its picture. */
  async look(): Promise<Buffer | null> {
    // The page may just have gone on to another.
    const alerts = (await this.#ask(ALERTS, LOOK_MS)) ?? (await this.#ask(ALERTS, LOOK_MS))
    if (alerts === null) {
      if (!this.#isCrashed) this.faults.add('not answering', 'a script of it may run without end')
      return null
    }
    for (const [what, text] of alerts) this.faults.add(what, text)
    const { axe } = this.#how
    if (axe !== null) {
      const violations = await this.#ask(`${axe}\n;${VIOLATIONS}`, AXE_MS)
      // What keeps no person out is a remark, and fails nothing.
      for (const [what, text] of violations ?? [])
        (/\((?:serious|critical),/.test(what) ? this.faults : this.remarks).add(what, text)
      if (violations === null) this.remarks.add('accessibility', 'it could not be looked at')
    }
    const { viewport, pictureBytes } = this.#how
    const picture = await takePicture(this.#session, viewport, pictureBytes, LOOK_MS)
    if (picture === null) this.remarks.add('screenshot', 'none could be taken')
    return picture
  }

  async #prepare(): Promise<void> {
    const session = this.#session
    const { width, height } = this.#how.viewport
    this.#hearPage()
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
      this.#hear(session),
    ])
  }

  #hearPage(): void {
    const session = this.#session
    session.on('Page.loadEventFired', () => this.#loaded())
    session.on('Page.lifecycleEvent', ({ name, frameId }) => {
      if (name === 'networkAlmostIdle' && frameId === this.#mainFrame) this.#settled()
    })
    session.on('Page.javascriptDialogOpening', ({ type, message }) => {
      void session.send('Page.handleJavaScriptDialog', { accept: type === 'beforeunload' }).catch(() => {})
      if (type !== 'beforeunload') this.remarks.add(`dismissed a dialog (${type})`, message)
    })
    session.on('Page.windowOpen', ({ url }) => this.remarks.add('did not follow a new window', url))
    session.on('Inspector.targetCrashed', () => {
      this.#isCrashed = true
      this.faults.add('crashed', 'the page ended its process')
      this.#loaded()
      this.#settled()
    })
  }

  /** Listens to a page, a frame or a worker, which waits until this is so. */
  async #hear(session: CDPSession): Promise<void> {
    session.on(CDPSessionEvent.SessionAttached, (child) => void this.#hear(child))
    session.on('Runtime.consoleAPICalled', ({ type, args }) => {
      if (type !== 'error' && type !== 'assert') return
      const words = args.map(({ value, description, type }) => description ?? String(value ?? type))
      this.faults.add('console error', words.join(' '))
    })
    session.on(
      'Runtime.exceptionThrown',
      ({ exceptionDetails: { exception, text, url, lineNumber, columnNumber } }) => {
        const said =
          (exception?.description ?? `${text} ${String(exception?.value ?? '')}`).split('\n')[0] ?? ''
        const place = url === undefined ? '' : ` (${shortened(url)}:${lineNumber + 1}:${columnNumber + 1})`
        this.faults.add('page error', `${said}${place}`)
      },
    )
    session.on('Log.entryAdded', ({ entry: { level, source, text } }) => {
      // Requests are heard of as what they are.
      if (level === 'error' && source !== 'network') this.faults.add('console error', text)
    })
    this.#requests.hear(session)
    // A worker knows some of these only; what it asks for goes through its page.
    await Promise.allSettled([
      session.send('Runtime.enable'),
      session.send('Log.enable'),
      session.send('Network.enable'),
      session.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] }),
      session.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }),
      session.send('Runtime.runIfWaitingForDebugger'),
    ])
  }

  /** What a script says of the page as it is now; null where it does not answer. */
  async #ask(expression: string, timeout: number): Promise<[string, string][] | null> {
    const session = this.#session
    const look = async () => {
      const { executionContextId: contextId } = await session.send(
        'Page.createIsolatedWorld',
        { frameId: this.#mainFrame, worldName: 'ralph' },
        { timeout },
      )
      const how = { expression, contextId, awaitPromise: true, returnByValue: true }
      const { result, exceptionDetails } = await session.send('Runtime.evaluate', how, { timeout })
      return exceptionDetails === undefined ? pairsOf(result.value) : null
    }
    return look().catch(() => null)
  }
}

/** What comes from a page's process is not believed to have a form. */
function pairsOf(value: unknown): [string, string][] {
  if (!Array.isArray(value)) return []
  return value
    .slice(0, 50)
    .map((pair) => (Array.isArray(pair) ? [String(pair[0]), String(pair[1])] : ['', '']))
}

/** From good to bad; what is too large in the last is taken at half the size. */
const QUALITIES = [80, 60, 40, 20, 5]

/** As WebP; null where none can be taken within the time (each try has it), or none is small enough. */
async function takePicture(
  session: CDPSession,
  { width, height }: Viewport,
  mostBytes: number,
  timeoutMs: number,
): Promise<Buffer | null> {
  const tries = [1, 0.5].flatMap((scale) => QUALITIES.map((quality) => ({ scale, quality })))
  for (const { scale, quality } of tries) {
    const clip = { x: 0, y: 0, width, height, scale }
    const how = { format: 'webp', quality, clip, optimizeForSpeed: false } as const
    const taken = await session.send('Page.captureScreenshot', how, { timeout: timeoutMs }).catch(() => null)
    if (taken === null) return null
    const picture = Buffer.from(taken.data, 'base64')
    if (picture.length <= mostBytes) return picture
  }
  return null
}

// What is asked of a page, in a world of its own that shares nothing with the page but the document. Each gives pairs of
// words: what, and its text.

/** Alerts, and error overlays of development servers, that can be seen. */
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
    const told = host && inside ? (host.shadowRoot ?? host).querySelector(inside) : host
    if (told) found.push([what, told.innerText || told.textContent || 'see the screenshot'])
  }
  for (const one of document.querySelectorAll('[role=alert], [role=alertdialog]')) {
    const text = (one.innerText ?? '').trim()
    const { width, height } = one.getBoundingClientRect()
    const isSeen = one.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    // Frameworks keep one of a pixel for screen readers.
    if (text && isSeen && width > 1 && height > 1) found.push(['alert', text])
  }
  return found.slice(0, 20).map(([what, text]) => [what, text.slice(0, 1000)])
})()`

/** After axe-core: what people with disabilities would meet. */
const VIOLATIONS = `axe.run(document, { resultTypes: ['violations'], iframes: false }).then(({ violations }) =>
  violations.slice(0, 20).map(({ id, impact, help, nodes }) => {
    const where = nodes.slice(0, 3).map(({ target }) => target.join(' ').slice(0, 120)).join(', ')
    const more = nodes.length > 3 ? \` and \${nodes.length - 3} more\` : ''
    return [\`accessibility (\${impact ?? 'minor'}, \${id})\`, \`\${help}: \${where}\${more}\`]
  }))`
