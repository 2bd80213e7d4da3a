// The commands of comments, typed on this machine: `ralph retry`, `pause`, `add` ... A run at work reads them, too.
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { isAlive } from '../app/at-work.ts'
import { limitsOf } from '../app/loop-limits.ts'
import { applyCommand } from '../engine/commands/apply-commands.ts'
import { type CommandInput, parseCommand } from '../engine/commands/command-table.ts'
import type { Lease, State } from '../engine/model/state.ts'
import { ineffectiveReason } from '../engine/planning/plan-events.ts'
import { situationOf, situationOutcome } from '../engine/situation.ts'
import { outputsOf } from '../report/outputs.ts'
import { toPlainText } from '../report/sentence.ts'
import { viewOf } from '../report/view.ts'
import { UserError } from '../system/errors.ts'
import { type CommandResult, type Context, refuseFromInside, resultOfState } from './command-context.ts'
import { inboxQueue, queueCommand } from './inbox.ts'
import { openFeature } from './local-feature.ts'

/** Story ids and, behind `--`, a text. Gives 0 when it was taken. */
export async function steer(context: Context): Promise<CommandResult> {
  refuseFromInside(context)
  const { say, command: name } = context
  const given = givenOf(context)
  using local = await openFeature(context)
  const { clone, store } = local.workspace
  const state = await local.look()
  const understood = parseSteering(context, given, state)
  if (understood.kind !== 'command') throw new Error(`${name} asks nothing of a run`)
  const command = { ...understood.command, id: 0, by: 'you' }
  const why = ineffectiveReason(state, command)
  if (why !== null) {
    const fix = 'see ralph status'
    throw new UserError({ path: `ralph ${name}`, found: why, expected: 'something that it changes', fix })
  }
  const noted = async (what: string): Promise<CommandResult> => {
    await queueCommand(clone, state.feature, asComment(name, given))
    say(`noted: ${what}`)
    return resultOfState(state)
  }
  for (;;) {
    const { lease } = await local.look()
    if (lease !== null && (await isAlive(lease))) {
      if (name === 'stop' && (await ended(lease, say))) continue
      return noted('the run in work hears it before its next iteration')
    }
    if (state.nonce === '') return noted('the first run hears it')
    const loaded = await store.load(state.folder.replace(/^\.ralph\//, ''))
    if (loaded === null) throw new Error(`the state of ${state.feature} is gone`)
    const { lease: held, prd } = loaded.state
    if (await isAlive(held)) continue // a run has begun just now
    // The lease is what its orphans are found by, and it goes.
    if (held !== null) await local.endOrphansOf(held)
    const known = new Set(prd.userStories.map(({ id }) => id))
    // People have written stories that the state does not know yet: the next run takes them up first.
    if (state.prd.userStories.some(({ id }) => !known.has(id)))
      return noted('the next run hears it, when it has read the new stories')
    // Commands that were typed before, and that no run has read, come first.
    const before = await inboxQueue(clone).read(loaded.state)
    const steered = [...before, command].reduce(applyCommand, loaded.state)
    // The branch is not checked out: only the state changes, not the clone.
    const job = { ...steered.job, ready: { ...steered.job.ready, opened: false } }
    await store.save({ ...steered, lease: null, job })
    // A new story is called by its id from now on.
    const added = command.kind === 'add' ? (steered.prd.userStories.at(-1)?.id ?? '') : ''
    const later = LATER.get(name)
    say(later ? `noted: ${later}` : `done: ${[name, added, ...given.words].filter(Boolean).join(' ')}`)
    const limits = limitsOf(local.settings)
    const situation = situationOf(steered, limits, Date.now(), false)
    const { next } = viewOf(steered, { limits, now: Date.now(), surface: 'cli' }, situation)
    say(`Next: ${toPlainText(next)}`)
    return { code: 0, outputs: outputsOf(steered, situationOutcome(situation), null) }
  }
}

/** Commands that only the next run carries out, and what it will do. */
const LATER = new Map<string, string>([
  ['split', 'the next run lets a session propose its parts'],
  ['archive', 'the stories that are done go into done.json when the next run ends'],
])

/** Parses the words as a command for this feature. Throws UserError where they are no valid command. */
export function parseSteering({ command }: Context, given: CommandInput, { prd }: State) {
  const ids = prd.userStories.map(({ id }) => id)
  const understood = parseCommand(command, given, ids, 'cli')
  if (understood.kind !== 'mistake') return understood
  const { problem: found, fix } = understood
  throw new UserError({ path: `ralph ${command}`, found, expected: '', fix })
}

/** How long a run that was told to end may take to save, milliseconds. */
const SAVING_MS = 60_000

/** Tells the run in work to end, as Ctrl+C does, and waits until it has; false where it is not of this machine. */
async function ended(holder: Lease, say: (text: string) => void): Promise<boolean> {
  if (holder.host !== hostname()) return false
  say(`ending process ${holder.pid}: what is in work is given back and counts as no attempt`)
  try {
    process.kill(holder.pid, 'SIGTERM')
  } catch (error) {
    // It has just ended by itself.
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return true
    const found = `process ${holder.pid}, which is another user's`
    const fix = `end it as that user (sudo kill ${holder.pid}), then stop again`
    throw new UserError({ path: 'ralph stop', found, expected: 'a run of yours', fix })
  }
  for (const until = Date.now() + SAVING_MS; await isAlive(holder); await delay(100)) {
    if (Date.now() < until) continue
    const found = `process ${holder.pid}, which does not end`
    const fix = `kill -9 ${holder.pid}, then stop again`
    throw new UserError({ path: 'ralph stop', found, expected: 'a run that saves and ends', fix })
  }
  return true
}

/** The words and the text; for a new story also the lines that would stand below a comment. */
function givenOf({ given: typed, flags }: Context): CommandInput {
  const given = typed ?? { words: [], text: '' }
  const { criterion, description, fresh } = flags
  const criteria = Array.isArray(criterion) ? criterion : []
  const title = given.text.replace(/\s+/g, ' ').trim()
  const told = typeof description === 'string' ? description : ''
  return {
    // As it stands in a comment.
    words: fresh === true ? [...given.words, '--fresh'] : given.words,
    text: title,
    below: [...told.split(/\r\n?|\n/), ...criteria.map((one) => `- ${one.replace(/\s+/g, ' ')}`)],
  }
}

/** The same as a comment: what waits for a run is read like one. */
function asComment(name: string, { words, text: said, below }: CommandInput): string {
  const first = ['/ralph', name, ...words, ...(said === '' ? [] : ['--', said])].join(' ')
  return [first, ...below].join('\n')
}
