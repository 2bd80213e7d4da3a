// Plays every trick at one level of isolation, judges it, and prints the table.
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { Site } from '../e2e/site.ts'
import type { Run } from '../standin/runner.ts'
import { breaking, presets, telling } from './acts.ts'
import { type Attempt, looking, planting, speaking, wasTried } from './attempts.ts'
import {
  addresses,
  beyond,
  files,
  hidden,
  ignored,
  leftovers,
  settings,
  settingsAgain,
  states,
  strikes,
  trees,
  words,
} from './more.ts'
import { outliving } from './outlive.ts'
import { hostileRun, type Level, type Note, type Plan, type RunOptions, type Seen } from './seen.ts'

export type Result = { attempt: Attempt; how: string | null; untried: string | null }

/** What git does in a step that comes after the action's. */
const LATER = `export GIT_TERMINAL_PROMPT=0
for words in "status" "diff HEAD~1" "add -A" "commit --allow-empty" "log -1 -p --ext-diff" "fetch origin" "ls-remote" "stash list" "checkout -q HEAD" "ral"; do
  timeout 20 git $words </dev/null >/dev/null 2>&1 || true
done`

type Batch = { attempts: readonly Attempt[]; options: Omit<RunOptions, 'level'> }

const ids = (attempts: readonly Attempt[], but: readonly string[] = []) =>
  attempts.map((one) => one.id).filter((id) => !but.includes(id))

const HIDE_BASE = "export const v = 'plain'\n"

/** A test with something to lose. */
function strong(name: string): string {
  return `import assert from 'node:assert/strict'
import test from 'node:test'

test('${name}', () => {
  assert.equal(1, 1)
  assert.equal(2, 2)
})
`
}

/** Files that are there before, so that they can be changed. */
const BASE: Record<string, string> = {
  ...Object.fromEntries(
    [
      'mtime',
      'assume',
      'skip',
      'own-assume',
      'own-skip',
      'own-index',
      'clean',
      'own-clean',
      'replace',
      'sparse',
      'no-modes',
      'ident',
    ].map((name) => [`src/hide/${name}.mjs`, HIDE_BASE]),
  ),
  'lib/a.mjs': 'export const a = 1\n',
  'test/forged.test.mjs': strong('forged'),
  'test/strong.test.mjs': strong('strong'),
  'package.json':
    '{"name":"sample","version":"1.0.0","type":"module","private":true,"scripts":{"test":"exit 1"}}\n',
}

/** Beside a gate that is green there is one that is red but for what tests of the story have left. */
function redGate(attempts: readonly Attempt[], plan: Partial<Plan>): Batch {
  const inputs = { 'final-verification': 'true', gates: 'test: node check.mjs\nnpm: npm test' }
  const agent = { RED: ids(attempts), ...plan.agent }
  return {
    attempts,
    options: { plan: { ...plan, agent, gate: { RED: ids(attempts) } }, inputs, files: BASE },
  }
}

const ECHOED = ['echo.gate', 'echo.gate-colours']
const USER = ['plant.global', 'plant.later', 'plant.path-git', 'plant.path-others', 'plant.startup']

function mainBatch(): Batch {
  const plant = ids(planting, [...USER, 'plant.commondir'])
  // What git itself stumbles over comes last.
  const last = ['refs.head', 'refs.packed', 'refs.locks', 'refs.index']
  const refs = ids(states, last).filter((id) => id.startsWith('refs.') && id !== 'refs.commits')
  refs.push('refs.head', 'refs.packed')
  const state = ids(states).filter((id) => id.startsWith('state.') && id !== 'state.folder')
  const tree = ids(trees, ['tree.dots']).slice(0, ids(trees, ['tree.dots']).indexOf('tree.folder-link'))
  const odd = ids(trees).slice(ids(trees).indexOf('tree.weaken') + 1)
  const agent: Record<string, string[]> = {
    LOOK: ids(looking),
    SPEAK: ids(speaking),
    PLANT: plant,
    COMMONDIR: ['plant.commondir'],
    HIDE: ids(hidden, ['hide.clean', 'hide.ident', 'hide.ignore']).filter((id) => id.startsWith('hide.')),
    CLEAN: ['hide.clean'],
    IDENT: ['hide.ident'],
    IGNORE: ['hide.ignore'],
    REPLACE: ['forge.replace'],
    TREE: tree,
    FOLDER: ['tree.folder-link', 'tree.dots'],
    WEAKEN: ['tree.weaken'],
    ODD: odd,
    RED: ['refs.commits', 'state.folder'],
    STATE: state,
    REFS: refs,
    LOCKS: ['refs.locks'],
    INDEX: ['refs.index'],
    SAY: ['say.done'],
    LIMITS: ['say.limits'],
    NEGATIVE: ['say.negative'],
    HUGE: ['say.huge'],
    HUGER: [],
    ECHO: ids(words, ECHOED).filter((id) => id.startsWith('echo.')),
    ECHOGATE: ECHOED,
    LEAVE: ids(leftovers).filter((id) => id.startsWith('leave.')),
    COUNT: ['leave.count'],
    HONEST: [],

    SWAP: ['gate.swap'],
    TOOL: ['gate.tool'],
    USER,
    LAST: [],
  }
  return {
    attempts: [...looking, ...speaking, ...planting, ...hidden, ...trees, ...states, ...words, ...leftovers],
    options: {
      plan: {
        agent,
        gate: { LOOK: ids(looking), SPEAK: ids(speaking), PLANT: plant, ECHOGATE: ECHOED },
        quiet: ['SAY', 'LIMITS'],
        // Of a gate that fails the output is shown.
        red: ['RED', 'TOOL', 'ECHOGATE'],
        usage: {
          NEGATIVE: '{"usage":{"inputTokens":-1000,"outputTokens":-1,"costUsd":-1000}}',
          HUGE: '{"usage":{"inputTokens":1e308,"outputTokens":1e308,"costUsd":1e308}}',
          HUGER: '{"usage":{"inputTokens":1e308,"outputTokens":1e308,"costUsd":1e308}}',
        },
      },
      persistCredentials: true,
      files: BASE,
      later: LATER,
    },
  }
}

