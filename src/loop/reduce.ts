// How events change the state. Pure: only what is called from here passes, blocks, charges or counts anything.
import { EVENTS, type Event } from '../model/event.ts'
import type { GateResult } from '../model/gate.ts'
import { newEnding } from '../model/job.ts'
import type { Limits } from '../model/limits.ts'
import { CANNOT_START, NOT_READY } from '../model/service.ts'
import type { State } from '../model/state.ts'
import { excerpt } from '../system/excerpt.ts'
import { archivedRun } from './anew.ts'
import { gated, guarded, judged, refundAll, refused, reserve, worked } from './attempt.ts'
import { diverged, joined, notJoined, pushExpired, pushRefused, restored, synced } from './branch.ts'
import { failed, redGate, redService, spend, withJob, withReady } from './change.ts'
import {
  chainEnded,
  dispatched,
  dispatchFailed,
  dispatchLimited,
  held,
  published,
  reported,
} from './ending.ts'
import { withFirstRuns } from './gate-memory.ts'
import { entered } from './ledger.ts'
import { accepted } from './passed.ts'
import { begunPlan, planned, shownPlan, writtenPlan } from './planned.ts'
import { picturesIn } from './screenshots.ts'
import { rejected, returned } from './setback.ts'
import { verified } from './verified.ts'

type Of<K extends Event['kind']> = Extract<Event, { kind: K }>

/** The state after an event. Total: an event that does not fit the state changes nothing. */
export function reduce(state: State, event: Event, limits: Limits): State {
  const after = entered(state, reduced(state, event, limits), event, limits)
  return EVENTS[event.kind].landed && after.job.landing !== null
    ? withJob(after, { landing: 'nothing' })
    : after
}

function reduced(state: State, event: Event, limits: Limits): State {
  switch (event.kind) {
    case 'synced':
      return synced(state, event)
    case 'joined':
      return joined(state, event, limits)
    case 'join-failed':
      return notJoined(state, event.summary)
    case 'restored':
      return restored(state)
    case 'push-refused':
      return pushRefused(state, event)
    case 'push-expired':
      return pushExpired(state, event)
    case 'diverged':
      return diverged(state, event)
    case 'prepared':
      return withReady(state, { prepared: true })
    case 'baselined':
      return baselined(state, event)
    case 'opened':
      return opened(state, event)
    case 'pushed':
      return { ...state, published: state.green, github: event.github }
    case 'reserved':
      return begunPlan(reserve(state, event, limits))
    case 'worked':
      return worked(state, event, limits)
    case 'guarded':
      return guarded(state, event)
    case 'refused':
      return refused(state, event)
    case 'gated':
      return gated(state, event)
    case 'judged':
      return judged(state, event, limits)
    case 'accepted':
      return accepted(state, event)
    case 'rejected':
      return rejected(state, event, limits)
    case 'returned':
      return returned(state, event, limits)
    case 'verified':
      return verified(state, event, limits)
    case 'planned':
      return planned(state, event, limits)
    case 'waited':
      return withReady(state, { synced: false })
    case 'concluded':
      return withJob(shownPlan(state, event.at), { ending: newEnding(event.conclusion, event.at) })
    case 'published':
      return event.withBranch ? writtenPlan(published(state, event, limits)) : published(state, event, limits)
    case 'dispatched':
      return dispatched(state, event)
    case 'dispatch-failed':
      return dispatchFailed(state, event)
    case 'dispatch-limited':
      return dispatchLimited(state, event)
    case 'reported':
      return reported(state, event)
    case 'interrupted':
    case 'out-of-time':
      return cutShort(state, event)
    case 'failed':
      return failed(state, event.summary, event.fix)
  }
}

function baselined(state: State, { gates }: Of<'baselined'>): State {
  const red = redGate(gates)
  const pages = picturesIn(gates)
  const seen = pages.length === 0 ? state : { ...state, basePages: pages }
  if (red === undefined) return withFirstRuns({ ...seen, baseline: 'green', baselineGates: {} }, gates)
  const output = `its output:\n${excerpt(red.output, 4000)}`
  const service = redService(gates)
  if (service !== undefined) return withoutService(state, service, output)
  // bash(1): a command that was found and cannot be run, and one that was not found.
  if (/^exit 12[67]$/.test(red.ended)) {
    return failed(
      state,
      `gate ${red.name} cannot be run (${red.ended}): a program that it calls is missing`,
      `install what gate ${red.name} calls, or mend its command; ${output}`,
    )
  }
  return failed(
    state,
    `the base is red: gate ${red.name} fails before Ralph changed anything (${red.ended})`,
    `mend ${state.base.branch} first, ${OR_OFF}; ${output}`,
  )
}

const OR_OFF = 'or set baseline: off for a project that does not exist yet'

/** Something on the machine may be in its way, and nothing of the base be wrong. */
function withoutService(state: State, { name, ended }: GateResult, output: string): State {
  const words = `${name} ${ended}`
  if (ended.startsWith(CANNOT_START)) {
    const pid = /\(process (\d+)\)$/.exec(ended)?.[1]
    return failed(
      state,
      words,
      pid === undefined
        ? `end what answers in the place of ${name}, or give it another port`
        : `end process ${pid}, or give ${name} another port`,
    )
  }
  if (ended.startsWith(NOT_READY)) {
    const fix = 'see in its log why, mend its `start` or `ready`, or give it a longer readyTimeout'
    return failed(state, words, `${fix}; ${output}`)
  }
  const mend = `mend its \`start\`, or ${state.base.branch}, as its log says; ${OR_OFF}`
  return failed(state, `${words}, before Ralph changed anything`, `${mend}; ${output}`)
}

function opened(state: State, { green, github }: Of<'opened'>): State {
  const isWritten = state.published === null || state.control.anew
  const progress = isWritten ? [] : state.progress
  const begun = archivedRun(state)
  return writtenPlan(withReady({ ...begun, green, published: green, github, progress }, { opened: true }))
}

function cutShort(state: State, { kind, spent }: Of<'interrupted' | 'out-of-time'>): State {
  if (state.job.ending !== null) return kind === 'interrupted' ? chainEnded(state) : held(state)
  const paid = spent === null ? state : spend(state, spent.storyId, spent.usage)
  if (kind === 'out-of-time') {
    const freed = refundAll(paid, 'interrupted', 'the job deadline came first')
    return freed.job.branch.kind === 'moved' ? withJob(freed, { branch: { kind: 'ours' } }) : freed
  }
  const freed = refundAll(paid, 'interrupted', 'cancelled')
  return freed.job.halted === null ? withJob(freed, { halted: { kind: 'interrupted' } }) : freed
}
