// GitHub's own description of its API, as a judge: of every request to the stand-in and of every answer of it.
import { readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import type { Json } from './model.ts'

interface Schema extends Json {
  $ref?: string
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: unknown
}
export interface Operation {
  id: string
  method: string
  template: string
  parameters: { name: string; in: string; required?: boolean; schema: Schema }[]
  body?: { required: boolean; schema: Schema }
  answers: Record<string, { schema?: Schema }>
}
export type Match =
  | { kind: 'found'; operation: Operation; params: Record<string, string> }
  | { kind: 'not simulated'; template: string }
  | { kind: 'unknown' }

interface Document {
  paths: Record<string, Record<string, Omit<Operation, 'method' | 'template'>>>
  components: { schemas: Record<string, Schema> }
  elsewhere: string[]
}

// Clients send these unencoded or with %2F; GitHub takes both.
const withSlashes = new Set(['ref', 'branch'])

const file = readFileSync(new URL('../fixtures/github/api.json', import.meta.url), 'utf8')
const document: Document = JSON.parse(file.replaceAll('"#/components/', '"github#/components/'))

function pattern(template: string): RegExp {
  const source = template.split(/\{([^}]+)\}/).map((part, index) => {
    if (index % 2 === 0) return part.replaceAll('.', '\\.')
    return `(?<${part.replaceAll('-', '_')}>${withSlashes.has(part) ? '.+' : '[^/]+'})`
  })
  // The root folder of a repository has an empty path.
  return new RegExp(`^${source.join('').replace('/(?<path>[^/]+)', '(?:/(?<path>.*))?')}$`)
}

interface Route {
  method: string
  template: string
  pattern: RegExp
  operation: Operation | null
}
const routes: Route[] = []
for (const [template, methods] of Object.entries(document.paths))
  for (const [method, operation] of Object.entries(methods)) {
    const upper = method.toUpperCase()
    routes.push({
      method: upper,
      template,
      pattern: pattern(template),
      operation: { ...operation, method: upper, template },
    })
  }
for (const line of document.elsewhere) {
  const [method = '', template = ''] = line.split(' ')
  routes.push({ method, template, pattern: pattern(template), operation: null })
}
// A template with more literal text is the more exact one: /commits/{ref}/status before /commits/{ref}.
routes.sort((a, b) => literal(b.template) - literal(a.template))
function literal(template: string): number {
  return template.replaceAll(/\{[^}]+\}/g, '').length
}

/** Finds the operation of GitHub's that a method and path name. */
export function match(method: string, path: string): Match {
  for (const route of routes) {
    if (route.method !== method) continue
    const found = route.pattern.exec(path)
    if (found === null) continue
    if (route.operation === null) return { kind: 'not simulated', template: route.template }
    const params = Object.entries(found.groups ?? {}).map(([name, value]) => [
      name,
      decodeURIComponent(value ?? ''),
    ])
    return { kind: 'found', operation: route.operation, params: Object.fromEntries(params) }
  }
  return { kind: 'unknown' }
}

// Each schema as a function of its own, as it comes: that is compiled in a third of the time, in every process of a test.
const options = {
  strict: false,
  allErrors: true,
  validateSchema: false,
  logger: false,
  inlineRefs: false,
  code: { optimize: false },
} as const
const judge = new Ajv(options)
const queryJudge = new Ajv({ ...options, coerceTypes: true })
for (const ajv of [judge, queryJudge]) {
  formats.default(ajv)
  ajv.addFormat('uri-template', true)
  ajv.addSchema({ $id: 'github', components: document.components })
}
const compiled = new WeakMap<Schema, ValidateFunction>()
function problems(schema: Schema, value: unknown, ajv = judge): string[] {
  let validate = compiled.get(schema)
  if (validate === undefined) {
    validate = ajv.compile(schema)
    compiled.set(schema, validate)
  }
  if (validate(value)) return []
  return (validate.errors ?? []).map((error) => {
    const detail = error.params.allowedValues ?? error.params.additionalProperty
    return `${error.instancePath || '(body)'} ${error.message}${detail === undefined ? '' : ` ${JSON.stringify(detail)}`}`
  })
}

