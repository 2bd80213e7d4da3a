// The browser of tests, where the machine has none: the chrome-headless-shell that puppeteer-core is made for, fetched by
// @puppeteer/browsers into the user's cache, once. Started as a program it prints the folder to put on the PATH.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rename, rm, symlink } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { Browser, install } from '@puppeteer/browsers'
import { PUPPETEER_REVISIONS } from 'puppeteer-core/internal/revisions.js'

export const BUILD = PUPPETEER_REVISIONS['chrome-headless-shell']

type Place = {
  cache: string
  /** A mirror of https://storage.googleapis.com/chrome-for-testing-public */
  baseUrl?: string | undefined
}

/** Of this user; the mirror by the variable that puppeteer has for it. */
export function usualPlace(env = process.env): Place {
  return {
    cache: join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'ralph-action'),
    baseUrl: env.PUPPETEER_CHROME_HEADLESS_SHELL_DOWNLOAD_BASE_URL,
  }
}

/** The folder with the program `chromium`, fetched where it is not in the cache. Rejects where it cannot be had or started. */
export async function fetchBrowser({ cache, baseUrl }: Place): Promise<string> {
  const folder = join(cache, `browser-${BUILD}`)
  if (existsSync(folder)) return folder
  await mkdir(cache, { recursive: true })
  const own = await mkdtemp(join(cache, 'fetching-'))
  try {
    const { executablePath } = await install({
      browser: Browser.CHROMEHEADLESSSHELL,
      buildId: BUILD,
      cacheDir: own,
      ...(baseUrl === undefined ? {} : { baseUrl }),
    })
    execFileSync(executablePath, ['--version'], { stdio: 'pipe' })
    await symlink(executablePath.slice(own.length + 1), join(own, 'chromium'))
    // Tests start it as another user, too.
    await chmod(own, 0o755)
    // Of two that fetch at the same time the first one stays.
    await rename(own, folder).catch((error) => {
      if (!existsSync(folder)) throw error
    })
    return folder
  } finally {
    await rm(own, { recursive: true, force: true })
  }
}

if (import.meta.main)
  await fetchBrowser(usualPlace()).then(
    (folder) => process.stdout.write(folder),
    (error: Error) => {
      process.stderr.write(error.message.replace(/\n\s*- \w+:/, ''))
      process.exitCode = 1
    },
  )
