// What a job takes from the others: their events, which are hostile. An event counts only for the step that it answers. Gates count only
// for exactly the code that they ran on. Texts are cleaned, and what the settings say is never taken from another job.

import { configuredGates } from '../../app/browser-gate.ts'
import type { Workspace } from '../../app/workspace.ts'
import { writeScreenshot } from '../../branch/screenshot-blobs.ts'
import { undoneBy, withUndone } from '../../engine/attempts/undone.ts'
import { gatesOfEdit, gatesOfJoin, gatesOfStory } from '../../engine/gating/gate-run.ts'
import { checkVerdict } from '../../engine/gating/judge.ts'
import { type AttemptIn, idOf, slotOf } from '../../engine/model/attempt.ts'
import type { Event, Verdict } from '../../engine/model/event.ts'
import {
  BROWSER_GATE,
  type GateBaselines,
  type GateResult,
  type Screenshot,
} from '../../engine/model/gate.ts'
import type { Limits } from '../../engine/model/limit-types.ts'
import type { Circuits, PipelineStep } from '../../engine/model/pipeline-step.ts'
import type { AgentPort, GateRun, GatesPort, RepositoryPort } from '../../engine/model/ports.ts'
import { isFor } from '../../engine/model/service.ts'
import type { State } from '../../engine/model/state.ts'
import type { Step } from '../../engine/model/step.ts'
import { mapTexts } from '../../engine/model/text.ts'
import { emptyUsage } from '../../engine/model/usage.ts'
import { mustAskQuestions } from '../../engine/planning/plan-questions.ts'
import { readProposal } from '../../engine/planning/proposed-plan.ts'
import { greenPages } from '../../engine/state/screenshots.ts'
import { redGate, redGateReason } from '../../engine/state/state-updates.ts'
import type { StepResult } from '../../engine/state/step-context.ts'
import { changesBetween } from '../../git/trees.ts'
import type { Settings } from '../../settings/read-settings.ts'
import { messageOf } from '../../system/errors.ts'
import { cleanLines } from '../../system/excerpt.ts'
import { isTooLong } from '../../system/files.ts'
import { withoutControls } from '../../system/workflow-commands.ts'
import { landPictures } from './hand-over-pictures.ts'
import { type FromGate, type FromWork, type GateEvent, workedIn } from './handover.ts'
import { codeDigest, treeIdOf } from './pack.ts'

type Redact = (text: string) => string

/** The ports of a job that runs neither an agent nor code of the repository: a call of them is a bug. */
export const unavailablePorts: { agent: AgentPort; gates: GatesPort } = {
  agent: { work: refused, setUp: refused, judge: refused, plan: refused },
  gates: { canPrepare: false, prepare: async () => null, renew: async () => {}, run: refused },
}

/** The agent of the gate job: no judge works there, so that nothing is approved. */
export const NO_JUDGE: AgentPort = {
  ...unavailablePorts.agent,
  judge: async () => ({
    verdict: { kind: 'none', message: 'the gate job runs no judge' },
    usage: emptyUsage(),
  }),
}

function refused(): Promise<never> {
  return Promise.reject(new Error('neither an agent nor a gate runs in this job'))
}

export type Handed = { work: FromWork | null; gate: FromGate | null }
export type TakingTools = {
  workspace: Workspace
  settings: Settings
  limits: Limits
  repository: RepositoryPort
}

/** The event of a step that another job did. Without a usable one, the event of its failure. */
export type Take = (step: Step, state: State) => Promise<Event>

export function takeEvents({ work, gate }: Handed, tools: TakingTools): Take {
  const taking = new Taking(work, gate, tools)
  return async (step, state) => ({ ...(await taking.eventOf(step, state)), at: Date.now() }) as Event
}

/** Which gates a step asks for. */
type Asked = Pick<GateRun, 'of' | 'tags' | 'also'>

class Taking {
  readonly #work: FromWork | null
  readonly #gate: FromGate | null
  readonly #tools: TakingTools
  readonly #clean: Redact

  constructor(work: FromWork | null, gate: FromGate | null, tools: TakingTools) {
    this.#work = work
    this.#gate = gate
    this.#tools = tools
    this.#clean = createCleaner(tools.workspace.redactor.redact)
  }

