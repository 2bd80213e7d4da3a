// Issues, comments, reactions and labels.
import type { Comment, Issue, Json } from '../model.ts'
import { renderComment, renderIssue, renderLabel, renderMilestone, renderReaction } from '../render.ts'
import { invalid, notFound, type World } from '../world.ts'
import {
  type Answer,
  type Call,
  created,
  demand,
  type Endpoints,
  empty,
  type Need,
  numberParam,
  ok,
  paged,
  text,
} from './call.ts'

const anyRead: Need[] = ['issues:read', 'pull_requests:read']
const anyWrite: Need[] = ['issues:write', 'pull_requests:write']

/** The conversation of a pull request takes either permission, that of an issue only its own (facts 6.3). */
function demandOn(call: Call, issue: Issue, access: 'read' | 'write'): void {
  const needs: Need[] = [`issues:${access}`]
  demand(call.identity, issue.pull === null ? needs : [...needs, `pull_requests:${access}`])
}
function issueOf(call: Call, access: 'read' | 'write'): Issue {
  const issue = call.world.issue(numberParam(call, 'issue_number'))
  demandOn(call, issue, access)
  return issue
}
function commentOf(call: Call, access: 'read' | 'write'): Comment {
  const comment = call.world.comments.get(numberParam(call, 'comment_id'))
  if (comment === undefined) throw notFound()
  demandOn(call, call.world.issue(comment.number), access)
  return comment
}
function since(call: Call, comments: Comment[]): Comment[] {
  const value = call.query.get('since')
  if (value === null) return comments
  return comments.filter((comment) => Date.parse(comment.updatedAt) >= Date.parse(value))
}
function page(call: Call, comments: Comment[]): Answer {
  return paged(call, comments, (list) => list.map((comment) => renderComment(call.world, comment)))
}
function react(call: Call, subject: string): Answer {
  const { world, identity } = call
  const content = text(call.body, 'content') ?? ''
  const known = world.reactions.find(
    (one) => one.subject === subject && one.login === identity.login && one.content === content,
  )
  if (known !== undefined) return ok(renderReaction(world, known))
  const made = { id: world.nextId(), subject, login: identity.login, content, createdAt: world.now() }
  world.reactions.push(made)
  return created(renderReaction(world, made))
}
function labelNames(value: unknown): string[] {
  const list = Array.isArray(value) ? value : typeof value === 'string' ? [value] : []
  return list.map((one) => (typeof one === 'string' ? one : String((one as Json).name)))
}
function renderLabels(world: World, issue: Issue): Json[] {
  return issue.labels.map((label) => renderLabel(world, label))
}
function addLabels(call: Call, issue: Issue, names: string[]): void {
  for (const name of names) {
    if (!call.world.addLabel(issue, name)) continue
    const payload = {
      issue: renderIssue(call.world, issue),
      label: renderLabel(call.world, call.world.label(name)),
    }
    call.world.raise('issues', 'labeled', payload, call.identity)
  }
}

const comments: Endpoints = {
  'issues/list-comments': {
    needs: anyRead,
    answer: (call) => {
      const issue = issueOf(call, 'read')
      const own = [...call.world.comments.values()].filter((comment) => comment.number === issue.number)
      return page(call, since(call, own))
    },
  },
  'issues/create-comment': {
    needs: anyWrite,
    answer: (call) => {
      const issue = issueOf(call, 'write')
      const comment = call.world.addComment(issue.number, call.identity, text(call.body, 'body') ?? '')
      return created(renderComment(call.world, comment))
    },
  },
  'issues/update-comment': {
    needs: anyWrite,
    answer: (call) => {
      const comment = commentOf(call, 'write')
      call.world.editComment(comment.id, call.identity, text(call.body, 'body') ?? '')
      return ok(renderComment(call.world, comment))
    },
  },
  'issues/delete-comment': {
    needs: anyWrite,
    answer: (call) => {
      call.world.deleteComment(commentOf(call, 'write').id, call.identity)
      return empty
    },
  },
}

