// Check runs and commit statuses.

import { accountId } from '../accounts.ts'
import type { Annotation, Check, Identity, Json } from '../model.ts'
import { renderCheck, renderStatus } from '../render.ts'
import { HttpError, invalid, notFound, type World } from '../world.ts'
import { type Call, created, type Endpoints, numberParam, ok, paged, text } from './call.ts'
import { commitOf } from './repository.ts'

/** Checks belong to apps: a person's token can not write them (facts 4.1). */
function appOf(identity: Identity): NonNullable<Identity['app']> {
  if (identity.app === null) throw new HttpError(403, 'You must authenticate via a GitHub App.')
  return identity.app
}
function checkOf(call: Call): Check {
  const found = call.world.checks.get(numberParam(call, 'check_run_id'))
  if (found === undefined) throw notFound()
  return found
}

/** What the schema does not say, and GitHub refuses all the same. */
function checkOutput(output: Json | undefined): void {
  for (const annotation of (output?.annotations ?? []) as Annotation[]) {
    const refuse = (message: string): HttpError =>
      invalid({ resource: 'CheckRun', code: 'invalid', field: 'annotations', message })
    if (annotation.end_line < annotation.start_line) throw refuse('end_line is before start_line')
    const hasColumn = annotation.start_column !== undefined || annotation.end_column !== undefined
    if (hasColumn && annotation.start_line !== annotation.end_line) throw refuse('columns need one line')
    const title = annotation.title
    if (typeof title === 'string' && title.length > 255) throw refuse('title is too long')
    for (const part of [annotation.message, annotation.raw_details])
      if (typeof part === 'string' && Buffer.byteLength(part) > 65_536) throw refuse('more than 64 KB')
  }
}

function apply(world: World, check: Check, body: Json): void {
  const output = body.output as Json | undefined
  checkOutput(output)
  const conclusion = text(body, 'conclusion') ?? null
  const status = conclusion === null ? (text(body, 'status') ?? check.status) : 'completed'
  if (status === 'completed' && conclusion === null && check.conclusion === null)
    throw invalid({ resource: 'CheckRun', code: 'missing_field', field: 'conclusion' })
  check.name = text(body, 'name') ?? check.name
  check.detailsUrl = text(body, 'details_url') ?? check.detailsUrl
  check.externalId = text(body, 'external_id') ?? check.externalId
  check.startedAt = text(body, 'started_at') ?? check.startedAt
  check.status = status
  check.conclusion = status === 'completed' ? (conclusion ?? check.conclusion) : null
  check.completedAt =
    status === 'completed' ? (text(body, 'completed_at') ?? check.completedAt ?? world.now()) : null
  if (output === undefined) return
  check.title = text(output, 'title') ?? check.title
  check.summary = text(output, 'summary') ?? check.summary
  check.text = text(output, 'text') ?? check.text
  // They add up over the requests (facts 4.1).
  check.annotations.push(...((output.annotations ?? []) as Annotation[]))
}

export const checks: Endpoints = {
  'checks/create': {
    needs: ['checks:write'],
    answer: async ({ world, body, identity }) => {
      const app = appOf(identity)
      const sha = text(body, 'head_sha') ?? ''
      if (!/^[0-9a-f]{40}$/.test(sha) || (await world.bare.resolve(sha)) === null)
        throw new HttpError(422, `No commit found for SHA: ${sha}`)
      const check: Check = {
        id: world.nextId(),
        name: '',
        sha,
        app,
        suite: accountId(`${sha}/${app.id}`),
        status: 'queued',
        conclusion: null,
        startedAt: world.now(),
        completedAt: null,
        externalId: null,
        detailsUrl: null,
        title: null,
        summary: null,
        text: null,
        annotations: [],
        ofJob: false,
      }
      apply(world, check, body)
      world.checks.set(check.id, check)
      return created(renderCheck(world, check))
    },
  },
  'checks/update': {
    needs: ['checks:write'],
    answer: (call) => {
      const check = checkOf(call)
      if (appOf(call.identity).id !== check.app.id)
        throw new HttpError(
          403,
          `Invalid app_id \`${check.app.id}\` - check run can only be modified by the GitHub App that created it.`,
        )
      apply(call.world, check, call.body)
      return ok(renderCheck(call.world, check))
    },
  },
  'checks/list-for-ref': {
    needs: ['checks:read'],
    answer: async (call) => {
      const { world, query } = call
      const sha = await commitOf(world, call.params.ref ?? '')
      const is = (name: string, value: unknown): boolean =>
        !query.has(name) || query.get(name) === String(value)
      const found = [...world.checks.values()]
        .filter((check) => check.sha === sha)
        .filter(
          (check) => is('check_name', check.name) && is('status', check.status) && is('app_id', check.app.id),
        )
        .sort((a, b) => b.id - a.id)
      const isFirst = (check: Check): boolean =>
        found.find((one) => one.name === check.name && one.app.id === check.app.id) === check
      const list = query.get('filter') === 'all' ? found : found.filter(isFirst)
      return paged(call, list, (page) => ({
        total_count: list.length,
        check_runs: page.map((check) => renderCheck(world, check)),
      }))
    },
  },
  'checks/list-annotations': {
    needs: ['checks:read'],
    answer: (call) =>
      paged(call, checkOf(call).annotations, (page) =>
        page.map((annotation) => ({
          start_column: null,
          end_column: null,
          title: null,
          raw_details: null,
          blob_href: '',
          ...annotation,
        })),
      ),
  },
  'actions/download-job-logs-for-workflow-run': {
    needs: ['actions:read'],
    answer: ({ world, params }) => {
      const check = world.checks.get(Number(params.job_id))
      if (check === undefined || check.log == null) throw notFound()
      // GitHub answers with the address of a storage, where no token is needed.
      return { status: 302, headers: { location: `${world.url}/_logs/${check.id}` } }
    },
  },
  'repos/create-commit-status': {
    needs: ['statuses:write'],
    answer: async ({ world, params, body, identity }) => {
      const sha = params.sha ?? ''
      if ((await world.bare.resolve(sha)) === null)
        throw new HttpError(422, `No commit found for SHA: ${sha}`)
      const description = text(body, 'description') ?? null
      if (description !== null && description.length > 140)
        throw invalid({
          resource: 'Status',
          code: 'custom',
          field: 'description',
          message: 'description is too long (maximum is 140 characters)',
        })
      const status = {
        id: world.nextId(),
        sha,
        state: text(body, 'state') ?? '',
        context: text(body, 'context') ?? 'default',
        description,
        targetUrl: text(body, 'target_url') ?? null,
        login: identity.login,
        createdAt: world.now(),
      }
      world.statuses.push(status)
      return created(renderStatus(world, status))
    },
  },
  'repos/list-commit-statuses-for-ref': {
    needs: ['statuses:read'],
    answer: async (call) => {
      const sha = await commitOf(call.world, call.params.ref ?? '')
      const all = call.world.statuses.filter((status) => status.sha === sha).reverse()
      return paged(call, all, (page) => page.map((status) => renderStatus(call.world, status)))
    },
  },
}
