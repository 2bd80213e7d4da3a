// `ralph log`: shows the output of a story's sessions and gates on this machine, and the paths of the logs. Starts nothing.
import { join } from 'node:path'
import { TranscriptReader } from '../agents/readable.ts'
import { isAlive } from '../app/at-work.ts'
import type { Usage } from '../engine/model/agent-event.ts'
import type { State } from '../engine/model/state.ts'
import { formatTokens, formatUsd, pluralize } from '../report/figures.ts'
import { UserError } from '../system/errors.ts'
import { type CommandResult, type Context, resultOfState } from './command-context.ts'
import { type LocalRun, openFeature, storyWords } from './local-feature.ts'
import { ALIVE_MS, GrowingFile, type Log, logsIn, newestRun, newestSession, watchRuns } from './logs.ts'

/** In `--json`, so much of the end of a text is given. UTF-16 units. */
const JSON_TEXT = 256 * 1024

type ShownLog = Pick<Log, 'path' | 'kind' | 'bytes'> & { text?: string }

const inJson = ({ path, kind, bytes }: Log): ShownLog => ({ path, kind, bytes })

export async function log(context: Context): Promise<CommandResult> {
  using local = await openFeature(context, true)
  const { print, flags } = context
  const state = await local.look()
  const [word, ...others] = storyWords(context, state)
  if (word !== undefined && others.length > 0) {
    const found = `ralph log shows one story, but several are named: ${[word, ...others].join(' ')}.`
    throw new UserError({ path: 'ralph log', found, expected: '', fix: `ralph log ${word}` })
  }
  const number = flags.attempt === undefined ? null : numberIn(flags.attempt, word)
  if (flags.follow === true) {
    const logs = await follow(context, local, state, word ?? null)
    if (logs !== null) return resultOfState(state, { logs })
    print(`no run is working on ${word ?? state.feature} on this machine`)
  }
  const all = await logsIn(topOf(local), state.feature)
  const isList = word === undefined && flags.follow !== true
  const last = newestSession(all)
  // `--follow` shows one session if no run is at work, not the list of all.
  const newest = last === null ? [] : [last]
  const byDefault = isList ? all : newest
  const selected = word === undefined ? byDefault : selectLogs(all, state, word, number)
  if (selected.length === 0) {
    const story = state.prd.userStories.find(({ id }) => id.toLowerCase() === word?.toLowerCase())
    const isNew = story !== undefined && (state.records[story.id]?.attempts ?? 0) === 0
    const why = isNew
      ? 'no session has worked on it yet'
      : 'if it ran in CI, its logs are in an artifact of the job'
    print(`there is no log of ${word ?? state.feature} on this machine: ${why}`)
    return resultOfState(state, { logs: [] }, 1)
  }
  if (isList) {
    for (const { at, bytes, path } of selected)
      print(`${new Date(at).toISOString()}  ${String(bytes).padStart(9)}  ${path}`)
    print(`To read one: ${readers(selected, state).join(', ')}`)
    return resultOfState(state, { logs: selected.map(inJson) })
  }
  const logs: ShownLog[] = []
  for (const one of selected) {
    await using reading = new LogReading(one, context, local)
    const lines = await reading.end()
    logs.push(context.json ? { ...inJson(one), text: lines.join('\n').slice(-JSON_TEXT) } : inJson(one))
    if (!context.json)
      print([`== ${one.path}`, ...(lines.length === 0 ? [emptyLine(one)] : lines), ''].join('\n'))
  }
  return resultOfState(state, { logs })
}

const emptyLine = ({ kind }: Log): string =>
  kind === 'session'
    ? '(the session printed nothing before it ended; ralph why shows how it ended)'
    : '(the gate printed nothing)'

/** The command lines that show the logs of a list, the newest first. */
function readers(logs: readonly Log[], { prd }: State): string[] {
  const ids = prd.userStories.map(({ id }) => id)
  const words = logs.toReversed().flatMap((one) => {
    const kind = KINDS.find((kind) => isOfKind(one, kind))
    return ids.find((id) => attemptOf(one, id, ids) !== null) ?? kind ?? []
  })
  return [...new Set(words)].slice(0, MAX_READERS).map((word) => `ralph log ${word}`)
}

const MAX_READERS = 3

const topOf = ({ workspace }: LocalRun): string => join(workspace.clone.gitDir, 'ralph')

/** Reads a log to show it. It is redacted again, because an agent could have written the file. */
class LogReading {
  readonly path: string
  readonly #file: GrowingFile
  readonly #reader: TranscriptReader | null
  readonly #redact: (text: string) => string

  constructor({ path, kind }: Log, { flags }: Context, { workspace }: LocalRun) {
    this.path = path
    this.#file = new GrowingFile(path)
    this.#reader = kind === 'gate' || flags.raw === true ? null : new TranscriptReader()
    this.#redact = workspace.redactor.redact
  }

  /** The lines that came since the last call. */
  async more(isOver = false): Promise<string[]> {
    const lines = await this.#file.lines(isOver)
    if (lines.length === 0) return []
    const clean = this.#redact(lines.join('\n')).split('\n')
    return this.#reader?.read(clean) ?? clean
  }

  /** The rest, and what the session used. */
  async end(): Promise<string[]> {
    const rest = await this.more(true)
    const { lines, usage } = this.#reader?.end() ?? { lines: [], usage: null }
    return [...rest, ...lines, ...(usage === null ? [] : [`-- ${formatUsage(usage)}`])]
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#file[Symbol.asyncDispose]()
  }
}

