// The points of a kill matrix: read from a counting run, sampled by kind, worked off two at a time, said in one table.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

export const PRELOAD = fileURLToPath(new URL('preload.mjs', import.meta.url))

/** An effect as the preload logs it. */
export type Effect = { n: number; kind: string; what: string; moments: Moment[] }
export type Moment = 'before' | 'torn' | 'during' | 'after'
export type Point = {
  process: string
  number: number
  at: number
  when: Moment
  effect: Effect
  /** Points that leave the same behind, itself included: see `boundariesOf`. */
  covers: number
}

/** Every moment of every effect that a process had. */
export async function pointsOf(folder: string, process: string, number: number): Promise<Point[]> {
  const text = await readFile(`${folder}/${process}-${number}.jsonl`, 'utf8')
  const effects: Effect[] = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
  return effects.flatMap((effect) =>
    effect.moments.map((when) => ({ process, number, at: effect.n, when, effect, covers: 1 })),
  )
}

/**
 * The points with those brought together that are one: where nothing happened between the end of an effect and the
 * beginning of the next, an end at either leaves the same behind. The order is that of the counting run.
 */
export async function boundariesOf(folder: string, points: readonly Point[]): Promise<Point[]> {
  const [first] = points
  if (first === undefined) return []
  const order = (await readFile(`${folder}/${first.process}-${first.number}.order`, 'utf8'))
    .split('\n')
    .filter(Boolean)
  const key = (point: Point) => `${point.at} ${point.when}`
  const left = new Map(points.map((point) => [key(point), point]))
  order.forEach((moment, index) => {
    const before = order[index - 1]
    const [one, other] = [left.get(before ?? ''), left.get(moment)]
    if (one?.when !== 'after' || other?.when !== 'before') return
    // Either may be taken; in turns, so that both kinds are.
    const [kept, dropped] = index % 4 < 2 ? [one, other] : [other, one]
    left.delete(key(dropped))
    left.set(key(kept), { ...kept, covers: kept.covers + dropped.covers })
  })
  return [...left.values()]
}

/** What an effect is, whatever story, time or object it is about. */
export function kindOf({ effect, when }: Point): string {
  return `${effect.kind} ${effect.what.replace(/\d+/g, '#').replace(/[0-9a-f]{7,}/g, '#')} ${when}`
}

/** At most `wanted` points: one of every kind first, then the rest evenly spread. All of them where they are fewer. */
export function sample(points: readonly Point[], wanted: number): Point[] {
  if (points.length <= wanted) return [...points]
  const chosen = new Set<Point>()
  const kinds = new Map<string, Point[]>()
  for (const point of points) kinds.set(kindOf(point), [...(kinds.get(kindOf(point)) ?? []), point])
  let turn = 0
  for (const [, same] of kinds) {
    // Not always the first of its kind: the later ones stand in other states.
    const one = same[(turn * 7) % same.length]
    turn += 1
    if (one !== undefined && chosen.size < wanted) chosen.add(one)
  }
  const rest = points.filter((point) => !chosen.has(point))
  const left = wanted - chosen.size
  for (let index = 0; index < left; index++) {
    const point = rest[Math.floor(((index + 0.5) * rest.length) / left)]
    if (point !== undefined) chosen.add(point)
  }
  return points.filter((point) => chosen.has(point))
}

/** What a point gave: whether the process was ended there, what is wrong afterwards, sessions beyond the undisturbed run. */
export type Trial = { point: Point; killed: boolean; wrong: string[]; repeated: number }

/** Works the points off, two at a time. */
export async function tryAll(
  points: readonly Point[],
  attempt: (point: Point) => Promise<Trial>,
): Promise<Trial[]> {
  const queue = [...points]
  const trials: Trial[] = []
  const worker = async () => {
    for (let point = queue.shift(); point !== undefined; point = queue.shift()) {
      try {
        trials.push(await attempt(point))
      } catch (error) {
        trials.push({
          point,
          killed: false,
          wrong: [`the trial itself failed: ${String(error)}`],
          repeated: 0,
        })
      }
    }
  }
  await Promise.all([worker(), worker()])
  return trials
}

export function sayPoint({ process, number, at, when, effect }: Point): string {
  return `${process} ${number}, ${when} effect ${at} (${effect.kind} ${effect.what})`
}

export type Row = { scenario: string; of: number; trials: readonly Trial[]; seconds: number }

/** One table of all scenarios, for the log. */
export function table(rows: readonly Row[]): string {
  const head = ['scenario', 'points', 'of', 'trials', 'killed', 'survived', 'worst repetition', 'seconds']
  const lines = rows.map(({ scenario, of, trials, seconds }) => [
    scenario,
    String(trials.reduce((sum, { point }) => sum + point.covers, 0)),
    String(of),
    String(trials.length),
    String(trials.filter((trial) => trial.killed).length),
    String(trials.filter((trial) => trial.killed && trial.wrong.length === 0).length),
    String(Math.max(0, ...trials.map((trial) => trial.repeated))),
    seconds.toFixed(0),
  ])
  const widths = head.map((_cell, column) =>
    Math.max(...[head, ...lines].map((line) => (line[column] ?? '').length)),
  )
  return [head, ...lines]
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .join('\n')
}

/** What went wrong, gathered by what it was, with the points at which it did. */
export function failures(trials: readonly Trial[]): string {
  const byWrong = new Map<string, string[]>()
  for (const { point, wrong } of trials)
    for (const one of wrong) byWrong.set(one, [...(byWrong.get(one) ?? []), sayPoint(point)])
  return [...byWrong]
    .map(([wrong, where]) => `${wrong}\n    at ${where.length} points: ${where.slice(0, 6).join('; ')}`)
    .join('\n')
}
