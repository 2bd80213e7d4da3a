// The fields of prd.json, version 2, in their order, and what new ones begin with.
import type { Prd, RunRecord, Story } from '../model/feature.ts'
import { emptyUsage } from '../model/usage.ts'

// The order in which fields are written. Reading takes everything else for unknown.
export const prdKeys = [
  'schemaVersion',
  'project',
  'branchName',
  'description',
  'run',
  'userStories',
] as const
export const runKeys = [
  'startedAt',
  'completedAt',
  'currentStoryId',
  'learnings',
  'iterations',
  'jobs',
  'outcome',
  'usage',
  'control',
] as const
export const usageKeys = [
  'calls',
  'inputTokens',
  'outputTokens',
  'cachedTokens',
  'costUsd',
  'agentSeconds',
  'estimatedCostUsd',
  'estimatedTokens',
  'turns',
] as const
export const storyKeys = [
  'id',
  'epicId',
  'title',
  'description',
  'acceptanceCriteria',
  'tags',
  'dependsOn',
  'priority',
  'passes',
  'retries',
  'blocked',
  'skipped',
  'lastResult',
  'notes',
] as const
export const lastResultKeys = [
  'completedAt',
  'commit',
  'summary',
  'iteration',
  'attempts',
  'costUsd',
  'imported',
] as const

/** A run that has not begun. */
export function emptyRun(): RunRecord {
  return {
    startedAt: null,
    completedAt: null,
    currentStoryId: null,
    learnings: [],
    iterations: 0,
    jobs: 0,
    outcome: null,
    usage: emptyUsage(),
    control: {},
  }
}

/** A story nobody has worked on, with the given fields; without criteria the description, or else the title, is it. */
export function newStory(given: Partial<Story> & Pick<Story, 'id' | 'title'>): Story {
  return {
    epicId: null,
    description: '',
    acceptanceCriteria: [given.description?.trim() || given.title],
    tags: [],
    dependsOn: [],
    priority: 1,
    passes: false,
    retries: 0,
    blocked: false,
    skipped: false,
    lastResult: null,
    notes: '',
    ...given,
  }
}

/** The story with its pass, if it has one, marked as taken over rather than earned here. */
export function markImported(story: Story): Story {
  if (!story.passes || story.lastResult?.imported === true) return story
  const before = story.lastResult ?? { completedAt: null, commit: null, summary: '' }
  return { ...story, lastResult: { ...before, imported: true } }
}

/**
 * What a kick-off may take over from a file of the base branch: learnings and stories stay, passes are marked
 * as imported, the run begins anew. A file must not bring raised limits, usage or a nonce of its own.
 */
export function asImported(prd: Prd): Prd {
  const run = { ...emptyRun(), learnings: prd.run.learnings }
  return { ...prd, run, userStories: prd.userStories.map(markImported) }
}
