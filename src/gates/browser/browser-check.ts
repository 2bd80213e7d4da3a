// The browser check: opens each page in each viewport, and gives the faults and screenshots as the result of one gate.
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
  /** The most that one picture may have. */
  pictureBytes: number
  pageTimeoutMs: number
  /** Earlier screenshots of the pages, the newest last; null where this check takes the first ones, of the base. */
  before: readonly Screenshot[] | null
  redact(text: string): string
  /** Stores a picture (WebP) of a page; gives its object id. */
  keep(picture: Buffer, of: Pick<Screenshot, 'url' | 'viewport'>): Promise<string>
}

/** What one visit found on a page in one viewport. */
type PageLook = Pick<VisitResult, 'faults' | 'remarks'> & {
  url: string
  viewport: string
  screenshot: Screenshot | null
}

/** ncc copies this file beside the bundle, as long as this source has no `||=`: its parser does not know that, and would miss the URL. */
const AXE = new URL('../../../node_modules/axe-core/axe.min.js', import.meta.url)

/** Never rejects for what a page does: where the browser ends early, the result is red and gives the reason. */
export async function checkPages(options: PagesOptions): Promise<GateResult> {
  const began = performance.now()
  const { redact } = options
  const looks: PageLook[] = []
  const goneReason = await visitPages(options, looks)
  const label = ({ url, viewport }: PageLook) =>
    options.viewports.length === 1 ? url : `${url} (${viewport})`
  const red = looks.filter(({ faults }) => !faults.isEmpty)
  const lines = red.flatMap((one) => [`${label(one)}:`, ...one.faults.lines.map((line) => `  ${line}`)])
  const remarkLines = looks.flatMap((one) => one.remarks.lines.map((line) => `${label(one)}: ${line}`))
  const remarks = [...options.remarks, ...remarkLines].map(redact).slice(0, 50)
  const screenshots = looks.flatMap(({ screenshot }) => screenshot ?? [])
  return {
    name: BROWSER_GATE,
    ok: red.length === 0 && goneReason === null,
    advisory: false,
    ended:
      goneReason === null
        ? summarize(looks, red, redact)
        : (redact(goneReason).split('\n')[0] ?? '').slice(0, 300),
    ms: performance.now() - began,
    output: excerpt(
      redact([...lines, ...(goneReason === null ? [] : [goneReason])].join('\n')),
      OUTPUT_BYTES.stored,
    ),
    ...(remarks.length === 0 ? {} : { remarks }),
    ...(screenshots.length === 0 ? {} : { screenshots }),
  }
}

/** The result in one line: it counts addresses, not viewports, and shows the first fault. */
function summarize(
  looks: readonly PageLook[],
  red: readonly PageLook[],
  redact: (text: string) => string,
): string {
  const count = (ones: readonly PageLook[]) => new Set(ones.map(({ url }) => url)).size
  const all = count(looks) === 1 ? '1 page' : `${count(looks)} pages`
  const [first] = red
  if (first === undefined) return `${all} without a fault`
  return `faults on ${count(red)} of ${all}: ${oneLine(redact(first.faults.lines[0] ?? ''), 120)}`
}

/** Adds each visit to `looks`; gives the reason where the browser ended before the last one, else null. */
async function visitPages(options: PagesOptions, looks: PageLook[]): Promise<string | null> {
  const { pages, viewports, pageTimeoutMs, origins } = options
  const visits = pages.flatMap((page) => viewports.map((viewport) => ({ ...page, viewport })))
  const axe = options.accessibility ? await readFile(AXE, 'utf8') : null
  const hosts = [...new Set(origins.map((origin) => new URL(origin).hostname).flatMap(namesOf))]
  try {
    await using chrome = await openChrome({ ...options, hosts })
    for (const { url, expected, viewport } of visits) {
      const [width = 0, height = 0] = viewport.split('x').map(Number)
      const size = { viewport: { width, height }, pictureBytes: options.pictureBytes }
      const how = { url, expected, origins, axe, timeoutMs: pageTimeoutMs, ...size }
      const { faults, remarks, picture, isThere } = await visitOrExplain(chrome, how)
      // On the base, a page that does not exist yet gets no picture: there is nothing to compare with.
      const hasPicture = picture !== null && (options.before !== null || isThere)
      const screenshot = hasPicture ? await keepScreenshot(picture, { url, viewport }, options) : null
      looks.push({ url, viewport, faults, remarks, screenshot })
    }
    return null
  } catch (error) {
    if (error instanceof ChromeGone) return error.message
    throw error
  }
}

/** `localhost` stands for every name of this machine. */
function namesOf(host: string): string[] {
  return host === 'localhost' ? ['localhost', '127.0.0.1', '::1', '0.0.0.0'] : [host.replace(/[[\]]/g, '')]
}

/** Visits a page. Throws ChromeGone, which names the page, where the browser ends or does not answer. */
async function visitOrExplain(chrome: Chrome, how: Parameters<typeof visit>[1]): Promise<VisitResult> {
  try {
    return await visit(chrome, how)
  } catch (error) {
    // The reason comes when the browser has ended, or is cancelled, which may be a moment after the failed call.
    const why = await Promise.race([
      chrome.browserEnd.catch((error: Error) => error.message),
      new Promise<null>((resolve) => setTimeout(resolve, 1000, null)),
    ])
    const at = `while ${how.url} was looked at`
    const [first, ...lastLines] = (why ?? `the browser does not answer (${messageOf(error)})`).split('\n')
    throw new ChromeGone([`${first} ${at}`, ...lastLines].join('\n'))
  }
}

async function keepScreenshot(
  picture: Buffer,
  page: Pick<Screenshot, 'url' | 'viewport'>,
  { before, keep }: PagesOptions,
): Promise<Screenshot> {
  const isSamePage = (one: Screenshot) => one.url === page.url && one.viewport === page.viewport
  const old = before?.findLast(isSamePage)?.blob ?? null
  return { ...page, blob: await keep(picture, page), bytes: picture.length, before: old }
}
