// Where in the code the gates of rejected stories failed, for the checks that GitHub shows beside it.

import { annotationsFrom } from '../gates/annotations.ts'
import type { Git } from '../git/git.ts'
import type { State } from '../model/state.ts'
import type { Facts } from '../report/view.ts'

/** By story id, in files that the story's rejected work holds, or the branch where none is kept. */
export async function failedPlaces(git: Git, state: State): Promise<NonNullable<Facts['annotations']>> {
  const found: Record<string, NonNullable<Facts['annotations']>[string]> = {}
  for (const [id, { gates }] of Object.entries(state.records)) {
    const output = gates.flatMap((gate) => (gate.ok || gate.advisory ? [] : [gate.output])).join('\n')
    if (output === '') continue
    const listed = await git.run(['ls-tree', '-r', '-z', '--name-only', state.kept[id]?.tree ?? state.green])
    found[id] = annotationsFrom(output, new Set(listed.stdout.split('\0').filter(Boolean)))
  }
  return found
}
