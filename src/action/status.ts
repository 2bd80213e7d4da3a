// `command: status`: writes a feature's status to the summary and the outputs. Needs no checkout and changes nothing.
import * as core from '@actions/core'
import { redactorFor } from '../app/redactor.ts'
import { chooseFeature } from '../app/resolve-feature.ts'
import { featureOfFolder } from '../branch/find-features.ts'
import type { State } from '../engine/model/state.ts'
import { mapTexts } from '../engine/model/text.ts'
import { connect } from '../github/client.ts'
import { repositoryUrl } from '../github/repository-address.ts'
import { secretsIn } from '../isolation/untrusted-env.ts'
import { outputsOf } from '../report/outputs.ts'
import { outsideSituation } from '../report/replies.ts'
import { jobSummary } from '../report/sticky-comment.ts'
import { plainBanner } from '../report/terminal/panels.ts'
import { type Note, viewOf } from '../report/view.ts'
import { UserError } from '../system/errors.ts'
import { type ActionContext, readNamesByApi, tokenOf } from './action-context.ts'
import { isHolderAlive } from './comment.ts'
import { peekStates } from './peek.ts'
import { type Log, type ReadOnlyResult, setOutputs, writeSummary } from './runner.ts'

export async function status(context: ActionContext, log: Log): Promise<ReadOnlyResult> {
  const { place, event, env } = context
  const github = connect(place, tokenOf(context), core.warning)
  const { stateNamespace } = await readNamesByApi(context, github)
  const states = await peekStates(context, stateNamespace)
  const requested = context.inputs.feature?.trim() || (event.kind === 'dispatch' ? event.feature : null)
  const found = chooseState(states, requested ?? null)
  if (found === null) return { isFine: true, line: 'no run of a feature has begun yet' }
  const { redact } = redactorFor(secretsIn(env))
  const state = mapTexts(found, redact)
  const isAlive = await isHolderAlive(github, found)
  const url = state.lease?.url ?? null
  const text = 'A job works on it now.'
  const note: Note = url === null ? text : { text, link: { name: 'Its page', url } }
  const facts = { repositoryUrl: repositoryUrl(place), runUrl: null, limits: null, now: Date.now() }
  const view = viewOf(state, { ...facts, notes: isAlive ? [note] : [] }, outsideSituation(state, isAlive))
  const folder = env.RUNNER_TEMP ?? context.workspace
  const reportPath = await writeSummary(folder, `ralph-${found.feature}`, redact(jobSummary(view)))
  setOutputs(outputsOf(state, state.prd.run.outcome, reportPath))
  log.screen.write(`${plainBanner(view)}\n`)
  return { isFine: true, line: view.headline.text }
}

/** The newest run of the feature; null where no run has begun. Throws UserError where it is not clear which feature is meant. */
function chooseState(states: ReadonlyMap<string, State>, requested: string | null): State | null {
  const newest = new Map<string, State>()
  for (const [folder, state] of [...states].sort(([one], [other]) => one.localeCompare(other))) {
    const name = featureOfFolder(folder)
    if (name !== null) newest.set(name, state)
  }
  if (newest.size === 0) return null
  if (requested !== null && !newest.has(requested)) {
    const names = [...newest.keys()].join(', ')
    const fix = `use one of: ${names}; or start it with Run workflow`
    throw new UserError({ path: 'feature', found: requested, expected: 'a feature whose run has begun', fix })
  }
  const statusOf = ({ prd }: State) => (prd.run.outcome === 'complete' ? 'finished' : 'unfinished')
  const name = chooseFeature(requested, new Map([...newest].map(([one, state]) => [one, statusOf(state)])))
  return newest.get(name) ?? null
}
