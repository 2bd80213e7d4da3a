// Ports of a job that does a part of an iteration. They answer with what the other jobs handed over.

import { writeScreenshot } from '../../branch/screenshot-blobs.ts'
import { BROWSER_GATE, type Gate, type GateResult } from '../../engine/model/gate.ts'
import type { Circuits, PipelineStep } from '../../engine/model/pipeline-step.ts'
import type { AgentPort, GatesPort, RepositoryPort } from '../../engine/model/ports.ts'
import { isFor } from '../../engine/model/service.ts'
import { mapTexts } from '../../engine/model/text.ts'
import { emptyUsage } from '../../engine/model/usage.ts'
import { readProposal } from '../../engine/planning/proposed-plan.ts'
import type { CatFile } from '../../git/cat-file.ts'
import type { Git } from '../../git/git.ts'
import { changesBetween } from '../../git/trees.ts'
import { messageOf } from '../../system/errors.ts'
import { cleanLines } from '../../system/excerpt.ts'
import { isTooLong } from '../../system/files.ts'
import { withoutControls } from '../../system/workflow-commands.ts'
import { landPictures } from './hand-over-pictures.ts'
import type { FromGate, FromWork, Planned } from './handover.ts'
import { codeDigest, treeIdOf } from './pack.ts'

type Redact = (text: string) => string

/** Claim and land job run no agent and no code of the repository: a call of these ports is a bug. */
export const unavailablePorts: { agent: AgentPort; gates: GatesPort } = {
  agent: { work: refused, setUp: refused, judge: refused, plan: refused },
  gates: { canPrepare: false, prepare: async () => null, renew: async () => {}, run: refused },
}

function refused(): Promise<never> {
  return Promise.reject(new Error('neither an agent nor a gate runs in this job'))
}

/** An agent that replays the session of the work job: its changes are put into the work tree, where the guard checks them. */
export function replayedAgent(
  work: FromWork,
  repository: RepositoryPort,
  objects: CatFile,
  redact: Redact,
  steps: readonly PipelineStep[],
): AgentPort {
  const clean = createCleaner(redact)
  /** Checks out the session's tree. Gives the reason why that fails, or null. The tree is hostile: an error of git must not end the job. */
  async function checkOutSession(green: string, commit: string): Promise<string | null> {
    const base = await treeIdOf(objects, green)
    try {
      const tree = await treeIdOf(objects, commit)
      const changes = await changesBetween(objects, base, tree)
      const tooLong = changes.find(({ path }) => isTooLong(path))
      if (tooLong !== undefined) return `${tooLong.path.slice(0, 100)}... is too long or too deeply nested`
      await repository.checkOut(green, { base, tree, dropped: [] })
      return null
    } catch (error) {
      return `what the session left could not be looked at: ${messageOf(error)}`
    }
  }
  return {
    async work(state) {
      const { session, commit } = work
      if (session === null) throw new Error('the work job handed over no session')
      const reason = commit === null ? null : await checkOutSession(state.green, commit)
      const { detail, circuits } = session
      const cleanSession = mapTexts(session, clean)
      return {
        ...cleanSession,
        status: reason === null ? session.status : 'failed',
        message: reason === null ? cleanSession.message : clean(reason),
        learnings: cleanSession.learnings.slice(0, MAX_LEARNINGS),
        ...(detail === undefined ? {} : { detail: cleanLines(detail, redact) }),
        ...(circuits === undefined ? {} : { circuits: circuitsOf(steps, circuits) }),
        // Only the work job would confirm that nothing had to be done, and it is not trusted: here an empty diff passes no story.
        hints: { ...cleanSession.hints, done: false },
      }
    },
    // The set-up session is part of the session that was handed over.
    setUp: async () => null,
    async judge(_state, { isUnchanged }) {
      const noVerdict = { kind: 'none' as const, message: 'the work job handed over no verdict' }
      // A rebase may leave nothing of a change that landed with another story. The agent's own job may say nothing about that.
      const handed = isUnchanged === true ? null : work.judged
      const { verdict, usage } = handed ?? { verdict: noVerdict, usage: emptyUsage() }
      return { verdict: mapTexts(verdict, clean), usage }
    },
    async plan(_state, task) {
      const noPlan: Planned = {
        kind: 'none',
        message: 'the work job handed over no plan',
        usage: emptyUsage(),
      }
      const { usage, ...planned } = work.planned ?? noPlan
      if (planned.kind === 'proposed') return { proposal: readProposal(redact(planned.words), task), usage }
      return { proposal: { ...planned, message: clean(planned.message) }, usage }
    },
  }
}

