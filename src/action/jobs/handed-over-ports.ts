// Ports for a job that does a part of an iteration: what other jobs have done is answered from what they handed over.

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

/** The job that lands or claims runs no agent and no code of the repository: being asked is our own mistake. */
export const unavailablePorts: { agent: AgentPort; gates: GatesPort } = {
  agent: { work: refused, setUp: refused, judge: refused, plan: refused },
  gates: { canPrepare: false, prepare: async () => null, renew: async () => {}, run: refused },
}

function refused(): Promise<never> {
  return Promise.reject(new Error('neither an agent nor a gate runs in this job'))
}

/** The agent as it worked in another job: its changes are put into the work tree, for the guard to look at. */
export function replayedAgent(
  work: FromWork,
  repository: RepositoryPort,
  objects: CatFile,
  redact: Redact,
  steps: readonly PipelineStep[],
): AgentPort {
  const clean = createCleaner(redact)
  /** Gives why that cannot be. The tree is as hostile as its author: a git that fails at it must not end the job. */
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
        // Nobody but the job of the agent would confirm that nothing had to be done: an empty diff passes no story here.
        hints: { ...said.hints, done: false },
      }
    },
    // It is part of the session that was handed over.
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

/** Those of steps that have one, open no longer than the step says. */
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
 * The gates as they ran in another job: they count for exactly the code they saw, and each one has to be there. What else is
 * red there, such as a service, is red here.
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
          // The pages as they were: nothing that has to be there, or to be right.
          if (seen !== undefined) results.push({ ...cleaned(seen, true), screenshots: await shown(seen) })
          continue
        }
        if (!isFor(when, tags) && !also.includes(name)) continue
        // It did not run because of them.
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

/** As this job would have had it from a session itself: one line, bounded, without what could hide a secret from the redaction. */
export function createCleaner(redact: Redact): Redact {
  return (text) => redact(withoutControls(text.replace(/\s+/g, ' ')).trim()).slice(0, MOST_CHARACTERS)
}
