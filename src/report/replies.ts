// The replies to commands of people, and the table of commands.

import { commandsOn } from '../engine/commands/command-table.ts'
import { formatHolder } from '../engine/lease.ts'
import { OUTPUT_BYTES } from '../engine/model/gate-output.ts'
import type { Question } from '../engine/model/plan-state.ts'
import type { Lease, State } from '../engine/model/state.ts'
import { openQuestions, questionLines, sampleAnswer } from '../engine/planning/plan-questions.ts'
import { ownSituation, type Situation } from '../engine/situation.ts'
import type { Mistake } from '../system/errors.ts'
import { withoutPassed } from '../system/excerpt.ts'
import { collapsible, joinBlocks, list, section, table } from './blocks.ts'
import { code, codeBlock, link, markdownText } from './escape.ts'
import { capitalize, costOrEmpty, formatUtc, pluralize } from './figures.ts'
import { outcomeNow } from './headline.ts'
import { STORY_STATUSES } from './outcomes.ts'
import { ATTEMPTS, heading, marker, progressBar, sentenceList, storyIdMarkdown } from './parts.ts'
import { type Columns, toMarkdown } from './sentence.ts'
import { type Facts, type View, viewOf } from './view.ts'
import type { Why } from './why.ts'

const COMMANDS: Columns<{ example: string; meaning: string }> = [
  ['Comment', 'text', ({ example }) => ({ code: example })],
  ['What it does', 'text', ({ meaning }) => meaning],
]

/** The commands as a table. */
export function commandTable(): string {
  return table(COMMANDS, commandsOn('comment'))
}

/** Replaces the summary on a pull request that was merged or closed, once the run has another one. */
export function continuedComment(feature: string, pull: number): string {
  return `${marker('sticky', feature)}\n### ➡️ The run continues in #${pull}\n\nLater work is there, with the summary of all stories.\n`
}

/** The reply to `/ralph help`. */
export function helpReply(): string {
  return `If you have write access, write one of these as the first line of a comment:\n\n${commandTable()}\n`
}

/** The job that works on a feature, or that was started and does not work yet; `url`: its page. */
export type JobNow =
  | { kind: 'working'; url: string | null }
  | { kind: 'starting'; url: string }
  | { kind: 'none' }

/** The reply to `/ralph status`: short, since the summary comment has the rest. `state` is that of the last checkpoint. */
export function statusReply(state: State, facts: Facts, job: JobNow): string {
  const view = viewOf(state, facts, outsideSituation(state, job.kind !== 'none'))
  const { summary } = view.links
  const { outlook } = view
  const rest = summary === null ? '' : ` Everything else is in the ${link('summary', summary)}.`
  return joinBlocks([
    `${marker('status', view.feature)}\n${heading(view, 4)}`,
    progressBar(view),
    jobText(job),
    outlook === null ? '' : `**Remaining:** ${outlook}.`,
    `**Next:** ${job.kind === 'starting' ? 'Nothing to do: the job that was started continues the work.' : toMarkdown(view.next)}`,
    sentenceList(view.blocked),
    `<sub>As of ${formatUtc(view.now)}.${rest}</sub>`,
  ])
}

function jobText(job: JobNow): string {
  switch (job.kind) {
    case 'working':
      return `${job.url === null ? 'A job' : link('A job', job.url)} is working on it now.`
    case 'starting':
      return `${link('A job', job.url)} has been started, but has not begun to work yet.`
    case 'none':
      return 'No job is working on it now.'
  }
}

/** The reply to `/ralph why`; `why` is null if no attempt has failed. */
export function whyReply(why: Why | null): string {
  if (why === null) return 'No attempt of a story has failed.\n'
  const { story, statusText, last, passed, attempts, output, guidance, helpTitle, help } = why
  const title = output?.of ? `Output of the gate ${markdownText(output.of, 60)}` : 'Output'
  const cost = costOrEmpty(story.usage)
  const spent = cost === '' ? '' : `, ${cost} in all`
  return joinBlocks([
    `#### ${STORY_STATUSES[story.status].sign} ${storyIdMarkdown(story.id)} ${markdownText(story.title, 120)}`,
    `Status: ${statusText}.${last === null ? '' : ` **Last:** ${toMarkdown(last)}`}${passed === null ? '' : ` ${toMarkdown(passed)}`}`,
    section('Notes from people', list(guidance.map((one) => markdownText(one, 500)))),
    section(helpTitle, list(help.map(toMarkdown))),
    output === null
      ? ''
      : collapsible(title, codeBlock(withoutPassed(output.output), OUTPUT_BYTES.reply), true),
    collapsible(
      `What was tried: ${pluralize(attempts.length, 'attempt')}${spent}`,
      table(ATTEMPTS, attempts.slice(-MAX_TRIED)),
    ),
  ])
}

/** Attempts in one reply. */
const MAX_TRIED = 20

/** The commits of a story; `isKept`: its rejected attempts left saved work, which is on no branch. */
export type ChangesView = {
  storyId: string | null
  commits: readonly { sha: string; subject: string; compareUrl: string }[]
  /** The comparison of the whole branch with its base. */
  compareUrl: string
  isKept: boolean
}

