// The pull request of a feature: its title and its text. What is live stands in the sticky comment, not here.
import { isUngated } from '../loop/limits.ts'
import { passedUnchanged, passedUngated, UNCHANGED, UNGATED } from '../loop/passed.ts'
import type { Story } from '../model/feature.ts'
import type { State } from '../model/state.ts'
import { oneLine } from '../model/text.ts'
import { counts } from '../prd/select.ts'
import { bold, code, markdownText, subjectText, titleText } from './escape.ts'
import { fitted, MOST_CHARACTERS } from './markdown.ts'
import { type Facts, link, stacked } from './parts.ts'
import { many, outcomeNow } from './words.ts'

/** The first line of Ralph's part of the pull request's text. */
export function pullMarker(feature: string): string {
  return `<!-- ralph:pull:${feature.replace(/[^\w.+-]/g, '-')} -->`
}

const INTRODUCTION =
  'Ralph builds this feature story by story, each by a fresh session of a coding agent, and commits a story only when its gates pass.'

const UNGATED_INTRODUCTION =
  '**No gates, no command checks the work.** Ralph builds this feature story by story, each by a fresh session of a coding agent, and the workflow says `gates: none`.'

/** `auth: Customers sign in to the shop`: the feature and the first sentence about it. It does not change with progress. A merge makes it a commit's. */
export function pullRequestTitle(state: State): string {
  const first = /^.*?(?=[.!?](?:\s|$)|\n|$)/su.exec(state.prd.description.trim())?.[0] ?? ''
  const about = titleText(first, 120) || many(state.prd.userStories.length, 'user story', 'user stories')
  return subjectText(`${state.feature}: ${about}`, 200)
}

/** What the pull request is, its stories as a check list, how to steer, and what was verified. At most `most` characters. */
export function pullRequestBody(state: State, facts: Facts, most = MOST_CHARACTERS): string {
  return fitted(
    (room) =>
      stacked([
        `${pullMarker(state.feature)}\n${isUngated(state.job) ? UNGATED_INTRODUCTION : INTRODUCTION}`,
        markdownText(state.prd.description, Math.min(1500, Math.floor(room / 5))),
        `#### Stories\n\n${checkList(state.prd.userStories, Math.floor(room * 0.7))}`,
        `#### What was verified\n\n${verified(state, facts)}`,
        `#### How to steer\n\n${steering(state, facts)}`,
      ]),
    most,
    (text) => text.length,
  )
}

function checkList(stories: readonly Story[], room: number): string {
  const lines: string[] = []
  let used = 0
  for (const story of stories) {
    const ticked = story.passes ? 'x' : ' '
    const skipped = story.skipped && !story.passes ? ' (skipped by a person)' : ''
    const how = passedUngated(story) ? ` (${UNGATED})` : passedUnchanged(story) ? ` (${UNCHANGED})` : skipped
    const line = `- [${ticked}] ${bold(markdownText(story.id, 64))} ${markdownText(story.title, 120)}${how}`
    used += line.length + 1
    if (used > room) break
    lines.push(line)
  }
  const left = stories.slice(lines.length)
  if (left.length > 0) {
    const passed = left.filter((story) => story.passes).length
    lines.push(`\n… and ${many(left.length, 'story', 'stories')} more, ${passed} of them passed`)
  }
  return lines.join('\n')
}

/** Said as it is: what exit codes proved, what a session judged, and what nobody looked at. */
function verified(state: State, facts: Facts): string {
  const { userStories } = state.prd
  const imported = userStories.filter((story) => story.passes && story.lastResult?.imported === true)
  const earned = counts(state.prd).passed - imported.length
  const sentences = [gatesSentence(state, earned), finalSentence(state, facts)]
  if (imported.length > 0) {
    sentences.push(
      `${many(imported.length, 'story', 'stories')} had passed before Ralph began; no gate of this run has seen ${imported.length === 1 ? 'it' : 'them'}.`,
    )
  }
  const skipped = counts(state.prd).skipped
  if (skipped > 0)
    sentences.push(`${many(skipped, 'story was', 'stories were')} skipped by a person and not worked on.`)
  const unchanged = userStories.filter(passedUnchanged)
  if (unchanged.length > 0) {
    sentences.push(
      `${someIds(unchanged)} passed without a change: a fresh session, which is a model too, judged that nothing had to be done.`,
    )
  }
  const remarks = userStories.filter(
    (story) => story.passes && (state.records[story.id]?.remarks.length ?? 0) > 0,
  )
  if (remarks.length > 0) {
    sentences.push(`Look closer at ${someIds(remarks)}: the checks have remarks on how they passed.`)
  }
  sentences.push('The code was written by an agent and read by nobody yet: review it as you would any other.')
  return sentences.map((sentence) => `- ${sentence}`).join('\n')
}

function someIds(stories: readonly Story[]): string {
  const ids = stories.slice(0, 10).map((story) => markdownText(story.id, 64))
  return `${ids.join(', ')}${stories.length > 10 ? ' and others' : ''}`
}

function gatesSentence(state: State, earned: number): string {
  if (isUngated(state.job))
    return 'No gate is configured: a ticked story means no more than that the agent changed something.'
  if (earned === 0) return 'No story has passed in this run yet.'
  const names = new Set<string>()
  for (const story of state.prd.userStories) {
    if (!story.passes) continue
    for (const gate of state.records[story.id]?.gates ?? [])
      if (gate.ok && !gate.advisory) names.add(gate.name)
  }
  if (names.size === 0)
    return 'No gate is known to have run: a ticked story means no more than that the agent changed something.'
  const told = [...names].slice(0, 12).map((name) => code(name, 60))
  return `A story is ticked when these commands exited 0 on exactly the code that was committed for it: ${told.join(', ')}. The agent’s own word counts for nothing.`
}

function finalSentence(state: State, facts: Facts): string {
  if (state.verification.approved) {
    return isUngated(state.job)
      ? 'The final verification agreed: a fresh session, which is a model too, judged every criterion to be met. No command was run.'
      : 'The final verification agreed: all gates passed on the whole, and a fresh session, which is a model too, judged every criterion to be met.'
  }
  if (!facts.limits.finalVerification && state.verification.asked !== true)
    return 'The final verification is switched off: nothing has judged the criteria themselves.'
  return outcomeNow(state) === null || counts(state.prd).open > 0
    ? 'The final verification, where a fresh session judges every criterion on the whole, has not been held yet.'
    : 'The final verification has not agreed to the code as it stands.'
}

function steering(state: State, facts: Facts): string {
  const hint = code('/ralph retry US-001 -- use the existing mailer')
  const folder = link(code(state.folder, 200), treeLink(state, facts))
  return [
    `Comment with write access: ${code('/ralph pause')}, ${code('/ralph run')}, ${hint}, ${code('/ralph help')} for the rest.`,
    `Push to ${code(state.branch, 200)} as you like: Ralph takes your commits in. The stories are in ${folder}; edit them there.`,
    'How it stands now is in the comment below.',
  ].join('\n')
}

function treeLink(state: State, facts: Facts): string {
  const path = oneLine(`${state.branch}/${state.folder}`, 2000).split('/').map(encodeURIComponent).join('/')
  return `${facts.repositoryUrl}/tree/${path}`
}
