// `ralph verify`: runs every gate and a judge on the current checkout. Reports what they find, and changes nothing of a run.
import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'

import { refuseAtWork, refuseOtherRun } from '../app/at-work.ts'
import { withRequestedScope } from '../app/claim-feature.ts'
import { checkDirt } from '../app/dirt.ts'
import { limitsOf } from '../app/loop-limits.ts'
import { stateToVerify, verifyNow } from '../app/verify-now.ts'
import type { Ports } from '../engine/model/ports.ts'
import type { State } from '../engine/model/state.ts'
import { CatFile } from '../git/cat-file.ts'
import { Git, openClone } from '../git/git.ts'
import { outputsOf } from '../report/outputs.ts'
import { verificationLines } from '../report/summaries.ts'
import { refuseBlocked } from '../setup/checks/check-table.ts'
import { UserError } from '../system/errors.ts'
import { newMark } from '../system/process.ts'
import { checkoutOf, startOf } from './before-run.ts'
import {
  type CommandResult,
  type Context,
  interruptedResult,
  resultOfState,
  settingsOf,
} from './command-context.ts'
import { type LocalRun, openLocal } from './local-feature.ts'
import { liveOf, withPorts } from './run.ts'

/** Exit code: 0 if every gate is green and the judge agrees, 1 if not, 130 if interrupted. */
export async function verify(context: Context): Promise<CommandResult> {
  const { attestation } = context.flags
  if (typeof attestation === 'string') return verifyAttestation(context, attestation)
  const { settings, notes } = await settingsOf(context)
  const limits = limitsOf(settings)
  const live = liveOf(context, settings, limits, notes)
  using local = await openLocal(context, settings, live)
  const { clone, repository } = local.workspace
  const found = withRequestedScope(await local.look(), settings)
  const head = clone.head ?? found.green
  await refuseAtWork(found)
  await refuseOtherRun(local, found.branch)
  refuseOtherBranch(found, clone.branch)
  await checkDirt(repository, head, () => false)
  const read = (path: string) => repository.read(head, path)
  const checkout = { ...checkoutOf(local, found), commit: head, read }
  await refuseBlocked(startOf(context, settings, checkout))
  const answer = await withPorts(context, local, live, { mark: newMark() }, async (ports) => {
    const now = Date.now()
    const state = stateToVerify(found, head, settings, now)
    // With the run's sessions, so that the header shows the cost of the whole run.
    await live.step({ kind: 'verify' }, { ...state, sessions: found.sessions })
    const verified = await verifyNow(state, limits, withGuardedRestore(local, ports), now)
    live.close()
    if (ports.signal.aborted) return interruptedResult(found)
    for (const line of verificationLines(found, verified)) live.say(line)
    const { isFine, red, verdict, gates, usage } = verified
    const more = {
      verified: isFine,
      verdict: red === null ? verdict : { kind: 'red', gate: red },
      gates: gates.map(({ name, ok, advisory, ended }) => ({ name, ok, advisory, ended })),
      usage,
    }
    return resultOfState(found, more, isFine ? 0 : 1)
  })
  return answer ?? interruptedResult(found)
}

/** More bytes than an attestation of 5,000 stories has. */
const MAX_ATTESTATION = 16 * 1024 * 1024

/** Compares a file with HEAD. It does not check the signature: `gh attestation verify` does. */
async function verifyAttestation(context: Context, file: string): Promise<CommandResult> {
  const { compareAttestation } = await import('../report/attestation.ts')
  const path = resolve(context.directory, file)
  const bytes = await stat(path).then(
    ({ size }) => size,
    () => null,
  )
  if (bytes === null || bytes > MAX_ATTESTATION) {
    const found = bytes === null ? 'no such file' : 'a file of more than 16 MB'
    const fix = 'give the path that the action printed as its output attestation-path'
    throw new UserError({ path: '--attestation', found, expected: 'an attestation of a run', fix })
  }
  const clone = await openClone(context.directory, context.env)
  using objects = new CatFile(await Git.open(clone, context.env))
  const commit = clone.head ?? ''
  const tree = commit === '' ? '' : ((await objects.root(commit)) ?? '')
  const compared = compareAttestation(await readFile(path, 'utf8'), { commit, tree })
  if (compared.kind === 'other') {
    context.print(`Not verified: ${compared.why}.`)
    return { code: 1, outputs: outputsOf(null, null, null), more: { verified: false } }
  }
  const { stories, verification, approvedBy } = compared.attestation
  const passed = stories.filter((story) => story.passed).length
  const judged = `${verification.approved ? 'a' : 'no'} judge approved the finished feature`
  context.print(
    `The attestation is for the checked-out commit: ${passed} of ${stories.length} stories passed, ${judged}, ${approvedBy.length} approvals counted.`,
  )
  return { code: 0, outputs: outputsOf(null, null, null), more: { verified: true } }
}

function refuseOtherBranch(state: State, branch: string | null): void {
  if (state.published === null || branch === state.branch) return
  throw new UserError({
    path: 'HEAD',
    found: branch ?? 'a detached HEAD',
    expected: `${state.branch}, which has the work`,
    fix: `git switch ${state.branch}`,
  })
}

/** Undoes what gates wrote, but never in the tree of a run that has begun meanwhile. */
function withGuardedRestore(local: LocalRun, ports: Ports): Ports {
  const restore = async (commit: string) => {
    await refuseAtWork(await local.look())
    return ports.repository.restore(commit)
  }
  return { ...ports, repository: { ...ports.repository, restore } }
}