function batches(): Batch[] {
  return [
    mainBatch(),
    {
      attempts: files,
      options: {
        plan: { agent: { FILES: ids(files), HONEST: [] } },
        later: 'env > "$EVIDENCE/later-env"',
      },
    },
    {
      attempts: strikes,
      options: {
        files: BASE,
        plan: {
          agent: {
            FIRST: ['forge.prepare'],
            FORGE: ['forge.blob'],
            FORGEGONE: ['forge.gone'],
            FORGETREE: ['forge.tree'],
            KILL: ['kill.action'],
            STOP: ['kill.stop'],
            TERMINATE: ['kill.terminate'],
            BROKEN: ['files.broken'],
            STRIKE: ['files.strike'],
          },
          once: ['FORGE', 'FORGEGONE', 'FORGETREE', 'KILL', 'STOP', 'TERMINATE', 'STRIKE'],
        },
        later: 'env >> "$EVIDENCE/struck-env"',
        runner: { times: { interrupt: 300, terminate: 300 } },
        drive: struck,
      },
    },
    {
      attempts: ignored,
      options: {
        plan: { agent: { MODULES: ids(ignored) }, gate: {} },
        inputs: { 'final-verification': 'true' },
        files: BASE,
      },
    },
    redGate(settings, { agent: { HONEST: [] } }),
    {
      attempts: addresses,
      options: {
        plan: {
          agent: {
            ADDRESS: ids(addresses, ['address.ignored']),
            // Where nothing was changed, a judge is asked.
            EMPTY: ['address.ignored'],
            HONEST: [],
          },
          quiet: ['EMPTY'],
        },
        inputs: { 'final-verification': 'true' },
        files: { ...BASE, '.gitignore': 'CLAUDE.local.md\n', 'CLAUDE.md': 'Write tests.\n' },
      },
    },
    {
      attempts: beyond,
      options: {
        isClaude: true,
        plan: { agent: { BEYOND: ids(beyond), HONEST: [] }, gate: { BEYOND: ['net.gate'] } },
      },
    },
    {
      attempts: [...breaking, ...telling],
      options: {
        plan: {
          agent: {
            DEEP: ['break.deep'],
            PLACE: ['break.place'],
            PATH: ['break.path'],
            BRACKETS: ['break.brackets'],
            ACT: ids(telling),
            HONEST: [],
          },
        },
        files: BASE,
      },
    },
    {
      attempts: presets,
      options: {
        plan: { agent: { PRESET: ids(presets) } },
        inputs: { 'protected-paths': 'elsewhere' },
      },
    },
    {
      attempts: outliving,
      options: {
        plan: { agent: { OUTLIVE: ids(outliving), HONEST: [] }, gate: { OUTLIVE: [] } },
        inputs: { 'final-verification': 'true' },
        files: BASE,
      },
    },
    redGate(settingsAgain, { always: ['RED'] }),
  ]
}

/** A job is started again until none is struck down any more; one that was stopped for ever is cancelled. */
async function struck(site: Site, notes: () => Promise<readonly Note[]>): Promise<Run> {
  for (let jobs = 0; jobs < 10; jobs += 1) {
    const run = await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
    let isOver = false
    const over = site.runner.settled().then(() => {
      isOver = true
    })
    const wasStopped = (await notes()).some((note) => note.trick === 'kill.stop')
    while (!isOver && !wasStopped) {
      await Promise.race([over, delay(100)])
      if ((await notes()).some((note) => note.trick === 'kill.stop')) break
    }
    if (!isOver && !wasStopped) {
      await delay(500)
      site.runner.cancel(run.id)
    }
    await over
    if ((await site.state()).job.ending?.conclusion?.outcome === 'complete') break
  }
  return site.last()
}