/** The reply to `/ralph diff`. */
export function diffReply({ storyId: id, commits, compareUrl, isKept }: ChangesView): string {
  if (id === null) return `${link('All changes on the branch', compareUrl)}.\n`
  const all = commits.map(
    ({ sha, subject, compareUrl: url }) =>
      `${link(`\`${sha.slice(0, 7)}\``, url)} ${markdownText(subject, 120)}`,
  )
  if (isKept)
    return `Rejected attempts at ${storyIdMarkdown(id)} left saved work, which is on no branch. The next attempt continues with it. To discard it, comment ${code(`/ralph retry ${id} --fresh`)}.\n`
  if (all.length === 0) return `Nothing was changed for ${storyIdMarkdown(id)} yet.\n`
  return joinBlocks([`What was changed for ${storyIdMarkdown(id)}:`, list(all)])
}

/** The situation for a process that does not work on the feature itself; `isHeld`: another process does. */
export function outsideSituation(state: State, isHeld: boolean): Situation {
  // A job that died left no outcome, and the state does not show whether a job that it promised has begun.
  const isLost = !isHeld && [null, 'continued'].includes(outcomeNow(state))
  return isLost ? { kind: 'ready', step: null } : ownSituation(state)
}

/** The reply to a command that waits, since GitHub lets no job start before `until` (epoch milliseconds). `holds`: it pauses or stops. */
export function rateLimitReply(until: number, isPause: boolean): string {
  // `/ralph run` would end the pause that the command asks for.
  const how = isPause
    ? ''
    : ` When the limit has ended, start that job with ${code('/ralph run')} or *Run workflow*.`
  return `⏳ GitHub's rate limit blocks new jobs until ${formatUtc(until)}. The next job carries out this command first.${how}\n`
}

/** The reply to `/ralph status` before a run of the feature. */
export function noRunReply(): string {
  return 'There is no run of this feature yet: start it with *Run workflow* on the Actions page.\n'
}

/** The reply to a command on another pull request from the run's branch: Ralph reads no commands there. */
export function wrongPullReply(pull: number): string {
  return `😕 Ralph reads the commands for this run only in #${pull}, so nothing was changed. Comment there.\n`
}

/** The reply to a command that changes nothing: the reason, and what to write instead. */
export function unchangedReply(why: string, instead = ''): string {
  const text = markdownText(why, 300)
  const how = instead === '' ? '' : ` Try ${code(instead)}.`
  return `😕 ${capitalize(text)}.${how} Nothing was changed.\n`
}

/** The reply to `/ralph plan` on an issue whose feature a job works on. */
export function busyReply(lease: Lease): string {
  const job = lease.url === null ? markdownText(formatHolder(lease), 200) : link('A job', lease.url)
  return `⏳ ${job} is working on this now, so nothing was planned again. Comment ${code('/ralph plan')} here when it has ended.\n`
}

/** The reply on an issue that cannot be planned. */
export function unplannedReply(mistakes: readonly Mistake[]): string {
  return `😕 Nothing was planned.\n\n${mistakeList(mistakes.slice(0, 10))}\n`
}

/** Each mistake with its fix. */
export function mistakeList(mistakes: readonly Mistake[]): string {
  return list(
    mistakes.map((mistake) => {
      const fix = markdownText(mistake.fix, 2000)
      return `${code(mistake.place ?? mistake.path, 300)}: ${problemOf(mistake)}\n  - **Fix:** ${fix}`
    }),
  )
}

/** What is wrong: a sentence, or what was found and expected. */
function problemOf({ found, expected }: Mistake): string {
  const what = markdownText(found, 2000)
  return expected === '' ? what : `found ${what}, expected ${markdownText(expected, 1000)}`
}

/** The one reply on the issue that asked for a plan: its status, or what is missing. */
export function issueReply({ feature, branch, pullUrl, plans, stories }: View): string {
  const plan = plans.find(({ storyId }) => storyId === null)
  const where = pullUrl ?? code(branch, 200)
  const questions = openQuestions(plan?.interview)
  const text =
    questions !== null
      ? questionsText(questions)
      : plan?.phase === 'wanted' && plan.message !== ''
        ? `❓ This issue could not be planned: ${markdownText(plan.message, 400)}\n\nEdit the issue, then comment ${code('/ralph plan')} here.`
        : plan?.phase === 'proposed'
          ? `📋 ${pluralize(stories.length, 'story is', 'stories are')} proposed in ${where}. Read the plan there, and comment ${code('/ralph approve-plan')} there to begin the work.`
          : `🔁 Ralph works on the stories of this issue in ${where}.`
  return `${marker('issue', feature)}\n${text}\n`
}

const QUESTIONS = '❓ Before this is planned:'

/** The beginning of a reply that shows questions, by which it is recognized. */
export function questionsStart(feature: string): string {
  return `${marker('issue', feature)}\n${QUESTIONS}`
}

/** Questions before the plan, and how to answer them in one comment. */
function questionsText(questions: readonly Question[]): string {
  const lines = questionLines(questions, {
    question: (text) => markdownText(text, 400),
    option: (letter, text) => `- **${letter}.** ${markdownText(text, 200)}`,
  })
  const how = `Answer in a comment: ${code(`/ralph plan -- ${sampleAnswer(questions)}`, 100)}, or in your own words, such as ${code('/ralph plan -- 2: both')}. Comment only ${code('/ralph plan')} to let the session decide.`
  return `${QUESTIONS}\n\n${lines.join('\n')}\n\n${how}`
}
