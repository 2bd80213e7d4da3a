// `command: status`: writes a feature's status to the summary and the outputs. Needs no checkout and changes nothing.
import * as core from '@actions/core'
import { redactorFor } from '../app/redactor.ts'
import { chooseFeature } from '../app/resolve-feature.ts'
import { featureOfFolder } from '../branch/find-features.ts'
import type { State } from '../engine/model/state.ts'
import { mapTexts } from '../engine/model/text.ts'
import { connect } from '../github/client.ts'
import { serverFacts } from '../github/forges/forge.ts'
import { secretsIn } from '../isolation/untrusted-env.ts'
import { outputsOf } from '../report/outputs.ts'
import { outsideSituation } from '../report/replies.ts'
import { jobSummary } from '../report/sticky-comment.ts'
import { plainBanner } from '../report/terminal/panels.ts'
import { type Note, viewOf } from '../report/view.ts'
import { UserError } from '../system/errors.ts'
import { type ActionContext, readNamesByApi, tokenOf } from './action-context.ts'
import { findNextJob, isHolderAlive } from './comment.ts'
import { peekStates } from './peek.ts'
import { type Log, type ReadOnlyResult, setOutputs, writeSummary } from './runner.ts'

export async function status(context: ActionContext, log: Log): Promise<ReadOnlyResult> {
  const { place, event, env } = context
  const github = connect(place, tokenOf(context), core.warning)
  const { stateNamespace } = await readNamesByApi(context, github)
  const states = await peekStates(context, stateNamespace)
  const requested = context.inputs.feature?.trim() || (event.kind === 'dispatch' ? event.feature : null)
  const found = chooseState(states, requested ?? null)
  if (found === null) return { isFine: true, line: 'no run has begun yet' }
  const { redact } = redactorFor(secretsIn(env))
  const state = mapTexts(found, redact)
  const isAlive = await isHolderAlive(github, found)
  const next = isAlive ? null : await findNextJob({ context, github }, found)
  const url = isAlive ? (state.lease?.url ?? null) : (next?.url ?? null)
  const text = isAlive
    ? 'A job is working on it now.'
    : 'A job has been started, but has not begun to work yet.'
  const jobNote: Note = url === null ? text : { text, link: { name: 'Its page', url } }
  const notes = isAlive || next !== null ? [jobNote] : []
  const facts = { ...serverFacts(place), runUrl: null, limits: null, notes, now: Date.now() }
  const view = viewOf(state, facts, outsideSituation(state, isAlive || next !== null))
  const folder = env.RUNNER_TEMP ?? context.workspace
  const reportPath = await writeSummary(folder, `ralph-${found.feature}`, redact(jobSummary(view)))
  setOutputs(outputsOf(state, state.prd.run.outcome, reportPath))
  log.screen.write(`${plainBanner(view)}\n`)
  return { isFine: true, line: view.headline.text }
}

/** The newest run of the feature; null if no run has begun. Throws UserError if it is not clear which feature is meant. */
function chooseState(states: ReadonlyMap<string, State>, requested: string | null): State | null {
  const newestByName = new Map<string, State>()
  for (const [folder, state] of [...states].sort(([a], [b]) => a.localeCompare(b))) {
    const name = featureOfFolder(folder)
    if (name !== null) newestByName.set(name, state)
  }
  if (newestByName.size === 0) return null
  if (requested !== null && !newestByName.has(requested)) {
    const names = [...newestByName.keys()].join(', ')
    const fix = `use one of: ${names}; or start it with Run workflow`
    throw new UserError({ path: 'feature', found: `no run of ${requested} has begun.`, expected: '', fix })
  }
  const statusOf = ({ prd }: State) => (prd.run.outcome === 'complete' ? 'finished' : 'unfinished')
  const candidates = new Map([...newestByName].map(([name, state]) => [name, statusOf(state)] as const))
  return newestByName.get(chooseFeature(requested, candidates)) ?? null
}
