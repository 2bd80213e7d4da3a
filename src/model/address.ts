// Addresses of pages, and which of them are the project's own. Pure.
import { originsOf, type Service } from './service.ts'

/** Names of one machine for itself, which differ from service to service. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)$/
const SCHEMES: Readonly<Record<string, string>> = {
  'http:': 'http',
  'https:': 'https',
  'ws:': 'http',
  'wss:': 'https',
}

/** What decides whether two addresses are of one server: `http://localhost:3000`; null for what is opened nowhere. */
export function originOf(address: string): string | null {
  if (!URL.canParse(address)) return null
  const { protocol, hostname, port } = new URL(address)
  const scheme = SCHEMES[protocol]
  if (scheme === undefined) return null
  const host = LOOPBACK.test(hostname) ? 'localhost' : hostname
  return `${scheme}://${host}${port === '' ? '' : `:${port}`}`
}

/** `base`: where paths lead, and what is opened where nobody names a page. `origins`: by `originOf`; nothing else is asked. */
export type Site = { base: string; origins: string[] }

/** The project's own addresses: of its services, and those that the configuration names; null where nothing tells one. */
export function siteOf(
  { baseUrl, urls }: { baseUrl: string | null; urls: readonly string[] },
  services: readonly Service[],
): Site | null {
  const told = [...(baseUrl === null ? [] : [baseUrl]), ...originsOf(services)]
  const all = told.length > 0 ? told : urls.filter((url) => !url.startsWith('/'))
  const [base] = all
  if (base === undefined) return null
  return { base, origins: [...new Set(all.flatMap((url) => originOf(url) ?? []))] }
}

/** A place for something, as in `/users/:id`, `/users/{id}`, `/users/[id]`. */
export const PATTERN = /[{}[\]*]|\/:[a-z]/i
