// The browser check as what looks at the work behind green gates; the browser's code is loaded when a page is looked at.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isModelKey } from '../agents/registry.ts'
import { findChrome } from '../browser/find.ts'
import type { AfterGates } from '../gates/gates.ts'
import { writeScreenshot } from '../git/screenshots.ts'
import { siteOf } from '../model/address.ts'
import { BROWSER_GATE, type Gate, type GateResult, type Screenshot } from '../model/gate.ts'
import { isFor } from '../model/service.ts'
import type { Settings } from '../settings/index.ts'
import { clearWay } from '../system/files.ts'
import { type Environment, gateEnv } from '../system/untrusted-env.ts'
import type { Workspace } from './workspace.ts'

export type BrowserOptions = {
  settings: Settings
  env: Environment
  workspace: Workspace
  mark: string
  onGateStart(name: string): void
  onGateEnd(result: GateResult): void
}

/** Every result that a run of these settings has to have: those of the gates, and of the browser check as one of them. */
export function gatesIn({ gates, browser }: Pick<Settings, 'gates' | 'browser'>): Gate[] {
  if (browser?.enabled !== true) return [...gates]
  return [
    ...gates,
    { name: BROWSER_GATE, run: '', timeoutMs: BROWSER_MS, when: browser.tags, advisory: false },
  ]
}

/** For all pages of a check together, milliseconds: one that takes longer tells nobody more. */
const BROWSER_MS = 10 * 60_000

/** Throws UserError where pages are to be looked at, and nothing is installed that opens them. */
export function refuseNoBrowser({ browser }: Settings, env: Environment): void {
  if (browser?.enabled === true) findChrome(browser.executablePath, env)
}

/** Pictures lie there, too, by attempt and page. */
export function screenshotFolder({ clone }: Pick<Workspace, 'clone'>): string {
  return join(clone.gitDir, 'ralph', 'screenshots')
}

/** Null where none is configured. It throws UserError as `refuseNoBrowser` does. */
export function browserCheck(options: BrowserOptions): AfterGates | null {
  const { settings, env, workspace } = options
  const { browser, services } = settings
  if (browser?.enabled !== true) return null
  const site = siteOf(browser, services)
  if (site === null) return null
  return async (run, signal, as) => {
    if (!isFor(browser.tags, run.tags)) return []
    const executable = findChrome(browser.executablePath, env)
    options.onGateStart(BROWSER_GATE)
    const { checkPages, wantedPages } = await import(/* webpackChunkName: "browser" */ '../browser/check.ts')
    const stories = run.stories.filter(({ tags }) => isFor(browser.tags, tags))
    const result = await checkPages({
      ...wantedPages(stories, { ...site, urls: browser.urls }),
      origins: site.origins,
      viewports: browser.viewports,
      accessibility: browser.accessibility,
      pageTimeoutMs: browser.timeout,
      timeoutMs: BROWSER_MS,
      before: run.pages ?? [],
      executable,
      headless: browser.headless,
      env: gateEnv(env, { extra: settings.gateEnv, isModelKey }).env,
      mark: options.mark,
      as,
      signal,
      redact: workspace.redactor.redact,
      keep: async (picture, page) => {
        await writeFile(await fileFor(workspace, run.what, page), picture)
        return writeScreenshot(workspace.git, workspace.objects, picture)
      },
    })
    options.onGateEnd(result)
    return [result]
  }
}

/** `US-001-1-cart-1280x800.webp`. What stands there is not followed. */
async function fileFor(
  workspace: Workspace,
  what: string,
  { url, viewport }: Pick<Screenshot, 'url' | 'viewport'>,
): Promise<string> {
  const { pathname, search } = new URL(url)
  const page = `${pathname}${search}`
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60)
  const file = join(screenshotFolder(workspace), `${what}-${page || 'index'}-${viewport}.webp`)
  await clearWay(workspace.clone.gitDir, file)
  return file
}
