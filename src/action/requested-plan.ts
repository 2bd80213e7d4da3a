// What a kick-off asks to be planned: an issue (`feature: "#12"`), those of a milestone (`feature: issues:milestone=3`), or documents of the base (`command: plan`); null where stories are there.
import * as core from '@actions/core'
import { FeatureHeld } from '../app/claim-feature.ts'
import { readDocumentFiles } from '../app/find-documents.ts'
import {
  featureNameFromTitle,
  type Issue,
  type PlanRequest,
  requestFromDocuments,
  requestFromIssue,
  requestFromIssues,
} from '../app/plan-request.ts'
import type { Workspace } from '../app/workspace.ts'
import { parseSlash } from '../engine/commands/command-table.ts'
import type { State } from '../engine/model/state.ts'
import { oneLine } from '../engine/model/text.ts'
import { openQuestions } from '../engine/planning/plan-questions.ts'
import { type GitHub, githubMessage } from '../github/client.ts'
import { Conversation } from '../github/conversation.ts'
import { type IssueQuery, issueQuery, readIssues } from '../github/read-issues.ts'
import { marker } from '../report/parts.ts'
import { busyReply, questionsStart, unplannedReply } from '../report/replies.ts'
import type { Settings } from '../settings/read-settings.ts'
import { UserError } from '../system/errors.ts'

/** Comments of an issue that a plan is made of, the newest; and the pages of a hundred that are looked through for them. */
const MOST_COMMENTS = 20
const MOST_PAGES = 3
/** Who belongs to the repository: what others say of an issue comes into no prompt. */
const OURS = ['OWNER', 'MEMBER', 'COLLABORATOR']

type Wish = {
  feature: string | null
  issue: FoundIssue | null
  isPlan: boolean
  base: string
  today: string
  settings: Pick<Settings, 'approve' | 'ask' | 'gates'>
}

export async function askedFor(
  github: GitHub,
  { store, objects }: Workspace,
  wish: Wish,
): Promise<PlanRequest | null> {
  const { feature, issue, isPlan, base, today, settings } = wish
  if (issue !== null) {
    const known = await plannedBy(store, issue.number)
    const gates = settings.gates.map(({ name }) => name)
    const words = await issueWords(github, issue, settings.approve)
    const asked = requestFromIssue(words, { known: known?.feature ?? null, today, gates, asks: settings.ask })
    const interview = known?.plan?.interview
    const askedAt = openQuestions(interview) === null ? null : (interview?.askedAt ?? null)
    if (known === null || askedAt === null) return asked
    return { ...asked, answers: await answersTo(github, issue, known.feature, askedAt) }
  }
  // A feature may well be called issues.
  const query = feature?.startsWith('issues:') === true ? issueQuery(feature, 'feature') : null
  if (query !== null) return askedByQuery(github, feature ?? '', query, { settings, today })
  if (!isPlan) return null
  const fix = 'name the feature, such as feature: auth, or the issue that asks for it, such as feature: "#12"'
  if (feature === null) throw mistake('none', 'what the plan is called', fix)
  const files = await readDocumentFiles({ objects, commit: base }, null)
  const { notes, ...asked } = await requestFromDocuments(files, feature, today)
  for (const note of notes.slice(0, 20)) core.notice(note)
  if (settings.ask && asked.plan.phase === 'wanted')
    core.notice('ask: questions are asked on an issue, and there is none: it is planned without')
  return asked
}

/**
 * The issues of a milestone or a label, a story each. Throws UserError where there are none, and where nobody would read the
 * plan and somebody without write permission opened one of them.
 */
async function askedByQuery(
  github: GitHub,
  source: string,
  query: IssueQuery,
  { settings, today }: Pick<Wish, 'settings' | 'today'>,
): Promise<PlanRequest> {
  const { text, title, authors } = await readIssues(github, query)
  const words = title ?? query.label ?? ''
  const path = `issues of ${oneLine(words, 60)}`
  if (settings.approve === 'auto') {
    const conversation = new Conversation(github)
    const strangers: string[] = []
    for (const login of authors) if (!(await conversation.mayWrite(login))) strangers.push(login)
    if (strangers.length > 0) {
      const fix = 'set approve: person, or leave their issues out'
      const expected = 'issues of people with write permission, since nobody reads the plan (approve: auto)'
      throw mistake(`some of ${strangers.slice(0, 5).join(', ')}`, expected, fix, path)
    }
  }
  const name = featureNameFromTitle(words)
  if (name === null)
    throw mistake(oneLine(words, 60), 'a title with letters a to z', 'rename it on GitHub', path)
  const { notes, ...asked } = await requestFromIssues({ source, text }, name, today)
  for (const note of notes.slice(0, 20)) core.notice(note)
  return asked
}

/** The state of the feature that this issue has become already, or null. */
async function plannedBy(store: Workspace['store'], issue: number): Promise<State | null> {
  for (const folder of [...(await store.list()).keys()].sort().reverse()) {
    const state = (await store.load(folder))?.state
    if (state?.plan?.issue === issue) return state
  }
  return null
}

/** The answers to the questions of a feature's plan; null where there are none, and where the questions could not be posted: nobody has seen them. */
export async function answersTo(
  github: GitHub,
  issue: FoundIssue,
  feature: string,
  askedAt: number,
): Promise<string | null> {
  const answers = await newestAnswer(github, issue, askedAt)
  if (answers === null) return null
  const isShown = await new Conversation(github).hasOwnComment(issue.number, questionsStart(feature))
  return isShown ? answers : null
}

