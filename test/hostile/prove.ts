// Plays every trick at one level of isolation, judges it, and prints the table.
import assert from 'node:assert/strict'
import { type Attempt, looking, planting, speaking, wasTried } from './attempts.ts'
import { hostileRun, type Level, type RunOptions, type Seen } from './seen.ts'

export type Result = { attempt: Attempt; how: string | null; untried: string | null }

/** What git does in a step that comes after the action's. */
const LATER = `export GIT_TERMINAL_PROMPT=0
for words in "status" "diff HEAD~1" "add -A" "commit --allow-empty" "log -1 -p --ext-diff" "fetch origin" "ls-remote" "stash list" "checkout -q HEAD" "ral"; do
  timeout 20 git $words </dev/null >/dev/null 2>&1 || true
done`

type Batch = { attempts: readonly Attempt[]; options: Omit<RunOptions, 'level'> }

const ids = (attempts: readonly Attempt[], but: readonly string[] = []) =>
  attempts.map((one) => one.id).filter((id) => !but.includes(id))

function batches(): Batch[] {
  const git = ids(planting, [
    'plant.global',
    'plant.path-git',
    'plant.path-others',
    'plant.startup',
    'plant.commondir',
  ])
  return [
    {
      attempts: [...looking, ...speaking, ...planting],
      options: {
        plan: {
          agent: {
            LOOK: ids(looking),
            SPEAK: ids(speaking),
            PLANT: git,
            COMMONDIR: ['plant.commondir'],
            USER: ['plant.global', 'plant.path-git', 'plant.path-others', 'plant.startup'],
            HONEST: [],
          },
          gate: { LOOK: ids(looking), SPEAK: ids(speaking), PLANT: git },
        },
        inputs: { 'max-iterations': '5' },
        later: LATER,
      },
    },
  ]
}

/** Every attempt with its result. */
export async function prove(level: Level): Promise<Result[]> {
  const results: Result[] = []
  for (const { attempts, options } of batches())
    results.push(
      ...(await hostileRun({ level, ...options }, async (seen) => {
        if (process.env.HOSTILE_SHOW !== undefined) show(seen)
        const judged: Result[] = []
        for (const attempt of attempts)
          judged.push({
            attempt,
            how: await attempt.judge(seen, level),
            untried: wasTried(seen, attempt.id),
          })
        return judged
      })),
    )
  return results
}

function show(seen: Seen): void {
  process.stdout.write(`${seen.site.log()}\n`)
  for (const note of seen.notes) process.stdout.write(`${JSON.stringify(note)}\n`)
}

/** Fails on an attempt that nobody made, on a success that is not listed as open, and on an open one that is stopped. */
export function judge(results: readonly Result[], open: readonly string[]): void {
  const wrong = results.flatMap(({ attempt, how, untried }) => {
    const { id, machine } = attempt
    if (untried !== null) return [`${id}: ${untried}`]
    if (machine === true) return []
    if (how !== null && !open.includes(id)) return [`${id} SUCCEEDED: ${how}`]
    return how === null && open.includes(id) ? [`${id} is listed as open, and was stopped`] : []
  })
  const known = new Set(results.map(({ attempt }) => attempt.id))
  for (const id of open) if (!known.has(id)) wrong.push(`${id} is listed as open, and is no attempt`)
  assert.deepEqual(wrong, [])
}

/** The attempts in groups, one result a level. */
export function table(levels: readonly { level: Level; results: readonly Result[] }[]): string {
  const names = levels.map(({ level }) => `\`${level}\``)
  const head = ['attempt', 'what stops it', ...names]
  const lines = [`| ${head.join(' | ')} |`, `|${head.map(() => '---').join('|')}|`]
  let group = ''
  for (const { attempt } of levels[0]?.results ?? []) {
    if (attempt.group !== group) lines.push(`| **${attempt.group}** |${' |'.repeat(head.length - 1)}`)
    group = attempt.group
    const cells = levels.map(({ results }) => said(results.find((one) => one.attempt.id === attempt.id)))
    lines.push(`| ${[attempt.title, attempt.stops, ...cells].join(' | ')} |`)
  }
  return `${lines.join('\n')}\n`
}

function said(result: Result | undefined): string {
  if (result === undefined) return 'not tried'
  if (result.attempt.machine === true) return 'as the system allows'
  return result.how === null ? 'stopped' : '**open**'
}
