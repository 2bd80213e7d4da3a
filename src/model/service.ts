// Programs that gates need beside them, and how it is known that they may be used.

/** `port`: of `host`; `localhost` is each loopback that there is. `log`: a line in which these parts stand in this order. */
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

/** How `ended` of its result begins where it could not come up; who reads it says how that is mended. */
export const CANNOT_START = 'cannot start: '
export const NOT_READY = 'is not ready'

/** Where pages of the services are found: those that say so by a URL first, then what may answer at a port of this machine. */
export function originsOf(services: readonly Service[]): string[] {
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
