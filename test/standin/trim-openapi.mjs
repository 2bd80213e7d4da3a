// Cuts GitHub's own OpenAPI description down to the operations that the stand-in answers.
//
//   npm pack @octokit/openapi && tar xzf octokit-openapi-*.tgz
//   node test/standin/trim-openapi.mjs package/generated/api.github.com.json package/package.json
//
// Writes test/fixtures/github/api.json: { origin, paths, components: { schemas }, elsewhere }, where
// `elsewhere` lists what GitHub offers beside it, so that "no such path" and "not simulated" can be told apart.
import { readFileSync, writeFileSync } from 'node:fs'

const operations = new Set([
  'rate-limit/get',
  'repos/get',
  'repos/get-branch',
  'repos/list-commits',
  'repos/get-content',
  'repos/get-branch-rules',
  'repos/get-latest-release',
  'repos/get-all-environments',
  'repos/list-deployment-branch-policies',
  'repos/get-collaborator-permission-level',
  'repos/create-commit-status',
  'repos/list-commit-statuses-for-ref',
  'git/list-matching-refs',
  'git/create-commit',
  'pulls/list',
  'pulls/create',
  'pulls/get',
  'pulls/list-files',
  'pulls/update',
  'issues/get',
  'issues/list-for-repo',
  'issues/list-milestones',
  'issues/update',
  'issues/create',
  'issues/list-comments',
  'issues/create-comment',
  'issues/update-comment',
  'issues/delete-comment',
  'issues/add-labels',
  'issues/remove-label',
  'issues/create-label',
  'issues/get-label',
  'reactions/create-for-issue-comment',
  'checks/create',
  'checks/update',
  'checks/list-for-ref',
  'checks/list-annotations',
  'actions/get-workflow',
  'actions/list-repo-workflows',
  'actions/create-workflow-dispatch',
  'actions/list-workflow-runs',
  'actions/get-workflow-run',
  'actions/cancel-workflow-run',
  'actions/download-job-logs-for-workflow-run',
  'actions/get-github-actions-default-workflow-permissions-repository',
])
/** Event payloads that people's doings raise; checked like any other answer of ours. */
const events = [
  'workflow-dispatch',
  'issue-comment-created',
  'issue-comment-edited',
  'issue-comment-deleted',
  'issues-labeled',
  'issues-opened',
  'pull-request-closed',
  'pull-request-dequeued',
  'pull-request-synchronize',
]

const [source, manifest] = process.argv.slice(2)
if (source === undefined || manifest === undefined)
  throw new Error('usage: trim-openapi.mjs API.json PACKAGE.json')
const api = JSON.parse(readFileSync(source, 'utf8'))
const { name, version } = JSON.parse(readFileSync(manifest, 'utf8'))

const pointer = (ref) =>
  ref
    .slice(2)
    .split('/')
    .reduce((at, key) => at[key.replaceAll('~1', '/').replaceAll('~0', '~')], api)
const schemas = {}

/** Drops prose and examples, says `nullable` the JSON Schema way, inlines shared parameters, collects schemas. */
function tidy(node) {
  if (Array.isArray(node)) return node.map(tidy)
  if (node === null || typeof node !== 'object') return node
  if (typeof node.$ref === 'string') {
    if (!node.$ref.startsWith('#/components/schemas/')) return tidy(pointer(node.$ref))
    const key = node.$ref.split('/').at(-1)
    if (schemas[key] === undefined) {
      schemas[key] = true
      schemas[key] = tidySchema(pointer(node.$ref))
    }
    return { $ref: node.$ref }
  }
  return tidySchema(node)
}
const prose = new Set([
  'description',
  'example',
  'examples',
  'externalDocs',
  'deprecated',
  'x-github',
  'title',
  'default',
])
function tidySchema(node) {
  const out = {}
  for (const [key, value] of Object.entries(node)) {
    if (prose.has(key) || key === 'nullable') continue
    // Under `properties` a key is a name (a property may well be called "description"), not a keyword.
    out[key] =
      key === 'properties' || key === 'patternProperties'
        ? Object.fromEntries(Object.entries(value).map(([property, schema]) => [property, tidy(schema)]))
        : tidy(value)
  }
  if (node.nullable !== true) return out
  if (typeof out.type === 'string' && out.enum === undefined) return { ...out, type: [out.type, 'null'] }
  return { anyOf: [{ type: 'null' }, out] }
}

const paths = {}
const elsewhere = []
const missing = new Set(operations)
for (const [path, methods] of Object.entries(api.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    if (!operations.has(operation.operationId)) {
      elsewhere.push(`${method.toUpperCase()} ${path}`)
      continue
    }
    missing.delete(operation.operationId)
    const answers = {}
    for (const [status, answer] of Object.entries(operation.responses)) {
      const resolved = answer.$ref === undefined ? answer : pointer(answer.$ref)
      const schema = resolved.content?.['application/json']?.schema
      answers[status] = schema === undefined ? {} : { schema: tidy(schema) }
    }
    paths[path] ??= {}
    paths[path][method] = {
      id: operation.operationId,
      parameters: (operation.parameters ?? []).map(tidy),
      ...(operation.requestBody === undefined
        ? {}
        : {
            body: {
              required: operation.requestBody.required === true,
              schema: tidy(operation.requestBody.content['application/json'].schema),
            },
          }),
      answers,
    }
  }
}
if (missing.size > 0) throw new Error(`not in ${name}@${version}: ${[...missing].join(', ')}`)
tidy({ $ref: '#/components/schemas/basic-error' })
tidy({ $ref: '#/components/schemas/validation-error' })
for (const event of events) tidy({ $ref: `#/components/schemas/webhook-${event}` })

const text = JSON.stringify({ origin: `${name}@${version}`, paths, components: { schemas }, elsewhere })
writeFileSync(new URL('../fixtures/github/api.json', import.meta.url), `${text}\n`)
console.log(
  `${Object.keys(paths).length} paths, ${Object.keys(schemas).length} schemas, ${text.length} bytes`,
)
