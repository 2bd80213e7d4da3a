// Runs the gates and the prepare command: in order, bounded in time and output, without keys. Implements GatesPort.
import { relative } from 'node:path'
import { furtherName, type Gate, type GateResult, isToFail } from '../engine/model/gate.ts'
import { OUTPUT_BYTES } from '../engine/model/gate-output.ts'
import type { GateRun, GatesPort } from '../engine/model/ports.ts'
import { isFor } from '../engine/model/service.ts'
import { type OtherUser, sharedUser } from '../isolation/other-user.ts'
import type { Redactor } from '../isolation/redact.ts'
import { openScratch, type Scratch } from '../isolation/scratch.ts'
import { excerpt } from '../system/excerpt.ts'
import { type Exit, markOfPart, runUntrusted } from '../system/process.ts'
import {
  CAPTURE_BYTES,
  cleanOutput,
  formatExit,
  INTO_ONE_PIPE,
  type LogFolder,
  SHELL,
  WAIT_FOR_PIPE,
  writeLog,
} from './captured-output.ts'
import { counterexampleGate } from './counterexample-gate.ts'
import {
  type CodeReader,
  type GateOutcome,
  type GateReport,
  stampsBefore,
  withEvidence,
} from './gate-evidence.ts'
import { type ReuseFacts, reuseKeys } from './reuse-key.ts'
import { isAskedFor, readChange, selectGates } from './select-gates.ts'
import type { GateSurroundings, Services } from './services.ts'
import { sideBySide } from './side-by-side.ts'
import { withToolFolders } from './tool-folders.ts'
import { formatRunAlone, TreeChanges } from './tree-changes.ts'

export type GatesOptions = {
  gates: readonly Gate[]
  /** How many of them run at the same time. */
  parallel: number
  prepare: string | null
  /** True when a lockfile differs between the two commits. */
  lockfileChanged(from: string, to: string): Promise<boolean>
  /** Whether named tests may fail on the base: \`baseline: known-red\`. */
  knownRed?: boolean
  code: CodeReader
  /** Makes the work tree the commit again, before a gate runs once more on it. */
  restore(commit: string): Promise<unknown>
  /** The work tree, and the folder in it that gates run in. */
  top: string
  /** Replaces the tree's path in shown outputs, if the tree is not the person's own. */
  shownTop?: string
  cwd: string
  /** The allow-listed environment: no token, no model key. */
  env: Readonly<Record<string, string>>
  redactor: Redactor
  /** See RunRequest. */
  mark?: string
  /** See RunRequest. */
  as?: OtherUser | null
  /** Whole outputs are kept here, on this machine only; null keeps none. */
  logs: LogFolder | null
  onStart(name: string): void
  /** What a gate or `prepare` printed last, redacted; not every line. */
  onOutput?(name: string, line: string): void
  onEnd(result: GateResult): void
  /** Called when gates first run. */
  services?: () => Promise<Services>
  after?: AfterGates
  /** What results depend on alongside a gate and its tree; left out if no result may be reused. */
  reuse?: ReuseFacts
}

/**
 * A check that runs after green gates, while the services still run. `as`: the user of gates, for programs whose end must not end the
 * services; null for the runner's own user.
 */
export type AfterGates = (
  run: GateRun,
  signal: AbortSignal,
  as: OtherUser | null,
) => Promise<readonly GateResult[]>

/** The user and environment of a gate's process, and the mark by which processes that it leaves are found. */
type GateProcess = { as: OtherUser | null; env: Readonly<Record<string, string>>; mark?: string }

const PIPED_SCRIPT = `${INTO_ONE_PIPE}; exec bash ${SHELL.join(' ')} "$1"`
/** Waits for the `cat`: in a process namespace everything ends with its first process. */
const PIPED_SCRIPT_IN_NAMESPACE = `${INTO_ONE_PIPE}; bash ${SHELL.join(' ')} "$1"; code=$?; ${WAIT_FOR_PIPE}; exit $code`
/** How long `prepare` may take, milliseconds. */
export const PREPARE_TIMEOUT_MS = 30 * 60_000

