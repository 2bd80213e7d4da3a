// What the default branch has of a run after its merge, also after a squash: lines are compared, not commits.
import type { State } from '../engine/model/state.ts'
import { parsePrd } from '../engine/prd/parse.ts'
import { isRalphPath } from '../gates/guard.ts'
import type { CatFile } from '../git/cat-file.ts'
import { changedLinesBetween } from '../git/changed-lines.ts'
import type { Git } from '../git/git.ts'
import type { Merged } from '../report/run-results.ts'

/** Null if the default branch, at this commit, does not have the run. */
export async function mergedRun(
  { git, objects }: { git: Git; objects: CatFile },
  state: State,
  defaultCommit: string,
): Promise<Merged | null> {
  if (!(await hasRun(objects, state, defaultCommit))) return null
  const written = await linesBetween(objects, state.base.sha, state.green)
  const there = await linesBetween(objects, state.base.sha, defaultCommit)
  const kept = [...written].reduce((sum, [path, lines]) => sum + countCommon(lines, there.get(path) ?? []), 0)
  const messages = await git.messages(`${state.base.sha}..${state.green}`)
  const isRalphs = (text: string) => text.includes(`Ralph-Run: ${state.nonce}`)
  return {
    written: [...written.values()].reduce((sum, lines) => sum + lines.length, 0),
    kept,
    peopleCommits: messages.filter(({ message }) => !isRalphs(message)).length,
  }
}

/** How many lines of one list the other one has as well, each as often as it is there. */
function countCommon(lines: readonly string[], others: readonly string[]): number {
  const left = new Map<string, number>()
  for (const line of others) left.set(line, (left.get(line) ?? 0) + 1)
  return lines.filter((line) => {
    const count = left.get(line) ?? 0
    if (count > 0) left.set(line, count - 1)
    return count > 0
  }).length
}

/** Whether the commit has prd.json of this very run, in its folder or in the archive. */
async function hasRun(objects: CatFile, { folder, nonce }: State, commit: string): Promise<boolean> {
  const archived = folder.replace(/^\.ralph\//, '.ralph/archive/')
  for (const path of [`${folder}/prd.json`, `${archived}/prd.json`]) {
    const text = await objects.text(`${commit}:${path}`)
    const parsed = text === null ? null : parsePrd(text, path)
    if (parsed?.ok === true && parsed.prd.run.control.nonce === nonce) return true
  }
  return false
}

/** By path, the lines that are new at `to`. Blank lines say nothing about who wrote them. */
async function linesBetween(objects: CatFile, from: string, to: string): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  for (const [path, numbers] of await changedLinesBetween(objects, from, to)) {
    if (isRalphPath(path)) continue
    const lines = ((await objects.text(`${to}:${path}`)) ?? '').split('\n')
    const own = numbers.map((number) => lines[number - 1] ?? '').filter((line) => line.trim() !== '')
    found.set(path, own)
  }
  return found
}