const reactions: Endpoints = {
  'reactions/create-for-issue-comment': {
    needs: anyWrite,
    answer: (call) => react(call, `comment:${commentOf(call, 'write').id}`),
  },
}

/** By milestone, label and state; GitHub lists pull requests among the issues. */
const lists: Endpoints = {
  'issues/list-for-repo': {
    needs: ['issues:read'],
    answer: (call) => {
      const { world, query } = call
      const [milestone, labels, state = 'open'] = ['milestone', 'labels', 'state'].map(
        (name) => query.get(name) ?? undefined,
      )
      const wanted = [...world.issues.values()].filter(
        (issue) =>
          (milestone === undefined || issue.milestone === Number(milestone)) &&
          (labels ?? '').split(',').every((label) => label === '' || issue.labels.includes(label)) &&
          (state === 'all' || issue.state === state),
      )
      return paged(call, wanted, (list) => list.map((issue) => renderIssue(world, issue)))
    },
  },
  'issues/list-milestones': {
    needs: ['issues:read'],
    answer: (call) =>
      paged(call, [...call.world.milestones.keys()], (list) =>
        list.map((number) => renderMilestone(call.world, number)),
      ),
  },
}

export const issues: Endpoints = {
  ...comments,
  ...reactions,
  ...lists,
  'issues/get': { needs: anyRead, answer: (call) => ok(renderIssue(call.world, issueOf(call, 'read'))) },
  'issues/create': {
    needs: ['issues:write'],
    answer: ({ world, body, identity }) => {
      const issue = world.addIssue(
        identity.login,
        String(body.title),
        text(body, 'body') ?? null,
        labelNames(body.labels),
        null,
      )
      const rendered = renderIssue(world, issue)
      world.raise('issues', 'opened', { issue: rendered }, identity)
      return created(rendered)
    },
  },
  'issues/update': {
    needs: anyWrite,
    answer: (call) => {
      const { world, body } = call
      const issue = issueOf(call, 'write')
      issue.title = text(body, 'title') ?? issue.title
      issue.body = text(body, 'body') ?? issue.body
      if (body.state === 'closed' && issue.state === 'open') world.close(issue, call.identity)
      if (body.state === 'open' && issue.pull === null)
        Object.assign(issue, { state: 'open', closedAt: null })
      if (body.labels !== undefined) {
        const wanted = labelNames(body.labels)
        issue.labels = issue.labels.filter((label) => wanted.includes(label))
        addLabels(call, issue, wanted)
      }
      issue.updatedAt = world.now()
      return ok(renderIssue(world, issue))
    },
  },
  'issues/add-labels': {
    needs: anyWrite,
    answer: (call) => {
      const issue = issueOf(call, 'write')
      addLabels(call, issue, labelNames(Array.isArray(call.body) ? call.body : call.body.labels))
      return ok(renderLabels(call.world, issue))
    },
  },
  'issues/remove-label': {
    needs: anyWrite,
    answer: (call) => {
      const issue = issueOf(call, 'write')
      const name = call.params.name ?? ''
      if (!issue.labels.includes(name)) throw notFound()
      issue.labels = issue.labels.filter((label) => label !== name)
      return ok(renderLabels(call.world, issue))
    },
  },
  'issues/get-label': {
    needs: anyRead,
    answer: ({ world, params }) => {
      const name = params.name ?? ''
      if (!world.labels.has(name)) throw notFound()
      return ok(renderLabel(world, name))
    },
  },
  'issues/create-label': {
    needs: anyWrite,
    answer: ({ world, body }) => {
      const name = text(body, 'name') ?? ''
      if (world.labels.has(name)) throw invalid({ resource: 'Label', code: 'already_exists', field: 'name' })
      const color = text(body, 'color') ?? 'ededed'
      world.labels.set(name, { id: world.nextId(), color, description: text(body, 'description') ?? null })
      return created(renderLabel(world, name))
    },
  },
}
