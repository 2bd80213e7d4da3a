// `ralph retry | redo | skip | note | pause`: as in comments. A run in work hears it before its next iteration.
import { applyCommand } from '../loop/commands.ts'
import { parseSlash } from '../loop/slash-commands.ts'
import { outputsOf } from '../report/outputs.ts'
import { UserError } from '../system/errors.ts'
import { MARK_NAME } from '../system/survivors.ts'
import { type Answer, type Context, settingsOf, tell } from './context.ts'
import { post } from './inbox.ts'
import { openLocal } from './local.ts'

/** Story ids and, behind `--`, a text. Gives 0 when it was taken. */
export async function steer(context: Context, name: string, args: readonly string[]): Promise<Answer> {
  if (context.env[MARK_NAME] !== undefined) {
    const found = 'a command typed by an agent or a gate'
    throw new UserError([{ path: `ralph ${name}`, found, expected: 'a person', fix: 'leave it to people' }])
  }
  const { settings } = await settingsOf(context)
  using local = await openLocal(context, settings, {
    warn: (text) => tell(process.stderr, `warning: ${text}`),
  })
  const state = await local.look()
  const ids = state.prd.userStories.map((story) => story.id)
  const parsed = parseSlash(`/ralph ${name} ${commandLine(args, ids)}`, ids)
  if (parsed.kind === 'mistake') {
    throw new UserError([
      {
        path: `ralph ${name}`,
        found: parsed.problem,
        expected: 'a command as in comments',
        fix: parsed.fix.replace(/^\//, ''),
      },
    ])
  }
  if (parsed.kind !== 'command') throw new Error(`${name} is no command`)
  const stream = context.json ? process.stderr : process.stdout
  const { lease } = state
  const working = lease !== null && (await local.alive(lease))
  if (working || state.nonce === '') {
    await post(local.workshop.clone, state.feature, `/ralph ${name} ${commandLine(args, ids)}`)
    tell(
      stream,
      working ? 'noted: the run in work hears it before its next iteration' : 'noted: the first run hears it',
    )
    return { code: 0, outputs: outputsOf(state, state.prd.run.outcome, null) }
  }
  const folder = state.folder.replace(/^\.ralph\//, '')
  const loaded = await local.workshop.store.load(folder)
  if (loaded === null) throw new Error(`the state of ${state.feature} is gone`)
  const held = loaded.state.lease
  if (held !== null && (await local.alive(held))) return steer(context, name, args) // a run has begun just now
  const steered = applyCommand(loaded.state, { ...parsed.command, id: 0, by: 'you' })
  // Nobody has looked at the branch: the state alone moves, not the clone.
  await local.workshop.store.save({ ...steered, lease: null, job: { ...steered.job, opened: false } })
  tell(
    stream,
    `done: ${name}${args.length === 0 ? '' : ` ${args.join(' ')}`}. Go on with: ralph run ${state.feature}`,
  )
  return { code: 0, outputs: outputsOf(steered, steered.prd.run.outcome, null) }
}

/** What stands behind `--` arrives as further arguments: the first that is no story begins the text. */
function commandLine(args: readonly string[], ids: readonly string[]): string {
  const at = args.findIndex(
    (arg) => arg.toLowerCase() !== 'all' && !ids.some((id) => id.toLowerCase() === arg.toLowerCase()),
  )
  const looksLikeId = at >= 0 && /^[A-Za-z]+-\d+$/.test(args[at] ?? '')
  if (at < 0 || looksLikeId) return args.join(' ')
  return `${args.slice(0, at).join(' ')} -- ${args.slice(at).join(' ')}`
}
