// The OpenAPI descriptions of GitHub, Gitea and Forgejo, as judges: of every request to the stand-in and of every answer of it.
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
const withSlashes = new Set(['ref', 'branch', 'filepath'])

const TITLES = { github: 'GitHub', gitea: 'Gitea', forgejo: 'Forgejo' } as const
export type ContractName = keyof typeof TITLES

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
function routesOf(document: Document): Route[] {
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
  return routes.sort((a, b) => literal(b.template) - literal(a.template))
}
function literal(template: string): number {
  return template.replaceAll(/\{[^}]+\}/g, '').length
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
const queryJudge = new Ajv({ ...options, coerceTypes: 'array' })
for (const ajv of [judge, queryJudge]) {
  formats.default(ajv)
  ajv.addFormat('uri-template', true)
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

/** What a server's description says, as functions. */
export class Contract {
  readonly name: ContractName
  readonly title: string
  readonly #document: Document
  readonly #routes: Route[]
  readonly #errorSchema: Schema
  readonly #eventSchemas = new Map<string, Schema>()

  constructor(name: ContractName) {
    this.name = name
    this.title = TITLES[name]
    const file = readFileSync(new URL(`../fixtures/${name}/api.json`, import.meta.url), 'utf8')
    this.#document = JSON.parse(file.replaceAll('"#/components/', `"${name}#/components/`))
    this.#routes = routesOf(this.#document)
    for (const ajv of [judge, queryJudge]) ajv.addSchema({ $id: name, components: this.#document.components })
    this.#errorSchema =
      name === 'github'
        ? { $ref: 'github#/components/schemas/basic-error', required: ['message'] }
        : { type: 'object', required: ['message'] }
  }

  /** Finds the operation that a method and path name. */
  match(method: string, path: string): Match {
    for (const route of this.#routes) {
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

  /** Returns what is wrong with a request, a line each; an empty list when it is as the server's description says. */
  requestProblems(operation: Operation, query: URLSearchParams, body: unknown): string[] {
    const found: string[] = []
    for (const [name, value] of query) {
      const parameter = operation.parameters.find((one) => one.in === 'query' && one.name === name)
      if (parameter === undefined) found.push(`query parameter "${name}" is not known`)
      // Wrapped, because a bare value can not be coerced in place.
      else
        found.push(
          ...problems(wrapped(parameter.schema), { value }, queryJudge).map(
            (one) => `query "${name}" ${one}`,
          ),
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
      found.push(...this.#unknownProperties(operation.body.schema, body, ''))
    }
    return found
  }

  /** Servers ignore a misspelt property in silence; a test should not. */
  #unknownProperties(schema: Schema, value: unknown, at: string): string[] {
    const shapes = this.#flatten(schema)
    if (Array.isArray(value)) {
      const items = shapes.map((shape) => shape.items).find((one) => one !== undefined)
      return items === undefined
        ? []
        : value.flatMap((one, index) => this.#unknownProperties(items, one, `${at}/${index}`))
    }
    if (typeof value !== 'object' || value === null) return []
    const objects = shapes.filter((shape) => shape.properties !== undefined)
    if (objects.length === 0 || shapes.some((shape) => shape.additionalProperties && shape === shapes[0]))
      return []
    return Object.entries(value).flatMap(([key, inner]) => {
      const property = objects.map((shape) => shape.properties?.[key]).find((one) => one !== undefined)
      if (property === undefined) return [`${at}/${key} is not a property of this operation`]
      return this.#unknownProperties(property, inner, `${at}/${key}`)
    })
  }
  /** A schema with its alternatives, references followed; the schema itself comes first. */
  #flatten(schema: Schema): Schema[] {
    const own =
      schema.$ref === undefined
        ? schema
        : (this.#document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? schema)
    const branches = ['oneOf', 'anyOf', 'allOf'].flatMap((key) => {
      const list = own[key]
      return Array.isArray(list) ? (list as Schema[]) : []
    })
    return [own, ...branches.flatMap((branch) => this.#flatten(branch))]
  }

  /** Returns what is wrong with an answer of the stand-in, a line each. */
  answerProblems(operation: Operation, status: number, body: unknown): string[] {
    const answer = operation.answers[status]
    if (answer?.schema !== undefined) {
      // GitHub's answers have more than its description says.
      const more = this.name === 'github' ? [] : this.#unknownProperties(answer.schema, body, '')
      return [...problems(answer.schema, body), ...more]
    }
    if (status >= 400) return problems(this.#errorSchema, body)
    if (answer === undefined && status !== 304) return [`${this.title} does not answer ${status} here`]
    return body === undefined ? [] : [`${this.title} answers ${status} without a body`]
  }

  /** Returns what is wrong with the payload of an event, a line each. Only events that we kept the schema of. */
  eventProblems(name: string, action: string | null, payload: Json): string[] {
    const key = `webhook-${[name, ...(action === null ? [] : [action])].join('-').replaceAll('_', '-')}`
    if (this.#document.components.schemas[key] === undefined) return []
    let schema = this.#eventSchemas.get(key)
    if (schema === undefined) {
      schema = { $ref: `${this.name}#/components/schemas/${key}` }
      this.#eventSchemas.set(key, schema)
    }
    return problems(schema, payload)
  }
}

const contracts = new Map<ContractName, Contract>()

/** Each description is read when a test first needs it. */
export function contractOf(name: ContractName): Contract {
  const contract = contracts.get(name) ?? new Contract(name)
  contracts.set(name, contract)
  return contract
}