  async eventOf(step: Step, state: State): Promise<StepResult> {
    switch (step.kind) {
      case 'agent':
        return this.#worked(step.attempt, state)
      case 'gates':
        return this.#gated(step.attempt, state)
      // The work job could confirm only its own work, so an empty change, and changed expectations, pass no story here.
      case 'judge':
        return { kind: 'judged', ...idOf(step.attempt), verdict: NO_VERDICT, usage: emptyUsage() }
      case 'baseline': {
        const asked = { of: 'baseline' as const, tags: [] }
        return { kind: 'baselined', gates: await this.#results('baselined', state.green, state, asked) }
      }
      case 'gate-join':
        return this.#joinGated(step, state)
      case 'gate-edit': {
        const { edit, commit } = step.built
        const gates = await this.#results('edit-gated', commit, state, gatesOfEdit(state, edit))
        return { kind: 'edit-gated', gates }
      }
      case 'verify':
        return this.#wholeGated(state)
      case 'judge-whole':
        return this.#verified(state)
      case 'plan':
        return this.#planned(step, state)
      default:
        throw new Error(`no other job does the step ${step.kind}`)
    }
  }

  async #worked(attempt: AttemptIn<'reserved'>, state: State): Promise<StepResult> {
    const said = workedIn(this.#work)
    const isOwn = said?.storyId === attempt.storyId && said.slot === slotOf(attempt)
    if (said === null || !isOwn)
      return { kind: 'lost', ...idOf(attempt), why: 'the work job gave no result of a session' }
    const commit = this.#work?.commit ?? null
    const reason = commit === null ? null : await this.#checkOutSession(state.green, commit)
    const { session } = said
    const { detail, circuits } = session
    const cleaned = mapTexts(session, this.#clean)
    const steps = this.#tools.settings.steps?.before ?? []
    return {
      kind: 'worked',
      ...idOf(attempt),
      session: {
        ...cleaned,
        status: reason === null ? session.status : 'failed',
        message: reason === null ? cleaned.message : this.#clean(reason),
        learnings: cleaned.learnings.slice(0, MAX_LEARNINGS),
        ...(detail === undefined
          ? {}
          : { detail: cleanLines(detail, this.#tools.workspace.redactor.redact) }),
        ...(circuits === undefined ? {} : { circuits: circuitsOf(steps, circuits) }),
        // Otherwise an empty change would pass on the word of the work job.
        hints: { ...cleaned.hints, done: false },
      },
    }
  }

  /** Checks out the session's tree. Gives the reason why that fails, or null. The tree is hostile: an error of git must not end the job. */
  async #checkOutSession(green: string, commit: string): Promise<string | null> {
    const { repository, workspace } = this.#tools
    const { objects } = workspace
    const base = await treeIdOf(objects, green)
    try {
      const tree = await treeIdOf(objects, commit)
      const changes = await changesBetween(objects, base, tree)
      const tooLong = changes.find(({ path }) => isTooLong(path))
      if (tooLong !== undefined) return `${tooLong.path.slice(0, 100)}... is too long or too deeply nested`
      await repository.checkOut(green, { base, tree, dropped: [] })
      return null
    } catch (error) {
      return `Ralph could not read the files that the session left: ${messageOf(error)}`
    }
  }

  async #gated(attempt: AttemptIn<'guarded'>, state: State): Promise<StepResult> {
    const { storyId, candidate } = attempt
    const said = this.#gate?.event
    const isOwn = said?.kind === 'gated' && said.storyId === storyId && said.slot === slotOf(attempt)
    const asked = gatesOfStory(state, storyId)
    const gates = await this.#results(isOwn ? 'gated' : null, candidate.commit, state, asked)
    const base = isOwn ? this.#baseRuns(said.base, asked) : {}
    const paths = isOwn ? said.paths?.map(this.#clean) : undefined
    const unnoticed = isOwn ? said.unnoticed?.map((one) => mapTexts(one, this.#clean)) : undefined
    const { repository } = this.#tools
    const undone = redGate(gates) === undefined ? await undoneBy(attempt, { state, repository }) : []
    return {
      kind: 'gated',
      ...idOf(attempt),
      commit: candidate.commit,
      gates: withUndone(gates, undone),
      ...(Object.keys(base).length === 0 ? {} : { base }),
      ...(paths === undefined ? {} : { paths }),
      ...(isOwn && said.unproved === true ? { unproved: true as const } : {}),
      ...(unnoticed === undefined ? {} : { unnoticed }),
    }
  }

  /** What configured gates did on the attempt's base. */
  #baseRuns(said: GateBaselines = {}, { tags, also = [] }: Omit<Asked, 'of'>): GateBaselines {
    const { settings, limits } = this.#tools
    if (limits.weakenedTests === 'off') return {}
    const entries = settings.gates.flatMap(({ name, when }) => {
      const isAsked = isFor(when, tags) || also.includes(name)
      const found = isAsked && Object.hasOwn(said, name) ? said[name] : undefined
      return found === undefined ? [] : [[name, mapTexts(found, this.#clean)] as const]
    })
    return Object.fromEntries(entries)
  }

  async #joinGated({ branch }: Extract<Step, { kind: 'gate-join' }>, state: State): Promise<StepResult> {
    const asked = gatesOfJoin(state)
    const gates = await this.#results('join-gated', branch.joined.green, state, asked)
    const said = this.#gate?.event
    const blamed = said?.kind === 'join-gated' && redGate(gates) !== undefined ? said.broken : null
    if (blamed === null || !asked.stories.some(({ id }) => id === blamed.storyId))
      return { kind: 'join-gated', gates, broken: null }
    const failure = {
      kind: 'gates' as const,
      summary: this.#clean(blamed.summary),
      detail: '',
      gate: redGate(gates)?.name ?? '',
    }
    return { kind: 'join-gated', gates, broken: { storyId: blamed.storyId, kept: null, failure, gates } }
  }

  async #wholeGated(state: State): Promise<StepResult> {
    const said = this.#gate?.event
    const kind = said?.kind === 'verified' ? 'verified' : 'whole-gated'
    const gates = await this.#results(kind, state.green, state, { of: 'whole', tags: null })
    const red = redGate(gates)
    if (red === undefined && said?.kind === 'whole-gated')
      return { kind: 'whole-gated', gates, usage: emptyUsage() }
    const verdict = said?.kind === 'verified' ? this.#blamed(said.verdict, gates) : null
    const why = red === undefined ? NOTHING_HANDED : redGateReason(red, gates)
    return {
      kind: 'verified',
      gates,
      verdict: verdict ?? { kind: 'none', message: why },
      usage: emptyUsage(),
    }
  }

  /** A gate job may blame one story, for a gate that is red here or has a finding. */
  #blamed(
    verdict: Extract<GateEvent, { kind: 'verified' }>['verdict'],
    gates: readonly GateResult[],
  ): Verdict | null {
    const { kind, ...words } = mapTexts(verdict, this.#clean)
    if (kind === 'none' || !('stories' in words)) return null
    const isToBlame = ({ name, ok, findings = [] }: GateResult) =>
      name === words.gate && (!ok || findings.length > 0)
    return gates.some(isToBlame) ? { ...words, kind, stories: words.stories.slice(0, 1) } : null
  }

  async #verified(state: State): Promise<StepResult> {
    const { repository, limits } = this.#tools
    const gates = state.verification.gated?.gates ?? []
    const said = this.#work?.event
    if (said?.kind !== 'verified')
      return { kind: 'verified', gates, verdict: NO_VERDICT, usage: emptyUsage() }
    const cleaned = mapTexts(said.verdict, this.#clean)
    // The work job saw no gate, so its evidence is looked up here.
    const verdict = await checkVerdict(cleaned, gates, { state, limits, repository })
    return { kind: 'verified', gates, verdict, usage: said.usage }
  }

  #planned({ split }: Extract<Step, { kind: 'plan' }>, state: State): StepResult {
    const said = this.#work?.event
    if (said?.kind !== 'planned') {
      const none = { kind: 'none' as const, message: 'the work job gave no plan' }
      return { kind: 'planned', split, proposal: none, usage: emptyUsage() }
    }
    const { usage, ...plan } = said.plan
    if (plan.kind !== 'proposed')
      return { kind: 'planned', split, proposal: { ...plan, message: this.#clean(plan.message) }, usage }
    const asks = split === null && mustAskQuestions(state.plan?.interview) ? { asks: true as const } : {}
    const task = { split, stories: state.prd.userStories, ...asks }
    const { redact } = this.#tools.workspace.redactor
    return { kind: 'planned', split, proposal: readProposal(redact(plan.words), task), usage }
  }

  /**
   * The results of an event of this kind. They count only for exactly the code that the gates ran on, and every configured gate needs
   * one. Other red results, such as a service's, count as well.
   */
  async #results(
    kind: GateEvent['kind'] | null,
    commit: string,
    state: State,
    asked: Asked,
  ): Promise<GateResult[]> {
    const { workspace, settings, limits } = this.#tools
    const { git, objects } = workspace
    const said = this.#gate?.event ?? null
    const isSaid = said !== null && said.kind === kind
    // Each job builds its own commit, with other times in `.ralph`, so the digest of the code is compared.
    const isSameCode = isSaid && this.#gate?.code === (await codeDigest(git, objects, commit))
    const isAsked = ({ further }: GateResult) => further === undefined || limits.weakenedTests !== 'off'
    const handed = isSameCode ? said.gates.filter(isAsked) : []
    const why = isSaid && !isSameCode ? 'the gate job ran on other code' : 'no result from the gate job'
    const known = greenPages(state, asked.of === 'whole' ? 'base' : 'last')
    const results = acceptResults(handed, configuredGates(settings), asked, why)
    return Promise.all(results.map((result) => this.#landed(result, handed, known)))
  }

  /** A result with clean texts, and with its pictures written as objects of this clone. */
  async #landed(
    { screenshots: _, output, ...result }: GateResult,
    handed: readonly GateResult[],
    known: readonly Screenshot[],
  ): Promise<GateResult> {
    const { redactor, git } = this.#tools.workspace
    const cleaned = { ...mapTexts(result, this.#clean), output: cleanLines(output, redactor.redact) }
    const { screenshots = [] } = handed.find(({ name }) => name === result.name) ?? {}
    const landed = await landPictures(screenshots, this.#gate?.pictures ?? {}, known, (picture) =>
      writeScreenshot(git, picture),
    )
    return landed.length === 0 ? cleaned : { ...cleaned, screenshots: landed }
  }
}

const NO_VERDICT = { kind: 'none' as const, message: 'the work job gave no verdict' }
const NOTHING_HANDED = 'the gate job gave no result'

/** Which of the results that were handed over count, in the order of the configured gates. A missing one is red, for the reason `why`. */
function acceptResults(
  handed: readonly GateResult[],
  configured: readonly { name: string; when: readonly string[] | null; advisory: boolean }[],
  { of, tags, also = [] }: Asked,
  why: string,
): GateResult[] {
  const first = handed.filter(({ further }) => further === undefined)
  const failed = first.find(({ name, ok }) => name === 'prepare' && !ok)
  if (failed !== undefined) return [{ ...failed, advisory: false }]
  const isConfigured = (name: string) => name === 'prepare' || configured.some((gate) => gate.name === name)
  const others = first.filter(({ name }) => !isConfigured(name)).map((one) => ({ ...one, advisory: false }))
  const isOtherRed = others.some(({ ok }) => !ok)
  const results: GateResult[] = []
  for (const { name, when, advisory } of configured) {
    const ran = first.find((one) => one.name === name)
    if (of === 'baseline' && name === BROWSER_GATE) {
      // Screenshots of the base are advisory: no page has to exist or to be right there.
      if (ran !== undefined) results.push({ ...ran, advisory: true })
      continue
    }
    if (!isFor(when, tags) && !also.includes(name)) continue
    // The gate has no result because a service was red: that is the failure then, not the missing result.
    if (isOtherRed && ran === undefined) break
    const result = { ...(ran ?? { name, ok: false, ended: why, ms: 0, output: '' }), advisory }
    results.push(result)
    if (!result.ok && !advisory) break
  }
  const isGreen = redGate([...results, ...others]) === undefined
  const further = isGreen ? handed.filter((one) => one.further === 'checks') : []
  return [...results, ...others, ...further.map((one) => ({ ...one, advisory: true }))]
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

const MAX_CHARACTERS = 400
const MAX_LEARNINGS = 20

/** Cleans a text of another job as a session's own texts are: one line, shortened, redacted, without characters that could hide a secret. */
export function createCleaner(redact: Redact): Redact {
  return (text) => redact(withoutControls(text.replace(/\s+/g, ' ')).trim()).slice(0, MAX_CHARACTERS)
}
