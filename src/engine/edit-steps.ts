// The steps that edit the branch without a session: one builds the commit, one runs the gates on it before it becomes the branch.

import { baseRequest } from './corrections/base-request.ts'
import { gatesOfEdit, newGateRun, runGatesOn, withoutSessionFiles } from './gating/gate-run.ts'
import type { BranchEdit, BuiltEdit } from './model/branch-edit.ts'
import { redGate } from './state/state-updates.ts'
import type { StepContext, StepResult } from './state/step-context.ts'

export async function buildEdit(
  edit: BranchEdit,
  { state, ports: { repository } }: StepContext,
): Promise<StepResult> {
  const result = await repository.edit(state, edit)
  switch (result.kind) {
    case 'same':
      return { kind: 'edited', edit }
    case 'needed':
      return { kind: 'edited', edit, refused: neededReason(edit, result) }
    case 'conflict': {
      const { paths, tree, base } = result
      return {
        kind: 'edited',
        edit,
        request: baseRequest(state, edit, { kept: { tree, base }, paths, failed: '' }),
      }
    }
    case 'edited': {
      // A base that merges without a conflict is merged only if people ask for it.
      if (edit.kind === 'update' && !edit.isAsked && result.isNeeded !== true) return { kind: 'edited', edit }
      const { commit, tree, base } = result
      return { kind: 'edit-built', built: { edit, onto: state.green, commit, tree, base } }
    }
  }
}

/** At `separate-job`, the gate job does this: gates run code of the agent, and the other jobs can write. */
export async function gateEdit(
  { edit, commit }: BuiltEdit,
  { state, ports }: StepContext,
): Promise<StepResult> {
  await ports.repository.checkOut(commit, null)
  const what = `${edit.kind}-${commit.slice(0, 7)}`
  const run = newGateRun(state, { ...gatesOfEdit(state, edit), what, commit })
  const gates = await withoutSessionFiles(ports, () => runGatesOn(run, ports))
  if (redGate(gates) !== undefined) await ports.repository.checkOut(state.green, null)
  return { kind: 'edit-gated', gates }
}

function neededReason(
  edit: BranchEdit,
  { stories, paths }: { stories: readonly string[]; paths: readonly string[] },
) {
  const dropped = edit.kind === 'drop' ? edit.stories : []
  const at = paths.slice(0, 3).join(', ')
  if (stories.length === 0)
    return `Ralph cannot drop ${dropped.join(', ')}, because later commits changed the same lines of ${at}`
  const all = [...dropped, ...stories].join(' ')
  return `${stories.join(', ')} changed the same lines of ${at} after ${dropped.join(', ')}. To drop all of them, use "drop ${all}"`
}
