// The event that started this job, as typed data. Every field is checked, because the file may hold anything. Pure.
import { asCount, asObject, asString, type Json } from '../engine/model/json.ts'
import { accountType } from '../github/forges/account-type.ts'

type Person = { login: string; type: string }

export type RunEvent =
  /** Work: a kick-off by a person, or a continuation (then with a generation). */
  | {
      kind: 'dispatch'
      inputs: Record<string, string>
      feature: string | null
      generation: number | null
      sender: Person
    }
  | {
      kind: 'comment'
      comment: Person & { id: number; body: string; edited: boolean }
      issue: number
      onPull: boolean
      /** The pull request has Ralph's marker, and was opened by an app or by a member of the repository. */
      marked: boolean
    }
  /** The label that asks for a plan was set on an issue. */
  | { kind: 'label'; issue: number; sender: Person }
  /** A button of a check was pressed. */
  | { kind: 'button'; identifier: string; externalId: string; sender: Person }
  /**
   * A review, checks that are done, a removal from the merge queue, or a push of a person. `branches`: of this repository; `head`: the
   * commit that it is about.
   */
  | {
      kind: 'wake'
      about: 'review' | 'checks' | 'queue' | 'push'
      branches: string[]
      head: string
      sender: Person
      approves: boolean
    }
  /** A pull request of this repository was merged or closed. */
  | { kind: 'closed'; branch: string }
  | { kind: 'schedule' }
  /** An event that Ralph does not handle: the job ends at once, green. */
  | { kind: 'foreign'; name: string }

export function readEvent(name: string, payload: unknown): RunEvent {
  const event = record(payload)
  const foreign = { kind: 'foreign' as const, name: `${name}.${text(event.action)}` }
  switch (name) {
    case 'workflow_dispatch': {
      const inputs = strings(record(event.inputs))
      const generation = /^\d{1,9}$/.test(inputs.generation ?? '') ? Number(inputs.generation) : null
      return {
        kind: 'dispatch',
        inputs,
        feature: inputs.feature?.trim() || null,
        generation,
        sender: person(event.sender),
      }
    }
    case 'issue_comment': {
      if (event.action !== 'created') return foreign
      const [comment, issue] = [record(event.comment), record(event.issue)]
      const edited = text(comment.updated_at) !== text(comment.created_at)
      return {
        kind: 'comment',
        comment: { ...person(comment.user), id: asCount(comment.id), body: text(comment.body), edited },
        issue: asCount(issue.number),
        // Gitea and Forgejo write null for an issue.
        onPull: asObject(issue.pull_request) !== null,
        marked: text(issue.body).includes(PULL_MARKER) && isTrusted(issue),
      }
    }
    case 'issues': {
      const issue = record(event.issue)
      const isOurs = event.action === 'labeled' && record(event.label).name === PLAN_LABEL
      if (!isOurs || asObject(issue.pull_request) !== null) return foreign
      return { kind: 'label', issue: asCount(issue.number), sender: person(event.sender) }
    }
    case 'check_run':
      if (event.action !== 'requested_action') return foreign
      return {
        kind: 'button',
        identifier: text(record(event.requested_action).identifier),
        externalId: text(record(event.check_run).external_id),
        sender: person(event.sender),
      }
    case 'pull_request': {
      const branch = headHere(event)?.branch
      if (event.action !== 'closed') return wakeOf(name, event) ?? foreign
      return branch === undefined ? foreign : { kind: 'closed', branch }
    }
    case 'pull_request_review':
    case 'pull_request_review_comment':
    case 'check_suite':
    case 'workflow_run':
    case 'status':
      return wakeOf(name, event) ?? foreign
    case 'schedule':
      return { kind: 'schedule' }
    default:
      return { kind: 'foreign', name }
  }
}

/** Null for an event that starts nothing: of a fork, an unfinished check, a bot's push, or a comment that comes with its review. */
function wakeOf(name: string, event: Json): Extract<RunEvent, { kind: 'wake' }> | null {
  const here = text(record(event.repository).full_name)
  const sender = person(event.sender)
  const onPull = (about: 'review' | 'queue' | 'push', approves = false) => {
    const head = headHere(event)
    if (head === null) return null
    const branches = [head.branch]
    return { kind: 'wake', about, branches, head: head.sha, sender, approves } as const
  }
  const checks = (branches: string[], head: string) =>
    ({ kind: 'wake', about: 'checks', branches, head, sender, approves: false }) as const
  switch (name) {
    case 'pull_request_review': {
      const state = text(record(event.review).state).toLowerCase()
      const isDone = event.action === 'submitted' || event.action === 'dismissed'
      return isDone ? onPull('review', state === 'approved' || event.action === 'dismissed') : null
    }
    case 'pull_request_review_comment': {
      // Only a reply: the first comment of a thread comes with its review.
      const isReply = typeof record(event.comment).in_reply_to_id === 'number'
      return event.action === 'created' && isReply ? onPull('review') : null
    }
    case 'pull_request': {
      if (event.action === 'dequeued') return onPull('queue')
      // Ralph's own pushes, and those of other bots, start nothing.
      return event.action === 'synchronize' && sender.type === 'User' ? onPull('push') : null
    }
    case 'status': {
      const names = Array.isArray(event.branches) ? event.branches.map((one) => text(record(one).name)) : []
      return event.state === 'pending' ? null : checks(names.filter(Boolean), text(event.sha))
    }
    default: {
      const one = record(event[name])
      // The branch of a fork may have the same name as ours.
      const isForeign = name === 'workflow_run' && text(record(one.head_repository).full_name) !== here
      if (event.action !== 'completed' || isForeign || text(one.head_branch) === '') return null
      return checks([text(one.head_branch)], text(one.head_sha))
    }
  }
}

/** The head of the event's pull request; null if it is in another repository, such as a fork. */
function headHere(event: Json): { branch: string; sha: string } | null {
  const here = text(record(event.repository).full_name)
  const head = record(record(event.pull_request).head)
  const isHere = here !== '' && text(record(head.repo).full_name) === here && text(head.ref) !== ''
  return isHere ? { branch: text(head.ref), sha: text(head.sha) } : null
}

/** The label of an issue that Ralph should plan. The issue form sets it. */
export const PLAN_LABEL = 'ralph-plan'

const PULL_MARKER = '<!-- ralph:pull:'

/** Whether an app or a member of the repository opened it. */
function isTrusted({ user, author_association: association }: Json): boolean {
  return person(user).type === 'Bot' || ['OWNER', 'MEMBER', 'COLLABORATOR'].includes(text(association))
}

/** The default branch that the payload names, or null. */
export function defaultBranchOf(payload: unknown): string | null {
  return text(record(record(payload).repository).default_branch) || null
}

function person(value: unknown): Person {
  const account = record(value)
  return { login: text(account.login), type: text(account.login) === '' ? '' : accountType(account) }
}

function record(value: unknown): Json {
  return asObject(value) ?? {}
}

function text(value: unknown): string {
  return asString(value) ?? ''
}

function strings(values: Json): Record<string, string> {
  const isPlain = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)
  const scalars = Object.entries(values).filter(([, value]) => isPlain(value))
  return Object.fromEntries(scalars.map(([key, value]) => [key, String(value)]))
}