/**
 * What the newest `/ralph plan` says that a person with write permission has made since the questions were asked; empty where none
 * says anything, null where there is none.
 */
async function newestAnswer(
  github: GitHub,
  { number, comments: all }: FoundIssue,
  askedAt: number,
): Promise<string | null> {
  const { api, at } = github
  const conversation = new Conversation(github)
  let isAsked = false
  const last = Math.ceil(all / 100)
  // From the end: what strangers write before an answer does not hide it.
  for (let page = last; page > Math.max(0, last - MOST_PAGES); page -= 1) {
    const { data } = await api.rest.issues.listComments({ ...at, issue_number: number, per_page: 100, page })
    for (const { user, body, created_at: made, updated_at: edited } of data.reverse()) {
      // GitHub's times are whole seconds.
      if (Date.parse(made) + 999 < askedAt) return isAsked ? '' : null
      const parsed = parseSlash(body ?? '', [])
      if (user?.type !== 'User' || made !== edited) continue
      if (parsed.kind !== 'command' || parsed.command.kind !== 'plan') continue
      if (!(await conversation.mayWrite(user.login))) continue
      if (parsed.command.guidance !== '') return parsed.command.guidance
      isAsked = true
    }
  }
  return isAsked ? '' : null
}

export type FoundIssue = Awaited<ReturnType<typeof findIssue>>

/** The issue of this number. Throws UserError where there is none. */
export async function findIssue({ api, at }: GitHub, number: number) {
  const found = await api.rest.issues.get({ ...at, issue_number: number }).catch((error: unknown) => {
    const fix = 'name an issue of this repository; the job needs the permission issues: write'
    throw mistake(`#${number}: ${githubMessage(error)}`, 'an issue', fix)
  })
  const { title, body, state, user, comments, pull_request: pull } = found.data
  if (pull !== undefined) {
    const fix = 'name the feature of the pull request, without #'
    throw mistake(`#${number}, a pull request`, 'an issue', fix)
  }
  return { number, title, body: body ?? '', state, author: user?.login ?? null, comments }
}

function mistake(found: string, expected: string, fix: string, path = 'feature'): UserError {
  return new UserError({ path, found, expected, fix })
}

/**
 * What the plan is made of. Throws UserError where the issue cannot be planned. With `approve: auto` nobody reads it before it is worked on, and whoever wrote an issue can edit
 * it until the job reads it: there the words of people with write permission count alone.
 */
export async function issueWords(
  github: GitHub,
  issue: FoundIssue,
  approve: Settings['approve'],
): Promise<Issue> {
  const { number, title, body, state, author } = issue
  const path = `issue #${number}`
  if (state === 'closed') {
    const fix = 'reopen it, or open another; then comment /ralph plan there'
    throw mistake('a closed issue', 'an open one', fix, path)
  }
  const conversation = new Conversation(github)
  const counts = async (login: string) => approve !== 'auto' || conversation.mayWrite(login)
  if (author === null || !(await counts(author))) {
    const fix = 'set approve: person, or open an issue with these words as somebody who has it'
    const expected = 'one of a person with write permission, since nobody reads the plan (approve: auto)'
    throw mistake(`an issue of ${author ?? 'nobody'}`, expected, fix, path)
  }
  return { number, title, body, comments: await newestComments(github, issue, counts) }
}

/** What people who belong here say of it, the oldest first. GitHub lists comments from the oldest on: the last pages are asked for. */
async function newestComments(
  { api, at }: GitHub,
  { number, comments: all }: FoundIssue,
  counts: (login: string) => Promise<boolean>,
): Promise<string[]> {
  const last = Math.ceil(all / 100)
  const comments: string[] = []
  for (let page = last; page > Math.max(0, last - MOST_PAGES); page -= 1) {
    const place = { ...at, issue_number: number, per_page: 100, page }
    const { data } = await api.rest.issues.listComments(place)
    for (const { user, author_association: who, body } of data.reverse()) {
      if (user?.type !== 'User' || !OURS.includes(who)) continue
      const words = (body ?? '').replace(/^\/ralph plan\b[ \t]*(?:--)?/, '').trim()
      if (words === '' || words.startsWith('/ralph') || !(await counts(user.login))) continue
      comments.unshift(words)
      if (comments.length === MOST_COMMENTS) return comments
    }
  }
  return comments
}

/** Whoever asked by a comment or a label sees no log: why nothing was planned stands on the issue, in one reply. */
export async function tellUnplanned(
  github: GitHub,
  issue: number,
  error: unknown,
  redact: (text: string) => string,
): Promise<void> {
  const mistakes = error instanceof UserError ? error.mistakes : null
  if (!(error instanceof FeatureHeld) && mistakes === null) return
  const text = error instanceof FeatureHeld ? busyReply(error.lease) : unplannedReply(mistakes ?? [])
  const start = marker('unplanned', String(issue))
  await new Conversation(github)
    .writeUniqueSticky(issue, start, redact(`${start}\n${text}`))
    .catch((problem: unknown) => github.warn(`the issue could not be answered: ${githubMessage(problem)}`))
}
