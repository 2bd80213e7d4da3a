// Every report straight from a state: what a view made of it renders to.
import type { State } from '../../../src/engine/model/state.ts'
import * as checks from '../../../src/report/check-runs.ts'
import * as parts from '../../../src/report/parts.ts'
import * as pull from '../../../src/report/pull-request-text.ts'
import * as markdown from '../../../src/report/sticky-comment.ts'
import { storiesOf } from '../../../src/report/stories.ts'
import { type Facts, viewOf } from '../../../src/report/view.ts'
import { limits, NOW } from './samples.ts'

const plain: Facts = {
  repositoryUrl: 'https://github.com/acme/shop',
  runUrl: null,
  limits,
  now: NOW,
  notes: [],
}

export const stickyComment = (state: State, facts: Facts) => markdown.stickyComment(viewOf(state, facts))
export const jobSummary = (state: State, facts: Facts) => markdown.jobSummary(viewOf(state, facts))
export const pullRequestBody = (state: State, facts: Facts, most?: number) =>
  pull.pullRequestBody(viewOf(state, facts), most)
export const pullRequestTitle = (state: State) => pull.pullRequestTitle(viewOf(state, plain))
export const rollupCheck = (state: State, facts: Facts) => checks.rollupCheck(viewOf(state, facts))
export const storyCheck = (state: State, id: string, facts: Facts) =>
  checks.storyCheck(viewOf(state, facts), id)
export const dependencyGraph = (state: State) => markdown.dependencyGraph(storiesOf(state))
export const progressBar = (state: State) => parts.progressBar(viewOf(state, plain))