export function createGates(options: GatesOptions): GatesPort {
  /** The commit for which the dependencies were installed. */
  let preparedFor: string | null = null
  let services: Promise<Services> | undefined
  const user = options.as ?? null
  /** Temporary folders of gates and services, kept as long as a service runs. */
  let place: Scratch | null = null

  const newPlace = () => openScratch(user, options.mark === undefined ? {} : { mark: options.mark })

  async function runOnce(
    gate: Gate,
    signal: AbortSignal,
    { as, env, mark = options.mark }: GateProcess,
  ): Promise<GateOutcome & { exit: Exit }> {
    const { exit, output, ms } = await runUntrusted({
      file: 'bash',
      args: [...SHELL, as?.isNarrow === true ? PIPED_SCRIPT_IN_NAMESPACE : PIPED_SCRIPT, 'bash', gate.run],
      cwd: options.cwd,
      env,
      timeoutMs: gate.timeoutMs,
      signal,
      captureBytes: CAPTURE_BYTES,
      onLine: lastLines((line) => options.onOutput?.(gate.name, options.redactor.redact(line))),
      ...(mark === undefined ? {} : { mark }),
      as,
    })
    const ok = exit.kind === 'exit' && exit.code === 0
    const ended = formatExit(exit, gate.timeoutMs)
    const { top, shownTop = top } = options
    return { ok, ended, ms, output: cleanOutput(output.replaceAll(top, shownTop), options.redactor), exit }
  }

  /** Logs and reports a result, and limits its output. */
  async function finishGate(
    { name, advisory, further }: Pick<Gate, 'name' | 'advisory'> & Pick<GateResult, 'further'>,
    what: string,
    shown: GateReport,
    log = shown.output,
  ) {
    await writeLog(options.logs, [what, name], log)
    const marked = further === undefined ? {} : { further }
    const result = { ...shown, ...marked, name, advisory, output: excerpt(shown.output, OUTPUT_BYTES.stored) }
    options.onEnd(result)
    return result
  }

  async function runGate(
    gate: Gate,
    run: GateRun,
    signal: AbortSignal,
    where: GateProcess,
  ): Promise<GateResult> {
    const { further } = run
    const reported =
      further === undefined ? gate : { name: furtherName(gate.name, further), advisory: true, further }
    options.onStart(reported.name)
    const canRestore = user === null || services === undefined
    const redact = options.redactor.redact
    const mostMs = run.timeoutsMs?.[gate.name]
    const limited = mostMs === undefined ? gate : { ...gate, timeoutMs: Math.min(gate.timeoutMs, mostMs) }
    const red: GateOutcome[] = []
    for (;;) {
      const before = await stampsBefore(gate, options)
      const { exit, ...ran } = await runOnce(limited, signal, where)
      const isOver = ran.ok || signal.aborted || exit.kind === 'not-started'
      const isLast = isOver || isToFail(run.further) || red.length >= (gate.retries ?? 0)
      const mayFail = options.knownRed === true || run.baseline[gate.name]?.knownRed !== undefined
      const shown =
        isLast || mayFail ? await withEvidence(gate, ran, before, run, { ...options, redact }) : null
      if (shown !== null && (isLast || shown.ok))
        return finishGate(reported, run.what, ...reportTries(shown, [...red, ran], canRestore))
      red.push(ran)
      if (canRestore) await restoreTree(run.commit)
    }
  }

  /** Root works by path, so the tree is not restored while services of the other user run, which could replace folders by links. */
  async function restoreTree(commit: string): Promise<void> {
    if (user !== null && services !== undefined) return
    await user?.revoke()
    await options.restore(commit).finally(() => user?.grant())
  }

  async function closePlace(): Promise<void> {
    if ((await services)?.isUp() === true) return
    const left = place
    place = null
    await left?.[Symbol.asyncDispose]()
  }

  async function close(): Promise<void> {
    await (await services)?.[Symbol.asyncDispose]()
    await closePlace()
  }

  async function runGates(
    run: GateRun,
    signal: AbortSignal,
    beside: GateSurroundings,
    { env }: Scratch,
  ): Promise<GateResult[]> {
    const { parallel, mark, after } = options
    const change = await readChange(run, options)
    const files = run.commit === '' ? [] : await options.code.files(run.commit)
    const tracked = belowGates(files, options)
    const inside = ({ run: command }: Gate) =>
      withToolFolders({ ...env(options.env), ...change.env }, options.cwd, command, tracked)
    const blocks = ({ name, ok, advisory }: GateResult) =>
      !isToFail(run.further) && !ok && (!advisory || run.further === 'checks') && isAskedFor(run, name)
    const watched = parallel > 1 ? files : []
    const besideEachOther = (gates: readonly Gate[], changes: TreeChanges) =>
      sideBySide(gates, parallel, signal, {
        blocks,
        goesOn: beside.isUp,
        perform: async (gate, slot, either) => {
          const alone = { as: beside.user, env: inside(gate) }
          const own = mark === undefined ? {} : { mark: markOfPart(mark, `gate${slot}`) }
          const where = parallel === 1 ? alone : { ...alone, ...own, as: sharedUser(beside.user) }
          changes.begins(gate.name)
          return runGate(gate, run, either, where).finally(() => changes.ends(gate.name))
        },
      })
    const runAll = async (all: readonly Gate[]) => {
      const gates = all.map((gate) =>
        run.baseline[gate.name]?.alone ? { ...gate, alone: true as const } : gate,
      )
      const changes = new TreeChanges(options.top, watched)
      const results = await besideEachOther(gates, changes)
      const { together } = changes
      if (together.size === 0 || signal.aborted || !beside.isUp()) return results
      const again = await runAlone(gates, together)
      return again.map((one) => markAlone(one, together))
    }
    /** Gates that disturbed each other give no valid results: all run again, on the restored tree. */
    const runAlone = async (gates: readonly Gate[], together: ReadonlySet<string>) => {
      if (parallel > 1) await beside.user?.end()
      await restoreTree(run.commit)
      const alone = gates.map((gate) => (together.has(gate.name) ? { ...gate, alone: true as const } : gate))
      return besideEachOther(alone, new TreeChanges(options.top, watched))
    }
    const selected = selectGates(options.gates, run, change.touches)
    const afterPages = selected.filter(({ behindPages }) => behindPages === true)
    const results = await runAll(selected.filter((gate) => !afterPages.includes(gate)))
    const goesOn = () => !signal.aborted && beside.isUp() && !results.some(blocks)
    if (parallel > 1) await beside.user?.end()
    if (after !== undefined && goesOn()) results.push(...(await after(run, signal, beside.user)))
    if (afterPages.length > 0 && goesOn()) {
      results.push(...(await runAll(afterPages)))
      if (parallel > 1) await beside.user?.end()
    }
    const owed = run.further === undefined ? (run.counterexamples ?? []) : []
    if (owed.length > 0 && goesOn())
      results.push(...(await runAll(owed.map((one, at) => counterexampleGate(one, options, at)))))
    return run.further === undefined ? results : results.filter(({ name }) => isAskedFor(run, name))
  }

  return {
    async run(request, signal) {
      const run = withTagsOfGates(request, options.gates)
      services ??= options.services?.()
      // Once for all gates, because it walks the whole tree.
      await user?.grant()
      try {
        place ??= await newPlace()
        const at = place
        const results =
          services === undefined
            ? await runGates(run, signal, { user: at.as, isUp: () => true }, at)
            : await (await services).beside(run, signal, at, (beside) => runGates(run, signal, beside, at))
        const { further } = run
        return further === undefined ? results : results.map((one) => ({ ...one, advisory: true, further }))
      } finally {
        await user?.revoke()
        await closePlace()
      }
    },
    names: ({ tags, also = [] }) =>
      options.gates
        .filter(({ name, when }) => isFor(when, tags) || also.includes(name))
        .map(({ name }) => name),
    ...(options.reuse === undefined ? {} : { keys: createKeys(options.gates, options.reuse) }),
    canPrepare: options.prepare !== null,
    async prepare(commit, signal, what) {
      const { prepare: run } = options
      if (run === null) return null
      const before = preparedFor
      preparedFor = commit
      if (before !== null && !(await options.lockfileChanged(before, commit))) return null
      const gate = { name: 'prepare', run, timeoutMs: PREPARE_TIMEOUT_MS, when: null, advisory: false }
      options.onStart(gate.name)
      await using own = await newPlace()
      const where = { as: own.as, env: own.env(options.env) }
      const { exit: _, ...ran } = await runOnce(gate, signal, where)
      const result = await finishGate(gate, what ?? '', ran)
      if (!result.ok) preparedFor = null
      return result
    },
    async renew() {
      preparedFor = null
      await close()
      await options.as?.renewHome()
    },
    [Symbol.asyncDispose]: close,
  }
}

