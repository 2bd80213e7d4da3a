// A named command of a project, such as a target of its Makefile.
import type { Folder } from '../project.ts'

/** `start`: the command that starts it. `lines`: what it runs, as far as that is known. */
export type Target = { name: string; start: string; lines: readonly string[] }

/** A kind of file with such commands: one row in target-sources.ts. */
export type TargetSource = {
  files: readonly string[]
  /** `text`: of the first of these files that the folder holds. */
  read(text: string, folder: Folder): Target[]
  /** Commands of a manager that installs what they need: they are proposed only if CI runs no tests. */
  isGuess?: true
}

/** Lines without comments; a line that ends with a backslash continues. */
export function linesOf(text: string): string[] {
  return text
    .replace(/\\\n\s*/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
}
