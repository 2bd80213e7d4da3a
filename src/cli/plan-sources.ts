// Sources of a plan outside the repository: issues of GitHub, and beads, read by its own program.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Workspace } from '../app/workspace.ts'
import { connect } from '../github/client.ts'
import { issueQuery, readIssues } from '../github/read-issues.ts'
import type { DocumentFile } from '../plan/types.ts'
import { messageOf, UserError } from '../system/errors.ts'
import { readRegularFile } from '../system/files.ts'
import { findProgram } from '../system/program.ts'
import { tokenFor } from './github-token.ts'
import { remoteOf } from './origin.ts'

const ANSWER_MS = 60_000
const MAX_BYTES = 5_000_000

type Place = {
  clone: Workspace['clone']
  env: Readonly<Record<string, string>>
  directory: string
  warn(message: string): void
}

/** The issues that `issues:milestone=3`, `beads` and the like name, as a document; null for the name of a file. */
export async function answerTo(words: string, place: Place): Promise<DocumentFile | null> {
  if (words === 'beads') return { path: words, text: await listBeads(place), isNamed: true }
  const query = issueQuery(words)
  if (query === null) return null
  const { env, clone, warn } = place
  const { server, remote, place: found } = remoteOf(clone, env)
  if (found === null) {
    const fix =
      'run it in a clone of the repository, or save the issues: gh issue list --json number,title,body,labels,state,stateReason > issues.json'
    throw new UserError({
      path: '--from',
      found:
        remote === null ? 'this clone has no remote origin.' : `${remote} is not a repository at ${server}.`,
      expected: '',
      fix,
    })
  }
  const token = await tokenFor(server, env)
  if (token === null) {
    const fix = 'run `gh auth login`, or set GH_TOKEN to a token that may read issues'
    throw new UserError({ path: 'GH_TOKEN', found: `there is no token for ${server}.`, expected: '', fix })
  }
  const { text } = await readIssues(connect({ ...found, defaultBranch: 'main' }, token, warn), query)
  return { path: words, text, isNamed: true }
}

/** Whether a path is not a file, but names issues of GitHub or beads, which can be read again. */
export function isAnswer(path: string): boolean {
  return path === 'beads' || /^issues(?::|$)/.test(path)
}

/** All issues of the project's database, also closed ones, as JSON of beads' program bd; without the program those of its export. */
async function listBeads({ env, directory, clone, warn }: Place): Promise<string> {
  const program = findProgram('bd', env.PATH ?? '')
  if (program === null) {
    const text = await readExport(clone.workTree, warn)
    if (text !== null) return text
    const fix = 'install beads: its program bd reads the database'
    throw new UserError({
      path: '--from',
      found: 'bd, the program of beads, is not on your PATH.',
      expected: '',
      fix,
    })
  }
  const args = ['list', '--all', '--limit', '0', '--json']
  const options = { cwd: directory, env, timeout: ANSWER_MS, maxBuffer: MAX_BYTES }
  try {
    return (await promisify(execFile)(program, args, options)).stdout
  } catch (error) {
    const found = `bd did not list its issues: ${messageOf(error).split('\n').slice(0, 2).join(' ').slice(0, 200)}`
    const fix = `run it and read what it prints: bd ${args.join(' ')}`
    throw new UserError({ path: '--from beads', found, expected: '', fix })
  }
}

const EXPORTS = ['.beads/issues.jsonl', '.beads/beads.jsonl']

/** The issues of the export as a JSON list; null without one. A line that is not a JSON costs its issue. */
async function readExport(workTree: string, warn: (message: string) => void): Promise<string | null> {
  for (const path of EXPORTS) {
    const bytes = await readRegularFile(join(workTree, path)).catch(() => null)
    if (bytes === null || bytes.length > MAX_BYTES) continue
    const lines = bytes
      .toString('utf8')
      .split('\n')
      .filter((line) => line.trim() !== '')
    const issues = lines.flatMap((line) => parseLine(line) ?? [])
    const lost = lines.length - issues.length
    warn(`${path} is a snapshot of beads and may be out of date. To read the current issues, install bd.`)
    if (lost > 0)
      warn(
        `${path}: ${lost} of ${lines.length} lines are not JSON, so Ralph leaves them out. To write the file again: bd export.`,
      )
    return JSON.stringify(issues)
  }
  return null
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}
