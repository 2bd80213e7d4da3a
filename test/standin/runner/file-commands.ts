// What a step writes to the runner: GITHUB_OUTPUT and its kin, read as the runner's FileCommandManager does (facts 1.5).
import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export type CommandFiles = Record<keyof typeof prefixes, string>
export interface Written {
  env: [string, string][]
  outputs: [string, string][]
  state: [string, string][]
  path: string[]
  summary: string
  /** What fails the step. */
  mistakes: string[]
  /** What only shows as an error. */
  complaints: string[]
}

const prefixes = {
  GITHUB_OUTPUT: 'set_output',
  GITHUB_ENV: 'set_env',
  GITHUB_PATH: 'add_path',
  GITHUB_STATE: 'save_state',
  GITHUB_STEP_SUMMARY: 'step_summary',
}
const largestSummary = 1024 * 1024

/** Makes the files of one process, empty; the keys are the variables that name them. */
export async function makeCommandFiles(folder: string): Promise<CommandFiles> {
  const id = randomUUID()
  const entries = Object.entries(prefixes).map(
    ([name, prefix]) => [name, join(folder, `${prefix}_${id}`)] as const,
  )
  await Promise.all(entries.map(([, file]) => writeFile(file, '')))
  return Object.fromEntries(entries) as CommandFiles
}

export async function readCommandFiles(files: CommandFiles): Promise<Written> {
  const mistakes: string[] = []
  const complaints: string[] = []
  const text = (name: keyof CommandFiles): Promise<string> => readFile(files[name], 'utf8').catch(() => '')
  const pairs = async (name: keyof CommandFiles): Promise<[string, string][]> => {
    try {
      const found = parseKeyValues(await text(name))
      if (name === 'GITHUB_ENV' && found.some(([key]) => key.toUpperCase() === 'NODE_OPTIONS'))
        throw new Error("Can't store NODE_OPTIONS output parameter using '$GITHUB_ENV' command.")
      return found
    } catch (error) {
      mistakes.push(
        `Unable to process file command '${prefixes[name]}' successfully.`,
        (error as Error).message,
      )
      return []
    }
  }
  const summary = await text('GITHUB_STEP_SUMMARY')
  const size = Buffer.byteLength(summary)
  if (size > largestSummary)
    complaints.push(
      `$GITHUB_STEP_SUMMARY upload aborted, supports content up to a size of 1024k, got ${Math.ceil(size / 1024)}k.`,
    )
  return {
    env: await pairs('GITHUB_ENV'),
    outputs: await pairs('GITHUB_OUTPUT'),
    state: await pairs('GITHUB_STATE'),
    path: (await text('GITHUB_PATH')).split('\n').filter((line) => line !== ''),
    summary: size > largestSummary ? '' : summary,
    mistakes,
    complaints,
  }
}

/** Reads GITHUB_OUTPUT, GITHUB_ENV or GITHUB_STATE. Throws as the runner does, which fails the step. */
export function parseKeyValues(content: string): [string, string][] {
  const pairs: [string, string][] = []
  const lines = content.split('\n')
  // The runner reads the last line only when it is not empty; a delimiter needs its own newline.
  const isComplete = (at: number): boolean => at < lines.length - 1
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    if (line === '') continue
    const equals = line.indexOf('=')
    const heredoc = line.indexOf('<<')
    if (heredoc >= 0 && (equals < 0 || heredoc < equals)) {
      const key = line.slice(0, heredoc)
      const delimiter = line.slice(heredoc + 2)
      if (key === '' || delimiter === '')
        throw new Error(`Invalid format '${line}'. Name must not be empty and delimiter must not be empty`)
      const end = lines.findIndex((one, index) => index > at && one === delimiter)
      if (end < 0 || !isComplete(at))
        throw new Error(`Invalid value. Matching delimiter not found '${delimiter}'`)
      if (!isComplete(end)) throw new Error(`Invalid value. Matching delimiter not found '${delimiter}'`)
      pairs.push([key, lines.slice(at + 1, end).join('\n')])
      at = end
    } else if (equals > 0) {
      pairs.push([line.slice(0, equals), line.slice(equals + 1)])
    } else {
      throw new Error(
        equals === 0 ? `Invalid format '${line}'. Name must not be empty` : `Invalid format '${line}'`,
      )
    }
  }
  return pairs
}
