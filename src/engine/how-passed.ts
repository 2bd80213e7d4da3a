// How the stories of a run passed: by their gates, by a judge's verdict, before the run, or without a gate. Pure.

import { passedUnchanged, passedUngated, splitInto } from './attempts/attempt-outcome.ts'
import { isUngated } from './model/job.ts'
import type { State } from './model/state.ts'
import { describeOutOfScope, describeScope } from './prd/scope.ts'
import { counts, inScope } from './prd/select.ts'

type Passes = Record<'gates' | 'judge' | 'imported' | 'ungated', number>

/** Counts the passed stories within the run's scope by how they passed. */
export function countPasses({ prd, control: { scope } }: Pick<State, 'prd' | 'control'>): Passes {
  const isInScope = inScope(scope)
  const passes = { gates: 0, judge: 0, imported: 0, ungated: 0 }
  for (const story of prd.userStories) {
    if (!story.passes || story.skipped || !isInScope(story)) continue
    if (story.lastResult?.how === 'answered') continue
    if (story.lastResult?.imported === true) passes.imported += 1
    else if (passedUngated(story)) passes.ungated += 1
    else if (passedUnchanged(story)) passes.judge += 1
    else passes.gates += 1
  }
  return passes
}

/** Why a run is complete. It must not claim a gate that did not run, nor a story outside the run's scope. */
export function describeCompletion(state: State): string {
  const { prd, job, control } = state
  const { scope } = control
  const part = scope === null ? '' : ` ${describeScope(scope)}`
  const others = describeOutOfScope(prd, scope)
  const rest = others === '' ? '' : `; ${others}`
  if (isUngated(job)) return `every story${part} passed, without gates${rest}`
  const { gates, judge, imported, ungated } = countPasses(state)
  const byGates =
    gates === 0
      ? `no story${part} passed its gates`
      : `${gates} ${gates === 1 ? 'story' : 'stories'}${part} passed ${gates === 1 ? 'its' : 'their'} gates`
  const otherWays = [
    judge === 0 ? '' : `${judge} ${judge === 1 ? 'was' : 'were'} accepted on a judge's word`,
    imported === 0
      ? ''
      : `${imported} had passed before this run, and no gate of this run has checked ${imported === 1 ? 'it' : 'them'}`,
    ungated === 0 ? '' : `${ungated} passed without a gate`,
  ].filter((words) => words !== '')
  const passed =
    otherWays.length === 0 ? `every story${part} passed its gates` : [byGates, ...otherWays].join(', ')
  const { skipped } = counts(prd, scope)
  const isInScope = inScope(scope)
  const splitCount = prd.userStories.filter((one) => isInScope(one) && splitInto(one).length > 0).length
  const asides = [
    skipped === splitCount ? '' : `; ${skipped - splitCount} skipped by a person`,
    splitCount === 0 ? '' : `; ${splitCount} split into smaller ones`,
  ]
  return `${passed}${asides.join('')}${rest}`
}