/** Passes on a line now and then: to redact every line of a loud gate would take long. */
function lastLines(take: (line: string) => void): (stream: unknown, line: string) => void {
  let next = 0
  return (_, line) => {
    const now = Date.now()
    if (now < next || line.trim() === '') return
    next = now + LINE_MS
    take(line)
  }
}

const LINE_MS = 500

/** The paths below the folder in which gates run, relative to it. */
function belowGates(files: readonly string[], { top, cwd }: GatesOptions): readonly string[] {
  const start = cwd === top ? '' : `${relative(top, cwd)}/`
  return files.filter((path) => path.startsWith(start)).map((path) => path.slice(start.length))
}

function createKeys(gates: readonly Gate[], facts: ReuseFacts): NonNullable<GatesPort['keys']> {
  return (commit, base) => reuseKeys(gates, { commit, base }, facts)
}

/** Adds the tags of gates that run in addition (`also`), so that the services which they need are started. */
function withTagsOfGates(run: GateRun, gates: readonly Gate[]): GateRun {
  const { tags, also = [] } = run
  if (tags === null || also.length === 0) return run
  const more = gates.filter(({ name }) => also.includes(name)).flatMap(({ when }) => when ?? [])
  return { ...run, tags: [...new Set([...tags, ...more])] }
}

