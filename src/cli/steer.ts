// The commands of comments, typed on this machine: `ralph retry`, `pause`, `add` ... A run at work reads them as well.
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { isAlive } from '../app/at-work.ts'
import { limitsOf } from '../app/loop-limits.ts'
import { applyCommand } from '../engine/commands/apply-commands.ts'
import { type CommandInput, parseCommand } from '../engine/commands/command-table.ts'
import type { Command } from '../engine/model/event.ts'
import type { Lease, State } from '../engine/model/state.ts'
import { ineffectiveReason } from '../engine/planning/plan-events.ts'
import { remaining } from '../engine/prd/select.ts'
import { situationOf, situationOutcome } from '../engine/situation.ts'
import { outputsOf } from '../report/outputs.ts'
import { toPlainText } from '../report/sentence.ts'
import { viewOf } from '../report/view.ts'
import { UserError } from '../system/errors.ts'
import { type CommandResult, type Context, refuseFromInside, resultOfState } from './command-context.ts'
import { inboxQueue, queueCommand } from './inbox.ts'
import { openFeature } from './local-feature.ts'

/** Takes story ids and, after `--`, a text. Changes the state, or queues the command for a run. */
export async function steer(context: Context): Promise<CommandResult> {
  refuseFromInside(context)
  const { print, command: name } = context
  const input = inputOf(context)
  using local = await openFeature(context)
  const { clone, store } = local.workspace
  const state = await local.look()
  const parsed = parseSteering(context, input, state)
  if (parsed.kind !== 'command') throw new Error(`${name} asks nothing of a run`)
  const command = { ...parsed.command, id: 0, by: 'you' }
  const reason = ineffectiveReason(state, command)
  if (reason !== null) {
    const fix = 'see ralph status'
    throw new UserError({ path: `ralph ${name}`, found: reason, expected: '', fix })
  }
  let hasEnded = false
  const queue = async (): Promise<CommandResult> => {
    await queueCommand(clone, state.feature, asComment(name, input))
    return resultOfState(state)
  }
  const queueAs = async (what: string): Promise<CommandResult> => {
    print(pauseText(name, state, hasEnded) ?? `noted: ${what}`)
    return queue()
  }
  for (;;) {
    const { lease } = await local.look()
    if (lease !== null && (await isAlive(lease))) {
      if (name === 'stop' && (await endRun(lease, print))) {
        hasEnded = true
        continue
      }
      print('noted: the current run applies this before its next iteration')
      return queue()
    }
    if (state.nonce === '') return queueAs('the first run applies this')
    const loaded = await store.load(state.folder.replace(/^\.ralph\//, ''))
    if (loaded === null) throw new Error(`the state of ${state.feature} is gone`)
    const { lease: saved, prd } = loaded.state
    if (await isAlive(saved)) continue // a run has begun just now
    // Its processes are found by the lease, which is given up here.
    if (saved !== null) await local.endOrphansOf(saved)
    const known = new Set(prd.userStories.map(({ id }) => id))
    // People have written stories that the state does not know yet: the next run takes them up first.
    if (state.prd.userStories.some(({ id }) => !known.has(id)))
      return queueAs('the next run applies this, after it has read the new stories')
    // Commands that were typed before, and that no run has read, come first.
    const before = await inboxQueue(clone).read(loaded.state)
    const limits = limitsOf(local.settings)
    const apply = (so: State, one: Command) => applyCommand(so, one, limits)
    // Nothing is to be paused: a pause would only hide how the last run ended.
    const isIdle = saved === null && !hasEnded && (name === 'pause' || name === 'stop')
    const steered = [...before, ...(isIdle ? [] : [command])].reduce(apply, loaded.state)
    // The branch is not checked out: only the state changes, not the clone.
    const job = { ...steered.job, ready: { ...steered.job.ready, opened: false } }
    await store.save({ ...steered, lease: null, job })
    // A new story is called by its id from now on.
    const isAdded = command.kind === 'add' || command.kind === 'fix'
    const added = isAdded ? (steered.prd.userStories.at(-1)?.id ?? '') : ''
    const later = name === 'fix' ? `the next run works on ${added}` : LATER.get(name)
    const what = name === 'add' ? `added: ${added}` : `noted: ${later ?? [name, ...input.words].join(' ')}`
    print(pauseText(name, steered, hasEnded) ?? what)
    const situation = situationOf(steered, limits, Date.now(), false)
    const { next } = viewOf(steered, { limits, now: Date.now(), surface: 'cli' }, situation)
    print(`Next: ${toPlainText(next)}`)
    return { code: 0, outputs: outputsOf(steered, situationOutcome(situation), null) }
  }
}

/** What `pause` and `stop` print if no run is at work; null for other commands. */
function pauseText(name: string, { feature, prd, nonce }: State, hasEnded: boolean): string | null {
  if (name !== 'pause' && name !== 'stop') return null
  if (hasEnded) return 'stopped: the run is saved, and its last session does not count as an attempt'
  // Before the first run there is no outcome that a pause could hide, so it is kept.
  const isKept = nonce === '' && remaining(prd).length > 0
  return isKept
    ? `${feature} is paused. To start it, type ralph run ${feature}`
    : `no run is working on ${feature}, so there is nothing to ${name}`
}

/** Commands that only the next run carries out, and what it will do. */
const LATER = new Map<string, string>([
  ['split', 'in the next run, a session proposes smaller stories'],
  ['drop', 'the next run reverts the commits, and runs the gates'],
  ['update', "the next job in CI merges the base branch into the feature's branch"],
  ['archive', 'when the next run ends, Ralph moves the finished stories into done.json'],
])

/** Parses the words as a command for this feature. Throws UserError if they are not a valid command. */
export function parseSteering({ command }: Context, input: CommandInput, { prd }: State) {
  const ids = prd.userStories.map(({ id }) => id)
  const parsed = parseCommand(command, input, ids, 'cli')
  if (parsed.kind !== 'mistake') return parsed
  const { problem: found, fix } = parsed
  throw new UserError({ path: `ralph ${command}`, found, expected: '', fix })
}

/** How long a run may take to save and end after the signal. Milliseconds. */
const SAVE_MS = 60_000

/** Ends the run at work as Ctrl+C does, and waits for it; false if it works on another machine. */
async function endRun(holder: Lease, print: (text: string) => void): Promise<boolean> {
  if (holder.host !== hostname()) return false
  print(`ending the run (process ${holder.pid})`)
  try {
    process.kill(holder.pid, 'SIGTERM')
    // A process that Ctrl+Z stopped gets the first signal only when it continues.
    process.kill(holder.pid, 'SIGCONT')
  } catch (error) {
    // It has just ended by itself.
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return true
    const found = `another user started the run (process ${holder.pid}), so Ralph cannot end it.`
    const fix = `end it as that user (sudo kill ${holder.pid}), then type ralph stop again`
    throw new UserError({ path: 'ralph stop', found, expected: '', fix })
  }
  for (const until = Date.now() + SAVE_MS; await isAlive(holder); await delay(100)) {
    if (Date.now() < until) continue
    const found = `the run (process ${holder.pid}) has not stopped.`
    const fix = `kill -9 ${holder.pid}, then type ralph stop again`
    throw new UserError({ path: 'ralph stop', found, expected: '', fix })
  }
  return true
}

/** What was typed, as a comment would have it; a new story's description and criteria are the lines below. */
function inputOf({ args: typed, flags }: Context): CommandInput {
  const input = typed ?? { words: [], text: '' }
  const { criterion, description: body, fresh } = flags
  const criteria = Array.isArray(criterion) ? criterion : []
  const title = input.text.replace(/\s+/g, ' ').trim()
  const description = typeof body === 'string' ? body : ''
  return {
    // As in a comment, where it is a word.
    words: fresh === true ? [...input.words, '--fresh'] : input.words,
    text: title,
    below: [...description.split(/\r\n?|\n/), ...criteria.map((one) => `- ${one.replace(/\s+/g, ' ')}`)],
  }
}

/** The command as a comment: queued commands are parsed like comments. */
function asComment(name: string, { words, text, below }: CommandInput): string {
  const first = ['/ralph', name, ...words, ...(text === '' ? [] : ['--', text])].join(' ')
  return [first, ...below].join('\n')
}
