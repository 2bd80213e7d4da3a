// An installed Chrome or Chromium, and what to do where there is none.
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { UserError } from '../system/errors.ts'
import type { Environment } from '../system/untrusted-env.ts'

/** As packages and actions name it, the ones without a wrapper first. */
const NAMES = ['google-chrome', 'google-chrome-stable', 'chrome', 'chromium', 'chromium-browser']
/** Where tools for browsers look, too. */
const VARIABLES = ['CHROME_PATH', 'CHROME_BIN', 'PUPPETEER_EXECUTABLE_PATH']
const APPLICATIONS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** The program that opens pages: the one that was named, else the first that is installed. Throws UserError. */
export function findChrome(named: string | null, env: Environment): string {
  if (named !== null) {
    if (isAbsolute(named) && isProgram(named)) return named
    const found = isAbsolute(named) ? named : inPath(named, env)
    if (found !== null && isProgram(found)) return found
    const fix = 'check the path, or leave it out: what is installed is found'
    throw new UserError({ path: 'browser.executablePath', found: named, expected: 'a program', fix })
  }
  const told = VARIABLES.flatMap((name) => env[name] ?? [])
  const installed = NAMES.flatMap((name) => inPath(name, env) ?? [])
  const found = [...told, ...installed, ...APPLICATIONS].find(isProgram)
  if (found !== undefined) return found
  throw new UserError({
    path: 'browser',
    found: 'no Chrome or Chromium on this machine',
    expected: 'one that is installed',
    fix: 'in a workflow, add `- uses: browser-actions/setup-chrome@v2` before Ralph (hosted Ubuntu images have one); on Debian, `apt-get install chromium`; or name it as browser.executablePath',
  })
}

function inPath(name: string, env: Environment): string | null {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  return folders.map((folder) => join(folder, name)).find(isProgram) ?? null
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