function markAlone(result: GateResult, together: ReadonlySet<string>): GateResult {
  if (!together.has(result.name)) return result
  const remarks = [formatRunAlone(result.name, together), ...(result.remarks ?? [])]
  return { ...result, remarks, alone: true }
}

/** Adds a remark to a gate that ran more than once; the log has all tries. `isSame`: the tree was restored before each try. */
function reportTries(
  shown: GateReport,
  tries: readonly GateOutcome[],
  isSame: boolean,
): [shown: GateReport, log: string] {
  const [first, last] = [tries[0], tries.at(-1)]
  if (first === undefined || last === undefined || tries.length === 1) return [shown, shown.output]
  const all = tries.length
  const log = [...tries.slice(0, -1), shown]
    .map(({ output }, at) => `--- try ${at + 1} of ${all} ---\n${output}`)
    .join('\n')
  const tree = isSame
    ? 'on the same files'
    : 'on the files as the previous try left them, because services use them'
  const flaky = `flaky: failed (${first.ended}), then passed at try ${all} ${tree}`
  const report = {
    ...shown,
    ms: tries.reduce((sum, { ms }) => sum + ms, 0),
    // For a red gate only the last try is kept: it helps most to fix the failure.
    output: shown.ok ? log : shown.output,
    ...(shown.ok ? { flaky: true as const } : {}),
    remarks: [shown.ok ? flaky : `failed at each of ${all} tries ${tree}`, ...(shown.remarks ?? [])],
  }
  return [report, log]
}
