// The pull request of a feature: its title and its text. What is live stands in the sticky comment, not here.
import { characters, firstPart, fitted, list, section, stacked } from './blocks.ts'
import { code, link, markdownText, pathOf, subjectText, titleText } from './escape.ts'
import { MOST_CHARACTERS } from './markdown.ts'
import { evidenceBlock, marker, storyId } from './parts.ts'
import type { StoryView } from './stories.ts'
import type { View } from './view.ts'
import { many } from './words.ts'

const INTRODUCTION =
  'Ralph builds this feature story by story, each by a fresh session of a coding agent, and commits a story only when its gates pass.'

const UNGATED_INTRODUCTION =
  '**No gates, no command checks the work.** Ralph builds this feature story by story, each by a fresh session of a coding agent, and the workflow says `gates: none`.'

/** `auth: Customers sign in to the shop`: the feature and the first sentence about it. It does not change with progress. A merge makes it a commit's. */
export function pullRequestTitle({ feature, description, stories }: View): string {
  const first = /^.*?(?=[.!?](?:\s|$)|\n|$)/su.exec(description.trim())?.[0] ?? ''
  const about = titleText(first, 120) || many(stories.length, 'user story', 'user stories')
  return subjectText(`${feature}: ${about}`, 200)
}

/** What the pull request is, its stories as a check list, how to steer, and what was verified. At most `most` characters. */
export function pullRequestBody(view: View, most = MOST_CHARACTERS): string {
  const render = (room: number) =>
    stacked([
      `${marker('pull', view.feature)}\n${view.isUngated ? UNGATED_INTRODUCTION : INTRODUCTION}`,
      markdownText(view.description, Math.min(1500, Math.floor(room / 5))),
      view.issue === null ? '' : `Closes #${view.issue}`,
      `#### Stories\n\n${checkList(view.stories, Math.floor(room * 0.7))}`,
      section('What was verified', list(verified(view))),
      evidenceBlock(view, Math.floor(room / 4)),
      section('Noted in AGENTS.md for later sessions', firstPart(learned(view), Math.floor(room / 5))),
      section('How to steer', steering(view)),
    ])
  return fitted(render, most, characters)
}

function checkList(stories: readonly StoryView[], room: number): string {
  const lines: string[] = []
  let left = room
  for (const story of stories) {
    const line = checkLine(story)
    left -= line.length + 1
    if (left < 0) break
    lines.push(line)
  }
  const others = stories.slice(lines.length)
  if (others.length > 0) {
    const passed = others.filter(({ standing }) => standing === 'passed').length
    lines.push(`\n… and ${many(others.length, 'story', 'stories')} more, ${passed} of them passed`)
  }
  return lines.join('\n')
}

function checkLine({ id, title, standing, how, aside }: StoryView): string {
  const isTold = standing === 'skipped' || how === 'ungated' || how === 'unchanged'
  return `- [${standing === 'passed' ? 'x' : ' '}] ${storyId(id)} ${markdownText(title, 120)}${isTold ? ` (${aside})` : ''}`
}

/** Said as it is: what exit codes proved, what a session judged, and what nobody looked at. */
function verified(view: View): string[] {
  const { stories, counts } = view
  const passed = (how: StoryView['how']) => stories.filter((story) => story.how === how)
  const imported = passed('imported').length
  const unchanged = passed('unchanged')
  const remarked = stories.filter(({ standing, remarks }) => standing === 'passed' && remarks.length > 0)
  return [
    gatesSentence(view, counts.passed - imported),
    finalSentence(view),
    imported === 0
      ? ''
      : `${many(imported, 'story', 'stories')} had passed before Ralph began; no gate of this run has seen ${imported === 1 ? 'it' : 'them'}.`,
    unchanged.length === 0
      ? ''
      : `${someIds(unchanged)} passed without a change: a fresh session, which is a model too, judged that nothing had to be done.`,
    remarked.length === 0
      ? ''
      : `Look closer at ${someIds(remarked)}: the checks have remarks on how they passed.`,
    'The code was written by an agent and read by nobody yet: review it as you would any other.',
  ].filter((sentence) => sentence !== '')
}

function someIds(stories: readonly StoryView[]): string {
  const ids = stories.slice(0, 10).map(({ id }) => markdownText(id, 64))
  return `${ids.join(', ')}${stories.length > 10 ? ' and others' : ''}`
}

function gatesSentence({ isUngated, stories }: View, earned: number): string {
  const meansLittle = 'a ticked story means no more than that the agent changed something.'
  if (isUngated) return `No gate is configured: ${meansLittle}`
  if (earned === 0) return 'No story has passed in this run yet.'
  const gates = stories.flatMap((story) => (story.standing === 'passed' ? story.gates : []))
  const names = new Set(gates.flatMap(({ name, ok, advisory }) => (ok && !advisory ? [name] : [])))
  if (names.size === 0) return `No gate is known to have run: ${meansLittle}`
  const shown = [...names].slice(0, 12).map((name) => code(name, 60))
  return `A story is ticked when these commands exited 0 on exactly the code that was committed for it: ${shown.join(', ')}. The agent’s own word counts for nothing.`
}

function finalSentence({ verification, isUngated, stories }: View): string {
  switch (verification) {
    case 'agreed':
      return isUngated
        ? 'The final verification agreed: a fresh session, which is a model too, judged every criterion to be met. No command was run.'
        : `The final verification agreed: all gates passed on the whole, and a fresh session, which is a model too, judged every criterion to be met${stories.some(({ evidence }) => evidence.length > 0) ? ' and named what shows it, which was looked up' : '; it named no evidence'}.`
    case 'off':
      return 'The final verification is switched off: nothing has judged the criteria themselves.'
    case 'not-held':
      return 'The final verification, where a fresh session judges every criterion on the whole, has not been held yet.'
    case 'not-agreed':
      return 'The final verification has not agreed to the code as it stands.'
  }
}

/** They come from agents and are read by agents: a person looks at them before they are merged. */
function learned({ learnings }: View): string {
  if (learnings.length === 0) return ''
  const items = learnings.slice(-MOST_LEARNINGS).map((learning) => markdownText(learning))
  return list([
    ...items,
    `Agents noted these, and later sessions read them: strike out what is wrong. ${code('agents-md: off')} keeps them out.`,
  ])
}

/** As many as have room in the section, about. */
const MOST_LEARNINGS = 30

function steering({ branch, folder, links }: View): string {
  const hint = code('/ralph retry US-001 -- use the existing mailer')
  const there = link(code(folder, 200), `${links.repository}/tree/${pathOf(`${branch}/${folder}`)}`)
  return [
    `Comment with write access: ${code('/ralph pause')}, ${code('/ralph run')}, ${hint}, ${code('/ralph help')} for the rest.`,
    `Push to ${code(branch, 200)} as you like: Ralph takes your commits in. The stories are in ${there}; edit them there.`,
    'How it stands now is in the comment below.',
  ].join('\n')
}
