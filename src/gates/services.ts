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
  type Service,
  TAKEN,
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

export type Services = ReturnType<typeof createServices>

export type GateSurroundings = {
  /** False once a service has ended. */
  isUp(): boolean
  /** The user for programs whose end must not end the services. */
  user: OtherUser | null
}

/** The last lines of a log are what tells; more than these are not looked at. */
const LAST_LINES = 200
/** Of those that stand: more would be no help in a prompt. */
const CONTEXT_LINES = 15
/** A port that one of ours has just left may be seen for a moment. */
const EXIT_GRACE_MS = 500
/** An answer is asked for once more when gates are done. */
const STILL_READY_MS = 10_000

/** A service that did not become ready, or ended. `one`: its process, if started. `why`: what happened, in words that follow its name. */
type FailedService = { service: Service; one: RunningService | null; why: string }

export function createServices(options: ServicesOptions) {
  const { redactor, cwd } = options
  /** Those of the present run of gates. */
  let as = options.as
  let envOf = options.envOf
  const running = new Map<Service, RunningService>()
  let count = 0

  function readyCheckOf(service: Service): ReadyCheck | null {
    const ready = as?.hasOwnLoopback === true ? asCommand(service.ready) : service.ready
    return createReadyCheck(ready, (command, ...bounds) => exitOf(command, service, ...bounds))
  }

  /** Null for exit code 0; else how the command ended, with its last line. */
  async function exitOf(command: string, service: Service, ...[ms, signal]: Parameters<ReadyCheck>) {
    const { exit, output } = await runUntrusted({
      ...program('bash', [...SHELL, command]),
      env: envOf(service),
      timeoutMs: ms,
      signal,
      as: sharedUser(as),
    })
    if (exit.kind === 'exit' && exit.code === 0) return null
    const said = output.trim().split('\n').at(-1)?.slice(0, 200) ?? ''
    return `${formatExit(exit, ms)}${said === '' ? '' : `: ${said}`}`
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
    const inTheWay = await findOccupant(service, look, signal)
    // The port was free before, so one of our own services took it.
    if (inTheWay !== null && wasFree && running.size > 0)
      return `${CANNOT_START}${inTheWay.replace(TAKEN, 'answers since a service before it came up')}`
    if (inTheWay !== null) return `${CANNOT_START}${inTheWay}`
    options.onStart(`service ${service.name}`)
    count += 1
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
        ? await delay(readyTimeoutMs, 'nothing said it', { signal: either }).catch(() => null)
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
      return `\`${ready.run}\` is content already`
    // Only they use a loopback of their own, and all of them are ended.
    if (as?.hasOwnLoopback === true) return null
    const last = performance.now() + EXIT_GRACE_MS
    for (let found = await findTakenPort(ready); found !== null; found = await findTakenPort(ready)) {
      if (performance.now() > last) return formatTakenPort(found)
      await delay(50)
    }
    return null
  }

  /** Asks the ready check of services whose process we do not hold, and of all of them beside a red gate. */
  async function findFailed({ tags }: GateRun, results: readonly GateResult[], signal: AbortSignal) {
    // No further gate begins when one has fallen.
    const during = results.at(-1)?.name ?? ''
    const looks = options.services.map(async (service): Promise<FailedService[]> => {
      if (!isFor(service.when, tags)) return []
      const one = running.get(service) ?? null
      const isAsked = one === null || one.hasLeft || results.some(({ ok }) => !ok)
      const look = readyCheckOf(service)
      const why = one?.ended == null && isAsked ? ((await look?.(STILL_READY_MS, signal)) ?? null) : null
      // It may be on its way out.
      if (one !== null && isAsked && (why !== null || look === null))
        await resolvesWithin(EXIT_GRACE_MS, one.over)
      if (one?.ended != null) return [{ service, one, why: `ended (${one.ended}) while gate ${during} ran` }]
      return why === null ? [] : [{ service, one, why: `answers no more: ${why}` }]
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
    // What left them, too. Where that cannot be ended, the tree stays theirs: see runUntrusted.
    await as.grant()
    await as.end()
    await as.revoke()
  }

  /** The services to end now. Those of another user always end, as none of its processes may run while Ralph works on the tree. */
  function servicesToEnd(fell: readonly FailedService[]): RunningService[] {
    const stays = ({ service, ended }: RunningService) =>
      as === null && !service.restartBeforeVerify && ended === null
    return [...running.values()].filter((one) => !stays(one) || fell.some((fallen) => fallen.one === one))
  }

  /** Once they are over, or as far as they are: a log for each of them. */
  async function writeLogs(ones: readonly RunningService[], what: string, isAborted: boolean) {
    const logs = new Map<Service, string>()
    for (const service of options.services) {
      const one = ones.find((running) => running.service === service)
      const files = isAborted ? '' : await filesOf(service)
      if (one === undefined && files === '') continue
      const text = cleanOutput(`${one?.output() ?? ''}${files}`, redactor)
      logs.set(service, text)
      await writeLog(options.logs, [what, `service-${service.name}`], text)
    }
    return logs
  }

  /** What it wrote into files, read as whom it ran: a name there may lead anywhere. */
  async function filesOf({ logs }: Service): Promise<string> {
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
      const said = cleanOutput(one.output(), redactor).trimEnd()
      const last = said.split('\n').slice(-CONTEXT_LINES).join('\n')
      return said === '' ? [] : [`Last lines of service ${one.service.name}:\n${last}`]
    })
  }

  /**
   * Does `act` beside them. Where one does not come up, it is not done. One that falls meanwhile is a red result of its own,
   * and named in that of the gate that is red; else that has what they said last. All of it is in `place`.
   */
  async function beside(
    run: GateRun,
    signal: AbortSignal,
    place: Scratch,
    act: (beside: GateSurroundings) => Promise<GateResult[]>,
  ): Promise<GateResult[]> {
    as = place.as
    envOf = (service) => place.env(options.envOf(service))
    let fell: FailedService[] = []
    let results: GateResult[] = []
    let said: string[] = []
    let logs = new Map<Service, string>()
    try {
      fell = await startServices(run, signal)
      if (fell.length === 0 && !signal.aborted) {
        const ones = [...running.values()]
        results = await act({
          isUp: () => ones.every(({ ended }) => ended === null),
          user: sharedUser(as),
        })
        if (!signal.aborted) fell = await findFailed(run, results, signal)
        // Before they are ended, which many of them have something to say of.
        if (results.some(isRed)) said = lastLines()
      }
    } finally {
      const ones = [...running.values()]
      await end(servicesToEnd(fell))
      logs = await writeLogs(ones, run.what, signal.aborted)
    }
    const reds: GateResult[] = []
    for (const one of fell) reds.push(await redResult(one, logs.get(one.service)))
    return withServices(results, reds, said)
  }

  return { beside, isUp: () => running.size > 0, [Symbol.asyncDispose]: () => end([...running.values()]) }
}

/**
 * The output of a red gate has the services, too: first one that fell, which may be why the gate is red; else, behind its own
 * lines, the last lines of those that stand. None is there twice.
 */
function withServices(
  results: readonly GateResult[],
  reds: readonly GateResult[],
  said: readonly string[],
): GateResult[] {
  const gate = results.find(isRed)
  if (gate === undefined || reds.length + said.length === 0) return [...results, ...reds]
  const fell = reds
    .map(({ name, ended, output }) => `${name} ${ended}. Its last lines:\n${output}`)
    .join('\n')
  const room = OUTPUT_BYTES[fell === '' ? 'standingServices' : 'service']
  const beside = excerpt(fell === '' ? said.join('\n\n') : fell, room).trimEnd()
  const own = excerpt(gate.output, OUTPUT_BYTES.stored - utf8Bytes(beside) - gate.name.length - 10)
  const output =
    fell === '' ? `${own.trimEnd()}\n\n${beside}\n`.trimStart() : `${beside}\n\n${gate.name}:\n${own}`
  const pointer = `Its last lines stand in the output of gate ${gate.name}.\n`
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
  const left = hasLeft ? ', and its command has ended with exit 0' : ''
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
