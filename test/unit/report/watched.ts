// What is looked at, for the live views.

import type { State } from '../../../src/engine/model/state.ts'
import { ownSituation } from '../../../src/engine/situation.ts'
import type { WatchedRun } from '../../../src/report/live-view.ts'
import { limits } from './samples.ts'

export function watched(state: State, changes: Partial<WatchedRun> = {}): WatchedRun {
  return {
    state,
    situation: ownSituation(state),
    limits: { ...limits, callsPerHour: 20 },
    lines: ['I look at the form.', '> Read src/login.ts', '> Edit src/login.ts', 'All tests pass now.'],
    place: 'this machine',
    url: null,
    surface: 'cli',
    ...changes,
  }
}
