// Services: started in order, each once the one before it is ready, and ended with all processes that they left.
import { setTimeout as delay } from 'node:timers/promises'
import { type GateResult, isRed } from '../engine/model/gate.ts'
import { OUTPUT_BYTES } from '../engine/model/gate-output.ts'
import type { GateRun } from '../engine/model/ports.ts'
import {
  CANNOT_START,
  describeReady,
  isFor,
  NOT_READY,
  PORT_TAKEN,
  type Service,
} from '../engine/model/service.ts'
import { type OtherUser, sharedUser } from '../isolation/other-user.ts'
import type { Redactor } from '../isolation/redact.ts'
import type { Scratch } from '../isolation/scratch.ts'
import { excerpt, utf8Bytes } from '../system/excerpt.ts'
import { markOfPart, runUntrusted } from '../system/process.ts'
import { resolvesWithin } from '../system/within.ts'
import { cleanOutput, formatExit, type LogFolder, SHELL, writeLog } from './captured-output.ts'
import { type RunningService, startService } from './running.ts'
import {
  asCommand,
  createReadyCheck,
  findTakenPort,
  formatTakenPort,
  type ReadyCheck,
  waitUntilReady,
} from './service-ready.ts'

export type ServicesOptions = {
  services: readonly Service[]
  cwd: string
  /** The environment of gates, with the variables that the service sets. */
  envOf(service: Service): Readonly<Record<string, string>>
  redactor: Redactor
  /** The mark of the run; the mark of each service begins with it. */
  mark: string
  as: OtherUser | null
  logs: LogFolder | null
  onStart(name: string): void
  onEnd(result: GateResult): void
}

export type Services = ReturnType<typeof createServices>

export type GateSurroundings = {
  /** False once a service has ended. */
  isUp(): boolean
  /** The user for programs whose end must not end the services. */
  user: OtherUser | null
}

/** How many lines at the end of a failed service's log are searched for the failure. */
const LAST_LINES = 200
/** How many last lines of a running service are shown with a red gate. */
const CONTEXT_LINES = 15
/** How long a port may still be seen after its service has ended. */
const EXIT_GRACE_MS = 500
/** The longest wait for a ready check after the gates. */
const STILL_READY_MS = 10_000

/** A service's output passes through another process: what it printed before a gate was red may still be on its way. */
const OUTPUT_LAG_MS = 200

/** A service that did not become ready, or ended. `one`: its process, if started. `why`: what happened, in words that follow its name. */
type FailedService = { service: Service; one: RunningService | null; why: string }

