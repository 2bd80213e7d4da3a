// The browser check: opens each page in each viewport, and returns the faults and screenshots as the result of one gate.
import { readFile } from 'node:fs/promises'
import { BROWSER_GATE, type GateResult, type Screenshot } from '../../engine/model/gate.ts'
import { OUTPUT_BYTES } from '../../engine/model/gate-output.ts'
import { oneLine } from '../../engine/model/text.ts'
import { messageOf } from '../../system/errors.ts'
import { excerpt } from '../../system/excerpt.ts'
import { type Chrome, ChromeGone, type ChromeOptions, openChrome } from './chrome.ts'
import type { PageAddress } from './urls.ts'
import { type VisitResult, visit } from './visit-page.ts'

export { selectPages } from './urls.ts'

export type PagesOptions = Omit<ChromeOptions, 'hosts'> & {
  pages: readonly PageAddress[]
  /** Remarks that the result starts with, such as pages that are not visited. */
  remarks: readonly string[]
  /** `1280x800` */
  viewports: readonly string[]
  origins: readonly string[]
  accessibility: boolean
  /** The largest size of one picture. */
  pictureBytes: number
  pageTimeoutMs: number
  /** Earlier screenshots of the pages, the newest last; null if this check takes the first ones, of the base. */
  before: readonly Screenshot[] | null
  redact(text: string): string
  /** Stores a picture (WebP) of a page, and returns its object id. */
  keep(picture: Buffer, of: Pick<Screenshot, 'url' | 'viewport'>): Promise<string>
}

/** What one visit found on a page in one viewport. */
type PageVisit = Pick<VisitResult, 'faults' | 'remarks'> & {
  url: string
  viewport: string
  screenshot: Screenshot | null
}

/** ncc finds this URL and copies the file alongside the bundle. This source must not use `||=`, which ncc's parser does not know. */
const AXE = new URL('../../../node_modules/axe-core/axe.min.js', import.meta.url)

/** Never rejects because of a page: if the browser ends early, the result is red and gives the reason. */
export async function checkPages(options: PagesOptions): Promise<GateResult> {
  const began = performance.now()
  const { redact } = options
  const pageVisits: PageVisit[] = []
  const goneReason = await visitPages(options, pageVisits)
  const label = ({ url, viewport }: PageVisit) =>
    options.viewports.length === 1 ? url : `${url} (${viewport})`
  const red = pageVisits.filter(({ faults }) => !faults.isEmpty)
  const lines = red.flatMap((page) => [`${label(page)}:`, ...page.faults.lines.map((line) => `  ${line}`)])
  const remarkLines = pageVisits.flatMap((page) =>
    page.remarks.lines.map((line) => `${label(page)}: ${line}`),
  )
  const remarks = [...options.remarks, ...remarkLines].map(redact).slice(0, 50)
  const screenshots = pageVisits.flatMap(({ screenshot }) => screenshot ?? [])
  const outputLines = goneReason === null ? lines : [...lines, goneReason]
  return {
    name: BROWSER_GATE,
    ok: red.length === 0 && goneReason === null,
    advisory: false,
    ended: goneReason === null ? summarize(pageVisits, red, redact) : firstLine(redact(goneReason)),
    ms: performance.now() - began,
    output: excerpt(redact(outputLines.join('\n')), OUTPUT_BYTES.stored),
    ...(remarks.length === 0 ? {} : { remarks }),
    ...(screenshots.length === 0 ? {} : { screenshots }),
  }
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').slice(0, 300)
}

/** The result in one line: it counts addresses, not viewports, and shows the first fault. */
function summarize(
  pageVisits: readonly PageVisit[],
  red: readonly PageVisit[],
  redact: (text: string) => string,
): string {
  const countPages = (visits: readonly PageVisit[]) => new Set(visits.map(({ url }) => url)).size
  const pageCount = countPages(pageVisits)
  const pages = pageCount === 1 ? '1 page' : `${pageCount} pages`
  const [first] = red
  if (first === undefined) return `${pages} without a fault`
  return `faults on ${countPages(red)} of ${pages}: ${oneLine(redact(first.faults.lines[0] ?? ''), 120)}`
}

/** Adds each visit to `pageVisits`. Returns why the browser ended before the last one, or null. */
async function visitPages(options: PagesOptions, pageVisits: PageVisit[]): Promise<string | null> {
  const { pages, viewports, pageTimeoutMs, origins } = options
  const visits = pages.flatMap((page) => viewports.map((viewport) => ({ ...page, viewport })))
  const axe = options.accessibility ? await readFile(AXE, 'utf8') : null
  const hosts = [...new Set(origins.map((origin) => new URL(origin).hostname).flatMap(namesOf))]
  try {
    await using chrome = await openChrome({ ...options, hosts })
    for (const { url, expected, viewport } of visits) {
      const [width = 0, height = 0] = viewport.split('x').map(Number)
      const size = { viewport: { width, height }, pictureBytes: options.pictureBytes }
      const visitOptions = { url, expected, origins, axe, timeoutMs: pageTimeoutMs, ...size }
      const { faults, remarks, picture, isThere } = await visitOrExplain(chrome, visitOptions)
      // On the base, a page that does not exist yet gets no picture: there is nothing to compare with.
      const hasPicture = picture !== null && (options.before !== null || isThere)
      const screenshot = hasPicture ? await keepScreenshot(picture, { url, viewport }, options) : null
      pageVisits.push({ url, viewport, faults, remarks, screenshot })
    }
    return null
  } catch (error) {
    if (error instanceof ChromeGone) return error.message
    throw error
  }
}

/** The host names of an address. For `localhost`, all names of this machine. */
function namesOf(host: string): string[] {
  return host === 'localhost' ? ['localhost', '127.0.0.1', '::1', '0.0.0.0'] : [host.replace(/[[\]]/g, '')]
}

/** Visits a page. If the browser ends or does not answer, throws ChromeGone, whose message names the page. */
async function visitOrExplain(chrome: Chrome, options: Parameters<typeof visit>[1]): Promise<VisitResult> {
  try {
    return await visit(chrome, options)
  } catch (error) {
    // The browser's end or a cancel gives the reason, which may come a moment after the failed call.
    const reason = await Promise.race([
      chrome.browserEnd.catch((error: Error) => error.message),
      new Promise<null>((resolve) => setTimeout(resolve, 1000, null)),
    ])
    const message = reason ?? `the browser does not answer (${messageOf(error)})`
    const [first, ...furtherLines] = message.split('\n')
    throw new ChromeGone([`${first} while it showed ${options.url}`, ...furtherLines].join('\n'))
  }
}

async function keepScreenshot(
  picture: Buffer,
  page: Pick<Screenshot, 'url' | 'viewport'>,
  { before, keep }: PagesOptions,
): Promise<Screenshot> {
  const earlier = before?.findLast(({ url, viewport }) => url === page.url && viewport === page.viewport)
  const blob = await keep(picture, page)
  return { ...page, blob, bytes: picture.length, before: earlier?.blob ?? null }
}