/** `HOSTILE_BATCH` and `HOSTILE_STORIES` (mutate.mjs): one of the runs, some of its stories and the honest one. */
function wanted(batch: Batch, index: number): Batch | null {
  const { HOSTILE_BATCH: only, HOSTILE_STORIES: names } = process.env
  if (only !== undefined && only !== String(index)) return null
  if (names === undefined) return batch
  const { plan } = batch.options
  const kept = Object.entries(plan.agent).filter(([story]) => ['HONEST', ...names.split(',')].includes(story))
  const played = new Set(kept.flatMap(([, tricks]) => tricks))
  return {
    attempts: batch.attempts.filter(({ id }) => played.has(id)),
    options: { ...batch.options, plan: { ...plan, agent: Object.fromEntries(kept) } },
  }
}

/** Every attempt with its result. */
export async function prove(level: Level): Promise<Result[]> {
  const results: Result[] = []
  for (const [index, batch] of batches().entries()) {
    const chosen = wanted(batch, index)
    if (chosen === null) continue
    const { attempts, options } = chosen
    results.push(
      ...(await hostileRun({ level, ...options }, async (seen) => {
        if (process.env.HOSTILE_SHOW !== undefined) show(seen)
        const judged: Result[] = []
        for (const attempt of attempts)
          judged.push({
            attempt,
            how: await attempt.judge(seen, level),
            untried: wasTried(seen, attempt.id, level),
          })
        return judged
      })),
    )
  }
  return results
}

function show(seen: Seen): void {
  process.stdout.write(`${seen.site.log()}\n`)
  for (const note of seen.notes) process.stdout.write(`${JSON.stringify(note)}\n`)
}

/** What nothing stops at a level; the table says so. One that is stopped after all fails the test, too. */
const ANYWHERE = [
  // What an agent that has a key can do with words.
  'echo.pieces',
  'gate.npmrc-again',
]
export const OPEN: Readonly<Record<Level, readonly string[]>> = {
  'same-user': [
    ...ANYWHERE,
    'hide.own-assume',
    'plant.later',
    'leave.wiped',
    'leave.watch',
    'gate.swap',
    'gate.tool',
    'gate.npmrc',
    'files.strike',
    'files.post',
    'files.other-post',
    'net.key',
    'net.host',
    'net.dns',
    'net.dns-redirected',
    'net.abstract',
    'net.run-socket',
    'net.page',
    'net.stream',
    'net.pieces',
    'net.gate',
    'outlive.tmp',
    'outlive.shm',
    'outlive.sysv',
    'outlive.home',
    'outlive.machine',
    'outlive.socket',
  ],
  'other-user': ANYWHERE,
}

/** Fails on an attempt that nobody made, on a success that is not listed as open, and on an open one that is stopped. */
export function judge(results: readonly Result[], level: Level): void {
  const wrong = results.flatMap(({ attempt, how, untried }) => {
    const { id, machine } = attempt
    if (untried !== null) return [`${id}: ${untried}`]
    if (machine === level) return []
    const isOpen = OPEN[level].includes(id)
    if (how !== null && !isOpen) return [`${id} SUCCEEDED: ${how}`]
    return how === null && isOpen ? [`${id} is listed as open, and was stopped`] : []
  })
  assert.deepEqual(wrong, [])
}

/** How an attempt ends at a level, as the lists have it and `judge` holds them to. */
function expected({ id, machine }: Attempt, level: Level): string {
  if (machine === level) return 'as the system allows'
  return OPEN[level].includes(id) ? '**open**' : 'stopped'
}

/** The attempts in groups, with what became of each at every level. */
export function table(): string {
  const levels: Level[] = ['same-user', 'other-user']
  const head = ['attempt', 'what stops it', ...levels.map((level) => `\`${level}\``)]
  const lines = [`| ${head.join(' | ')} |`, `|${head.map(() => '---').join('|')}|`]
  const all = batches().flatMap(({ attempts }) => attempts)
  const groups = new Map(all.map(({ group }) => [group, all.filter((one) => one.group === group)]))
  for (const [group, attempts] of groups) {
    lines.push(`| **${group}** |${' |'.repeat(head.length - 1)}`)
    for (const attempt of attempts) {
      const cells = levels.map((level) => expected(attempt, level))
      lines.push(`| ${[attempt.title, attempt.stops, ...cells].join(' | ')} |`)
    }
  }
  return `${lines.join('\n')}\n`
}
