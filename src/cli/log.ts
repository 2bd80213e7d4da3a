// `ralph log`: what a story's session and its gates said on this machine, and where that lies. Starts nothing.
import { once } from 'node:events'
import { basename, dirname, join, relative } from 'node:path'
import type { Usage } from '../agents/agent.ts'
import { TranscriptReader } from '../agents/readable.ts'
import type { Story } from '../model/feature.ts'
import { openAttempt } from '../model/job.ts'
import type { State } from '../model/state.ts'
import { outputsOf } from '../report/outputs.ts'
import { many, tokens, usd, utc } from '../report/words.ts'
import { UserError } from '../system/errors.ts'
import { watchFolders } from '../system/watch.ts'
import { textWidth } from '../terminal/width.ts'
import { type Answer, type Context, settingsOf, tell } from './context.ts'
import { type LocalRun, openLocal } from './local.ts'
import { foldersOf, GrowingFile, type Log, logsIn, newestRun, newestSession } from './logs.ts'

/** Of a text in `--json`, in UTF-16 units: its end. */
const IN_JSON = 256 * 1024
/** A holder that dies without a word changes no file: it is looked for so often while a run is followed. Milliseconds. */
const ALIVE_MS = 2000

type Shown = { path: string; kind: Log['kind']; bytes: number; text?: string }
type Say = (line: string) => void

export async function log(context: Context): Promise<Answer> {
  const { settings } = await settingsOf(context)
  using local = await openLocal(context, settings, {
    warn: (text) => tell(process.stderr, `warning: ${text}`),
  })
  const state = await local.look()
  const top = join(local.workspace.clone.gitDir, 'ralph')
  const [word] = context.given?.words ?? []
  const outputs = outputsOf(state, state.prd.run.outcome, null)
  const say: Say = (line) => tell(context.json ? process.stderr : process.stdout, line)
  const isRaw = context.flags.raw === true
  if (context.flags.follow === true) {
    const logs = await follow(local, state, word ?? null, isRaw, say)
    if (logs !== null) return { code: 0, outputs, more: { logs } }
    say(`nobody works on ${word ?? state.feature} on this machine now`)
  }
  const all = await logsIn(top, state.feature)
  const last = newestSession(all)
  // Who asked to follow wants a session, not the list of all.
  const named = context.flags.follow === true && last !== null ? [last] : all
  const wanted = word === undefined ? named : chosen(all, state, word, context.flags.attempt)
  if (wanted.length === 0) {
    say(
      `nothing of ${word ?? state.feature} lies on this machine: in CI a run keeps its transcripts as an artifact`,
    )
    return { code: 1, outputs, more: { logs: [] } }
  }
  const shown: Shown[] = []
  const isList = word === undefined && named === all
  const width = widthOf(context)
  if (isList && width !== null) say(`In ${top}:`)
  for (const one of wanted) {
    const { path, kind, bytes } = one
    if (isList) {
      for (const line of listed(one, top, width)) say(line)
      shown.push({ path, kind, bytes })
      continue
    }
    await using reading = new Reading(one, isRaw, local.workspace.redactor.redact)
    const lines = [...(await reading.more()), ...(await reading.end())]
    if (context.json) shown.push({ path, kind, bytes, text: lines.join('\n').slice(-IN_JSON) })
    else for (const line of [`== ${path}`, ...lines, '']) say(line)
  }
  return { code: 0, outputs, more: { logs: shown } }
}

/** Columns of the terminal that the list is for; null in a pipe. */
function widthOf({ json }: Context): number | null {
  const { isTTY, columns } = json ? process.stderr : process.stdout
  return isTTY ? columns : null
}

