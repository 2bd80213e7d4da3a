// A state in the stand-in's repository, as a job pushes it.

import type { State } from '../../../src/engine/model/state.ts'
import { stateFiles } from '../../../src/engine/stored-state.ts'
import type { GitHub } from '../../standin/github.ts'

/** Gives the commit. `text`: in the place of the state's own. */
export async function putState(
  { bare }: GitHub,
  state: State,
  text = stateFiles(state).text,
): Promise<string> {
  const blob = await bare.run(['hash-object', '-w', '--stdin'], { input: text })
  const folder = await bare.run(['mktree'], { input: `100644 blob ${blob}\tstate.json\n` })
  const root = await bare.run(['mktree'], { input: `040000 tree ${folder}\t.ralph-state\n` })
  const who = ['-c', 'user.name=Ralph', '-c', 'user.email=ralph@localhost']
  const commit = await bare.run([...who, 'commit-tree', '-m', 'ralph: checkpoint', root])
  await bare.run(['update-ref', state.folder.replace(/^\.ralph\//, 'refs/ralph/'), commit])
  return commit
}
