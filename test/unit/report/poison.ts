// A run with a text in every field that people, agents or gates fill.

import type { GateResult } from '../../../src/engine/model/gate.ts'
import type { State } from '../../../src/engine/model/state.ts'
import type { Facts } from '../../../src/report/view.ts'
import { complete, concluded, limits, midRun, NOW, stuck } from './samples.ts'

/** Every address that our reports link to begins with it. */
export const REPOSITORY = 'https://github.com/acme/shop'

/** Facts with the text in every field of them. */
export const facts = (text: string): Facts => ({
  repositoryUrl: REPOSITORY,
  runUrl: `${REPOSITORY}/actions/runs/77`,
  compareUrl: `${REPOSITORY}/compare/main...ralph/auth`,
  limits,
  now: NOW,
  notes: [text, `note ${text}`],
  annotations: {
    'US-003': [text, 'src/a.ts'].map((path) => ({
      path,
      line: 1,
      level: 'failure',
      message: text,
    })),
  },
})

/** The text in every field that people, agents or gates fill. */
export function poisoned(state: State, text: string): State {
  const { ending } = state.job
  const gate = (one: GateResult): GateResult => ({
    ...one,
    name: text,
    ended: text,
    output: one.ok ? '' : text,
  })
  return {
    ...state,
    branch: text,
    folder: text,
    documents: [text, `docs/${text}`],
    unmarked: [text],
    base: { ...state.base, branch: text },
    prd: {
      ...state.prd,
      project: text,
      description: text,
      userStories: state.prd.userStories.map((story) => ({
        ...story,
        title: text,
        description: text,
        acceptanceCriteria: [text, text],
        tags: [text],
        notes: text,
        lastResult: story.lastResult === null ? null : { ...story.lastResult, summary: text },
      })),
    },
    records: Object.fromEntries(
      Object.entries(state.records).map(([id, record]) => [
        id,
        {
          ...record,
          failure: record.failure === null ? null : { ...record.failure, summary: text, detail: text },
          gates: record.gates.map(gate),
          remarks: [text],
        },
      ]),
    ),
    timeline: state.timeline.map((entry) => ({ ...entry, summary: text })),
    control: { ...state.control, paused: { reason: text, by: text } },
    job: {
      ...state.job,
      halted: { kind: 'error', summary: text, fix: `${text}\n${text}` },
      ending: ending === null ? null : { ...ending, conclusion: { ...ending.conclusion, reason: text } },
    },
  }
}

/** Story ids are checked when prd.json is read; the reports do not rely on it. */
export function poisonedIds(state: State, text: string): State {
  const renamed = (id: string) => `${text}${id}`
  return {
    ...state,
    attempts: Object.fromEntries(
      Object.values(state.attempts).map((attempt) => {
        const storyId = renamed(attempt.storyId)
        return [storyId, { ...attempt, storyId }]
      }),
    ),
    prd: {
      ...state.prd,
      userStories: state.prd.userStories.map((story) => ({
        ...story,
        id: renamed(story.id),
        dependsOn: story.dependsOn.map(renamed),
      })),
    },
    records: Object.fromEntries(Object.entries(state.records).map(([id, record]) => [renamed(id), record])),
    timeline: state.timeline.map((entry) => ({ ...entry, storyId: renamed(entry.storyId) })),
  }
}

/** Runs that show different blocks. */
export const states: Record<string, State> = {
  working: midRun(),
  stuck: stuck(),
  complete: complete(),
  error: concluded(midRun(), 'error', 'x'),
  paused: concluded(midRun(), 'paused', 'x'),
  budget: concluded(midRun(), 'budget', 'x'),
}
