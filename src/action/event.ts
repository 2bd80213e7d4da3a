// The event that started this run, as typed data: whatever the file holds, it is read field by field. Pure.

export type RunEvent =
  /** Work: a kick-off by a person, or a continuation (then with a generation). */
  | { kind: 'dispatch'; inputs: Record<string, string>; feature: string | null; generation: number | null }
  | {
      kind: 'comment'
      comment: { id: number; body: string; login: string; type: string; edited: boolean }
      issue: number
      onPull: boolean
      /** The pull request bears our marker, and nobody opened it who may not write here. */
      marked: boolean
    }
  /** Somebody asked for a plan of an issue by its label. */
  | { kind: 'label'; issue: number; sender: { login: string; type: string } }
  /** Somebody pressed a button of a check. */
  | { kind: 'button'; identifier: string; externalId: string; sender: { login: string; type: string } }
  | { kind: 'schedule' }
  /** Not ours: ends neutral. */
  | { kind: 'foreign'; name: string }

export function readEvent(name: string, payload: unknown): RunEvent {
  const event = record(payload)
  switch (name) {
    case 'workflow_dispatch': {
      const inputs = strings(record(event.inputs))
      const generation = /^\d{1,9}$/.test(inputs.generation ?? '') ? Number(inputs.generation) : null
      return { kind: 'dispatch', inputs, feature: inputs.feature?.trim() || null, generation }
    }
    case 'issue_comment': {
      if (event.action !== 'created') return { kind: 'foreign', name: `issue_comment.${text(event.action)}` }
      const comment = record(event.comment)
      const user = record(comment.user)
      const issue = record(event.issue)
      return {
        kind: 'comment',
        comment: {
          id: number(comment.id),
          body: text(comment.body),
          login: text(user.login),
          type: text(user.type),
          edited: text(comment.updated_at) !== text(comment.created_at),
        },
        issue: number(issue.number),
        onPull: issue.pull_request !== undefined,
        marked: text(issue.body).includes(PULL_MARKER) && isTrusted(issue),
      }
    }
    case 'issues': {
      const issue = record(event.issue)
      const isOurs = event.action === 'labeled' && text(record(event.label).name) === PLAN_LABEL
      if (!isOurs || issue.pull_request !== undefined)
        return { kind: 'foreign', name: `issues.${text(event.action)}` }
      const sender = record(event.sender)
      return {
        kind: 'label',
        issue: number(issue.number),
        sender: { login: text(sender.login), type: text(sender.type) },
      }
    }
    case 'check_run': {
      if (event.action !== 'requested_action')
        return { kind: 'foreign', name: `check_run.${text(event.action)}` }
      const sender = record(event.sender)
      return {
        kind: 'button',
        identifier: text(record(event.requested_action).identifier),
        externalId: text(record(event.check_run).external_id),
        sender: { login: text(sender.login), type: text(sender.type) },
      }
    }
    case 'schedule':
      return { kind: 'schedule' }
    default:
      return { kind: 'foreign', name }
  }
}

/** Of an issue that is to be planned; the issue form sets it. */
export const PLAN_LABEL = 'ralph-plan'

const PULL_MARKER = '<!-- ralph:pull:'

/** Opened by an app or by somebody of the repository. */
function isTrusted({ user, author_association: association }: Record<string, unknown>): boolean {
  return text(record(user).type) === 'Bot' || ['OWNER', 'MEMBER', 'COLLABORATOR'].includes(text(association))
}

/** The default branch that the payload names, or null. */
export function defaultBranchOf(payload: unknown): string | null {
  return text(record(record(payload).repository).default_branch) || null
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function number(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : 0
}

function strings(values: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) =>
      typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
        ? [[key, String(value)]]
        : [],
    ),
  )
}
