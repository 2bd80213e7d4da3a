// actions/upload-artifact and actions/download-artifact, as folders on disk: a simulation of ours, without the service.
import { globSync, statSync } from 'node:fs'
import { cp, mkdir } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'

export type Artifacts = Map<string, string>

/** Keeps the files that `path` names (files, folders, patterns, one a line). Returns how many they were. */
export async function upload(
  store: Artifacts,
  folder: string,
  workspace: string,
  inputs: Record<string, string>,
): Promise<number> {
  const name = inputs.name || 'artifact'
  if (store.has(name) && inputs.overwrite !== 'true')
    throw new Error(
      'Failed to CreateArtifact: Received non-retryable error: Failed request: (409) Conflict: an artifact with this name already exists on the workflow run',
    )
  const files = (inputs.path ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .flatMap((line) => expand(isAbsolute(line) ? line : join(workspace, line)))
  const isHidden = (file: string): boolean =>
    /(^|\/)\.[^/]/.test(relative(workspace, file).replaceAll('../', ''))
  const kept = [...new Set(files)].filter(
    (file) => inputs['include-hidden-files'] === 'true' || !isHidden(file),
  )
  if (kept.length === 0) {
    const message = `No files were found with the provided path: ${inputs.path}. No artifacts will be uploaded.`
    if (inputs['if-no-files-found'] === 'error') throw new Error(message)
    return 0
  }
  const root = commonFolder(kept)
  const target = join(folder, encodeURIComponent(name))
  for (const file of kept) {
    const to = join(target, relative(root, file))
    await mkdir(dirname(to), { recursive: true })
    await cp(file, to)
  }
  store.set(name, target)
  return kept.length
}

/** Puts one artifact, or all that match `pattern`, into `path`. */
export async function download(
  store: Artifacts,
  workspace: string,
  inputs: Record<string, string>,
): Promise<number> {
  const to = resolve(workspace, inputs.path || '.')
  if (inputs.name) {
    const from = store.get(inputs.name)
    if (from === undefined)
      throw new Error(`Unable to download artifact(s): Artifact not found for name: ${inputs.name}`)
    await cp(from, to, { recursive: true })
    return 1
  }
  const pattern = new RegExp(
    `^${(inputs.pattern || '*')
      .replaceAll(/[.+^$()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  )
  const found = [...store].filter(([name]) => pattern.test(name))
  for (const [name, from] of found)
    await cp(from, inputs['merge-multiple'] === 'true' ? to : join(to, name), { recursive: true })
  return found.length
}

function expand(path: string): string[] {
  const isPattern = /[*?[]/.test(path)
  const found = isPattern ? globSync(path) : statOrNull(path) === null ? [] : [path]
  return found.flatMap((one) => {
    if (statOrNull(one)?.isDirectory() !== true) return [one]
    return isPattern
      ? []
      : // Links are followed: upload-artifact's glob does.
        globSync(join(one, '**'), { withFileTypes: true })
          .map((entry) => join(entry.parentPath, entry.name))
          .filter((path) => statOrNull(path)?.isFile() === true)
  })
}
function statOrNull(path: string): ReturnType<typeof statSync> | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null
}
function commonFolder(files: string[]): string {
  let folder = dirname(files[0] ?? '')
  while (folder !== '/' && !files.every((file) => file.startsWith(`${folder}/`))) folder = dirname(folder)
  return files.length === 1 ? dirname(files[0] ?? '') : folder
}