export function createServices(options: ServicesOptions) {
  const { redactor, cwd } = options
  /** User and environment of the current run of gates. */
  let as = options.as
  let envOf = options.envOf
  const running = new Map<Service, RunningService>()
  let count = 0

  function readyCheckOf(service: Service): ReadyCheck | null {
    const ready = as?.hasOwnLoopback === true ? asCommand(service.ready) : service.ready
    return createReadyCheck(ready, (command, ...bounds) => runReadyCommand(command, service, ...bounds))
  }

  /** Null for exit code 0; else how the command ended, with its last line. */
  async function runReadyCommand(command: string, service: Service, ...[ms, signal]: Parameters<ReadyCheck>) {
    const { exit, output } = await runUntrusted({
      ...program('bash', [...SHELL, command]),
      env: envOf(service),
      timeoutMs: ms,
      signal,
      as: sharedUser(as),
    })
    if (exit.kind === 'exit' && exit.code === 0) return null
    const lastLine = output.trim().split('\n').at(-1)?.slice(0, 200) ?? ''
    return `${formatExit(exit, ms)}${lastLine === '' ? '' : `: ${lastLine}`}`
  }

  function program(file: string, args: readonly string[]) {
    return {
      file,
      args,
      cwd,
      env: { PATH: '/usr/bin:/bin' },
      captureBytes: OUTPUT_BYTES.service,
      mark: options.mark,
    }
  }

  /** Starts the services that the run needs, up to the first that fails. */
  async function startServices({ tags }: GateRun, signal: AbortSignal): Promise<FailedService[]> {
    const wanted = options.services.filter(
      (service) => running.get(service)?.ended !== null && isFor(service.when, tags),
    )
    const looks = wanted
      .filter(({ start }) => start !== null)
      .map(async (service) => ((await findTakenPort(service.ready)) === null ? [service] : []))
    const free = new Set((await Promise.all(looks)).flat())
    for (const service of wanted) {
      if (signal.aborted) break
      const why = await startOne(service, signal, free.has(service))
      if (why !== null) return [{ service, why, one: running.get(service) ?? null }]
    }
    return []
  }

  /** Null when it is ready or the wait was aborted, else the reason. `wasFree`: its port was free before any service started. */
  async function startOne(service: Service, signal: AbortSignal, wasFree: boolean): Promise<string | null> {
    const { ready, readyTimeoutMs } = service
    const look = readyCheckOf(service)
    if (service.start === null)
      return look === null
        ? null
        : formatNotReady(service, await waitUntilReady(look, readyTimeoutMs, signal))
    const occupant = await findOccupant(service, look, signal)
    // The port was free before, so one of the services that have started took it.
    if (occupant !== null && wasFree && running.size > 0)
      return `${CANNOT_START}${occupant.replace(PORT_TAKEN, 'has answered since an earlier service came up')}`
    if (occupant !== null) return `${CANNOT_START}${occupant}`
    options.onStart(`service ${service.name}`)
    count += 1
    // Its own mark (`<mark>-1`): the end of a gate ends everything with the run's mark, and services continue.
    const how = { cwd, env: envOf(service), mark: markOfPart(options.mark, count), as: sharedUser(as) }
    const [logMatched, ended] = [new AbortController(), new AbortController()]
    const one = startService(service, service.start, how, (line) => {
      if (ready.kind === 'log' && !logMatched.signal.aborted && hasParts(line, ready.parts))
        logMatched.abort()
    })
    running.set(service, one)
    one.over.finally(() => ended.abort()).catch(() => {})
    const either = AbortSignal.any([signal, logMatched.signal, ended.signal])
    const why =
      look === null
        ? await delay(readyTimeoutMs, 'no line of its output matched', { signal: either }).catch(() => null)
        : await waitUntilReady(look, readyTimeoutMs, either)
    if (one.ended !== null) return `ended (${one.ended}) before it was ready`
    return signal.aborted || logMatched.signal.aborted ? null : formatNotReady(service, why, one.hasLeft)
  }

  /** Another program that answers before the service is started would be mistaken for it. */
  async function findOccupant(
    { ready }: Service,
    look: ReadyCheck | null,
    signal: AbortSignal,
  ): Promise<string | null> {
    if (ready.kind === 'command' && (await look?.(STILL_READY_MS, signal)) === null)
      return `\`${ready.run}\` already succeeds before the service is started, so another program answers it`
    // No other program uses the services' own loopback, and none of them runs now.
    if (as?.hasOwnLoopback === true) return null
    const last = performance.now() + EXIT_GRACE_MS
    for (let found = await findTakenPort(ready); found !== null; found = await findTakenPort(ready)) {
      if (performance.now() > last) return formatTakenPort(found)
      await delay(50)
    }
    return null
  }

  /** Asks the ready check of services whose process we do not hold, and of all of them alongside a red gate. */
  async function findFailed({ tags }: GateRun, results: readonly GateResult[], signal: AbortSignal) {
    // No further gate starts after a service has ended, so the last gate is the one that ran at that time.
    const during = results.at(-1)?.name ?? ''
    const looks = options.services.map(async (service): Promise<FailedService[]> => {
      if (!isFor(service.when, tags)) return []
      const one = running.get(service) ?? null
      const isAsked = one === null || one.hasLeft || results.some(({ ok }) => !ok)
      const look = readyCheckOf(service)
      const why = one?.ended == null && isAsked ? ((await look?.(STILL_READY_MS, signal)) ?? null) : null
      // Its process may be about to end.
      if (one !== null && isAsked && (why !== null || look === null))
        await resolvesWithin(EXIT_GRACE_MS, one.over)
      if (one?.ended != null) return [{ service, one, why: `ended (${one.ended}) while gate ${during} ran` }]
      return why === null ? [] : [{ service, one, why: `no longer answers: ${why}` }]
    })
    return (await Promise.all(looks)).flat()
  }

  /** Ends services with everything that they started. */
  async function end(ones: readonly RunningService[]): Promise<void> {
    for (const one of ones) one.stop()
    for (const one of ones) {
      await one.over
      running.delete(one.service)
    }
    if (as === null || running.size > 0) return
    // Also ends processes that left their group. If one cannot be ended, the tree stays granted (see runUntrusted).
    await as.grant()
    await as.end()
    await as.revoke()
  }

  /** The services to end now. Those of another user always end: none of its processes may run while Ralph works on the tree. */
  function servicesToEnd(failed: readonly FailedService[]): RunningService[] {
    const stays = ({ service, ended }: RunningService) =>
      as === null && !service.restartBeforeVerify && ended === null
    return [...running.values()].filter((one) => !stays(one) || failed.some((other) => other.one === one))
  }

  /** Writes a log for each service, ended or still running. */
  async function writeLogs(ones: readonly RunningService[], what: string, isAborted: boolean) {
    const logs = new Map<Service, string>()
    for (const service of options.services) {
      const one = ones.find((running) => running.service === service)
      const files = isAborted ? '' : await readLogFiles(service)
      if (one === undefined && files === '') continue
      const text = cleanOutput(`${one?.output() ?? ''}${files}`, redactor)
      logs.set(service, text)
      await writeLog(options.logs, [what, `service-${service.name}`], text)
    }
    return logs
  }

  /** The end of the service's own log files, read as its user, because a path may be a link to any file. */
  async function readLogFiles({ logs }: Service): Promise<string> {
    if (logs.length === 0) return ''
    const tail = program('tail', ['-n', String(LAST_LINES), '--', ...logs])
    return (await runUntrusted({ ...tail, timeoutMs: STILL_READY_MS, as })).output
  }

  async function redResult({ service, one, why }: FailedService, log = ''): Promise<GateResult> {
    const ended = redactor.redact(why)
    const last = excerpt(log.split('\n').slice(-LAST_LINES).join('\n'), OUTPUT_BYTES.service)
    const result = {
      name: `service ${service.name}`,
      ok: false,
      advisory: false,
      ended,
      ms: (await one?.over)?.ms ?? 0,
      output: last.trim() === '' ? `${ended}\n` : last,
    }
    options.onEnd(result)
    return result
  }

  /** The last lines of running services. The whole output is redacted first, as a secret may begin before these lines. */
  function lastLines(): string[] {
    return [...running.values()].flatMap((one) => {
      const text = cleanOutput(one.output(), redactor).trimEnd()
      const last = text.split('\n').slice(-CONTEXT_LINES).join('\n')
      return text === '' ? [] : [`Last lines of service ${one.service.name}:\n${last}`]
    })
  }

  /**
   * Starts the services, runs `act`, and ends them. If a service does not become ready, `act` does not run. A service that fails
   * meanwhile has its own red result, and the output of the red gate names it. If none fails, a red gate gets the last lines of the
   * running services. All processes use the temporary folders of `place`.
   */
  async function beside(
    run: GateRun,
    signal: AbortSignal,
    place: Scratch,
    act: (beside: GateSurroundings) => Promise<GateResult[]>,
  ): Promise<GateResult[]> {
    as = place.as
    envOf = (service) => place.env(options.envOf(service))
    let failed: FailedService[] = []
    let results: GateResult[] = []
    let lastOutput: string[] = []
    let logs = new Map<Service, string>()
    try {
      failed = await startServices(run, signal)
      if (failed.length === 0 && !signal.aborted) {
        const ones = [...running.values()]
        results = await act({
          isUp: () => ones.every(({ ended }) => ended === null),
          user: sharedUser(as),
        })
        if (!signal.aborted) failed = await findFailed(run, results, signal)
        // Before they are ended, because many print messages when they end.
        if (results.some(isRed)) {
          if (running.size > 0) await delay(OUTPUT_LAG_MS)
          lastOutput = lastLines()
        }
      }
    } finally {
      const ones = [...running.values()]
      await end(servicesToEnd(failed))
      logs = await writeLogs(ones, run.what, signal.aborted)
    }
    const reds: GateResult[] = []
    for (const one of failed) reds.push(await redResult(one, logs.get(one.service)))
    return withServices(results, reds, lastOutput)
  }

  return { beside, isUp: () => running.size > 0, [Symbol.asyncDispose]: () => end([...running.values()]) }
}

