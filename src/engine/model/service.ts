// Services that run alongside gates, how their readiness is checked, and the project's own addresses. Pure.

/**
 * How to check that a service is ready. `port`: `localhost` means every loopback address. `log`: a line with these parts in this order.
 * Port 0 stands for the worker's own port (`OWN_PORT_NAME`).
 */
export type Ready =
  | { kind: 'url'; url: string }
  | { kind: 'port'; host: string; port: number }
  | { kind: 'log'; parts: string[] }
  | { kind: 'command'; run: string }

export type Service = {
  name: string
  /** A command for `bash -c`; null: the service is started elsewhere, and only has to be ready. */
  start: string | null
  ready: Ready
  readyTimeoutMs: number
  /** Stopped after the gates and started again before the next ones; else it runs until the job ends. */
  restartBeforeVerify: boolean
  /** As for a gate. */
  when: string[] | null
  /** Names of variables that it inherits from Ralph's own environment. */
  inherit: string[]
  environment: Record<string, string>
  /** Log files that it writes in addition to its output. */
  logs: string[]
}

/** The variable with the first of the ports that belong to a worker. */
export const OWN_PORT_NAME = 'RALPH_PORT'

/** The port that all workers of a machine share; undefined if each has its own, or none is known. */
export function fixedPort(ready: Ready): string | undefined {
  if (ready.kind === 'port') return ready.port === 0 ? undefined : String(ready.port)
  if (ready.kind !== 'url') return undefined
  const { port, protocol } = new URL(ready.url)
  return port === '0' ? undefined : port || (protocol === 'https:' ? '443' : '80')
}

/** The services with the port of a worker filled in. */
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

/** Prefixes of `GateResult.ended` for services that could not start. The fix is chosen by them. */
export const CANNOT_START = 'cannot start: '
export const NOT_READY = 'is not ready'
/** Another program listens on its port. */
export const PORT_TAKEN = 'already answers'

/** Origins of the services' pages: first those of URLs, then of ports on this machine. */
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

/** Names of the machine itself, of which services use different ones. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)$/
const SCHEMES: Readonly<Record<string, string>> = {
  'http:': 'http',
  'https:': 'https',
  'ws:': 'http',
  'wss:': 'https',
}

/** The origin of an address, `http://localhost:3000`, to compare servers; null for other schemes and invalid addresses. */
export function originOf(address: string): string | null {
  if (!URL.canParse(address)) return null
  const { protocol, hostname, port } = new URL(address)
  const scheme = SCHEMES[protocol]
  if (scheme === undefined) return null
  const host = LOOPBACK.test(hostname) ? 'localhost' : hostname
  return `${scheme}://${host}${port === '' ? '' : `:${port}`}`
}

/** `base`: the address that paths are relative to, and the default page. `origins`: the only ones that the browser may request. */
export type Site = { base: string; origins: string[] }

/** The project's own addresses, by its services and its configuration; null if there are none. */
export function resolveSite(
  { baseUrl, urls }: { baseUrl: string | null; urls: readonly string[] },
  services: readonly Service[],
): Site | null {
  const configured = [...(baseUrl === null ? [] : [baseUrl]), ...originsOf(services)]
  const all = configured.length > 0 ? configured : urls.filter((url) => !url.startsWith('/'))
  const [base] = all
  if (base === undefined) return null
  return { base, origins: [...new Set(all.flatMap((url) => originOf(url) ?? []))] }
}

/** A placeholder in a path, as in `/users/:id`, `/users/{id}`, `/users/[id]`. */
export const PATTERN = /[{}[\]*]|\/:[a-z]/i

/** The readiness check for people: an address, a port, a log line or a command. */
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