/** One of the list: in a pipe whole and on a line of its own; on a terminal so that no name is broken where it can be had. */
function listed({ at, bytes, path }: Log, top: string, width: number | null): string[] {
  if (width === null) return [`${new Date(at).toISOString()}  ${String(bytes).padStart(9)}  ${path}`]
  const head = `${utc(at)}  ${`${Math.ceil(bytes / 1024)} KB`.padStart(7)}`
  const name = relative(top, path)
  if (head.length + 2 + textWidth(name) <= width) return [`${head}  ${name}`]
  return [
    head,
    ...(2 + textWidth(name) <= width ? [`  ${name}`] : [`  ${dirname(name)}/`, `    ${basename(name)}`]),
  ]
}

/** A log as it is shown. Redacted once more: what lies there could have been written by an agent. */
class Reading {
  readonly path: string
  readonly #file: GrowingFile
  readonly #reader: TranscriptReader | null
  readonly #redact: (text: string) => string

  constructor({ path, kind }: Log, isRaw: boolean, redact: (text: string) => string) {
    this.path = path
    this.#file = new GrowingFile(path)
    this.#reader = kind === 'gate' || isRaw ? null : new TranscriptReader()
    this.#redact = redact
  }

  /** What has come since the last time. */
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
    return [...rest, ...lines, ...(usage === null ? [] : [`-- ${usedWords(usage)}`])]
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#file[Symbol.asyncDispose]()
  }
}

/** `12 turns, 310k tokens (290k of them cached), $0.42`: by the agent's own word. */
function usedWords({ turns, inputTokens, outputTokens, cachedTokens, costUsd }: Usage): string {
  const cached = cachedTokens > 0 ? ` (${tokens(cachedTokens)} of them cached)` : ''
  return [
    turns === null ? '' : many(turns, 'turn'),
    `${tokens(inputTokens + outputTokens)} tokens${cached}`,
    costUsd === null ? 'what it cost was not told' : usd(costUsd),
  ]
    .filter((part) => part !== '')
    .join(', ')
}

/**
 * Shows the sessions of a run in work, or the one of a story, until it has ended; waits for it where it may still come.
 * Null where nobody works on that, and nobody is about to.
 */