/** The circuits of steps that have one, open for no longer than the step's setting allows. */
function circuitsOf(steps: readonly PipelineStep[], circuits: Circuits): Circuits {
  const entries = steps.flatMap(({ name, circuit }) => {
    const state = Object.hasOwn(circuits, name) ? circuits[name] : undefined
    if (circuit === null || state === undefined) return []
    const until = state.until === null ? null : Math.min(state.until, Date.now() + circuit.resetAfterMs)
    return [[name, { ...state, until }] as const]
  })
  return Object.fromEntries(entries)
}

/**
 * Gates that answer with the results of the gate job. These count only for exactly the code that ran there, and every configured gate
 * needs a result. Other red results of that job, such as a service's, count here as well.
 */
export function handedOverGates(
  received: FromGate,
  configured: readonly Gate[],
  git: Git,
  objects: CatFile,
  redact: Redact,
): GatesPort {
  const clean = createCleaner(redact)
  const cleanResult = ({ screenshots: _, output, ...result }: GateResult, advisory: boolean): GateResult => ({
    ...mapTexts(result, clean),
    advisory,
    output: cleanLines(output, redact),
  })
  let commit = ''
  const asItWasResults = received.gates.filter((one) => one.further === 'checks')
  const handover = { ...received, gates: received.gates.filter((one) => one.further === undefined) }
  return {
    isHandedOver: true,
    async prepare(candidate) {
      commit = candidate
      return null
    },
    canPrepare: false,
    renew: async () => {},
    async run({ of, tags, also = [], pages = [], further }) {
      const pictures = ({ screenshots = [] }: GateResult) =>
        landPictures(screenshots, handover.pictures ?? {}, pages, (picture) => writeScreenshot(git, picture))
      // Each job builds its own commit, with other times in `.ralph`, so the digest of the code is compared.
      const ranOnThisCode =
        handover.code !== null && handover.code === (await codeDigest(git, objects, commit))
      if (further !== undefined)
        return ranOnThisCode ? asItWasResults.map((one) => cleanResult(one, true)) : []
      const failed = handover.gates.find((one) => one.name === 'prepare' && !one.ok)
      if (ranOnThisCode && failed !== undefined) return [cleanResult(failed, false)]
      const results: GateResult[] = []
      // Such as a service's, which is red where it did not come up.
      const unconfigured = ranOnThisCode ? handover.gates.filter(({ name }) => isOther(name, configured)) : []
      const isUnconfiguredRed = unconfigured.some(({ ok }) => !ok)
      for (const { name, when, advisory } of configured) {
        if (of === 'baseline' && name === BROWSER_GATE) {
          const baseResult = ranOnThisCode ? handover.gates.find((one) => one.name === name) : undefined
          // Screenshots of the base are advisory: no page has to exist or to be right there.
          if (baseResult !== undefined)
            results.push({ ...cleanResult(baseResult, true), screenshots: await pictures(baseResult) })
          continue
        }
        if (!isFor(when, tags) && !also.includes(name)) continue
        // The gate has no result because a service was red: that is the failure then, not the missing result.
        if (isUnconfiguredRed && handover.gates.every((one) => one.name !== name)) break
        const ran = ranOnThisCode ? handover.gates.find((one) => one.name === name) : undefined
        const reason = ranOnThisCode ? 'no result from the gate job' : 'the gate job ran on other code'
        const result = cleanResult(
          ran ?? { name, ok: false, advisory, ended: reason, ms: 0, output: '' },
          advisory,
        )
        const screenshots = ran === undefined ? [] : await pictures(ran)
        results.push(screenshots.length === 0 ? result : { ...result, screenshots })
        if (!result.ok && !advisory) break
      }
      return [...results, ...unconfigured.map((result) => cleanResult(result, false))]
    },
  }
}

function isOther(name: string, configured: readonly Gate[]): boolean {
  return name !== 'prepare' && configured.every((gate) => gate.name !== name)
}

const MAX_CHARACTERS = 400
const MAX_LEARNINGS = 20

/** Cleans a text of another job as a session's own texts are: one line, shortened, redacted, without characters that could hide a secret. */
export function createCleaner(redact: Redact): Redact {
  return (text) => redact(withoutControls(text.replace(/\s+/g, ' ')).trim()).slice(0, MAX_CHARACTERS)
}
