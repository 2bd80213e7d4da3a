// Reads the features' states from the remote, for jobs that only answer.
import { readStates } from '../branch/remote-states.ts'
import type { State } from '../engine/model/state.ts'
import { type ActionContext, remoteOf, tokenOf } from './action-context.ts'

/** Every feature's state by folder name. */
export async function peekStates(context: ActionContext, namespace: string): Promise<Map<string, State>> {
  const stored = await readStates(remoteOf(context.place, tokenOf(context)), context.env, namespace)
  return new Map([...stored].map(([folder, { state }]) => [folder, state]))
}
