// Services: started in their order, each when the one before it is ready, and ended with everything that they left.
import { setTimeout as delay } from 'node:timers/promises'
import type { GateResult } from '../model/gate.ts'
import type { GateRun } from '../model/ports.ts'
import { isFor, type Service } from '../model/service.ts'
import { excerpt } from '../system/excerpt.ts'
import { type OtherUser, shared } from '../system/other-user.ts'
import { partOf, runUntrusted } from '../system/process.ts'
import type { Redactor } from '../system/redact.ts'
import { cleaned, formatExit, type LogFolder, OUTPUT_BYTES, SHELL, writeLog } from './output.ts'
import { fromInside, type Look, lookFor, nameOf, takenBy, takenWords, untilReady } from './ready.ts'
import { type Running, startService } from './running.ts'

export type ServicesOptions = {
  services: readonly Service[]
  cwd: string
  /** As the gates have it, with what the service asks for. */
  envOf(service: Service): Readonly<Record<string, string>>
  redactor: Redactor
  /** Of the run: each service's own begins with it. */
  mark: string
  as: OtherUser | null
  logs: LogFolder | null
  onStart(name: string): void
  onEnd(result: GateResult): void
}

export type Services = AsyncDisposable & {
  /**
   * Does `act` beside them. Where one does not come up, it is not done. One that falls meanwhile is a red result of its own,
   * and named in those of the gates that are red; `isUp` is false from then on. `user`: as which a program may end without
   * ending them.
   */
  beside(
    run: GateRun,
    signal: AbortSignal,
    act: (isUp: () => boolean, user: OtherUser | null) => Promise<GateResult[]>,
  ): Promise<GateResult[]>
}

/** The last lines of a log are what tells; more than these are not looked at. */
const LAST_LINES = 200
const LAST_BYTES = 8 * 1024
/** A port that one of ours has just left may be seen for a moment. */
const LEAVING_MS = 500
/** An answer is asked for once more when gates are done. */
const STILL_MS = 10_000

/** One that did not come up, or did not stay; `one`: what was started of it. */
type Fallen = { service: Service; one: Running | null; why: string }

