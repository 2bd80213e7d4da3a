// Finds an installed Chrome or Chromium, or explains how to get one.

import type { Environment } from '../../isolation/untrusted-env.ts'
import { UserError } from '../../system/errors.ts'
import { findProgram } from '../../system/program.ts'

/** The program's names in packages and actions; `chromium-browser` comes last, because it is a wrapper script. */
const NAMES = ['google-chrome', 'google-chrome-stable', 'chrome', 'chromium', 'chromium-browser']
/** Variables in which browser tools find the path as well. */
const VARIABLES = ['CHROME_PATH', 'CHROME_BIN', 'PUPPETEER_EXECUTABLE_PATH']
const APPLICATIONS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** The path of the browser: the configured one, else the first that is installed. Throws UserError if there is none. */
export function findChrome(configured: string | null, env: Environment): string {
  const path = env.PATH ?? ''
  if (configured !== null) {
    const found = findProgram(configured, path)
    if (found !== null) return found
    const fix = 'check the path, or leave the setting out, so that Ralph looks for an installed browser'
    throw new UserError({
      path: 'browser.executablePath',
      found: `there is no program ${configured}.`,
      expected: '',
      fix,
    })
  }
  const fromEnvironment = VARIABLES.flatMap((name) => env[name] ?? [])
  for (const name of [...fromEnvironment, ...NAMES, ...APPLICATIONS]) {
    const found = findProgram(name, path)
    if (found !== null) return found
  }
  throw new UserError({
    path: 'browser',
    found: 'this machine has no Chrome or Chromium.',
    expected: '',
    fix: 'in a workflow, add `- uses: browser-actions/setup-chrome@v2` before Ralph (hosted Ubuntu images have Chrome). On Debian, run `apt-get install chromium`. If it is installed elsewhere, set browser.executablePath',
  })
}
