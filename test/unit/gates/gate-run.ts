// What gates are asked to run for, in tests.
import type { GateRun } from '../../../src/engine/model/ports.ts'

export function gateRun(run: Partial<GateRun> = {}): GateRun {
  return { of: 'whole', tags: null, stories: [], what: '', commit: '', from: '', baseline: {}, ...run }
}

/** Of a gate without retries, reports and coverage nothing of it is asked. */
export const NO_CODE = {
  code: { files: async () => [], changedLines: async () => new Map(), changedPaths: async () => [] },
  restore: async () => {},
  parallel: 1,
}
