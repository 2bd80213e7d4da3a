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
import { changesBetween } from '../../git/tree-walk.ts'
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
  /** Checks out the session's tree. Gives why that fails, or null. The tree is hostile: an error of git must not end the job. */
  async function putInPlace(green: string, commit: string): Promise<string | null> {
    const base = await treeIdOf(objects, green)
    try {
      const tree = await treeIdOf(objects, commit)
      const changes = await changesBetween(objects, base, tree)
      const long = changes.find(({ path }) => isTooLong(path))
      if (long !== undefined) return `${long.path.slice(0, 100)}... is deeper than tools bear`
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
      const why = commit === null ? null : await putInPlace(state.green, commit)
      const { detail, circuits } = session
      const said = mapTexts(session, clean)
      return {
        ...said,
        status: why === null ? session.status : 'failed',
        message: why === null ? said.message : clean(why),
        learnings: said.learnings.slice(0, MOST_LEARNINGS),
        ...(detail === undefined ? {} : { detail: cleanLines(detail, redact) }),
        ...(circuits === undefined ? {} : { circuits: circuitsOf(steps, circuits) }),
        // Only the work job would confirm that nothing had to be done, and it is not trusted: here an empty diff passes no story.
        hints: { ...said.hints, done: false },
      }
    },
    // The set-up session is part of the session that was handed over.
    setUp: async () => null,
    async judge() {
      const none = { kind: 'none' as const, message: 'the work job handed over no verdict' }
      const { verdict, usage } = work.judged ?? { verdict: none, usage: emptyUsage() }
      return { verdict: mapTexts(verdict, clean), usage }
    },
    async plan(_state, task) {
      const none: Planned = { kind: 'none', message: 'the work job handed over no plan', usage: emptyUsage() }
      const { usage, ...said } = work.planned ?? none
      if (said.kind === 'proposed') return { proposal: readProposal(redact(said.words), task), usage }
      return { proposal: { ...said, message: clean(said.message) }, usage }
    },
  }
}

/** The circuits of steps that have one, open for no longer than the step's setting allows. */
function circuitsOf(steps: readonly PipelineStep[], given: Circuits): Circuits {
  const entries = steps.flatMap(({ name, circuit }) => {
    const one = Object.hasOwn(given, name) ? given[name] : undefined
    if (circuit === null || one === undefined) return []
    const until = one.until === null ? null : Math.min(one.until, Date.now() + circuit.resetAfterMs)
    return [[name, { ...one, until }] as const]
  })
  return Object.fromEntries(entries)
}

/**
 * Gates that answer with the results of the gate job. These count only for exactly the code that ran there, and every configured gate
 * needs a result. What else was red there, such as a service, is red here, too.
 */
export function handedOverGates(
  given: FromGate,
  configured: readonly Gate[],
  git: Git,
  objects: CatFile,
  redact: Redact,
): GatesPort {
  const clean = createCleaner(redact)
  const cleaned = ({ screenshots: _, output, ...result }: GateResult, advisory: boolean): GateResult => ({
    ...mapTexts(result, clean),
    advisory,
    output: cleanLines(output, redact),
  })
  let commit = ''
  const again = given.gates.filter((one) => one.asItWas === true)
  const from = { ...given, gates: given.gates.filter((one) => one.asItWas !== true) }
  return {
    isHandedOver: true,
    async prepare(candidate) {
      commit = candidate
      return null
    },
    canPrepare: false,
    renew: async () => {},
    async run({ of, tags, also = [], pages = [], asItWas }) {
      const shown = ({ screenshots = [] }: GateResult) =>
        landPictures(screenshots, from.pictures ?? {}, pages, (picture) =>
          writeScreenshot(git, objects, picture),
        )
      const isSame = from.code !== null && from.code === (await codeDigest(git, objects, commit))
      if (asItWas === true) return isSame ? again.map((one) => cleaned(one, true)) : []
      const failed = from.gates.find((one) => one.name === 'prepare' && !one.ok)
      if (isSame && failed !== undefined) return [cleaned(failed, false)]
      const results: GateResult[] = []
      const others = isSame ? from.gates.filter(({ name }) => isOther(name, configured)) : []
      const red = others.some(({ ok }) => !ok)
      for (const { name, when, advisory } of configured) {
        if (of === 'baseline' && name === BROWSER_GATE) {
          const seen = isSame ? from.gates.find((one) => one.name === name) : undefined
          // Screenshots of the base are advisory: no page has to exist or to be right there.
          if (seen !== undefined) results.push({ ...cleaned(seen, true), screenshots: await shown(seen) })
          continue
        }
        if (!isFor(when, tags) && !also.includes(name)) continue
        // The gate did not run, because of these failures.
        if (red && from.gates.every((one) => one.name !== name)) break
        const ran = isSame ? from.gates.find((one) => one.name === name) : undefined
        const ended = isSame ? 'no result from the gate job' : 'the gate job ran on other code'
        const result = cleaned(ran ?? { name, ok: false, advisory, ended, ms: 0, output: '' }, advisory)
        const screenshots = ran === undefined ? [] : await shown(ran)
        results.push(screenshots.length === 0 ? result : { ...result, screenshots })
        if (!result.ok && !advisory) break
      }
      return [...results, ...others.map((result) => cleaned(result, false))]
    },
  }
}

function isOther(name: string, configured: readonly Gate[]): boolean {
  return name !== 'prepare' && configured.every((gate) => gate.name !== name)
}

const MOST_CHARACTERS = 400
const MOST_LEARNINGS = 20

/** Cleans text as if a session of this job had said it: one line, shortened, redacted, without characters that could hide a secret. */
export function createCleaner(redact: Redact): Redact {
  return (text) => redact(withoutControls(text.replace(/\s+/g, ' ')).trim()).slice(0, MOST_CHARACTERS)
}
