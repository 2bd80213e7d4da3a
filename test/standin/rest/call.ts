// What a REST endpoint of the stand-in gets and gives, and the paging that lists share.
import type { Identity, Json, Scope } from '../model.ts'
import { HttpError, noAccess, type World } from '../world.ts'

export interface Call {
  world: World
  params: Record<string, string>
  query: URLSearchParams
  body: Json
  identity: Identity
  /** The whole address, for the links to other pages. */
  url: URL
}
export interface Answer {
  status: number
  body?: unknown
  headers?: Record<string, string>
}
export type Need = `${Scope}:${'read' | 'write'}`
export interface Endpoint {
  /** One of these is enough; none: everybody who can see the repository. */
  needs: Need[]
  answer: (call: Call) => Answer | Promise<Answer>
}
export type Endpoints = Record<string, Endpoint>

export function may(identity: Identity, needs: Need[]): boolean {
  if (needs.length === 0) return true
  return needs.some((need) => {
    const [scope, access] = need.split(':') as [Scope, 'read' | 'write']
    const has = identity.permissions[scope] ?? 'none'
    return has === 'write' || has === access
  })
}
export function demand(identity: Identity, needs: Need[]): void {
  if (!may(identity, needs)) throw noAccess()
}

export function ok(body: unknown): Answer {
  return { status: 200, body }
}
export function created(body: unknown): Answer {
  return { status: 201, body }
}
export const empty: Answer = { status: 204 }

/** One page of a list, with GitHub's `Link` header. `wrap` puts the page into the answer's object. */
export function paged<T>(call: Call, items: T[], wrap?: (page: T[]) => unknown): Answer {
  return pagedBy(call, items, { name: 'per_page', most: 100, usual: 30 }, wrap)
}

/** The same with another parameter for the size of a page. */
export function pagedBy<T>(
  call: Call,
  items: T[],
  { name, most, usual }: { name: string; most: number; usual: number },
  wrap: (page: T[]) => unknown = (page) => page,
): Answer {
  const size = Math.min(most, Math.max(1, Number(call.query.get(name) ?? usual)))
  const page = Math.max(1, Number(call.query.get('page') ?? 1))
  const last = Math.max(1, Math.ceil(items.length / size))
  const link = (to: number, rel: string): string => {
    const url = new URL(call.url)
    url.searchParams.set('page', String(to))
    return `<${url.href}>; rel="${rel}"`
  }
  const links = [
    ...(page > 1 ? [link(page - 1, 'prev')] : []),
    ...(page < last ? [link(page + 1, 'next'), link(last, 'last')] : []),
    ...(page > 1 ? [link(1, 'first')] : []),
  ]
  const headers: Record<string, string> = links.length === 0 ? {} : { link: links.join(', ') }
  return { status: 200, body: wrap(items.slice((page - 1) * size, page * size)), headers }
}

/** A value of the request's body that the schema has already checked. */
export function text(body: Json, key: string): string | undefined {
  const value = body[key]
  return typeof value === 'string' ? value : undefined
}
export function flag(body: Json, key: string): boolean {
  return body[key] === true
}
export function numberParam(call: Call, name: string): number {
  const value = Number(call.params[name])
  if (!Number.isSafeInteger(value)) throw new HttpError(404, 'Not Found')
  return value
}
