// Folders of a project's own programs, which go first on the PATH of its gates: tests start console scripts by their bare names.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The folders in which package managers put programs, relative to the folder that gates run in. */
const TOOL_FOLDERS = ['.venv/bin', 'node_modules/.bin', 'vendor/bin']

/**
 * The environment with the project's own programs on the PATH: those of the project that the command changes into (`cd api && pytest`),
 * then those of `cwd`. `tracked`: paths of the commit, relative to `cwd`. A story could commit a program that runs instead of `npm`, so a
 * folder with tracked files is left out. So is one that is reached through a tracked link.
 */
export function withToolFolders(
  env: Readonly<Record<string, string>>,
  cwd: string,
  command: string,
  tracked: readonly string[],
): Readonly<Record<string, string>> {
  // Some file systems ignore case. A tracked path above the folder is a link or a submodule, since git tracks no folders.
  const paths = tracked.map((path) => `${path.toLowerCase()}/`)
  const isTracked = (folder: string) =>
    paths.some((path) => path.startsWith(`${folder.toLowerCase()}/`) || folder.toLowerCase().startsWith(path))
  const project = projectFolderOf(command)
  const all = [...(project === null ? [] : TOOL_FOLDERS.map((name) => `${project}/${name}`)), ...TOOL_FOLDERS]
  const folders = all.filter((folder) => existsSync(join(cwd, folder)) && !isTracked(folder))
  if (folders.length === 0) return env
  return { ...env, PATH: [...folders.map((folder) => join(cwd, folder)), env.PATH ?? ''].join(delimiter) }
}

/** The folder below its own that a command changes into first; null if there is none. */
function projectFolderOf(command: string): string | null {
  const [, folder = ''] = /^cd (?:\.\/)?([\w@+.-]+(?:\/[\w@+.-]+)*)\/? && /.exec(command) ?? []
  return folder === '' || folder.split('/').some((part) => part === '.' || part === '..') ? null : folder
}
