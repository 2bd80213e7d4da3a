// The browser check, which runs after green gates. Its code is loaded when the first page is opened.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeScreenshot } from '../branch/screenshot-blobs.ts'
import { BROWSER_GATE, type Gate, type GateResult, type Screenshot } from '../engine/model/gate.ts'
import { isFor, OWN_PORT_NAME, resolveSite, servicesAt } from '../engine/model/service.ts'
import { pictureName } from '../engine/state/screenshots.ts'
import { findChrome } from '../gates/browser/find.ts'
import type { AfterGates } from '../gates/gates.ts'
import type { Environment } from '../isolation/untrusted-env.ts'
import type { Settings } from '../settings/read-settings.ts'
import { clearPathTo } from '../system/files.ts'
import { gatesEnvironment } from './gate-environment.ts'
import type { Workspace } from './workspace.ts'

export type BrowserOptions = {
  settings: Settings
  env: Environment
  workspace: Workspace
  mark: string
  /** The run's folder below the screenshots; null if the pictures are in no folder of a run. */
  run?: string | null
  onGateStart(name: string): void
  onGateEnd(result: GateResult): void
}

/** The gates of the settings, with the browser check as one of them. A run needs a result of each. */
export function configuredGates({ gates, browser }: Pick<Settings, 'gates' | 'browser'>): Gate[] {
  if (browser?.enabled !== true) return [...gates]
  return [
    ...gates,
    {
      name: BROWSER_GATE,
      run: BROWSER_GATE_WORDS,
      timeoutMs: BROWSER_MS,
      when: browser.tags,
      advisory: false,
    },
  ]
}

/** The maximum bytes of one picture: in a state, and in a hand-over between jobs, which has less room for all of them. */
const PICTURE_BYTES = 60 * 1024
const HANDED_OVER_PICTURE_BYTES = 12 * 1024
/** The browser check has no command: prompts get this description. */
const BROWSER_GATE_WORDS =
  'opens the pages of the story in a browser: no status of 400 or above, no error in the console, no failed request, no alert'

/** The time limit for all pages of a check together, in milliseconds. */
const BROWSER_MS = 10 * 60_000

/** Throws UserError if the browser check is on, and no browser is installed. */
export function refuseNoBrowser({ browser }: Settings, env: Environment): void {
  if (browser?.enabled === true) findChrome(browser.executablePath, env)
}

/** The folder for the files of a run's pictures, such as `US-001-1-cart-1280x800.webp`. */
export function screenshotFolder({ clone }: Pick<Workspace, 'clone'>, run = ''): string {
  return join(clone.gitDir, 'ralph', 'screenshots', run)
}

/** Null if no browser check is configured. The check throws UserError as `refuseNoBrowser` does. */
export function createBrowserCheck(options: BrowserOptions): AfterGates | null {
  const { settings, env, workspace } = options
  const { browser, services } = settings
  if (browser?.enabled !== true) return null
  const site = resolveSite(browser, servicesAt(services, Number(env[OWN_PORT_NAME])))
  if (site === null) return null
  return async (run, signal, as) => {
    // Ralph's own check is not a file of the tree, so it runs the same in the further runs.
    if (run.further !== undefined) return []
    const isBase = run.of === 'baseline'
    const isRequested = run.only?.includes(BROWSER_GATE) ?? run.also?.includes(BROWSER_GATE)
    if (run.only !== undefined && isRequested !== true) return []
    if (!isBase && isRequested !== true && !isFor(browser.tags, run.tags)) return []
    const executable = findChrome(browser.executablePath, env)
    options.onGateStart(BROWSER_GATE)
    const { checkPages, selectPages } = await import(
      /* webpackChunkName: "browser" */ '../gates/browser/browser-check.ts'
    )
    const stories = run.stories.filter(({ tags }) => isFor(browser.tags, tags))
    const result = await checkPages({
      ...selectPages(stories, { ...site, urls: browser.urls }),
      origins: site.origins,
      viewports: browser.viewports,
      accessibility: browser.accessibility,
      pictureBytes: settings.isolation === 'separate-job' ? HANDED_OVER_PICTURE_BYTES : PICTURE_BYTES,
      pageTimeoutMs: browser.timeout,
      timeoutMs: BROWSER_MS,
      before: isBase ? null : (run.pages ?? []),
      executable,
      headless: browser.headless,
      env: gatesEnvironment(env, settings),
      mark: options.mark,
      as,
      signal,
      redact: workspace.redactor.redact,
      keep: async (picture, page) => {
        const { clone, git } = workspace
        const file = join(screenshotFolder(workspace, options.run ?? ''), fileName(run.what, page))
        await clearPathTo(clone.gitDir, file)
        await writeFile(file, picture)
        return writeScreenshot(git, picture)
      },
    })
    const finalResult = isBase ? asBase(result) : result
    options.onGateEnd(finalResult)
    return [finalResult]
  }
}

/** In the baseline the check never fails, because stories may be there to add or repair these pages. */
function asBase({ remarks: _remarks, ...result }: GateResult): GateResult {
  const { screenshots = [] } = result
  return { ...result, ok: true, advisory: true, ended: `${screenshots.length} pictures`, output: '' }
}

function fileName(what: string, { url, viewport }: Pick<Screenshot, 'url' | 'viewport'>): string {
  return `${what}-${pictureName({ url, viewport })}.webp`
}
