// The title and the text of a feature's pull request. What changes at every step is in the sticky comment instead.
import { characterCount, fitToLimit, joinBlocks, list, section, truncateLines } from './blocks.ts'
import { criteriaRows, describeLevels } from './criteria.ts'
import { code, link, markdownText, pathOf, subjectText, titleText } from './escape.ts'
import { listNames, pluralize } from './figures.ts'
import { findingsBlock } from './findings.ts'
import { evidenceBlock, marker, storyIdMarkdown } from './parts.ts'
import { toMarkdown } from './sentence.ts'
import { MAX_CHARACTERS } from './sticky-comment.ts'
import { describeChange, type StoryView } from './stories.ts'
import type { View } from './view.ts'

const INTRODUCTION =
  'Ralph builds this feature story by story. Each story gets a fresh session of a coding agent, and Ralph commits it only when its gates pass.'

const UNGATED_INTRODUCTION =
  '**No gates: no command checks the work.** The workflow says `gates: none`. Ralph builds this feature story by story. Each story gets a fresh session of a coding agent.'

/**
 * The feature and the first sentence of its description: `auth: Customers sign in to the shop`. It may become the subject of a merge
 * commit.
 */
export function pullRequestTitle({ feature, description, stories }: View): string {
  const firstSentence = /^.*?(?=[.!?](?:\s|$)|\n|$)/su.exec(description.trim())?.[0] ?? ''
  const subject = titleText(firstSentence, 120) || pluralize(stories.length, 'user story', 'user stories')
  return subjectText(`${feature}: ${subject}`, 200)
}

/** Introduction, stories as a check list, what was verified, and how to steer. At most `limit` characters. */
export function pullRequestBody(view: View, limit = MAX_CHARACTERS): string {
  const render = (room: number) =>
    joinBlocks([
      `${marker('pull', view.feature)}\n${openingText(view)}`,
      planText(view),
      markdownText(view.description, Math.min(1500, Math.floor(room / 5))),
      view.issue === null ? '' : `Closes #${view.issue}`,
      section('Stories', truncateLines(view.stories.map(checkLine).join('\n'), Math.floor(room * 0.7))),
      view.expectedCost === null ? '' : `Estimate: ${view.expectedCost}.`,
      section('What was verified', list(verificationSentences(view))),
      evidenceBlock(view, Math.floor(room / 4)),
      section('Your documents', truncateLines(markedDocuments(view), Math.floor(room / 10))),
      section(
        'Noted in AGENTS.md for later sessions',
        truncateLines(learningList(view), Math.floor(room / 5)),
      ),
      view.isOver && view.outcome === 'complete' ? '' : section('How to steer', steering(view)),
    ])
  return fitToLimit(render, limit, characterCount)
}

/** Findings come before the introduction. Only the warning that there are no gates comes before them. */
function openingText({ findings, links, isUngated }: View): string {
  const findingsText = findingsBlock(findings, links.checks)
  return joinBlocks(isUngated ? [UNGATED_INTRODUCTION, findingsText] : [findingsText, INTRODUCTION]).trim()
}

/** How to approve the plan: the pull request is often the first thing that people read of it. */
function planText({ plans, next }: View): string {
  if (!plans.some(({ phase }) => phase === 'proposed')) return ''
  return `**A plan waits for your approval. Ralph starts no work before that.** ${toMarkdown(next)}`
}

function checkLine({ id, title, status, aside, remarks, change }: StoryView): string {
  const isDone = status === 'passed' || status === 'skipped'
  const advice = remarks.length > 0 ? 'its check has remarks to look at' : ''
  const notes = isDone ? [describeChange(change), aside, advice].filter((note) => note !== '').join('; ') : ''
  const box = status === 'passed' ? '[x]' : '[ ]'
  const notesMarkdown = notes === '' ? '' : ` (${markdownText(notes, 180)})`
  return `- ${box} ${storyIdMarkdown(id)} ${markdownText(title, 120)}${notesMarkdown}`
}

/** What gates proved, what a judge decided, and what was not checked. */
function verificationSentences(view: View): string[] {
  return [
    gatesSentence(view),
    ...unchangedSentence(view),
    finalSentence(view),
    'An agent wrote the code, and no person has read it yet: review it like any other code.',
  ]
}

