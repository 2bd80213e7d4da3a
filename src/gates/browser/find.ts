// An installed Chrome or Chromium, and what to do where there is none.

import type { Environment } from '../../isolation/untrusted-env.ts'
import { UserError } from '../../system/errors.ts'
import { findProgram } from '../../system/program.ts'

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
  const path = env.PATH ?? ''
  if (named !== null) {
    const found = findProgram(named, path)
    if (found !== null) return found
    const fix = 'check the path, or leave it out: what is installed is found'
    throw new UserError({ path: 'browser.executablePath', found: named, expected: 'a program', fix })
  }
  const told = VARIABLES.flatMap((name) => env[name] ?? [])
  for (const name of [...told, ...NAMES, ...APPLICATIONS]) {
    const found = findProgram(name, path)
    if (found !== null) return found
  }
  throw new UserError({
    path: 'browser',
    found: 'no Chrome or Chromium on this machine',
    expected: 'one that is installed',
    fix: 'in a workflow, add `- uses: browser-actions/setup-chrome@v2` before Ralph (hosted Ubuntu images have one); on Debian, `apt-get install chromium`; or name it as browser.executablePath',
  })
}
