// What a kick-off asks to be planned: an issue (`feature: "#12"`), the issues of a milestone or label (`feature: issues:milestone=3`),
// or documents of the base (`command: plan`).
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

/** A plan is made from so many of an issue's comments: the newest. */
const MAX_COMMENTS = 20
/** So many pages of an issue's comments are read, a hundred comments each. */
const MAX_PAGES = 3
/** Members of the repository: comments of others come into no prompt. */
const MEMBERS = ['OWNER', 'MEMBER', 'COLLABORATOR']

type Kickoff = {
  feature: string | null
  issue: FoundIssue | null
  isPlan: boolean
  base: string
  today: string
  settings: Pick<Settings, 'approve' | 'ask' | 'gates'>
}

export async function findPlanRequest(
  github: GitHub,
  { store, objects }: Workspace,
  kickoff: Kickoff,
): Promise<PlanRequest | null> {
  const { feature, issue, isPlan, base, today, settings } = kickoff
  if (issue !== null) {
    const planned = await findPlannedState(store, issue.number)
    const gates = settings.gates.map(({ name }) => name)
    const issueText = await readIssueText(github, issue, settings.approve)
    const request = requestFromIssue(issueText, {
      known: planned?.feature ?? null,
      today,
      gates,
      asks: settings.ask,
    })
    const interview = planned?.plan?.interview
    const askedAt = openQuestions(interview) === null ? null : (interview?.askedAt ?? null)
    if (planned === null || askedAt === null) return request
    return { ...request, answers: await readAnswers(github, issue, planned.feature, askedAt) }
  }
  // A feature may have the name "issues", without a colon.
  const query = feature?.startsWith('issues:') === true ? issueQuery(feature, 'feature') : null
  if (query !== null) return requestFromQuery(github, feature ?? '', query, { settings, today })
  if (!isPlan) return null
  const fix =
    'set feature to a name, such as feature: auth, or to the issue that asks for it, such as feature: "#12"'
  if (feature === null) throw mistake('no feature to plan is named.', '', fix)
  const files = await readDocumentFiles({ objects, commit: base }, null)
  const { notes, ...request } = await requestFromDocuments(files, feature, today)
  for (const note of notes.slice(0, 20)) core.notice(note)
  if (settings.ask && request.plan.phase === 'wanted')
    core.notice(
      'ask: Ralph asks its questions on an issue. This plan has no issue, so Ralph plans without asking',
    )
  return request
}

/**
 * A plan from the issues of a milestone or label, a story each. Throws UserError if there are none. With `approve: auto` no person
 * reads the plan, so it also throws if an author of one of them has no write permission.
 */
async function requestFromQuery(
  github: GitHub,
  source: string,
  query: IssueQuery,
  { settings, today }: Pick<Kickoff, 'settings' | 'today'>,
): Promise<PlanRequest> {
  const { text, title, authors } = await readIssues(github, query)
  const groupName = title ?? query.label ?? ''
  const path = `issues of ${oneLine(groupName, 60)}`
  if (settings.approve === 'auto') {
    const conversation = new Conversation(github)
    const strangers: string[] = []
    for (const login of authors) if (!(await conversation.mayWrite(login))) strangers.push(login)
    if (strangers.length > 0) {
      const fix = 'set approve: person, or leave their issues out'
      const found = `with approve: auto, no person reads the plan before it runs, but people without write permission opened some of the issues: ${strangers.slice(0, 5).join(', ')}.`
      throw mistake(found, '', fix, path)
    }
  }
  const name = featureNameFromTitle(groupName)
  if (name === null)
    throw mistake(
      'its title has no letter from a to z, so Ralph cannot name the feature after it.',
      '',
      'rename it on GitHub',
      path,
    )
  const { notes, ...request } = await requestFromIssues({ source, text }, name, today)
  for (const note of notes.slice(0, 20)) core.notice(note)
  return request
}

/** The state of the feature that was planned from this issue before, or null. */
async function findPlannedState(store: Workspace['store'], issue: number): Promise<State | null> {
  for (const folder of [...(await store.list()).keys()].sort().reverse()) {
    const state = (await store.load(folder))?.state
    if (state?.plan?.issue === issue) return state
  }
  return null
}

/**
 * The answers to the questions of a feature's plan. Null if there are none, or if the questions were never posted, so that no person has
 * seen them.
 */