function gatesSentence({ isUngated, stories }: View): string {
  const meansLittle = 'a ticked story means only that the agent changed something.'
  if (isUngated) return `No gate is configured: ${meansLittle}`
  const passedHere = stories.filter(({ how }) => how !== null && how !== 'imported' && how !== 'answered')
  if (passedHere.length === 0) return 'No story has passed in this run yet.'
  const gates = passedHere.flatMap((story) => story.gates)
  const names = new Set(gates.flatMap(({ name, ok, advisory }) => (ok && !advisory ? [name] : [])))
  if (names.size === 0) return `There is no record of a gate run: ${meansLittle}`
  const commands = [...names].slice(0, 12).map((name) => code(name, 60))
  return `A story is ticked when these commands exited 0 on exactly the code that was committed for it: ${commands.join(', ')}. The agent’s own claims do not count.`
}

/** Of stories that passed without a change, because a judge found their criteria met already. */
function unchangedSentence({ stories }: View): string[] {
  const count = stories.filter(({ how }) => how === 'unchanged').length
  if (count === 0) return []
  const them = count === 1 ? 'it' : 'them'
  return [
    `${pluralize(count, 'story', 'stories')} passed on the word of a judge: nothing was changed for ${them}.`,
  ]
}

function finalSentence({ verification, isUngated, stories, takenGates, links }: View): string {
  switch (verification) {
    case 'agreed': {
      const reused = takenGates.map((gate) => markdownText(gate, 120)).join('; ')
      const gates = `all gates passed on the finished code${reused === '' ? '' : ` (${reused})`}`
      const levels = describeLevels(stories.flatMap((story) => criteriaRows(story, links.blob)))
      const hasEvidence = stories.some(({ evidence }) => evidence.length > 0)
      const evidence = hasEvidence
        ? `. Ralph checked the evidence for each criterion: ${levels}`
        : ', without citing evidence'
      return `The final verification passed: ${isUngated ? 'no command was run' : gates}, and a judge (also a model) found that every criterion is met${evidence}.`
    }
    case 'off':
      return 'The final verification is switched off, so no judge has checked the acceptance criteria.'
    case 'not-held':
      return 'The final verification has not run yet. It lets a fresh session judge every criterion on the finished code.'
    case 'not-agreed':
      return 'The final verification has not approved the current code.'
  }
}

/** The documents that Ralph marked. They are in no story's commit, so the text names them for the reviewer. */
function markedDocuments({ documents, unmarked }: View): string {
  const paths = listNames(documents.map((path) => code(path, 200)))
  const ids = listNames(unmarked.map((id) => code(id, 60)))
  const marked = `Ralph ticked off the stories that passed, in ${paths}. To keep it from doing so, set ${code('write-back: off')}.`
  const notMarked = `Your documents have changed, so Ralph could not find ${ids} there to tick off. Do it by hand.`
  return [documents.length === 0 ? '' : marked, unmarked.length === 0 ? '' : notMarked]
    .filter(Boolean)
    .join('\n\n')
}

/** Learnings are written and read by agents, so a person should look at them before they are merged. */
function learningList({ learnings }: View): string {
  if (learnings.length === 0) return ''
  const items = learnings.slice(-MAX_LEARNINGS).map((learning) => markdownText(learning))
  return list([
    ...items,
    `Agents wrote these notes for later sessions. Delete what is wrong. To get no such notes, set ${code('agents-md: off')}.`,
  ])
}

/** About as many as the section has room for. */
const MAX_LEARNINGS = 30

function steering({ branch, folder, links }: View): string {
  const hint = code('/ralph retry US-001 -- use the existing mailer')
  const folderLink = link(code(folder, 200), `${links.repository}/tree/${pathOf(`${branch}/${folder}`)}`)
  return [
    `With write access, comment ${code('/ralph pause')}, ${code('/ralph run')} or ${hint}. ${code('/ralph help')} lists all commands.`,
    `You can push to ${code(branch, 200)}: Ralph continues from your commits. The stories are in ${folderLink}; edit them there.`,
    'The current status is in the comment below.',
  ].join('\n')
}
