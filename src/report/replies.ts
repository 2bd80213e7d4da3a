// What people can type after `/ralph`, and the short replies to it.
import { commandsOn } from '../loop/command-table.ts'
import { ownSituation, type Situation } from '../loop/situation.ts'
import type { State } from '../model/state.ts'
import { code, markdownText } from './escape.ts'
import { nextMove } from './next-move.ts'
import { blockedList, headingOf, link, progressBar, stacked } from './parts.ts'
import { humanMs, outcomeNow, storyInWork, utc } from './words.ts'

/** The commands as a table. */
export function commandTable(): string {
  const rows = commandsOn('comment').map(({ example, meaning }) => `| ${code(example)} | ${meaning} |`)
  return ['| Comment | What it does |', '| :-- | :-- |', ...rows].join('\n')
}

/** The reply to `/ralph help`. */
export function helpReply(): string {
  return `Write one of these as the first line of a comment (people with write access):\n\n${commandTable()}\n`
}

/** The first line of the reply to `/ralph status`: found again by it and by its author, who must be us. */
export function statusMarker(feature: string): string {
  return `<!-- ralph:status:${feature.replace(/[^\w.+-]/g, '-')} -->`
}

/** What the reply to `/ralph status` tells beside the state; the limits of the run are not known where it is written. */
export type StatusFacts = {
  repositoryUrl: string
  /** The pull request on which the reply stands. */
  pull: number
  /** The page of the job that works now, `true` where it has none; null where none works. */
  working: string | true | null
  /** Epoch milliseconds. */
  now: number
}

/** The reply to `/ralph status`: short, since the summary comment has the rest. `state` is as the last checkpoint left it. */
export function statusReply(state: State, facts: StatusFacts): string {
  const { comment } = state.github
  const summary =
    comment === null ? null : `${facts.repositoryUrl}/pull/${facts.pull}#issuecomment-${comment}`
  // A job that is gone has left no outcome; what became of one that was promised is not in the state either.
  const isLost = facts.working === null && [null, 'continued'].includes(outcomeNow(state))
  const situation: Situation = isLost ? { kind: 'ready', step: null } : ownSituation(state)
  return stacked([
    `${statusMarker(state.feature)}\n${headingOf(isLost ? { ...state, job: { ...state.job, conclusion: null } } : state, 4)}`,
    progressBar(state),
    atWork(state, facts),
    `**Next:** ${nextMove(state, situation, 'comment')}`,
    blockedList(state),
    `<sub>As of ${utc(facts.now)}.${summary === null ? '' : ` Everything else stands in the ${link('summary', summary)}.`}</sub>`,
  ])
}

/** Who works, on what and since when. */
function atWork(state: State, { working, now }: StatusFacts): string {
  if (working === null) return 'No job works on it now.'
  const job = working === true ? 'A job' : link('A job', working)
  const story = storyInWork(state)
  if (story === null || state.attempt === null) return `${job} works on it now.`
  const since = humanMs(Math.max(0, now - state.attempt.startedAt))
  return `${job} works on ${code(story, 64)} now, attempt ${state.attempt.number}, since ${since}.`
}

/** The reply to a command that is kept, while GitHub lets no job start that would hear it; `until` in epoch milliseconds. */
export function limitedReply(until: number, holds: boolean): string {
  // `run` would end the pause that was asked for.
  const how = holds
    ? 'Nothing more is to be done: whichever job comes next reads it first.'
    : `The next job does this first: comment ${code('/ralph run')} then, or press *Run workflow*.`
  return `⏳ GitHub's rate limit lets no job start until ${utc(until)}. ${how}\n`
}

/** The reply to `/ralph status` before a run of the feature. */
export function noRunReply(): string {
  return 'There is no run of this feature yet: start it with *Run workflow* on the Actions page.\n'
}

/** The reply to a command on another pull request from the run's branch: nobody reads the queue there. */
export function elsewhereReply(pull: number): string {
  return `😕 The commands of this run are read in #${pull}. Nothing was changed.\n`
}

/** The reply to a command that is for us and cannot be done: what is wrong, and what to write instead. */
export function mistakeReply(problem: string, fix: string): string {
  const said = markdownText(problem, 160)
  return `😕 ${said.charAt(0).toUpperCase()}${said.slice(1)}. Try ${code(fix, 120)}. Nothing was changed.\n`
}
