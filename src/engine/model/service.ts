// Programs that gates need beside them, how it is known that they may be used, and the addresses that are the project's own. Pure.

/**
 * `port`: of `host`; `localhost` is each loopback that there is. `log`: a line in which these parts stand in this order. A port of 0
 * is the worker's own (`OWN_PORT_NAME`).
 */
export type Ready =
  | { kind: 'url'; url: string }
  | { kind: 'port'; host: string; port: number }
  | { kind: 'log'; parts: string[] }
  | { kind: 'command'; run: string }

export type Service = {
  name: string
  /** By `bash -c`; null: somebody else runs it, and it only has to be ready. */
  start: string | null
  ready: Ready
  readyTimeoutMs: number
  /** Ended behind the gates and started before the next ones; else it stays until the job ends. */
  restartBeforeVerify: boolean
  /** As of a gate. */
  when: string[] | null
  /** Names of variables of ours that it may see. */
  inherit: string[]
  environment: Record<string, string>
  /** Files that it writes its words into, beside its output. */
  logs: string[]
}

/** The variable with the first port that a worker has of its own. */
export const OWN_PORT_NAME = 'RALPH_PORT'

/** A port that is the same for all workers of a machine; undefined where it is their own, or none is known. */
export function fixedPort(ready: Ready): string | undefined {
  if (ready.kind === 'port') return ready.port === 0 ? undefined : String(ready.port)
  if (ready.kind !== 'url') return undefined
  const { port, protocol } = new URL(ready.url)
  return port === '0' ? undefined : port || (protocol === 'https:' ? '443' : '80')
}

/** The services of the worker that has this port. */
export function servicesAt(services: readonly Service[], port: number): Service[] {
  return services.map((service) => ({ ...service, ready: readyAt(service.ready, port) }))
}

function readyAt(ready: Ready, port: number): Ready {
  if (fixedPort(ready) !== undefined) return ready
  if (ready.kind === 'port') return { ...ready, port }
  if (ready.kind !== 'url') return ready
  const url = new URL(ready.url)
  url.port = String(port)
  return { ...ready, url: url.href }
}

/** How `ended` of its result begins where it could not come up; who reads it says how that is mended. */
export const CANNOT_START = 'cannot start: '
export const NOT_READY = 'is not ready'
/** Somebody listens in its place. */
export const TAKEN = 'answers already'

/** Where pages of the services are found: those that say so by a URL first, then what may answer at a port of this machine. */
function originsOf(services: readonly Service[]): string[] {
  const urls = services.flatMap(({ ready }) => (ready.kind === 'url' ? [new URL(ready.url).origin] : []))
  const ports = services.flatMap(({ ready }) =>
    ready.kind === 'port' && ready.host === 'localhost' ? [`http://localhost:${ready.port}`] : [],
  )
  return [...new Set([...urls, ...ports])]
}

/** Whether gates, or services, are for these tags; null: for all. */
export function isFor(when: readonly string[] | null, tags: readonly string[] | null): boolean {
  return tags === null || when === null || when.some((tag) => tags.includes(tag))
}

// ---------------------------------------------------------------- addresses of pages

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
export function resolveSite(
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

/** What readiness is asked of, as people call it. */
export function describeReady(ready: Ready): string {
  switch (ready.kind) {
    case 'url':
      return fixedPort(ready) === undefined ? ready.url.replace(':0', `:$${OWN_PORT_NAME}`) : ready.url
    case 'port':
      return `port ${fixedPort(ready) ?? `$${OWN_PORT_NAME}`}${ready.host === 'localhost' ? '' : ` of ${ready.host}`}`
    case 'command':
      return ready.run
    case 'log':
      return `a line with ${ready.parts.join(' ... ')}`
  }
}
