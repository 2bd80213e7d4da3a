// Services: named programs that gates need alongside them; a list, or a map by name.
import * as z from 'zod/mini'
import type { Ready, Service } from '../engine/model/service.ts'
import { tags } from './gate-settings.ts'
import { gateName, insidePath, variableName } from './setting-names.ts'
import * as v from './values.ts'

const READY_MESSAGE = v.expects(
  'a URL, a port, or a map with one of tcp, log and command',
  'write `http://localhost:3000`, `5432`, `{ tcp: db:5432 }`, `{ log: listening on }` or `{ command: pg_isready }`',
)
const HOST_AND_PORT = /^(?:\[([0-9a-f:]+)\]|([\w.-]+)):(\d{1,5})$/i
/** `$RALPH_PORT` instead of a port number. */
const OWN_PORT = /^(.*:|)\$RALPH_PORT(?=\/|\?|$)/

const port = v.integer({ most: 65_535 })
/** `$RALPH_PORT` by itself, or in a URL; it is read as port 0. */
const ownPort = z.string().check(
  v.check((written: string) => {
    const replaced = written.replace(OWN_PORT, '$10')
    return (
      replaced !== written && (replaced === '0' || (/^https?:/i.test(replaced) && URL.canParse(replaced)))
    )
  }, READY_MESSAGE),
)
const HOST_PORT_MESSAGE = v.expects(
  'a host and a port',
  'write it as host:port, such as localhost:5432 or [::1]:5432',
)
const hostAndPort = z
  .string(HOST_PORT_MESSAGE)
  .check(v.check((written: string) => parseHostPort(written) !== null, HOST_PORT_MESSAGE))
const readyForms = v
  .structure({ tcp: v.orNull(hostAndPort), log: v.orNull(v.text), command: v.orNull(v.lines) })
  .check(
    z.refine((forms) => Object.values(forms).filter((one) => one !== null).length === 1, {
      ...READY_MESSAGE,
      when: ({ issues }) => issues.length === 0,
    }),
  )

/** `nonoptional`, because a JSON schema takes a field that begins with a transform for optional. */
const ready = z.nonoptional(
  z.pipe(
    z.union([ownPort, v.url, port, readyForms], READY_MESSAGE),
    z.transform((parsed): Ready => {
      if (typeof parsed === 'string') {
        const url = parsed.replace(OWN_PORT, '$10')
        return url === '0' ? { kind: 'port', host: 'localhost', port: 0 } : { kind: 'url', url }
      }
      if (typeof parsed === 'number') return { kind: 'port', host: 'localhost', port: parsed }
      const { tcp, log, command } = parsed
      if (log !== null) return { kind: 'log', parts: log.split('*').filter((part) => part !== '') }
      if (command !== null) return { kind: 'command', run: command }
      return { kind: 'port', ...(parseHostPort(tcp ?? '') ?? { host: '', port: 0 }) }
    }),
  ),
)

function parseHostPort(written: string): { host: string; port: number } | null {
  const replaced = written.replace(OWN_PORT, '$10')
  const isOwnPort = replaced !== written
  const [, address, name, digits] = HOST_AND_PORT.exec(replaced) ?? []
  const number = Number(digits)
  return (number >= 1 || isOwnPort) && number <= 65_535 ? { host: address ?? name ?? '', port: number } : null
}

const value = z.pipe(
  z.union([z.string(), z.number(), z.boolean()], v.expects('text', 'write the value in quotes')),
  z.transform(String),
)
const environment = z.union(
  [v.list(variableName), z.record(variableName, value)],
  v.expects(
    'names of variables, or a map of names and values',
    'write a list of names, or `NAME: value` lines',
  ),
)

const shape = {
  start: v.orNull(v.lines),
  ready,
  readyTimeout: v.withDefault(v.seconds, '30s'),
  restartBeforeVerify: v.withDefault(v.boolean, true),
  when: v.orNull(tags),
  environment: v.withDefault(environment, []),
  logs: v.withDefault(v.list(insidePath), []),
}
const unnamed = v.structure(shape)
const named = v.structure({ name: gateName, ...shape })

function serviceOf({ readyTimeout, environment: variables, ...rest }: z.output<typeof named>): Service {
  const inherit = isNames(variables) ? variables : []
  return { ...rest, readyTimeoutMs: readyTimeout, inherit, environment: isNames(variables) ? {} : variables }
}

function isNames(variables: z.output<typeof environment>): variables is string[] {
  return Array.isArray(variables)
}

const distinct = v.distinctNames<readonly Service[]>('service', (all) =>
  all.map(({ name }, index) => ({ name, path: [index, 'name'] })),
)

/** `web: { start: npm start, ready: http://localhost:3000 }`, or the same as a list with `name`. */
export const services = z
  .pipe(
    z.union(
      [
        z.array(named),
        z.pipe(
          z.record(gateName, unnamed),
          z.transform((map) => Object.entries(map).map(([name, one]) => ({ name, ...one }))),
        ),
      ],
      v.expects(
        'a list of services, or a map of them by name',
        'write `web: { start: npm start, ready: http://localhost:3000 }`',
      ),
    ),
    z.pipe(
      z.transform((all: z.output<typeof named>[]) => all.map(serviceOf)),
      z.array(z.custom<Service>()).check(distinct),
    ),
  )
  .register(v.kinds, { kind: 'map' })

export function serviceVariables(all: readonly Service[]): string[] {
  return [...new Set(all.flatMap(({ inherit, environment: set }) => [...inherit, ...Object.keys(set)]))]
}
