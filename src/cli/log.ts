// `ralph log`: what a story's session and its gates said on this machine, and where that lies. Starts nothing.
import { constants } from 'node:fs'
import { lstat, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readableLines } from '../agents/readable.ts'
import type { Workspace } from '../app/workspace.ts'
import type { State } from '../model/state.ts'
import { outputsOf } from '../report/outputs.ts'
import { UserError } from '../system/errors.ts'
import { type Answer, type Context, settingsOf, tell } from './context.ts'
import { openLocal } from './local.ts'

/** `kind`: of a session, or of what ran before and after it. */
type Log = { path: string; kind: 'session' | 'gate'; name: string; at: number; bytes: number }

/** Of a text in `--json`, in UTF-16 units: its end. */
const IN_JSON = 256 * 1024

export async function log(context: Context): Promise<Answer> {
  const { settings } = await settingsOf(context)
  using local = await openLocal(context, settings, {
    warn: (text) => tell(process.stderr, `warning: ${text}`),
  })
  const state = await local.look()
  const all = await logsIn(join(local.workspace.clone.gitDir, 'ralph'))
  const [word] = context.given?.words ?? []
  const wanted = word === undefined ? all : chosen(all, state, word, context.flags.attempt)
  const outputs = outputsOf(state, state.prd.run.outcome, null)
  const say = (line: string) => tell(context.json ? process.stderr : process.stdout, line)
  if (wanted.length === 0) {
    say(
      `nothing of ${word ?? state.feature} lies on this machine: in CI a run keeps its transcripts as an artifact`,
    )
    return { code: 1, outputs, more: { logs: [] } }
  }
  const isRaw = context.flags.raw === true
  const shown: { path: string; kind: Log['kind']; bytes: number; text?: string }[] = []
  for (const one of wanted) {
    const { path, kind, bytes } = one
    if (word === undefined) {
      say(`${new Date(one.at).toISOString()}  ${String(bytes).padStart(9)}  ${path}`)
      shown.push({ path, kind, bytes })
      continue
    }
    const lines = await linesIn(path, kind === 'gate' || isRaw, local.workspace)
    if (context.json) shown.push({ path, kind, bytes, text: lines.join('\n').slice(-IN_JSON) })
    else for (const line of [`== ${path}`, ...lines, '']) say(line)
  }
  return { code: 0, outputs, more: { logs: shown } }
}

/** Everything that sessions and gates left, in order of time. */
async function logsIn(folder: string): Promise<Log[]> {
  const logs: Log[] = []
  for (const [name, kind] of [
    ['transcripts', 'session'],
    ['logs', 'gate'],
  ] as const)
    for (const file of await readdir(join(folder, name)).catch(() => [])) {
      const path = join(folder, name, file)
      const found = await lstat(path).catch(() => null)
      // An agent can write there, too: links and pipes are nobody's log.
      if (found?.isFile() === true && file.endsWith('.log'))
        logs.push({ path, kind, name: file.slice(0, -'.log'.length), at: found.mtimeMs, bytes: found.size })
    }
  return logs.sort((one, other) => one.at - other.at)
}

/** Those of a story's attempt, or of what the word names beside stories, such as `verify`: the newest session and its gates. */
function chosen(logs: readonly Log[], { prd }: State, word: string, asked: Context['flags'][string]): Log[] {
  const ids = prd.userStories.map(({ id }) => id)
  const id = ids.find((one) => one.toLowerCase() === word.toLowerCase())
  if (id !== undefined) {
    const attempts = logs.flatMap((one) => {
      const attempt = attemptOf(one, id, ids)
      return attempt === null ? [] : [{ one, attempt }]
    })
    const last = Math.max(0, ...attempts.map(({ attempt }) => attempt))
    const wanted = asked === undefined ? last : numberIn(asked)
    return attempts.filter(({ attempt }) => attempt === wanted).map(({ one }) => one)
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

/** Redacted once more: what lies there could have been written by an agent. */
async function linesIn(path: string, isRaw: boolean, { redactor }: Workspace): Promise<string[]> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  const text = redactor.redact((await file.readFile('utf8')).replace(/\n$/, ''))
  const lines = text.split('\n')
  return isRaw ? lines : readableLines(lines)
}
