// What goes to the runner: the job's log, the outputs, the summary, and the values that the post step needs.
import { lstatSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as core from '@actions/core'
import { formatDuration } from '../report/figures.ts'
import type { Outputs } from '../report/outputs.ts'
import { removeSync, replaceFile } from '../system/files.ts'
import { sanitizeLine, withoutControls } from '../system/workflow-commands.ts'

/** The job's log. Every line is escaped, so that untrusted text cannot be a command for the runner. */
export type Log = {
  /** For renderers that write plain lines. */
  screen: { write(text: string): void; isTTY: false }
  /** A folded block. */
  group(title: string, lines: readonly string[]): void
}

export function createLog(write: (text: string) => void, redact: (text: string) => string): Log {
  const emit = (text: string) => {
    const lines = text
      .replace(/\n$/, '')
      .split('\n')
      // Control sequences go first: one in the middle of a key would hide the key from the redactor.
      .map((line) => sanitizeLine(redact(withoutControls(line))))
    write(`${lines.join('\n')}\n`)
  }
  return {
    screen: { write: emit, isTTY: false },
    group(title, lines) {
      write(`::group::${sanitizeLine(title)}\n`)
      emit(lines.join('\n'))
      write('::endgroup::\n')
    },
  }
}

/** Logs what begins, and how long it took. Without it the log would be empty for seconds before the first step. */
export async function logTimed<T>(
  { screen }: Pick<Log, 'screen'>,
  what: string,
  act: () => Promise<T>,
): Promise<T> {
  const since = performance.now()
  screen.write(`[ralph] ${what} ...`)
  const done = await act()
  screen.write(`[ralph] ${what}: done (${formatDuration(performance.now() - since)})`)
  return done
}

/** Sets the action's outputs by their names in kebab-case. Null becomes the empty string. */
export function setOutputs(outputs: Outputs): void {
  for (const [name, value] of Object.entries(outputs)) {
    core.setOutput(
      name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      value === null ? '' : String(value),
    )
  }
}

/** Folders below `.git/ralph` that are uploaded, the most useful first. */
export const UPLOADS = ['report', 'logs', 'screenshots', 'transcripts']

/** The name of the artifact that the post step uploads. It has the run's attempt, and the job's part if several jobs work on one feature. */
export function artifactName(feature: string, run: { id: number; attempt: number }, part: string): string {
  const safeName = feature.replace(/[^\w.-]/g, '_').slice(0, 100)
  return `ralph-${safeName}-${run.id}-${run.attempt}${part === 'whole' ? '' : `-${part}`}`
}

/** Shows a summary on the job's page, and writes it to a file as well. Gives the file's path. */
export async function writeSummary(folder: string, name: string, summary: string): Promise<string> {
  const path = join(folder, `${name}.md`)
  await replaceFile(path, summary)
  await core.summary.addRaw(summary, true).write()
  return path
}

/** Saves values for the post step. Call it early: a main step that is killed can no longer save. */
export function saveForPost(facts: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(facts)) {
    savedForPost.set(name, value)
    core.saveState(name, value)
  }
}

const savedForPost = new Map<string, string>()
const FILES = ['GITHUB_ENV', 'GITHUB_PATH', 'GITHUB_OUTPUT', 'GITHUB_STATE', 'GITHUB_STEP_SUMMARY']

/** Called when no untrusted program is running any longer: programs of our user can write these files, so they are emptied. */
export function resetRunnerFiles(): void {
  for (const name of FILES) {
    const file = process.env[name] ?? ''
    if (file === '') continue
    const found = lstatSync(file, { throwIfNoEntry: false })
    if (found?.isFile() === true && found.nlink === 1) {
      truncateSync(file)
      continue
    }
    removeSync(file)
    writeFileSync(file, '', { flag: 'wx' })
  }
  for (const [name, value] of savedForPost) core.saveState(name, value)
}

/** The result of a command that only reads. `line`: a notice in the log, or the error that the job ends with. */
export type ReadOnlyResult = { isFine: boolean; line: string }
