// Folders of a project's own programs, which go first on the PATH of its gates: tests start console scripts by their bare names.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The folders in which package managers put programs, relative to the folder that gates run in. */
const TOOL_FOLDERS = ['.venv/bin', 'node_modules/.bin', 'vendor/bin']

/** The folders of `cwd` that hold the project's own programs. */
export function toolFoldersIn(cwd: string): string[] {
  return TOOL_FOLDERS.filter((folder) => existsSync(join(cwd, folder)))
}

/**
 * The environment with the project's own programs on the PATH. `tracked`: paths of the commit, relative to `cwd`. A folder with tracked
 * files is left out: a story could commit a program there that runs instead of `npm` or `git`.
 */
export function withToolFolders(
  env: Readonly<Record<string, string>>,
  cwd: string,
  tracked: readonly string[],
): Readonly<Record<string, string>> {
  const isTracked = (folder: string) => tracked.some((path) => path.startsWith(`${folder}/`))
  const folders = toolFoldersIn(cwd).filter((folder) => !isTracked(folder))
  if (folders.length === 0) return env
  return { ...env, PATH: [...folders.map((folder) => join(cwd, folder)), env.PATH ?? ''].join(delimiter) }
}
