// The ralph.config.json of the agent-agnostic Ralph: `provider`, `verify` and `maxRetries` as the settings that they are here.
import { agentOfProgram } from '../agents/registry.ts'
import { shellWord } from '../system/shell-word.ts'
import { below, type Given, mistake, note, type Place, readAs } from './place.ts'
import { isMap, lines, listOf, orElse, orNull, seconds, structure, text } from './types.ts'

const commands = orElse(listOf(lines), [])

/** The structures that only this shape has. */
export const agnosticShape = {
  provider: structure({ command: text, args: commands, timeout: orNull(seconds) }),
  verify: structure({ default: commands, ui: commands }),
}

/** What stands for each of them here. */
const replacedBy: Readonly<Record<string, readonly string[]>> = {
  provider: ['agent', 'agentCommand', 'agentArgs'],
  verify: ['gates'],
  maxRetries: ['maxAttempts'],
}
export const agnosticKeys = Object.keys(replacedBy)

/** The settings that the older keys stand for beside those `given`; notes say what means something else here. */
export function readAgnosticKeys(
  older: ReadonlyMap<string, Given>,
  given: ReadonlyMap<string, Given>,
  at: Place,
): [string, Given][] {
  const entries = [...older].flatMap(([key, one]) => {
    const beside = replacedBy[key]?.find((name) => given.has(name))
    if (beside === undefined) return settingsFrom(key, one)
    const fix = `remove ${key}, which is the older form`
    mistake(one.at, `${key} beside ${beside}`, 'one of the two', fix)
    return []
  })
  if ((older.has('provider') || older.has('verify')) && !given.has('maxIterations'))
    note(at, 'the loop ends after 50 iterations here; maxIterations: 0 gives a loop without end')
  const browser = given.get('browser')?.value
  if (isMap(browser) && 'screenshotDir' in browser) {
    const place = below(at, 'browser', 'screenshotDir')
    note(place, 'screenshots are kept with the state of the run, and in .git/ralph/screenshots of this clone')
  }
  return entries
}

function settingsFrom(key: string, given: Given): [string, Given][] {
  if (key === 'provider') return provider(given)
  if (key === 'verify') return verify(given)
  note(given.at, 'read as maxAttempts: failed attempts on a story before it is blocked')
  return [['maxAttempts', given]]
}

function provider(given: Given): [string, Given][] {
  const { at } = given
  const read = readAs(agnosticShape.provider, given)
  if (read === undefined) return []
  // What a variable brought in is not replaced again, and not shown.
  const from = (value: unknown): Given => ({ at, written: undefined, value, shownAs: 'provider' })
  const name = agentOfProgram(read.command)
  const entries: [string, Given][] = []
  if (name !== null) {
    entries.push(['agent', from(name)], ['agentArgs', from(read.args)])
    note(at, `read as agent: ${name}; its args come after those that Ralph itself gives it`)
  } else {
    const program = /^[\w.-]+\s/.test(read.command) ? read.command : shellWord(read.command)
    const command = [program, ...read.args.map(shellWord)].join(' ')
    entries.push(['agent', from('custom')], ['agentCommand', from(command)])
    note(at, 'read as agent: custom with this command as agentCommand')
  }
  if (read.timeout !== null)
    entries.push(['iterationTimeout', { ...from(`${read.timeout / 1000}s`), at: below(at, 'timeout') }])
  return entries
}

function verify(given: Given): [string, Given][] {
  const read = readAs(agnosticShape.verify, given)
  if (read === undefined) return []
  note(
    given.at,
    'read as gates; those of verify.ui run for stories with the tag ui, and all run at the final verification',
  )
  const gates: Record<string, unknown> = {}
  for (const run of read.default) gates[freeName(run, 'default', gates)] = run
  for (const run of read.ui) gates[freeName(run, 'ui', gates)] = { run, when: 'ui' }
  return [['gates', { at: given.at, written: undefined, value: gates, shownAs: 'verify' }]]
}

/** A readable name from the command, made unique; `default-1` where the command gives none. */
function freeName(command: string, group: string, taken: object): string {
  const name = nameFrom(command)
  const names = new Set(Object.keys(taken).map((key) => key.toLowerCase()))
  if (name !== '' && !names.has(name.toLowerCase())) return name
  const stem = name === '' ? group : name
  for (let count = name === '' ? 1 : 2; ; count += 1) {
    if (!names.has(`${stem}-${count}`.toLowerCase())) return `${stem}-${count}`
  }
}

const nameless = new Set(
  'npm pnpm yarn bun npx bunx deno make just task node run run-script exec dlx x'.split(' '),
)

/** `test-unit` from `CI=1 bun run test:unit --quiet`, `cargo-test` from `cargo test`; '' when nothing is left. */
function nameFrom(command: string): string {
  const words = command.slice(0, 200).trim().split(/\s+/)
  const names = words
    .filter((word) => !/^(-|[A-Za-z_]\w*=)/.test(word) && !nameless.has(word))
    .map((word) => word.slice(word.lastIndexOf('/') + 1))
    .filter((word) => /^[A-Za-z]/.test(word))
  return names
    .slice(0, 2)
    .join('-')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .slice(0, 40)
    .replace(/[^A-Za-z0-9]+$/, '')
}