/** `12 turns, 310k tokens (290k of them cached), $0.42`, as the agent reported. */
function formatUsage({ turns, inputTokens, outputTokens, cachedTokens, costUsd }: Usage): string {
  const cached = cachedTokens > 0 ? ` (${formatTokens(cachedTokens)} of them cached)` : ''
  return [
    turns === null ? '' : pluralize(turns, 'turn'),
    `${formatTokens(inputTokens + outputTokens)} tokens${cached}`,
    costUsd === null ? 'no cost reported' : formatUsd(costUsd),
  ]
    .filter((part) => part !== '')
    .join(', ')
}

/** Shows the sessions of a run at work (of one story where one is named) until the run has ended. Null if no run is at work. */
async function follow(
  context: Context,
  local: LocalRun,
  { feature, prd, lease, job }: State,
  word: string | null,
): Promise<ShownLog[] | null> {
  const { print } = context
  const ids = prd.userStories.map(({ id }) => id)
  const story = ids.find((id) => id.toLowerCase() === word?.toLowerCase()) ?? null
  if (word !== null && story === null) return null
  if (!(await isAlive(lease))) return null
  const newestNow = async () => {
    const logs = await logsIn(topOf(local), feature, 'newest')
    return newestSession(story === null ? logs : logs.filter((one) => attemptOf(one, story, ids) !== null))
  }
  using watcher = watchRuns(local.workspace, local.settings)
  const shown: ShownLog[] = []
  let reading: LogReading | null = null
  try {
    for (;;) {
      const isOver = !(await isAlive(lease))
      const session = await newestNow()
      if (session !== null && session.at >= job.startedAt && session.path !== reading?.path) {
        for (const line of (await reading?.end()) ?? []) print(line)
        await reading?.[Symbol.asyncDispose]()
        reading = new LogReading(session, context, local)
        shown.push(inJson(session))
        print(`== ${session.path}`)
      }
      // Whether it is over was asked first, so that output from just before the end is not missed.
      for (const line of (await (isOver ? reading?.end() : reading?.more())) ?? []) print(line)
      if (isOver) return shown
      await watcher.next(ALIVE_MS)
    }
  } finally {
    await reading?.[Symbol.asyncDispose]()
  }
}

/** The logs of a story's attempt; or, for another word such as `verify`, the newest session of that kind and its gates. */
function selectLogs(logs: readonly Log[], { prd }: State, word: string, parsed: number | null): Log[] {
  const ids = prd.userStories.map(({ id }) => id)
  const id = ids.find((one) => one.toLowerCase() === word.toLowerCase())
  if (id !== undefined) {
    const all = logs.flatMap((one) => {
      const attempt = attemptOf(one, id, ids)
      return attempt === null ? [] : [{ one, attempt }]
    })
    const attempts = all.filter(({ attempt }) => parsed === null || attempt === parsed)
    if (all.length > 0 && attempts.length === 0)
      throw noAttempt(id, parsed, new Set(all.map(({ attempt }) => attempt)))
    // A run that began again counts attempts from 1 again.
    const run = newestRun(attempts.map(({ one }) => one))
    const newest = attempts.filter(({ one }) => (one.run?.number ?? null) === run)
    const last = Math.max(0, ...newest.map(({ attempt }) => attempt))
    return newest.filter(({ attempt }) => attempt === last).map(({ one }) => one)
  }
  const named = logs.filter((one) => isOfKind(one, word))
  if (named.length === 0 && !KINDS.includes(word)) {
    throw new UserError({
      path: 'ralph log',
      found: `there is no story ${word}. The logs that belong to no story are verify, plan and baseline.`,
      expected: '',
      fix: `use one of: ${ids.slice(0, 20).join(', ')}; ralph log lists all`,
    })
  }
  const gates = named.filter(({ kind }) => kind === 'gate').slice(-MAX_GATES)
  return [...gates, ...named.filter(({ kind }) => kind === 'session').slice(-1)]
}

const isOfKind = ({ name }: Log, word: string) => name === word || name.startsWith(`${word}-`)

const KINDS = ['verify', 'plan', 'baseline']
/** Gates of the newest verification: names of logs do not say of which one. */
const MAX_GATES = 10

/** `US-001-2` and `US-001-2-test` are logs of the second attempt on US-001, unless a story is called US-001-2. */
function attemptOf({ name }: Log, id: string, ids: readonly string[]): number | null {
  if (ids.some((other) => other.length > id.length && other.startsWith(id) && isOf(name, other))) return null
  return isOf(name, id) ? Number.parseInt(name.slice(id.length + 1), 10) : null
}

function isOf(name: string, id: string): boolean {
  return name.startsWith(`${id}-`) && /^\d+(?:-|$)/.test(name.slice(id.length + 1))
}

function numberIn(value: Context['flags'][string], story: string | undefined): number {
  const found = Number(value)
  if (Number.isInteger(found) && found > 0 && story !== undefined) return found
  throw new UserError({
    path: '--attempt',
    found: `${value}${story === undefined ? ' without a story' : ''}`,
    expected: 'the number of an attempt, 1 for the first',
    fix: `ralph log ${story ?? 'US-001'} --attempt 1`,
  })
}

function noAttempt(id: string, number: number | null, there: ReadonlySet<number>): UserError {
  const expected = `an attempt with logs on this machine: ${[...there].sort((one, other) => one - other).join(', ')}`
  const fix = `to see the last attempt: ralph log ${id}`
  return new UserError({ path: '--attempt', found: String(number), expected, fix })
}