export async function readAnswers(
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
 * The text of the newest `/ralph plan` of a person with write permission since the questions were asked. Empty if such comments
 * have no text, null if there is none.
 */
async function newestAnswer(
  github: GitHub,
  { number, comments: all }: FoundIssue,
  askedAt: number,
): Promise<string | null> {
  const { api, repo } = github
  const conversation = new Conversation(github)
  let isRequested = false
  const last = Math.ceil(all / 100)
  // Pages are read from the end, so that many comments of strangers before an answer do not hide it.
  for (let page = last; page > Math.max(0, last - MAX_PAGES); page -= 1) {
    const { data } = await api.rest.issues.listComments({
      ...repo,
      issue_number: number,
      per_page: 100,
      page,
    })
    for (const { user, body, created_at: made, updated_at: edited } of data.reverse()) {
      // GitHub's times are whole seconds.
      if (Date.parse(made) + 999 < askedAt) return isRequested ? '' : null
      const parsed = parseSlash(body ?? '', [])
      if (user?.type !== 'User' || made !== edited) continue
      if (parsed.kind !== 'command' || parsed.command.kind !== 'plan') continue
      if (!(await conversation.mayWrite(user.login))) continue
      if (parsed.command.guidance !== '') return parsed.command.guidance
      isRequested = true
    }
  }
  return isRequested ? '' : null
}

export type FoundIssue = Awaited<ReturnType<typeof findIssue>>

/** The issue of this number. Throws UserError if there is none. */
export async function findIssue({ api, repo }: GitHub, number: number) {
  const found = await api.rest.issues.get({ ...repo, issue_number: number }).catch((error: unknown) => {
    const fix = 'name an issue of this repository; the job needs the permission issues: write'
    throw mistake(`Ralph cannot read issue #${number}: ${githubMessage(error)}`, '', fix)
  })
  const { title, body, state, user, comments, pull_request: pull } = found.data
  if (pull !== undefined) {
    const fix = 'name the feature of the pull request, without #'
    throw mistake(`#${number} is a pull request, not an issue.`, '', fix)
  }
  return { number, title, body: body ?? '', state, author: user?.login ?? null, comments }
}

function mistake(found: string, expected: string, fix: string, path = 'feature'): UserError {
  return new UserError({ path, found, expected, fix })
}

/**
 * The text that the plan is made from. Throws UserError if the issue cannot be planned. With `approve: auto` no person reads the
 * plan before it is worked on, and an author can edit the issue until the job reads it. So there only the text of people with write
 * permission counts.
 */
export async function readIssueText(
  github: GitHub,
  issue: FoundIssue,
  approve: Settings['approve'],
): Promise<Issue> {
  const { number, title, body, state, author } = issue
  const path = `issue #${number}`
  if (state === 'closed') {
    const fix = 'reopen it, or open another; then comment /ralph plan there'
    throw mistake('this issue is closed.', '', fix, path)
  }
  const conversation = new Conversation(github)
  const mayCount = async (login: string) => approve !== 'auto' || conversation.mayWrite(login)
  if (author === null || !(await mayCount(author))) {
    const fix = 'set approve: person, or let someone with write permission open an issue with this text'
    const found = `with approve: auto, no person reads the plan before it runs, but ${author ?? 'an unknown author'}, who opened this issue, has no write permission.`
    throw mistake(found, '', fix, path)
  }
  return { number, title, body, comments: await newestComments(github, issue, mayCount) }
}

/** The newest comments of members, the oldest of them first. GitHub lists the oldest comments first, so the last pages are read. */
async function newestComments(
  { api, repo }: GitHub,
  { number, comments: all }: FoundIssue,
  mayCount: (login: string) => Promise<boolean>,
): Promise<string[]> {
  const last = Math.ceil(all / 100)
  const comments: string[] = []
  for (let page = last; page > Math.max(0, last - MAX_PAGES); page -= 1) {
    const place = { ...repo, issue_number: number, per_page: 100, page }
    const { data } = await api.rest.issues.listComments(place)
    for (const { user, author_association: association, body } of data.reverse()) {
      if (user?.type !== 'User' || !MEMBERS.includes(association)) continue
      const text = (body ?? '').replace(/^\/ralph plan\b[ \t]*(?:--)?/, '').trim()
      if (text === '' || text.startsWith('/ralph') || !(await mayCount(user.login))) continue
      comments.unshift(text)
      if (comments.length === MAX_COMMENTS) return comments
    }
  }
  return comments
}

/** Replies on the issue why nothing was planned: a person who asked by a comment or a label does not see the log. */
export async function replyUnplanned(
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
    .catch((problem: unknown) => github.warn(`Ralph could not reply on the issue: ${githubMessage(problem)}`))
}