async function follow(
  local: LocalRun,
  { folder, feature, prd }: State,
  word: string | null,
  isRaw: boolean,
  say: Say,
): Promise<Shown[] | null> {
  const { clone, git, store, redactor } = local.workspace
  const top = join(clone.gitDir, 'ralph')
  const ids = prd.userStories.map(({ id }) => id)
  const story = ids.find((id) => id.toLowerCase() === word?.toLowerCase()) ?? null
  if (word !== null && story === null) return null
  const ofStory = (logs: readonly Log[]) =>
    story === null ? logs : logs.filter((one) => attemptOf(one, story, ids) !== null)
  let isExpected = prd.run.outcome !== 'complete' && ofStory(await logsIn(top, feature)).length === 0
  /** The state while somebody works on what is meant; `later` where that may still come; null when it is over. */
  const atWork = async (): Promise<State | 'later' | null> => {
    const state = (await store.load(folder.replace(/^\.ralph\//, '')))?.state ?? null
    if (state === null || state.lease === null || !(await local.alive(state.lease)))
      return isExpected ? 'later' : null
    // A run that has begun is the one that is waited for, and no other.
    isExpected = false
    if (story === null || openAttempt(state)?.storyId === story) return state
    return state.prd.userStories.some((one) => one.id === story && isOpen(one)) ? 'later' : null
  }
  let state = await atWork()
  if (state === null) return null
  let begun = state === 'later' ? null : state
  if (begun === null) say(`waiting for a session of ${story ?? feature}`)
  const heard = new EventTarget()
  const changed = () => heard.dispatchEvent(new Event('change'))
  const shown: Shown[] = []
  let watched = ''
  let watching: Disposable | null = null
  let reading: Reading | null = null
  const timer = setInterval(changed, ALIVE_MS)
  try {
    for (;;) {
      const logs = await logsIn(top, feature)
      const folders = [join(git.shared, local.settings.stateNamespace), ...foldersOf(top, logs)]
      const change = once(heard, 'change')
      if (folders.join('\n') !== watched) {
        watching?.[Symbol.dispose]()
        watched = folders.join('\n')
        watching = watchFolders(folders, changed)
      }
      const session = begun === null ? null : newestSession(ofStory(logs))
      const isNew = session !== null && session.path !== reading?.path
      if (isNew && begun !== null && session.at >= begun.job.startedAt) {
        for (const line of (await reading?.end()) ?? []) say(line)
        await reading?.[Symbol.asyncDispose]()
        reading = new Reading(session, isRaw, redactor.redact)
        shown.push({ path: session.path, kind: session.kind, bytes: session.bytes })
        say(`== ${session.path}`)
      }
      for (const line of (await reading?.more()) ?? []) say(line)
      // What was written before the end is read once more after it was seen.
      if (state === null) break
      state = await atWork()
      if (state === 'later' && begun !== null) state = null
      if (state !== 'later') begun ??= state
      if (state !== null) await change
    }
    for (const line of (await reading?.end()) ?? []) say(line)
    return begun === null ? null : shown
  } finally {
    clearInterval(timer)
    watching?.[Symbol.dispose]()
    await reading?.[Symbol.asyncDispose]()
  }
}

function isOpen({ passes, blocked, skipped }: Story): boolean {
  return !passes && !blocked && !skipped
}

/** Those of a story's attempt, or of what the word names beside stories, such as `verify`: the newest session and its gates. */
function chosen(logs: readonly Log[], { prd }: State, word: string, asked: Context['flags'][string]): Log[] {
  const ids = prd.userStories.map(({ id }) => id)
  const id = ids.find((one) => one.toLowerCase() === word.toLowerCase())
  if (id !== undefined) {
    const number = asked === undefined ? null : numberIn(asked)
    const attempts = logs.flatMap((one) => {
      const attempt = attemptOf(one, id, ids)
      return attempt === null || (number ?? attempt) !== attempt ? [] : [{ one, attempt }]
    })
    // A run that began anew counts from the start again.
    const run = newestRun(attempts.map(({ one }) => one))?.number
    const newest = attempts.filter(({ one }) => one.run?.number === run)
    const last = Math.max(0, ...newest.map(({ attempt }) => attempt))
    return newest.filter(({ attempt }) => attempt === last).map(({ one }) => one)
  }
  const named = logs.filter(({ name }) => name === word || name.startsWith(`${word}-`))
  if (named.length === 0 && !KINDS.includes(word)) {
    throw new UserError({
      path: 'ralph log',
      found: word,
      expected: 'a story, or one of verify, plan, baseline',
      fix: `use one of: ${ids.slice(0, 20).join(', ')}; or ralph log, for a list of all`,
    })
  }
  const session = named.filter(({ kind }) => kind === 'session').at(-1)
  return [
    ...named.filter(({ kind }) => kind === 'gate').slice(-MOST_GATES),
    ...(session === undefined ? [] : [session]),
  ]
}

const KINDS = ['verify', 'plan', 'baseline']
/** Gates of the newest verification, as far as their names tell. */
const MOST_GATES = 10

/** `US-001-2` and `US-001-2-test` are of the second attempt on US-001, where no story is called US-001-2. */
function attemptOf({ name }: Log, id: string, ids: readonly string[]): number | null {
  if (ids.some((other) => other.length > id.length && other.startsWith(id) && isOf(name, other))) return null
  return isOf(name, id) ? Number.parseInt(name.slice(id.length + 1), 10) : null
}

function isOf(name: string, id: string): boolean {
  return name.startsWith(`${id}-`) && /^\d+(?:-|$)/.test(name.slice(id.length + 1))
}

function numberIn(given: Context['flags'][string]): number {
  const found = Number(given)
  if (Number.isInteger(found) && found > 0) return found
  throw new UserError({
    path: '--attempt',
    found: String(given),
    expected: 'the number of an attempt',
    fix: 'write 1 for the first',
  })
}
