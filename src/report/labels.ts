// The labels of a run's pull request: which there are, and which of them it bears now. Everything else there is people's.
import type { Outcome } from '../model/feature.ts'
import type { View } from './view.ts'

/** Colour and description, where Ralph has to make one. */
export const LABELS = {
  ralph: { color: '6f42c1', description: 'Worked on by Ralph' },
  'ralph:blocked': { color: 'fbca04', description: 'A story is blocked; work on others goes on' },
  'ralph:stuck': { color: 'd93f0b', description: 'Nothing goes on until a person says what is missing' },
  'ralph:waiting': { color: 'c5def5', description: 'Paused, or waits for a word or a time' },
  'ralph:stopped': { color: 'e99695', description: 'Ended by a limit, an error or a cancel' },
  'ralph:complete': { color: '0e8a16', description: 'Every story passes: review it' },
} as const

export type Label = keyof typeof LABELS

/** Where nothing goes on by itself. */
const ENDED: Readonly<Record<Outcome, Label>> = {
  complete: 'ralph:complete',
  stuck: 'ralph:stuck',
  'max-iterations': 'ralph:stopped',
  budget: 'ralph:stopped',
  paused: 'ralph:waiting',
  continued: 'ralph:waiting',
  error: 'ralph:stopped',
  interrupted: 'ralph:stopped',
}

export function labelsOf({ outcome, chainGoesOn, counts }: View): Label[] {
  if (outcome !== null && !chainGoesOn) return ['ralph', ENDED[outcome]]
  return counts.blocked > 0 ? ['ralph', 'ralph:blocked'] : ['ralph']
}
