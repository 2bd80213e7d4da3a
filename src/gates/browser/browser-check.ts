// The browser check: opens each page in each size, and says in one gate's result what is wrong, with a picture of each.
import { readFile } from 'node:fs/promises'
import { BROWSER_GATE, type GateResult, type Screenshot } from '../../engine/model/gate.ts'
import { OUTPUT_BYTES } from '../../engine/model/gate-output.ts'
import { oneLine } from '../../engine/model/text.ts'
import { messageOf } from '../../system/errors.ts'
import { excerpt } from '../../system/excerpt.ts'
import { type Chrome, ChromeGone, type ChromeOptions, openChrome } from './chrome.ts'
import type { Wanted } from './urls.ts'
import { type Seen, visit } from './visit-page.ts'

export { wantedPages } from './urls.ts'

export type PagesOptions = Omit<ChromeOptions, 'hosts'> & {
  pages: readonly Wanted[]
  /** Worth knowing beside what is seen. */
  remarks: readonly string[]
  /** `1280x800` */
  viewports: readonly string[]
  origins: readonly string[]
  accessibility: boolean
  /** That a picture may have. */
  pictureBytes: number
  pageTimeoutMs: number
  /** How pages looked before, the newest last; null where this is what is before. */
  before: readonly Screenshot[] | null
  redact(text: string): string
  /** Keeps a picture (WebP) of a page; gives its object id. */
  keep(picture: Buffer, of: Pick<Screenshot, 'url' | 'viewport'>): Promise<string>
}

/** A page in one size, as it was seen. */
type Looked = Pick<Seen, 'faults' | 'remarks'> & {
  url: string
  viewport: string
  screenshot: Screenshot | null
}

/** A file beside the bundle: ncc finds it where this file holds no `||=`, which its parser does not know. */
const AXE = new URL('../../../node_modules/axe-core/axe.min.js', import.meta.url)

/** Never rejects for what pages do: a browser that ends is a red result with its reason. */
export async function checkPages(options: PagesOptions): Promise<GateResult> {
  const began = performance.now()
  const { redact } = options
  const looks: Looked[] = []
  const gone = await lookAt(options, looks)
  const named = ({ url, viewport }: Looked) => (options.viewports.length === 1 ? url : `${url} (${viewport})`)
  const red = looks.filter(({ faults }) => !faults.isEmpty)
  const lines = red.flatMap((one) => [`${named(one)}:`, ...one.faults.lines.map((line) => `  ${line}`)])
  const noted = looks.flatMap((one) => one.remarks.lines.map((line) => `${named(one)}: ${line}`))
  const remarks = [...options.remarks, ...noted].map(redact).slice(0, 50)
  const screenshots = looks.flatMap(({ screenshot }) => screenshot ?? [])
  return {
    name: BROWSER_GATE,
    ok: red.length === 0 && gone === null,
    advisory: false,
    ended: gone === null ? endOf(looks, red, redact) : (redact(gone).split('\n')[0] ?? '').slice(0, 300),
    ms: performance.now() - began,
    output: excerpt(redact([...lines, ...(gone === null ? [] : [gone])].join('\n')), OUTPUT_BYTES.stored),
    ...(remarks.length === 0 ? {} : { remarks }),
    ...(screenshots.length === 0 ? {} : { screenshots }),
  }
}

/** Of addresses, whatever the number of sizes, and with the first fault. */
function endOf(looks: readonly Looked[], red: readonly Looked[], redact: (text: string) => string): string {
  const count = (ones: readonly Looked[]) => new Set(ones.map(({ url }) => url)).size
  const all = count(looks) === 1 ? '1 page' : `${count(looks)} pages`
  const [first] = red
  if (first === undefined) return `${all} without a fault`
  return `faults on ${count(red)} of ${all}: ${oneLine(redact(first.faults.lines[0] ?? ''), 120)}`
}

/** Adds to `looks`; gives why the browser is gone, or null. */
async function lookAt(options: PagesOptions, looks: Looked[]): Promise<string | null> {
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
      const { faults, remarks, picture, isThere } = await seen(chrome, how)
      // Where this is what is before, a page that is not there has no picture.
      const isKept = picture !== null && (options.before !== null || isThere)
      const screenshot = isKept ? await kept(picture, { url, viewport }, options) : null
      looks.push({ url, viewport, faults, remarks, screenshot })
    }
    return null
  } catch (error) {
    if (error instanceof ChromeGone) return error.message
    throw error
  }
}

/** An origin stands for all names of this machine. */
function namesOf(host: string): string[] {
  return host === 'localhost' ? ['localhost', '127.0.0.1', '::1', '0.0.0.0'] : [host.replace(/[[\]]/g, '')]
}

/** A page that ends the browser is what is wrong. */
async function seen(chrome: Chrome, how: Parameters<typeof visit>[1]): Promise<Seen> {
  try {
    return await visit(chrome, how)
  } catch (error) {
    // Known before it has ended, where it was cancelled.
    const why = await Promise.race([
      chrome.over.catch((over: Error) => over.message),
      new Promise<null>((resolve) => setTimeout(resolve, 1000, null)),
    ])
    const at = `while ${how.url} was looked at`
    const [first, ...said] = (why ?? `the browser does not answer (${messageOf(error)})`).split('\n')
    throw new ChromeGone([`${first} ${at}`, ...said].join('\n'))
  }
}

async function kept(
  picture: Buffer,
  page: Pick<Screenshot, 'url' | 'viewport'>,
  { before, keep }: PagesOptions,
): Promise<Screenshot> {
  const same = (one: Screenshot) => one.url === page.url && one.viewport === page.viewport
  const old = before?.findLast(same)?.blob ?? null
  return { ...page, blob: await keep(picture, page), bytes: picture.length, before: old }
}