export function createServices(options: ServicesOptions): Services {
  const { as, redactor } = options
  const running = new Map<Service, Running>()
  let count = 0

  function start(service: Service, command: string, onLine: (line: string) => void): Running {
    count += 1
    const mark = partOf(options.mark, count)
    const how = { cwd: options.cwd, env: options.envOf(service), mark, as: shared(as) }
    const one = startService(service, command, how, onLine)
    running.set(service, one)
    return one
  }

  function lookAt(service: Service): Look | null {
    const ready = as?.hasOwnLoopback === true ? fromInside(service.ready) : service.ready
    return lookFor(ready, (command, ...bounds) => exitOf(command, service, ...bounds))
  }

  /** Null when it is ready, or nobody waits for it any more; else what went wrong. */
  async function come(service: Service, signal: AbortSignal): Promise<string | null> {
    const { ready, readyTimeoutMs } = service
    const look = lookAt(service)
    if (service.start === null)
      return look === null ? null : late(service, await untilReady(look, readyTimeoutMs, signal))
    const inTheWay = await taken(service, look, signal)
    if (inTheWay !== null) return inTheWay
    options.onStart(`service ${service.name}`)
    const told = new AbortController()
    const one = start(service, service.start, (line) => {
      if (ready.kind === 'log' && !told.signal.aborted && hasParts(line, ready.parts)) told.abort()
    })
    const ended = new AbortController()
    const over = one.over.finally(() => ended.abort())
    over.catch(() => {})
    const either = AbortSignal.any([signal, told.signal, ended.signal])
    const why =
      look === null
        ? await delay(readyTimeoutMs, 'nothing said it', { signal: either }).catch(() => null)
        : await untilReady(look, readyTimeoutMs, either)
    if (one.ended !== null) return `${one.ended} before it was ready`
    return signal.aborted || told.signal.aborted ? null : late(service, why, one.hasLeft)
  }

  /** Whoever answers before the service was started would be taken for it. */
  async function taken({ ready }: Service, look: Look | null, signal: AbortSignal): Promise<string | null> {
    if (ready.kind === 'command' && (await look?.(STILL_MS, signal)) === null)
      return `\`${ready.run}\` is content before it was started: end what it finds`
    // On a loopback of their own is nobody but them, and all of them are ended.
    if (as?.hasOwnLoopback === true) return null
    const last = performance.now() + LEAVING_MS
    for (let found = await takenBy(ready); found !== null; found = await takenBy(ready)) {
      if (performance.now() > last) return takenWords(found)
      await delay(50)
    }
    return null
  }

  function program(file: string, args: readonly string[]) {
    const { cwd, mark } = options
    return { file, args, cwd, env: { PATH: '/usr/bin:/bin' }, captureBytes: LAST_BYTES, mark }
  }

  /** Null for 0, else how it ended and what it said last. */
  async function exitOf(
    command: string,
    service: Service,
    ...[ms, signal]: Parameters<Look>
  ): Promise<string | null> {
    const { exit, output } = await runUntrusted({
      ...program('bash', [...SHELL, command]),
      env: options.envOf(service),
      timeoutMs: ms,
      signal,
      as: shared(as),
    })
    if (exit.kind === 'exit' && exit.code === 0) return null
    const said = output.trim().split('\n').at(-1)?.slice(0, 200) ?? ''
    return `${formatExit(exit, ms)}${said === '' ? '' : `: ${said}`}`
  }

  /** With everything that they started. */
  async function end(ones: readonly Running[]): Promise<void> {
    for (const one of ones) one.stop()
    for (const one of ones) {
      await one.over
      running.delete(one.service)
    }
    if (as === null || running.size > 0) return
    // What left them, too. Where that cannot be ended, the tree stays theirs: see runUntrusted.
    await as.grant()
    await as.end()
    await as.revoke()
  }

  /** Starts those that are for the run, up to the first that does not come. */
  async function comeUp({ tags }: GateRun, signal: AbortSignal): Promise<Fallen | null> {
    for (const service of options.services) {
      const isThere = running.get(service)?.ended === null
      if (isThere || !isFor(service.when, tags)) continue
      const why = await come(service, signal)
      if (why !== null) return { service, why, one: running.get(service) ?? null }
      if (signal.aborted) return null
    }
    return null
  }

  /** Of a program that left, and of what somebody else runs, only an answer tells; and whatever stands beside a red gate is asked. */
  async function fallen({ tags }: GateRun, isRed: boolean, signal: AbortSignal): Promise<Fallen[]> {
    const all = options.services
      .filter(({ when }) => isFor(when, tags))
      .map(async (service) => {
        const one = running.get(service) ?? null
        const isAsked = isRed || one === null || one.hasLeft
        const look = lookAt(service)
        const why = one?.ended == null && isAsked ? ((await look?.(STILL_MS, signal)) ?? null) : null
        // It may be on its way out.
        if (one !== null && isAsked && (why !== null || look === null)) await atMost(LEAVING_MS, one.over)
        if (one?.ended != null) return { service, one, why: `${one.ended} while gates ran` }
        return why === null ? null : { service, one, why: `answers no more: ${why}` }
      })
    return (await Promise.all(all)).filter((one) => one !== null)
  }

  /** Where they are another user's, nothing of it may live while somebody looks at the tree. */
  function leaving(fell: readonly Fallen[]): Running[] {
    const stays = ({ service, ended }: Running) =>
      as === null && !service.restartBeforeVerify && ended === null
    return [...running.values()].filter((one) => !stays(one) || fell.some((fallen) => fallen.one === one))
  }

  async function redResult({ service, one, why }: Fallen, what: string): Promise<GateResult> {
    const { output, ms } = (await one?.over) ?? { output: '', ms: 0 }
    const whole = cleaned(`${output}${await filesOf(service)}`, redactor)
    const name = `service ${service.name}`
    const last = excerpt(whole.split('\n').slice(-LAST_LINES).join('\n'), LAST_BYTES)
    const ended = redactor.redact(why)
    const result = {
      name,
      ok: false,
      advisory: false,
      ended,
      ms,
      output: last.trim() === '' ? `${ended}\n` : last,
    }
    await writeLog(options.logs, [what, `service-${service.name}`], whole)
    options.onEnd(result)
    return result
  }

  /** What it wrote into files, read as whom it ran: a name there may lead anywhere. */
  async function filesOf({ logs }: Service): Promise<string> {
    if (logs.length === 0) return ''
    const args = ['-n', String(LAST_LINES), '--', ...logs]
    const { output } = await runUntrusted({ ...program('tail', args), timeoutMs: STILL_MS, as })
    return output
  }

  return {
    beside: async (run, signal, act) => {
      let fell: Fallen[] = []
      let results: GateResult[] = []
      try {
        const failed = await comeUp(run, signal)
        if (failed !== null) fell = [failed]
        else if (!signal.aborted) {
          const ones = [...running.values()]
          results = await act(() => ones.every(({ ended }) => ended === null), shared(as))
          const isRed = results.some(({ ok }) => !ok)
          if (!signal.aborted) fell = await fallen(run, isRed, signal)
        }
      } finally {
        await end(leaving(fell))
      }
      const reds: GateResult[] = []
      for (const one of fell) reds.push(await redResult(one, run.what))
      return [...results.map((result) => naming(result, reds)), ...reds]
    },
    [Symbol.asyncDispose]: () => end([...running.values()]),
  }
}

async function atMost(ms: number, wanted: Promise<unknown>): Promise<void> {
  const stop = new AbortController()
  await Promise.race([wanted, delay(ms, undefined, { signal: stop.signal }).catch(() => {})])
  stop.abort()
}

/** A gate that failed beside a service that fell may have failed for that: whoever mends it reads both. */
function naming(gate: GateResult, reds: readonly GateResult[]): GateResult {
  if (gate.ok || reds.length === 0) return gate
  const words = reds.map(({ name, ended, output }) => `${name}: ${ended}. Its last lines:\n${output}`)
  const services = excerpt(words.join('\n'), LAST_BYTES)
  const own = excerpt(gate.output, OUTPUT_BYTES - LAST_BYTES - gate.name.length)
  return { ...gate, output: `${services.trimEnd()}\n\n${gate.name}:\n${own}` }
}

function late({ ready, readyTimeoutMs }: Service, why: string | null, hasLeft = false): string | null {
  if (why === null) return null
  const left = hasLeft ? ', and its command has ended with exit 0' : ''
  return `not ready after ${Math.round(readyTimeoutMs / 1000)} s: ${nameOf(ready)}: ${why}${left}`
}

function hasParts(line: string, parts: readonly string[]): boolean {
  let at = 0
  return parts.every((part) => {
    const found = line.indexOf(part, at)
    at = found + part.length
    return found >= 0
  })
}
