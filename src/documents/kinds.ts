// What kind of document a file is, by its name, its place and its front matter: before anything in it is taken for work.
import type { Opened } from './opened.ts'

/** Documents whose boxes are no work. `isBackground`: their words help whoever works. */
type Kind = { what: string; isBackground: boolean; at: RegExp }

const kinds: readonly Kind[] = [
  {
    what: 'archived',
    isBackground: false,
    at: /(?:^|\/)(?:archived?|_archive)\/|(?:^|\/)\.?backlog\/(?:completed|drafts)\/|\.(?:superseded|retired|archived|obsolete|old|bak)\.[a-z]+$/i,
  },
  {
    what: "a tool's own file",
    isBackground: false,
    at: /(?:^|\/)(?:\.specify|_bmad|\.bmad-core|\.claude\/(?:commands|skills|agents)|\.github)\/|(?:^|\/)templates?\/|[-_.]template\.md$/i,
  },
  { what: 'a checklist', isBackground: false, at: /(?:^|\/)checklists?\/|(?:^|[-_./])checklists?\.md$/i },
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

/** What BMAD writes into the front matter of what it plans with; epics are the one kind with stories. */
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

export type Aside = { what: string; isBackground: boolean }

/** The kind of a document that is no task list, whatever boxes are in it; null for all others. */
export function asideOf({ path, head, title, isMarkdown, file }: Opened): Aside | null {
  const found = kinds.find(({ at }) => at.test(path))
  // What is archived is read where a person names that very file.
  const isWanted = found?.what === 'archived' && file.isNamed
  // The one file of ralph-orchestrator is prompt and task list at once.
  const isTask = found?.what === 'a prompt' && /^tasks?\b/i.test(title)
  if (found !== undefined && !isWanted && !isTask) return found
  if (!isMarkdown) return null
  const { workflowType } = head
  if (typeof workflowType === 'string') {
    const [, what = ''] = workflows.find(([type]) => type.test(workflowType)) ?? []
    return what === '' ? null : { what, isBackground: !/report|retro/.test(what) }
  }
  const [, what] = titles.find(([words]) => words.test(title)) ?? []
  return what === undefined ? null : { what, isBackground: false }
}

/** Of a file whose name says nothing of its kind the title may. */
const titles: readonly [RegExp, string][] = [
  [/\bretrospective\b/i, 'a retrospective'],
  [/\b(?:readiness|validation|assessment|review|test|audit) report\b|\breadiness assessment\b/i, 'a report'],
  [/\b(?:quality |release |launch |review |security )checklist\b|^checklist\b/i, 'a checklist'],
  [/^definition of (?:done|ready)\b/i, 'a definition of done'],
  [/\bchange proposal\b/i, 'a change proposal'],
  [/^deferred work\b/i, 'deferred work'],
]

/** What stands above boxes that are no work: criteria of the whole, questions, what somebody signs. */
const NO_WORK = [
  ...['acceptance', 'success', 'exit criteria', 'criteria', 'definition of (?:done|ready)', 'done when'],
  ...['sign-?offs?', 'approvals?', 'reviewers?', 'check-?list', 'check list', 'pre-?requisites?'],
  ...['verification', 'validation', 'launch', 'go/no-go', 'gates?', 'readiness', 'completion'],
  ...['open questions', 'questions', 'risks?', 'assumptions?', 'metrics', 'kpis?'],
  ...[
    'goals?',
    'non-goals?',
    'objectives?',
    'out of scope',
    'in scope',
    'scope',
    'constraints?',
    'dependencies',
  ],
  ...['(?:non-?)?functional requirements', 'requirements', 'personas?', 'stakeholders?', 'references?'],
  ...[
    'compliance',
    'platforms?',
    'browsers?',
    'testing checklist',
    'test (?:plan|cases)',
    'manual (?:test|verification)',
  ],
  ...['legend', 'format', 'how to', 'notes', 'parking lot', 'icebox'],
  ...["won'?t", 'deferred', 'cancell?ed', 'rejected', 'freigaben?', 'abnahme(?:kriterien)?', 'risiken'],
]
const BEFORE =
  '(?:\\W*\\d+[.)]?\\s*)?(?:the )?(?:(?:overall|final|mvp|general|product|project|release|launch|feature|quality|technical|business|user|task) ){0,2}'
const notWork = new RegExp(`^${BEFORE}(?:${NO_WORK.join('|')})(?![\\p{L}])|\\bchecklist\\s*$`, 'iu')

/** Whether boxes below such a heading are no work. */
export function isNoWork(heading: string): boolean {
  return notWork.test(heading.slice(0, 300).replaceAll('*', '').replace(/\s+/g, ' ').trim())
}

const workTitle =
  /\b(?:tasks?|to-?dos?|backlog|fix plan|work list|task list|implementation plan|progress|user stories)\b|^(?:aufgaben|tareas|t\u00e2ches|compiti|tarefas|\u0437\u0430\u0434\u0430\u0447\u0438|\u4efb\u52a1|\u30bf\u30b9\u30af)/i
const workName =
  /(?:^|[-_.@/ ])(?:fix_?plan|progress|prd|todos?|tasks?|task-?list|plan|work|stories|backlog|roadmap)(?:[-_. ][^/]*)?\.(?:md|markdown|txt)$/i

/** Whether name or title say that the boxes of the file are work. */
export function isTaskList({ name, title, file }: Opened): boolean {
  return file.isNamed === true || workName.test(`/${name}`) || workTitle.test(title)
}
