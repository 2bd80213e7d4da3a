// What goes to the runner: the job's log, outputs, the summary, and what the post step must know.
import { lstatSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as core from '@actions/core'
import { formatDuration } from '../report/figures.ts'
import type { Outputs } from '../report/outputs.ts'
import { removeSync, replaceFile } from '../system/files.ts'
import { sanitizeLine, withoutControls } from '../system/workflow-commands.ts'

/** The job's log: every line is made harmless, so that nothing untrusted can speak to the runner. */
export type Log = {
  /** For the plain renderer. */
  screen: { write(text: string): void; isTTY: false }
  /** A folded block. */
  group(title: string, lines: readonly string[]): void
}

export function createLog(write: (text: string) => void, redact: (text: string) => string): Log {
  const emit = (text: string) => {
    const lines = text
      .replace(/\n$/, '')
      .split('\n')
      // A control sequence in the middle of a key would hide it from the redactor, and be gone afterwards.
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

/** Says what begins, and how long it took: before the first step nothing else would be in the log for seconds. */
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

/** The action's outputs, kebab-case; null is the empty string. */
export function setOutputs(outputs: Outputs): void {
  for (const [name, value] of Object.entries(outputs)) {
    core.setOutput(
      name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      value === null ? '' : String(value),
    )
  }
}

/** Folders below `.git/ralph` that are uploaded; what people look for first is at the front. */
export const UPLOADS = ['report', 'logs', 'screenshots', 'transcripts']

/** Of what the post step uploads: of the run's attempt, and of the job's part where several work on one feature. */
export function artifactName(feature: string, run: { id: number; attempt: number }, part: string): string {
  const plain = feature.replace(/[^\w.-]/g, '_').slice(0, 100)
  return `ralph-${plain}-${run.id}-${run.attempt}${part === 'whole' ? '' : `-${part}`}`
}

/** Shows a summary on the job's page, and keeps it as a file beside it; gives the file's path. */
export async function writeSummary(folder: string, name: string, summary: string): Promise<string> {
  const path = join(folder, `${name}.md`)
  await replaceFile(path, summary)
  await core.summary.addRaw(summary, true).write()
  return path
}

/** Kept for the post step, which mends what main could not finish. Written early: a cancelled main never comes back. */
export function saveForPost(facts: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(facts)) {
    remembered.set(name, value)
    core.saveState(name, value)
  }
}

const remembered = new Map<string, string>()
const FILES = ['GITHUB_ENV', 'GITHUB_PATH', 'GITHUB_OUTPUT', 'GITHUB_STATE', 'GITHUB_STEP_SUMMARY']

/** When nothing that is not trusted runs any more: a program of our user finds these files, and may have written them. */
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
  for (const [name, value] of remembered) core.saveState(name, value)
}

/** What a command that only looks has found. `line`: for the log, as a notice, or as the error that the job ends with. */
export type ReadOnlyResult = { isFine: boolean; line: string }