/** Returns what is wrong with a request, a line each; an empty list when it is as GitHub says. */
export function requestProblems(operation: Operation, query: URLSearchParams, body: unknown): string[] {
  const found: string[] = []
  for (const [name, value] of query) {
    const parameter = operation.parameters.find((one) => one.in === 'query' && one.name === name)
    if (parameter === undefined) found.push(`query parameter "${name}" is not known`)
    // Wrapped, because a bare value can not be coerced in place.
    else
      found.push(
        ...problems(wrapped(parameter.schema), { value }, queryJudge).map((one) => `query "${name}" ${one}`),
      )
  }
  for (const { name, in: place, required } of operation.parameters)
    if (place === 'query' && required === true && !query.has(name))
      found.push(`query parameter "${name}" is missing`)
  if (operation.body === undefined) {
    if (body !== undefined && !isEmpty(body)) found.push('a body is not expected')
  } else if (body === undefined) {
    if (operation.body.required) found.push('a body is required')
  } else {
    found.push(...problems(operation.body.schema, body))
    found.push(...unknownProperties(operation.body.schema, body, ''))
  }
  return found
}
const wrappers = new WeakMap<Schema, Schema>()
function wrapped(schema: Schema): Schema {
  const known = wrappers.get(schema)
  if (known !== undefined) return known
  const made = { type: 'object', properties: { value: schema } }
  wrappers.set(schema, made)
  return made
}
function isEmpty(body: unknown): boolean {
  return typeof body === 'object' && body !== null && Object.keys(body).length === 0
}

/** GitHub ignores a misspelt property in silence; a test should not. */
function unknownProperties(schema: Schema, value: unknown, at: string): string[] {
  const shapes = flatten(schema)
  if (Array.isArray(value)) {
    const items = shapes.map((shape) => shape.items).find((one) => one !== undefined)
    return items === undefined
      ? []
      : value.flatMap((one, index) => unknownProperties(items, one, `${at}/${index}`))
  }
  if (typeof value !== 'object' || value === null) return []
  const objects = shapes.filter((shape) => shape.properties !== undefined)
  if (objects.length === 0 || shapes.some((shape) => shape.additionalProperties && shape === shapes[0]))
    return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const property = objects.map((shape) => shape.properties?.[key]).find((one) => one !== undefined)
    if (property === undefined) return [`${at}/${key} is not a property of this operation`]
    return unknownProperties(property, inner, `${at}/${key}`)
  })
}
/** A schema with its alternatives, references followed; the schema itself comes first. */
function flatten(schema: Schema): Schema[] {
  const own =
    schema.$ref === undefined
      ? schema
      : (document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? schema)
  const branches = ['oneOf', 'anyOf', 'allOf'].flatMap((key) => {
    const list = own[key]
    return Array.isArray(list) ? (list as Schema[]) : []
  })
  return [own, ...branches.flatMap(flatten)]
}

/** Returns what is wrong with an answer of the stand-in, a line each. */
export function answerProblems(operation: Operation, status: number, body: unknown): string[] {
  const answer = operation.answers[status]
  if (answer?.schema !== undefined) return problems(answer.schema, body)
  if (status >= 400) return problems(errorSchema, body)
  if (answer === undefined && status !== 304) return [`GitHub does not answer ${status} here`]
  return body === undefined ? [] : [`GitHub answers ${status} without a body`]
}
const errorSchema: Schema = { $ref: 'github#/components/schemas/basic-error', required: ['message'] }

/** Returns what is wrong with the payload of an event, a line each. Only events that we kept the schema of. */
export function eventProblems(name: string, action: string | null, payload: Json): string[] {
  const key = `webhook-${[name, ...(action === null ? [] : [action])].join('-').replaceAll('_', '-')}`
  if (document.components.schemas[key] === undefined) return []
  let schema = eventSchemas.get(key)
  if (schema === undefined) {
    schema = { $ref: `github#/components/schemas/${key}` }
    eventSchemas.set(key, schema)
  }
  return problems(schema, payload)
}
const eventSchemas = new Map<string, Schema>()
