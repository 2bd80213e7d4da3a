// Stories side by side on one machine must not share ports: each lane has a number, and ports for its services.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { fixedPort, OWN_PORT_NAME, type Service } from '../engine/model/service.ts'
import type { Environment } from '../isolation/untrusted-env.ts'
import type { Settings } from '../settings/read-settings.ts'

/** These are below the ports that systems give to outgoing connections, which may be taken at any time. */
const FIRST_PORT = 20_000
const LAST_PORT = 32_000
/** A worker has ten ports in a row, for a server and its helpers. */
const PORTS_EACH = 10

/** The first port of each worker of this process. */
const takenPorts = new Set<number>()

/** The environment of a worker's programs. `worker` is 1 if stories are worked on one after the other, and in the checkout. */
export async function withOwnPort(env: Environment, worker = env.RALPH_WORKER): Promise<Environment> {
  const name = worker !== undefined && /^\w{1,20}$/.test(worker) ? worker : '1'
  return { ...env, RALPH_WORKER: name, [OWN_PORT_NAME]: String(await freePort()) }
}

/** A free port. The search begins at a random one, so that two runs on one machine seldom try the same one. */
async function freePort(): Promise<number> {
  const count = (LAST_PORT - FIRST_PORT) / PORTS_EACH
  const start = Math.floor(Math.random() * count)
  for (let at = 0; at < count; at += 1) {
    const port = FIRST_PORT + ((start + at) % count) * PORTS_EACH
    if (takenPorts.has(port)) continue
    takenPorts.add(port)
    if (await areFree(port)) return port
    takenPorts.delete(port)
  }
  throw new Error(`Ralph found no block of ${PORTS_EACH} free ports between ${FIRST_PORT} and ${LAST_PORT}`)
}

async function areFree(first: number): Promise<boolean> {
  const ports = Array.from({ length: PORTS_EACH }, (_, at) => first + at)
  return (await Promise.all(ports.map(isFree))).every(Boolean)
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen({ port, host: '127.0.0.1', exclusive: true })
    await once(server, 'listening')
    server.close()
    await once(server, 'close')
    return true
  } catch {
    return false
  }
}

const IN_COMMAND =
  /(?:\b(?:localhost|127\.0\.0\.1|0\.0\.0\.0)|\[::1?\]):(\d{2,5})\b|(?:--port[ =]|\bPORT=)["']?(\d{2,5})\b/

/** A sentence for each fixed port that stories side by side would all take. Empty if `max-parallel` is 1. */
export function fixedPortWarnings({ services, gates, maxParallel }: Settings): string[] {
  if (maxParallel === 1) return []
  const places = [
    ...services
      .filter(({ start }) => start !== null)
      .map((service) => ({ what: `service ${service.name}`, port: portOf(service) })),
    ...gates.map(({ name, run }) => ({ what: `gate ${name}`, port: portIn(run) })),
  ]
  return places
    .filter(({ port }) => port !== undefined)
    .map(
      ({ what, port }) =>
        `${what} names port ${port}, which several stories would use at the same time: write $${OWN_PORT_NAME} instead`,
    )
}

function portOf({ start, ready, environment }: Service): string | undefined {
  const variable = Object.entries(environment).find(
    ([name, value]) => /PORT$/.test(name) && /^\d+$/.test(value),
  )
  const inReady = ready.kind === 'command' ? portIn(ready.run) : undefined
  return fixedPort(ready) ?? portIn(start ?? '') ?? inReady ?? variable?.[1]
}

function portIn(command: string): string | undefined {
  const found = IN_COMMAND.exec(command)
  return found?.[1] ?? found?.[2]
}
