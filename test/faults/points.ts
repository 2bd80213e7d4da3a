// The points of a kill matrix: read from a run that counted them, sampled by kind, worked off two at a time, said in a table.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

export const PRELOAD = fileURLToPath(new URL('preload.mjs', import.meta.url))
/** What a process says when the moment of its plan has come. */
export const MET = 'The moment of the plan has come.'

export type Moment = 'before' | 'torn' | 'during' | 'after'
/** An effect as the preload logs it. */
export type Effect = { n: number; name: string; kind: string; what: string; moments: Moment[] }
/** What a process is to meet; see preload.mjs. */
export type Plan = {
  at?: number | string
  when?: Moment
  how?: 'kill' | 'halt' | 'tell'
  trace?: string[]
  images?: Record<string, string>
  what?: string[]
}
export type Point = {
  /** `main-1`: the first process of main.js. */
  process: string
  when: Moment
  effect: Effect
  /** How many moments it stands for, itself included: those that left the same behind, byte for byte. */
  covers: number
  /** Nothing else ran at this moment: a copy of what is there is what a kill would leave. */
  still: boolean
}

/** Every moment of every effect that a process had; where it was traced, one of those that left the same behind. */
export async function pointsOf(folder: string, process: string): Promise<Point[]> {
  const effects: Effect[] = (await linesOf(`${folder}/${process}.jsonl`)).map((line) => JSON.parse(line))
  const trace = `${folder}/${process}.trace`
  const left = new Map<string, string>()
  for (const line of existsSync(trace) ? await linesOf(trace) : []) {
    const [n, when, seen = ''] = line.split(' ')
    if (seen !== 'busy') left.set(`${n} ${when}`, seen)
  }
  const all = effects.flatMap((effect) =>
    effect.moments.map((when) => {
      const seen = left.get(`${effect.n} ${when}`)
      return {
        process,
        when,
        effect,
        covers: 1,
        still: seen !== undefined,
        left: seen ?? `${effect.n} ${when}`,
      }
    }),
  )
  const same = grouped(all, (point) => point.left)
  // Not always the first of those that are one: so that every kind is among what is tried.
  return [...same.values()].flatMap((points, index) => {
    const point = points[index % points.length]
    return point === undefined ? [] : [{ ...point, covers: points.length }]
  })
}

export function grouped<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one])
  return groups
}

async function linesOf(file: string): Promise<string[]> {
  return (await readFile(file, 'utf8')).split('\n').filter(Boolean)
}

/** What an effect is, whatever story, time or object it is about. */
function kindOf({ effect, when }: Point): string {
  return `${effect.kind} ${effect.what.replace(/[0-9a-f]{7,}|\d+/g, '#')} ${when}`
}

/** At most `wanted` points: one of every kind first, then the rest evenly spread. All of them where they are fewer. */
export function sample(points: readonly Point[], wanted: number): Point[] {
  const kinds = grouped(points, kindOf)
  // Not always the first of its kind: the later ones stand in other states.
  const firsts = [...kinds.values()].map((same, index) => same[(index * 7) % same.length])
  const chosen = new Set(spread(firsts, wanted))
  for (const point of spread(
    points.filter((one) => !chosen.has(one)),
    wanted - chosen.size,
  ))
    chosen.add(point)
  return points.filter((point) => chosen.has(point))
}

function spread<T>(all: readonly T[], wanted: number): T[] {
  const step = Math.max(1, all.length / wanted)
  return all.filter((_one, index) => Math.floor(index / step) !== Math.floor((index - 1) / step))
}

/** What a trial gave: points it stands for, whether the process was ended, what is wrong afterwards, sessions too many. */
export type Trial = {
  point: Point
  points: number
  killed: boolean
  wrong: string[]
  repeated: number
  note?: string
}

/** Works the points off, two at a time. */
export async function tryAll(
  points: readonly Point[],
  attempt: (point: Point, index: number) => Promise<Omit<Trial, 'point'>>,
): Promise<Trial[]> {
  const queue = points.entries()
  const trials: Trial[] = []
  const worker = async () => {
    for (const [index, point] of queue) {
      const trial = await attempt(point, index).catch((error: unknown) => ({
        points: 0,
        killed: false,
        wrong: [`the trial itself failed: ${String(error)}`],
        repeated: 0,
      }))
      trials.push({ point, ...trial })
    }
  }
  await Promise.all([worker(), worker()])
  return trials
}

export type Row = { scenario: string; of: number; trials: readonly Trial[]; seconds: number }

/** One table of all scenarios, for the log. */
export function table(rows: readonly Row[]): string {
  const head = ['scenario', 'points', 'of', 'trials', 'killed', 'survived', 'worst repetition', 'seconds']
  const lines = rows.map(({ scenario, of, trials, seconds }) => [
    scenario,
    String(trials.reduce((sum, { points }) => sum + points, 0)),
    String(of),
    String(trials.length),
    String(trials.filter((trial) => trial.killed).length),
    String(trials.filter((trial) => trial.killed && trial.wrong.length === 0).length),
    String(Math.max(0, ...trials.map((trial) => trial.repeated))),
    seconds.toFixed(0),
  ])
  return lined([head, ...lines])
}

/** Cells in columns. */
export function lined(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_cell, column) =>
    Math.max(...lines.map((line) => (line[column] ?? '').length)),
  )
  return lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .join('\n')
}

/** What went wrong, gathered by what it was, with the points at which it did. Empty is good. */
export function failures(trials: readonly Trial[]): string {
  const all = trials.flatMap(({ point, wrong, note = '' }) =>
    wrong.map((one) => ({ one, where: `${sayPoint(point)} ${note}`.trim() })),
  )
  return [...grouped(all, ({ one }) => one)]
    .map(
      ([one, at]) =>
        `${one}\n    at ${at.length} points: ${at
          .slice(0, 6)
          .map(({ where }) => where)
          .join('; ')}`,
    )
    .join('\n')
}

function sayPoint({ process, when, effect }: Point): string {
  return `${process}, ${when} effect ${effect.n} (${effect.kind} ${effect.what})`
}

/** Whether others see the effect: a request, a push, a session, a gate, a file of the runner. */
export function reaches({ effect }: Point): boolean {
  if (effect.kind === 'spawn')
    return !effect.what.startsWith('git ') || /git (push|fast-import)/.test(effect.what)
  return effect.kind === 'request' || effect.kind.startsWith('append')
}
