// The last words of `ralph plan`: what was written, what to type next, and what `--json` says.
import type { Prd } from '../model/feature.ts'
import { terminalText } from '../report/escape.ts'
import { outputsOf } from '../report/outputs.ts'
import { shellWord } from '../system/shell-word.ts'
import type { Answer } from './context.ts'
import type { Desk } from './plan-desk.ts'
import type { Material } from './plan-material.ts'

export function writtenLines(folder: string, written: readonly string[]): string[] {
  if (written.length === 0) return [`${folder} says all of it already: nothing was changed.`]
  return written.map((path) => `written: ${path}`)
}

export function sketchLines(feature: string): string[] {
  return ['', 'Next:', `  ralph plan ${feature}`]
}

/** Everything that stands between the plan and its run. */
export async function nextLines(
  desk: Desk,
  feature: string,
  { folder, isGated }: { folder: string; isGated: boolean },
): Promise<string[]> {
  const gates = isGated ? [] : ['  ralph init   (no command checks the stories yet)']
  const lines = [
    `  look at ${folder}/prd.md`,
    ...gates,
    ...(await commitLines(desk)),
    `  ralph run ${feature}`,
  ]
  return ['', 'Next:', ...lines]
}

/** A run begins on a clean tree; the plan itself it takes up. */
async function commitLines({ clone, local }: Desk): Promise<string[]> {
  const all = clone.head === null || local === null ? null : await local.workspace.repository.dirt(clone.head)
  if (all === null) return ['  git add -A && git commit']
  const paths = all.map(({ path }) => path).filter((path) => !path.startsWith('.ralph/'))
  if (paths.length === 0) return []
  const isFew = paths.length <= 3
  return isFew
    ? [`  git add ${paths.map((path) => terminalText(shellWord(path))).join(' ')} && git commit`]
    : ['  commit or stash what else has changed']
}

export function answerOf(
  { planner }: Desk,
  feature: string,
  prd: Prd,
  { documents }: Material,
  { code, written }: { code: number; written: readonly string[] },
): Answer {
  const stories = prd.userStories.map(({ id, title, acceptanceCriteria, dependsOn, passes }) => {
    const imported = passes
    return { id, title, criteria: acceptanceCriteria.length, dependsOn, imported }
  })
  const usage = planner.used()
  const outputs = {
    ...outputsOf(null, null, null),
    feature,
    storiesTotal: stories.length,
    storiesPassed: stories.filter(({ imported }) => imported).length,
    costUsd: usage.costUsd,
  }
  const { sources = [], notes = [] } = documents ?? {}
  return { code, outputs, more: { stories, sources, notes, written, usage } }
}
