// The kind of a document, by its name, path and front matter. It is found before any box in the file is read as work.
import type { OpenDocument } from './open-document.ts'
import { withoutEmphasis } from './story-words.ts'

/**
 * Documents whose boxes are not work. `isBackground`: their text helps the agent. `beatsPlace`: the rule also holds for a file in a folder
 * of plans.
 */
type Kind = { what: string; isBackground: boolean; at: RegExp; beatsPlace?: boolean }

const kinds: readonly Kind[] = [
  {
    what: 'archived',
    isBackground: false,
    beatsPlace: true,
    at: /(?:^|\/)(?:archived?|_archive)\/|(?:^|\/)\.?backlog\/(?:completed|drafts)\/|\.(?:superseded|retired|archived|obsolete|old|bak)\.[a-z]+$/i,
  },
  {
    what: "a tool's own file",
    isBackground: false,
    at: /(?:^|\/)(?:\.specify|_bmad|\.bmad-core|\.claude\/(?:commands|skills|agents)|\.github)\/|(?:^|\/)templates?\/|[-_.]template\.md$/i,
  },
  { what: 'a template', isBackground: false, beatsPlace: true, at: /(?:^|\/)[._]templates?\// },
  { what: 'a checklist', isBackground: false, beatsPlace: true, at: /(?:^|\/)checklists?\// },
  { what: 'a checklist', isBackground: false, at: /(?:^|[-_./])checklists?\.md$/i },
  {
    what: 'a definition of done',
    isBackground: false,
    at: /(?:^|[-_./])(?:definition-of-(?:done|ready)|dod|sign-?offs?)[^/]*\.md$/i,
  },
  {
    what: 'a retrospective',
    isBackground: false,
    at: /(?:^|[-_./])retro(?:spective)?s?(?:[-_./][^/]*)*\.md$/i,
  },
  {
    what: 'a report',
    isBackground: false,
    at: /(?:^|[-_./])(?:reports?|readiness|validation|assessment|review|audit|post-?mortem|verification|uat)(?:[-_.][^/]*)?\.md$/i,
  },
  { what: 'a change proposal', isBackground: false, at: /(?:^|[-_./])change-proposal[^/]*\.md$/i },
  { what: 'deferred work', isBackground: false, at: /(?:^|[-_./])deferred-work[^/]*\.md$/i },
  {
    what: 'a design of the interface',
    isBackground: true,
    at: /(?:^|\/)(?:[^/]*[-_])?ux(?:[-_.][^/]*)?\.md$|(?:^|\/)front-?end-spec[^/]*\.md$|(?:^|\/)DESIGN\.md$/,
  },
  {
    what: 'architecture',
    isBackground: true,
    at: /(?:^|[-_./])(?:architecture|tech-stack|coding-standards|source-tree)(?:[-_.][^/]*)?(?:\/[^/]*)?\.md$/i,
  },
  { what: 'a brief', isBackground: true, at: /(?:^|[-_./])brief(?:[-_.][^/]*)?\.md$/i },
  { what: 'a tech spec of an epic', isBackground: true, at: /(?:^|\/)tech-spec-epic-[^/]*\.md$/i },
  {
    what: 'a test plan',
    isBackground: true,
    at: /(?:^|[-_./])(?:test|qa|rollout|release|launch|migration|incident|meeting)[-_](?:plan|design|strategy|notes|runbook)[^/]*\.md$/i,
  },
  { what: 'a decision', isBackground: true, at: /(?:^|\/)(?:adrs?|rfcs?|decisions)\/[^/]+\.md$/i },
  {
    what: 'a page of the project',
    isBackground: true,
    at: /(?:^|\/)(?:README|CHANGELOG|CONTRIBUTING|SECURITY|CODE_OF_CONDUCT|(?:PULL_REQUEST|ISSUE)_TEMPLATE[^/]*|RELEASING|RUNBOOK|AGENTS|CLAUDE|GEMINI)\.md$/i,
  },
  {
    what: 'steering',
    isBackground: true,
    at: /(?:^|\/)\.kiro\/steering\/|(?:^|\/)(?:constitution|project-context|epic-[\w.]+-context)\.md$/i,
  },
  { what: 'a prompt', isBackground: true, at: /(?:^|\/)@?(?:PROMPT|LOOP_PROMPT|AGENT)(?:[-_.][^/]*)?\.md$/i },
]

/** `workflowType` in the front matter of BMAD's planning documents. Epics are the only kind with stories. */
const workflows: readonly [RegExp, string][] = [
  [/epics|stories/i, ''],
  [/architecture/i, 'architecture'],
  [/ux/i, 'a design of the interface'],
  [/brief/i, 'a brief'],
  [/prd|requirements/i, 'requirements'],
  [/readiness|validation|report|correct-course/i, 'a report'],
  [/retro/i, 'a retrospective'],
  [/research|brainstorm/i, 'research'],
]

/** Paths of files that belong to a plan, whatever words are in their names. */
const places: readonly { what: string; at: RegExp }[] = [
  { what: 'a task of Backlog.md', at: /(?:^|\/)\.?backlog\/tasks\/[^/]+\.md$/i },
  {
    what: 'a file of a Kiro spec',
    at: /(?:^|\/)\.(?:kiro|spec-workflow)\/specs\/[^/]+\/(?:tasks|requirements|bugfix|design)\.md$/,
  },
  {
    what: 'a file of a Spec Kit feature',
    at: /(?:^|\/)specs\/\d{3,}[^/]*\/(?:tasks|spec|plan|research|data-model|quickstart)\.md$/,
  },
  {
    what: 'a file of an OpenSpec change',
    at: /^openspec\/changes\/[^/]+\/(?:(?:tasks|proposal|design)\.md|specs\/.+\.md)$/,
  },
  { what: 'a superpowers plan', at: /(?:^|\/)superpowers\/plans\/[^/]+\.md$/ },
  {
    what: 'a file of an Agent OS spec',
    at: /(?:^|\/)\.?agent-os\/specs\/[^/]+\/(?:tasks|spec|requirements)\.md$/,
  },
  { what: 'a track of Conductor', at: /(?:^|\/)conductor\/tracks\/[^/]+\/(?:plan|spec)\.md$/ },
]

const storyNumber = /^(?:story-?)?(?:[a-z]{0,12}\d{1,4}[.-]\d{1,4}[a-z]?|[A-Z][A-Z0-9]{0,15}-\d{1,6})[-_.]/

/** `epic-4-audit-log.md`, `story-2.1-review.md`: the kind comes first, and the other words are its title. */
const numberedName = /^(?:epics?|stor(?:y|ies)|tasks?)[-_. ]?\d{1,4}(?:[.-]\d{1,4})?[a-z]?(?=[-_. ])/i

/** Whether a file's path shows that it belongs to a plan: by its folder, or by the word epic, story or task with a number. */
export function isPlanPath(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return places.some(({ at }) => at.test(path)) || storyNumber.test(name) || numberedName.test(name)
}

/** A record of an epic, such as `epic-2-retro-2026-05-18.md` and `epic-1-context.md`: the word follows the number directly. */
const recordName =
  /^epics?[-_.]?\d{1,4}[-_.](?:retro(?:spective)?|context|report|readiness-report|review-report)\b/i

/** Whether the path shows that a file holds work, or a story number in its name does together with its title. */
function isPlacedAsWork({ path, name, title }: OpenDocument): boolean {
  return (
    places.some(({ at }) => at.test(path)) ||
    (numberedName.test(name) && !recordName.test(name)) ||
    (storyNumber.test(name) && /^(?:user )?story\b/i.test(withoutEmphasis(title)))
  )
}

export type OtherKind = { what: string; isBackground: boolean }

/** The kind of a document that is not a task list, whatever boxes are in it; null for all others. */
export function findOtherKind(document: OpenDocument): OtherKind | null {
  const { path, frontFields, title, isMarkdown, file } = document
  const isPlaced = isPlacedAsWork(document)
  const found = kinds.find(({ at, beatsPlace = false }) => at.test(path) && (beatsPlace || !isPlaced))
  // An archived document is read only if a person names that file.
  const isNamedArchive = found?.what === 'archived' && file.isNamed
  // ralph-orchestrator has one file that is both prompt and task list.
  const isTask = found?.what === 'a prompt' && /^tasks?\b/i.test(title)
  if (found !== undefined && !isNamedArchive && !isTask) return found
  if (!isMarkdown || isPlaced) return null
  const { workflowType } = frontFields
  if (typeof workflowType === 'string') {
    const [, what = ''] = workflows.find(([type]) => type.test(workflowType)) ?? []
    return what === '' ? null : { what, isBackground: !/report|retro/.test(what) }
  }
  const [, what] = titles.find(([words]) => words.test(title)) ?? []
  return what === undefined ? null : { what, isBackground: false }
}

/** Titles that show the kind if the path does not. The whole title must match: it may also just contain such a word. */
const titles: readonly [RegExp, string][] = [
  [titled('retrospective'), 'a retrospective'],
  [titled('(?:readiness|validation|assessment|review|test|audit) report|readiness assessment'), 'a report'],
  [titled('(?:quality|release|launch|review|security) checklist'), 'a checklist'],
  [/^checklist\s*(?:$|[:(,\u2013\u2014-]|for\b|of\b)/i, 'a checklist'],
  [/^definition of (?:done|ready)\b/i, 'a definition of done'],
  [titled('change proposal'), 'a change proposal'],
  [/^deferred work\b/i, 'deferred work'],
]

/** Matches these words at the end of a title, or before a phrase such as "for X". */
function titled(words: string): RegExp {
  return new RegExp(`\\b(?:${words})\\s*(?:$|[:(,|\u2013\u2014-]|for\\b|of\\b)`, 'i')
}

const workTitle =
  /\b(?:tasks?|to-?dos?|backlog|fix plan|work list|task list|implementation plan|progress|user stories)\b|^(?:aufgaben|tareas|t\u00e2ches|compiti|tarefas|\u0437\u0430\u0434\u0430\u0447\u0438|\u4efb\u52a1|\u30bf\u30b9\u30af)/i
const workName =
  /(?:^|[-_.@/ ])(?:fix_?plan|progress|prd|todos?|tasks?|task-?list|plan|work|stories|backlog|roadmap)(?:[-_. ][^/]*)?\.(?:md|markdown|txt)$/i

/** Whether the name or the title says that the boxes of the file are work. */
export function isTaskList({ name, title, file }: OpenDocument): boolean {
  return file.isNamed === true || workName.test(`/${name}`) || workTitle.test(title)
}
