// Finds the story that broke a gate of the final verification, by running that gate on commits since the fork point.
import type { Verdict } from '../model/event.ts'
import type { GateResult } from '../model/gate.ts'
import type { GateRun } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import { redGateReason } from '../state/state-updates.ts'

/** Runs gates on a commit in the clean room. */
export type RunAt = (commit: string, only: readonly string[]) => Promise<readonly GateResult[]>

type Commit = { commit: string; storyId: string | null }

/**
 * The verdict on a red gate. `last`: the story that has to make the gate green if no commit can be blamed. If the gate is green when it
 * runs again on the same commit, it is flaky. If it is red at the fork point as well, although the baseline was green, no story broke it.
 */
export async function blame(
  red: GateResult,
  {
    state,
    run,
    gates,
    last,
  }: { state: State; run: GateRun; gates: readonly GateResult[]; last: string | null },
  history: readonly Commit[],
  runAt: RunAt,
): Promise<Verdict> {
  const words = redGateReason(red, gates)
  const reset = (storyId: string | null, reason: string, detail?: string): Verdict =>
    storyId === null
      ? { kind: 'none', message: reason }
      : {
          kind: 'reset',
          stories: [storyId],
          reason,
          gate: red.name,
          ...(detail === undefined ? {} : { detail }),
        }
  const isRed = async (commit: string) => (await resultAt(commit))?.ok === false
  const resultAt = async (commit: string) =>
    (await runAt(commit, [red.name])).find(({ name }) => name === red.name)

  const again = await resultAt(run.commit)
  if (again?.ok !== false) {
    const detail = `Green on the same commit:\n${again?.output ?? ''}\n\nRed:`
    return reset(
      last,
      `${words} in the final verification, but is flaky: it passed when it ran again on the same commit`,
      detail,
    )
  }
  if (await isRed(state.base.sha)) {
    if (state.baseline !== 'green') return reset(last, `${words} in the final verification`)
    return {
      kind: 'refused',
      message: `${words} in a clean clone of the base, although it passed on the base in the checkout`,
      fix: NOT_IN_A_CLONE,
    }
  }
  const brokenBy = await firstRed(history, isRed)
  return reset(
    brokenBy ?? last,
    `${words} in the final verification${brokenBy === null ? '' : ', but passed before this story'}`,
  )
}

/** The fix for gates that are green in a checkout, but red in a clean clone of the same commit. */
export const NOT_IN_A_CLONE =
  'let `prepare` create the files that git ignores and the gates need, make the gates independent of their folder, or set clean-room: off'

/** The story of the first red commit, by bisection: the fork point is known to be green, and the last commit to be red. */
export async function firstRed(
  history: readonly Commit[],
  isRed: (commit: string) => Promise<boolean>,
): Promise<string | null> {
  let [green, red] = [-1, history.length - 1]
  while (red - green > 1) {
    const middle = Math.floor((green + red) / 2)
    const one = history[middle]
    if (one !== undefined && (await isRed(one.commit))) red = middle
    else green = middle
  }
  return history[red]?.storyId ?? null
}