/**
 * Adds services to the output of the first red gate. The last lines of failed services come before it, as they may be why the gate is
 * red. Without failed services, the last lines of running ones come after it. Nothing is shown twice.
 */
function withServices(
  results: readonly GateResult[],
  reds: readonly GateResult[],
  lastOutput: readonly string[],
): GateResult[] {
  const gate = results.find(isRed)
  if (gate === undefined || reds.length + lastOutput.length === 0) return [...results, ...reds]
  const failedOutput = reds
    .map(({ name, ended, output }) => `${name} ${ended}. Its last lines:\n${output}`)
    .join('\n')
  const room = OUTPUT_BYTES[failedOutput === '' ? 'standingServices' : 'service']
  const beside = excerpt(failedOutput === '' ? lastOutput.join('\n\n') : failedOutput, room).trimEnd()
  const own = excerpt(gate.output, OUTPUT_BYTES.stored - utf8Bytes(beside) - gate.name.length - 10)
  const output =
    failedOutput === '' ? `${own.trimEnd()}\n\n${beside}\n`.trimStart() : `${beside}\n\n${gate.name}:\n${own}`
  const pointer = `Its last lines are in the output of gate ${gate.name}.\n`
  return [
    ...results.map((one) => (one === gate ? { ...gate, output } : one)),
    ...reds.map((one) => ({ ...one, output: pointer })),
  ]
}

function formatNotReady(
  { ready, readyTimeoutMs }: Service,
  why: string | null,
  hasLeft = false,
): string | null {
  if (why === null) return null
  const left = hasLeft ? ', and its command has ended with exit code 0' : ''
  return `${NOT_READY} after ${Math.round(readyTimeoutMs / 1000)} s: ${describeReady(ready)}: ${why}${left}`
}

function hasParts(line: string, parts: readonly string[]): boolean {
  let at = 0
  return parts.every((part) => {
    const found = line.indexOf(part, at)
    at = found + part.length
    return found >= 0
  })
}
