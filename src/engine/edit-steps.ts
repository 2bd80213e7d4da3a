// The step that edits the branch without a session: the result runs through the gates before it becomes the branch.

import type { StepContext, StepResult } from './attempt-steps.ts'
import { newGateRun, runGatesOn, withoutSessionFiles } from './gating/gate-run.ts'
import type { BranchEdit } from './model/branch-edit.ts'
import type { CorrectionRequest } from './model/correction.ts'
import type { GateResult } from './model/gate.ts'
import { failureOutput } from './model/gate-output.ts'
import { fenced, sanitizeText } from './model/text.ts'
import { redGate, redGateReason } from './state-updates.ts'

export async function editBranch(edit: BranchEdit, context: StepContext): Promise<StepResult> {
  const { state, limits, ports } = context
  if (limits.neverEdits === true) return { kind: 'edited', edit, refused: NEVER_EDITS }
  const result = await ports.repository.edit(state, edit)
  if (result.kind === 'same') return { kind: 'edited', edit }
  if (result.kind === 'needed') return { kind: 'edited', edit, refused: neededReason(edit, result) }
  const { tree, base } = result
  if (result.kind === 'conflict')
    return { kind: 'edited', edit, request: baseRequest(edit, context, { tree, base }, result.paths, '') }
  if (edit.kind === 'update' && !edit.isAsked) return { kind: 'edited', edit }
  const gates = await gatesOn(result.commit, edit, context)
  const red = redGate(gates)
  if (red === undefined) return { kind: 'edited', edit, green: result.commit }
  await ports.repository.checkOut(state.green, null)
  const reason = redGateReason(red, gates)
  if (edit.kind === 'drop')
    return {
      kind: 'edited',
      edit,
      refused: `${edit.stories.join(', ')} cannot be dropped: without it ${reason}`,
    }
  const failure = { kind: 'gates' as const, summary: reason, detail: '', gate: red.name }
  const output = failureOutput(failure, gates)?.output ?? ''
  return {
    kind: 'edited',
    edit,
    request: baseRequest(edit, context, { tree, base }, [], `${reason}\n${output}`),
  }
}

/** At `separate-job` this step would be in a job with a token that writes, and gates run the agent's code. */
const NEVER_EDITS =
  'with isolation: separate-job, Ralph neither reverts stories nor merges the base branch: do that on the branch yourself, then comment /ralph run'

function neededReason(
  edit: BranchEdit,
  { stories, paths }: { stories: readonly string[]; paths: readonly string[] },
) {
  const dropped = edit.kind === 'drop' ? edit.stories : []
  const at = paths.slice(0, 3).join(', ')
  if (stories.length === 0)
    return `${dropped.join(', ')} cannot be dropped: later commits changed the same lines of ${at}`
  const all = [...dropped, ...stories].join(' ')
  return `${stories.join(', ')} changed the same lines of ${at} after ${dropped.join(', ')}: say drop ${all}, or drop nothing`
}

async function gatesOn(
  commit: string,
  edit: BranchEdit,
  { state, ports }: StepContext,
): Promise<GateResult[]> {
  await ports.repository.checkOut(commit, null)
  const dropped = edit.kind === 'drop' ? edit.stories : []
  const stories = state.prd.userStories.filter(({ id, passes }) => passes && !dropped.includes(id))
  const tags = stories.flatMap((story) => story.tags)
  const what = `${edit.kind}-${commit.slice(0, 7)}`
  const run = newGateRun(state, { of: 'join', tags, stories, what, commit })
  return withoutSessionFiles(ports, () => runGatesOn(run, ports))
}

/** A request for a session that sees both sides: the merge is in its work tree. */
function baseRequest(
  edit: BranchEdit,
  { state }: StepContext,
  kept: { tree: string; base: string },
  paths: readonly string[],
  output: string,
): CorrectionRequest {
  const commit = edit.kind === 'update' ? edit.theirs : ''
  const source = { kind: 'base' as const, commit, branch: state.base.branch, paths: [...paths] }
  const stories = state.prd.userStories
    .filter(({ passes }) => passes)
    .slice(0, 30)
    .map(({ id, title }) => `${id}: ${title}`)
  const text = [`The stories of this feature:\n${fenced(stories.join('\n'))}`]
  if (output !== '') text.push(`What failed on the merge:\n${fenced(sanitizeText(output))}`)
  return { story: null, source, text: text.join('\n\n'), kept }
}
